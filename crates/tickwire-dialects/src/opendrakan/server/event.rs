//! What a server tells its game: who came, acted and went, and what was refused.

use core::time::Duration;

use tickwire_session::{Addr, counters};
use tickwire_wire::display_enum;

use crate::opendrakan::ClientId;
use crate::opendrakan::message::ActionState;

/// What the game is told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A client showed where its datagrams go: it takes part, and will be sent snapshots.
    Joined {
        /// Who.
        client: ClientId,
        /// Where its stream comes from.
        addr: Addr,
    },
    /// A player pressed, holds or released something.
    Acted {
        /// Who.
        client: ClientId,
        /// When, on the server's clock, at most 250 ms ago.
        at: Duration,
        /// What.
        code: u32,
        /// How.
        state: ActionState,
    },
    /// A player moved a stick.
    Steered {
        /// Who.
        client: ClientId,
        /// When, on the server's clock, at most 250 ms ago.
        at: Duration,
        /// Which.
        code: u32,
        /// Where it is now; any finite number.
        x: f32,
        /// Where it is now.
        y: f32,
    },
    /// A client is gone.
    Left {
        /// Who.
        client: ClientId,
        /// Why.
        why: Departure,
    },
}

display_enum! {
    /// Why a client is gone.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum Departure {
        /// It ended its stream.
        Disconnected => "left",
        /// It was silent for too long.
        TimedOut => "timed out",
        /// Its stream did not decode.
        Undecodable => "sent what is not the protocol",
        /// It did not read what it was sent.
        FellBehind => "fell behind",
        /// The game sent it away.
        Kicked => "was sent away",
        /// The server ends.
        ShutDown => "left: the server ends",
    }
}

counters! {
    /// What a server refused or noticed, by cause.
    pub struct ServerCounters {
        /// Datagrams above the largest accepted.
        oversized,
        /// Datagrams, and ends of streams, that did not decode.
        undecodable,
        /// Attach datagrams with a token that nobody there holds.
        wrong_token,
        /// Attach datagrams with the token of a client on another host.
        foreign_host,
        /// Acknowledgements from addresses that are not attached.
        stranger,
        /// Acknowledgements that came after a newer one.
        ack_old,
        /// Acknowledgements of snapshots that were not sent, or long ago.
        ack_never_sent,
        /// Actions of connections that had shown no token.
        too_early_actions,
        /// Actions above the rate.
        too_many_actions,
        /// Actions dropped because the game did not take them.
        overrun,
        /// Connections closed because there was no place, or the server ends.
        full,
        /// Connections closed because the game was too slow to take anybody.
        busy,
        /// Tokens that have to be shown again, because too many joined at the same time.
        joins_too_fast,
        /// Connections closed because they showed no token in time.
        attach_overdue,
        /// Connections cut off for newer ones, because too many had shown no token.
        crowded_out,
        /// Snapshots that a client was not sent for want of budget.
        skipped,
        /// Snapshots that a client was not sent because its path carries too little.
        path_too_narrow,
    }
}
