//! What a client tells the application, and why it cannot do something.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use tickwire_session::{ActionNumber, AskError, EndedAction, Failure, Outcome, Reason};
use tickwire_wire::display_enum;

use super::{AssetFailure, Entity};
use crate::cppevy::limits::{ASSET_NAME_MAX, DATA_MAX, UPLOAD_MAX};
use crate::cppevy::{ActionId, Bytes, EventId, SyncId};

/// How far the client has come (see `STATES.md`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// The stream is being opened.
    Dialling,
    /// Asking to play.
    Joining,
    /// Plays, and shows its token until datagrams come.
    Attaching,
    /// Plays on both paths.
    Playing,
    /// Has said that it goes.
    Leaving,
    /// Over; nothing is sent any more.
    Ended(EndReason),
}

/// Why it is over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EndReason {
    /// No server answered there.
    Unreachable,
    /// The server did not let this client play.
    Refused(Failure),
    /// The server fell silent.
    TimedOut,
    /// This client said that it goes.
    Left,
    /// The server sent this client away, or ended.
    Removed,
    /// The connection ended without a word.
    Disconnected,
    /// The server's stream makes no sense.
    Garbled,
    /// The application did not take its events.
    FellBehind,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreachable => "no server answered: check the address and that it runs",
            Self::Refused(Failure::Refused(Reason::Unavailable)) => {
                "the server is full: try again later"
            }
            Self::Refused(_) => "the server did not let this client play",
            Self::TimedOut => "the server fell silent",
            Self::Left => "you left",
            Self::Removed => "the server removed you, or ended",
            Self::Disconnected => "the connection broke",
            Self::Garbled => "the server sent bytes that make no sense",
            Self::FellBehind => "this program did not keep up with the server",
        })
    }
}

/// What the application is told.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// This client plays.
    Joined {
        /// Its entity.
        actor: SyncId,
    },
    /// Datagrams come: now, or again after they had not.
    Attached,
    /// Somebody else plays.
    ActorJoined(SyncId),
    /// Somebody else plays no longer.
    ActorLeft(SyncId),
    /// An entity is there.
    Summoned(SyncId),
    /// An entity is gone; this was its last state.
    Dismissed(SyncId, Entity),
    /// Something happened.
    Happened {
        /// What kind; always one that is registered.
        event: EventId,
        /// When: milliseconds of the server's clock.
        timestamp: u32,
        /// What else there is to say; not looked at.
        data: Bytes,
    },
    /// An assured action was done.
    Succeeded {
        /// Which one.
        number: ActionNumber,
        /// Its kind.
        action: ActionId,
        /// What came of it.
        message: Vec<u8>,
        /// It had failed before, with [`Reason::Delayed`].
        late: bool,
    },
    /// An assured action was not done. If it was assumed, it is no longer in
    /// [`assumed`](super::Client::assumed).
    Failed {
        /// Which one.
        number: ActionNumber,
        /// Its kind.
        action: ActionId,
        /// Why.
        why: Failure,
    },
    /// An input was not taken; which sending of it is not known.
    InputRefused {
        /// Its kind.
        action: ActionId,
        /// Why.
        reason: Reason,
    },
    /// Another percent of an asset is there.
    AssetProgress {
        /// Its name.
        name: String,
        /// Bytes that are there.
        received: u32,
        /// Bytes that it has.
        total: u32,
    },
    /// An asset is there, and is what the index lists.
    AssetFetched {
        /// Its name.
        name: String,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// An asset will not come.
    AssetFailed {
        /// Its name.
        name: String,
        /// Why.
        why: AssetFailure,
    },
    /// The server has what was offered.
    Uploaded {
        /// Its name.
        name: String,
    },
    /// The server does not want what was offered, or did not get it.
    UploadFailed {
        /// Its name.
        name: String,
        /// Why.
        why: Failure,
    },
    /// It is over. Every action has ended before.
    Ended(EndReason),
}

display_enum! {
    /// Why an action or input cannot be sent.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum ActError: Error {
        /// The registry has no such action, or not with this delivery.
        NotRegistered => "the registry has no such action",
        /// This client does not play, or its datagrams are not attached.
        NotConnected => "there is no connection",
        /// An object does not carry so much.
        TooLong => "data must have at most {DATA_MAX} bytes",
        /// The server said that it never does this.
        Disabled => "{}" (AskError::Disabled),
        /// Too many actions wait for their answers.
        TooMany => "{}" (AskError::TooMany),
    }
}

impl From<AskError> for ActError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Disabled => Self::Disabled,
            AskError::TooMany => Self::TooMany,
        }
    }
}

display_enum! {
    /// Why an asset cannot be fetched, or content not offered.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum FetchError: Error {
        /// Another one is on its way.
        OneAtATime => "another one is on its way",
        /// None has such a name.
        Name => "an asset's name has 1 to {ASSET_NAME_MAX} bytes",
        /// It is empty, or larger than any server takes.
        Size => "what is offered has 1 to {UPLOAD_MAX} bytes",
        /// The action cannot be sent.
        Act(error: ActError) => "{error}",
    }
}

/// What the application is told of an ended action.
pub(super) fn build_event(ended: EndedAction<ActionId>) -> ClientEvent {
    let (number, action) = (ended.number, ended.kind);
    match ended.outcome {
        Outcome::Succeeded { message, late } => ClientEvent::Succeeded {
            number,
            action,
            message,
            late,
        },
        Outcome::Failed(why) => ClientEvent::Failed {
            number,
            action,
            why,
        },
    }
}
