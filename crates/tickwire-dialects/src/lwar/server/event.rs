//! What a server tells its game: who came, chose, spoke and went, and what was refused.

use alloc::string::String;
use core::fmt;

use tickwire_session::counters;
use tickwire_wire::display_enum;

use crate::lwar::PlayerId;
use crate::lwar::limits::ENTITIES_MAX;
use crate::lwar::message::Selection;

/// What the game is told.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// Somebody is there, has proved its address and can be seen by the others. It has no ship yet.
    Joined {
        /// Its id.
        player: PlayerId,
        /// Its name.
        name: String,
    },
    /// A player chose. The first choice brings its ship; a later one counts from the next respawn.
    Selected {
        /// Who.
        player: PlayerId,
        /// Ship and weapons, checked to exist.
        selection: Selection,
    },
    /// A player has a new name; everybody knows already.
    Renamed {
        /// Who.
        player: PlayerId,
        /// The name.
        name: String,
    },
    /// A player said something; everybody heard it already.
    Chatted {
        /// Who.
        player: PlayerId,
        /// What.
        text: String,
    },
    /// A player is gone, and its entities are gone from the table.
    Left {
        /// Who.
        player: PlayerId,
        /// Why.
        why: Departure,
    },
}

display_enum! {
    /// Why a player is gone.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum Departure {
        /// It said so.
        Disconnected => "left",
        /// Nothing was heard of it.
        TimedOut => "timed out",
        /// It stopped acknowledging, or could not keep up.
        FellBehind => "fell behind",
        /// It broke the protocol too often.
        Violations => "broke the protocol too often",
        /// The game sent it away.
        Kicked => "was sent away",
        /// The server ends.
        ShutDown => "left: the server ends",
    }
}

/// The entity table is full.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooManyEntities;

impl fmt::Display for TooManyEntities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there are {ENTITIES_MAX} entities already: remove one first"
        )
    }
}

impl core::error::Error for TooManyEntities {}

counters! {
    /// What a server refused or noticed, by cause.
    pub struct ServerCounters {
        /// Datagrams too short for a header.
        short_header,
        /// Datagrams of another protocol or version.
        wrong_app_id,
        /// Datagrams above the largest accepted.
        oversized,
        /// Datagrams that ended inside a message.
        truncated,
        /// Messages with an id that does not exist.
        unknown_message,
        /// Messages that only a server sends.
        server_only,
        /// Messages that named another player as their sender.
        foreign_player,
        /// Connects of somebody who is connected.
        second_connect,
        /// Names that are empty, too long or not UTF-8.
        bad_name,
        /// Chats that are not UTF-8.
        bad_chat,
        /// Choices of ships or weapons that do not exist.
        bad_selection,
        /// Acknowledgements of messages that were never sent.
        ack_never_sent,
        /// Reliable messages that came before an earlier one.
        sequence_gap,
        /// Unreliable parts of packets that came after a newer one.
        stale,
        /// Datagrams from addresses that are not connected.
        stranger,
        /// Connects answered with Full because every place was taken.
        full,
        /// Connects answered with Full because the game was too slow.
        busy,
        /// Clients that never named their player id, and lost their place after 5 s or to another.
        unproved,
        /// Names beyond a player's rate, which had no effect.
        rename_rate,
        /// Chats, names and selections that must be sent again because there were too many.
        held_back,
        /// Answers and datagrams dropped because too much was waiting.
        overrun,
    }
}
