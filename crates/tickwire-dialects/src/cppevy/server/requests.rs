//! How often a client may ask for states.

use alloc::collections::VecDeque;
use core::time::Duration;

use tickwire_session::Instant;

use crate::cppevy::limits::REQUESTS_A_SECOND;

/// When the last requests were honoured, oldest first.
#[derive(Debug, Default)]
pub(super) struct Requests {
    honoured: VecDeque<Instant>,
}

impl Requests {
    /// Honours another request, unless there were enough within a second.
    pub(super) fn honour(&mut self, now: Instant) -> Option<()> {
        let recent = |at: &Instant| now.since(*at) < Duration::from_secs(1);
        self.honoured.retain(recent);
        if self.honoured.len() >= REQUESTS_A_SECOND {
            return None;
        }
        self.honoured.push_back(now);
        Some(())
    }
}
