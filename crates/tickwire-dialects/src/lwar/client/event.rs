//! What a client tells its application: how far it has come, what happened, and what was refused.

use alloc::string::String;

use tickwire_session::counters;
use tickwire_wire::display_enum;

use super::world::Entity;
use crate::lwar::message::{Collision, Selection};
use crate::lwar::{EntityId, PlayerId};

/// How far the client has come (see `STATES.md`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// Asking for a place.
    Connecting,
    /// Has a place, and is being told what there is.
    Syncing,
    /// Knows what there is, and waits for where it is.
    Settling,
    /// Plays.
    Playing,
    /// Has said that it goes.
    Leaving,
    /// Over; nothing is sent any more.
    Ended(EndReason),
}

impl Phase {
    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Connecting => "Connecting",
            Self::Syncing => "Syncing",
            Self::Settling => "Settling",
            Self::Playing => "Playing",
            Self::Leaving => "Leaving",
            Self::Ended(_) => "Ended",
        }
    }
}

display_enum! {
    /// Why it is over.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum EndReason {
        /// The server has no place left.
        Full => "the server is full: try again later",
        /// No server answered.
        Unreachable => "no server answered: check the address and that it runs",
        /// The server fell silent.
        TimedOut => "the server fell silent",
        /// This client said that it goes.
        Disconnected => "you left",
        /// The server removed this player, or ended.
        Removed => "the server removed you, or ended",
    }
}

/// What the application is told.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server gave this client a place.
    Connected {
        /// This client's player.
        player: PlayerId,
    },
    /// Everything that is there has been told.
    Synced,
    /// Updates have come for it too: from now on the player plays.
    Started,
    /// The player plays and has chosen no ship: none comes before [`select`](super::Client::select).
    NotSelected,
    /// A player is there.
    Joined(PlayerId),
    /// A player is gone; this was its name.
    Left(PlayerId, String),
    /// A player has another name; this was the old one.
    Renamed(PlayerId, String),
    /// A player chose ship and weapons.
    Selected(PlayerId, Selection),
    /// A player said something.
    Chatted(PlayerId, String),
    /// An entity is there.
    Added(EntityId),
    /// An entity is gone; this was its last state.
    Removed(EntityId, Entity),
    /// Two entities touched.
    Collided(Collision),
    /// It is over.
    Ended(EndReason),
}

display_enum! {
    /// Why something cannot be sent.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum SayError: Error {
        /// There is no connection yet, or no more.
        NotConnected => "there is no connection",
        /// It is empty, or longer than the protocol carries.
        Length {
            /// The most bytes allowed.
            limit: u8,
        } => "text must have 1 to {limit} bytes",
        /// The server has not acknowledged what was said before.
        TooMuchWaiting => "the server has not taken what was said before",
    }
}

counters! {
    /// What a client refused or noticed, by cause.
    pub struct ClientCounters {
        /// Datagrams that are not lwar.
        not_lwar,
        /// Datagrams that ended inside a message, or held an unknown one.
        undecodable,
        /// Messages that only a client sends, or with forbidden content.
        violations,
        /// Datagrams from somebody else.
        stranger,
        /// Acknowledgements of messages that were never sent.
        ack_never_sent,
        /// Reliable messages that came before an earlier one.
        sequence_gap,
        /// Unreliable parts of packets that came after a newer one.
        stale,
        /// Updates and removals of entities that are not known.
        unknown_entity,
        /// Chats of players that are not known.
        unknown_player,
        /// Players and entities above what is kept.
        too_many,
        /// Datagrams dropped because too many events were waiting.
        overrun,
    }
}
