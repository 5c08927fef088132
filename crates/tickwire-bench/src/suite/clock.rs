//! Time that the processor spent on us, which other programs on the same machine do not lengthen.

use std::time::Duration;

/// The calling thread's time that `work` takes, and what it returns.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = thread_time();
    let result = work();
    (thread_time().saturating_sub(began), result)
}

/// What the calling thread has used so far, in the program and in the kernel on its behalf.
pub(super) fn thread_time() -> Duration {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The same of another program.
pub(super) fn process_time(process: u32) -> Duration {
    let mut clock = 0;
    // SAFETY: `clock` is a valid place for the number of a clock, and outlives the call.
    let status = unsafe { libc::clock_getcpuclockid(process.cast_signed(), &raw mut clock) };
    assert_eq!(status, 0, "a child has a clock until it was waited for");
    read(clock)
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for one `timespec`, and outlives the call.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(status, 0, "every Linux has this clock");
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(seconds, nanos)
}
