//! What a client must not do, and what comes of it.
//!
//! In: a violation, from wherever a message is heard. Out: its counter, which the operator sees, and for
//! a reliable message that was the next in order also a point against the client, which is removed
//! when it has too many. What the messages do that are no violations is left to `receive`.

use tickwire_session::Instant;

use super::{Departure, Peer, Server, ServerCounters};
use crate::lwar::message::BadText;

/// What a client must not do; each has a counter.
#[derive(Clone, Copy)]
pub(super) enum Violation {
    ServerOnly,
    ForeignPlayer,
    SecondConnect,
    BadName,
    BadChat,
    BadSelection,
    UnknownMessage,
}

impl Violation {
    /// Counts it for the operator.
    pub(super) fn count(self, counters: &mut ServerCounters) {
        *match self {
            Self::ServerOnly => &mut counters.server_only,
            Self::ForeignPlayer => &mut counters.foreign_player,
            Self::SecondConnect => &mut counters.second_connect,
            Self::BadName => &mut counters.bad_name,
            Self::BadChat => &mut counters.bad_chat,
            Self::BadSelection => &mut counters.bad_selection,
            Self::UnknownMessage => &mut counters.unknown_message,
        } += 1;
    }
}

impl From<BadText> for Violation {
    fn from(text: BadText) -> Self {
        match text {
            BadText::Name(_) => Self::BadName,
            BadText::Chat(_) => Self::BadChat,
        }
    }
}

/// What came of a reliable message that was the next in order.
pub(super) enum Outcome {
    /// It was processed.
    Taken,
    /// It was processed, and must not have been sent.
    Violation(Violation),
    /// It stays unacknowledged: the client will send it again.
    HeldBack,
    /// The client is gone.
    Gone,
}

impl Server {
    /// Counts a violation in a message that was the next in order, which is thereby processed.
    pub(super) fn punish(
        &mut self,
        now: Instant,
        peer: &mut Peer,
        violation: Violation,
    ) -> Result<(), Departure> {
        peer.inbox.advance();
        violation.count(&mut self.counters);
        peer.refused += 1;
        peer.violations.take(now).ok_or(Departure::Violations)
    }
}

/// What a client reads before it is removed.
pub(super) const VIOLATIONS_TEXT: &str =
    "You were removed: your client broke the protocol too often.";
