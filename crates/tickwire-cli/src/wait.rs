//! Waiting for a thread, but not for ever.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What the thread returned; `None` if it is still busy after `patience`, and left to itself.
pub(crate) fn finished_within<T>(
    patience: Duration,
    thread: JoinHandle<T>,
) -> Option<thread::Result<T>> {
    let deadline = Instant::now() + patience;
    while !thread.is_finished() {
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Some(thread.join())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_busy_thread_is_left_to_itself() {
        let (end, ended) = channel::<()>();
        let busy = thread::spawn(move || ended.recv());
        assert!(finished_within(Duration::from_millis(5), busy).is_none());
        drop(end);
        let done = finished_within(Duration::from_secs(5), thread::spawn(|| 7));
        assert_eq!(done.map(Result::unwrap), Some(7));
    }
}
