//! Ctrl-C and SIGTERM.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use signal_hook::consts::TERM_SIGNALS;

/// Whether somebody wants this process to end.
///
/// The first signal asks, so that peers can be told; a second one ends the process at once.
#[derive(Clone, Debug)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens from now on.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for &signal in TERM_SIGNALS {
            // In this order: the second signal finds the flag that the first one set.
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&asked))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&asked)))
                .context("cannot listen for Ctrl-C")?;
        }
        Ok(Self(asked))
    }

    /// Asks, as a signal does.
    pub(crate) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
