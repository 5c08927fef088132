//! Expected panics of a library.
//!
//! The database panics over a damaged file. The panic is caught and becomes an error, without the
//! message and backtrace that would be printed before it. Other threads, and everything
//! outside, report their panics as before.

use std::cell::Cell;
use std::panic::{self, UnwindSafe};
use std::sync::Once;
use std::thread;

thread_local! {
    /// Whether a panic of this thread is expected.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `work`; a panic is an error, of which nothing is printed.
pub(super) fn catch_quietly<T>(work: impl FnOnce() -> T + UnwindSafe) -> thread::Result<T> {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !EXPECTED.get() {
                usual(info);
            }
        }));
    });
    EXPECTED.set(true);
    let outcome = panic::catch_unwind(work);
    EXPECTED.set(false);
    outcome
}
