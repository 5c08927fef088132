//! Time that the processor spent on us, which other programs on the same machine do not lengthen.

use std::time::Duration;

/// The calling thread's time that `work` takes, and what it returns.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = thread_time();
    let result = work();
    (thread_time().saturating_sub(began), result)
}

/// What the calling thread has used so far, in the program and in the kernel on its behalf.
fn thread_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for one `timespec`, and outlives the call.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "every Linux has this clock");
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(seconds, nanos)
}
