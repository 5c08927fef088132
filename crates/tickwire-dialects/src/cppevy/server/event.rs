//! What a server tells the game, what the game says to it, why it cannot say something, and what was
//! refused.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use tickwire_session::{PeerId, Reason, counters};
use tickwire_wire::display_enum;

use super::action_queue::LineId;
use crate::cppevy::limits::DATA_MAX;
use crate::cppevy::{ActionId, SyncId};

/// What the game is told.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// Somebody plays, and has an entity that everybody can see.
    Joined {
        /// Its entity.
        actor: SyncId,
        /// Its name: any UTF-8, of up to 253 bytes, that others may have too.
        name: String,
    },
    /// A client wants something done: [`answer`](super::Server::answer) it. Until then no other
    /// action of this kind comes from this client by the same path.
    Action {
        /// Who.
        actor: SyncId,
        /// What kind; always one that is registered and enabled.
        action: ActionId,
        /// What it said; not looked at.
        data: Vec<u8>,
        /// What to answer with.
        token: ActionToken,
    },
    /// A client has content for the server: [`answer`](super::Server::answer) whether it may send it. The
    /// message of a success is not told.
    Offered {
        /// Who.
        actor: SyncId,
        /// What it is called: a relative path that stays within its folder.
        name: String,
        /// Its bytes.
        size: u32,
        /// What to answer with.
        token: ActionToken,
    },
    /// Content that was wanted is there, and is what was offered.
    Uploaded {
        /// Whose it is.
        actor: SyncId,
        /// Its name.
        name: String,
        /// What it holds.
        bytes: Vec<u8>,
    },
    /// Somebody is gone, and so is its entity.
    Left {
        /// Who.
        actor: SyncId,
        /// Why.
        why: Departure,
    },
}

/// An action that waits for its answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ActionToken {
    pub(super) peer: PeerId,
    pub(super) line: LineId,
    pub(super) number: u64,
}

/// What becomes of an action.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer<'a> {
    /// It was done.
    Success(&'a [u8]),
    /// It was not.
    Failure(Reason),
}

/// Who hears of an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Audience {
    /// Everybody.
    All,
    /// One client.
    One(SyncId),
    /// Everybody but one client.
    AllBut(SyncId),
}

impl Audience {
    pub(super) fn includes(self, actor: SyncId) -> bool {
        match self {
            Self::All => true,
            Self::One(only) => actor == only,
            Self::AllBut(but) => actor != but,
        }
    }
}

display_enum! {
    /// Why a client is gone.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum Departure {
        /// It said so.
        Left => "left",
        /// Its stream ended.
        Disconnected => "disconnected",
        /// Nothing was heard of it.
        TimedOut => "timed out",
        /// It sent what cannot be read, on a stream that cannot be read any further.
        Garbled => "sent bytes that make no sense",
        /// It does not take what it is sent.
        FellBehind => "fell behind",
        /// The game sent it away.
        Kicked => "was sent away",
        /// The server ends.
        ShutDown => "left: the server ends",
    }
}

/// All sync ids are in use or resting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoFreeId;

impl fmt::Display for NoFreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = SyncId::COUNT;
        write!(
            f,
            "all {count} sync ids are in use, or were in use just now"
        )
    }
}

impl core::error::Error for NoFreeId {}

display_enum! {
    /// Why something cannot be said.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum PublishError: Error {
        /// An object does not carry so much.
        TooLong => "data must have at most {DATA_MAX} bytes",
        /// The registry has no such event, or it is the protocol's own.
        NotRegistered => "the registry has no such event",
        /// The registry says that a state of this kind has another length.
        WrongLength => "the registry has another length for such a state",
    }
}

counters! {
    /// What a server refused or noticed, by cause.
    pub struct ServerCounters {
        /// Datagrams that are no payload of a client, or hold an object that is none.
        undecodable_datagram,
        /// Streams that were closed because they could not be read any further.
        undecodable_stream,
        /// Objects from addresses that are not attached, and payloads without any.
        stranger,
        /// Tokens that nobody holds.
        wrong_token,
        /// Tokens shown by another host than their holder's.
        token_from_elsewhere,
        /// Tokens shown by an address that belongs to another client.
        foreign_token,
        /// Wrong tokens that were not answered because their machine had shown too many.
        token_ignored,
        /// Joins for which there was no place.
        full,
        /// Actions that do not exist.
        unknown_action,
        /// Actions of the protocol whose data made no sense.
        bad_data,
        /// Leave, Offer and Piece by datagram, and Attach by stream.
        wrong_path,
        /// Actions answered with Busy.
        busy,
        /// Actions that the game left unanswered.
        unanswered,
        /// Answers of the game to actions that were answered before, or whose client is gone.
        stray_answer,
        /// State requests above the rate, or of states that do not exist.
        request_ignored,
        /// Offers that are too large, or have a name that no file could have.
        upload_refused,
        /// Content that was not what was offered.
        upload_broken,
        /// Content that took too long.
        upload_stalled,
        /// Joins that were too many in a second, or came while the game was too slow.
        too_many_joins,
        /// Connections that had not joined, and gave way to newer ones.
        too_many_streams,
        /// Connections that did not join in time.
        join_overdue,
        /// Events and answers by datagram dropped because too many were waiting.
        overrun,
    }
}
