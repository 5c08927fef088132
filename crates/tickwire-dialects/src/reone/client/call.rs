//! Calls: what a client asks over TCP, and what came of it.
//!
//! In: typed questions, or names and bytes for methods that only the game knows. Out: of every question
//! one [`ClientEvent::CallEnded`](super::ClientEvent::CallEnded), with the answer in its type.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::{CallOutcome, CallStatus};
use tickwire_wire::display_enum;

use crate::reone::message::{Answer, Method, Status};
use crate::reone::{ModuleNumber, ObjectId};

/// What an answer means.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CallReply {
    /// The resource's name.
    Resref(String),
    /// The names of the items.
    Inventory(Vec<String>),
    /// The variable's value.
    Global(i32),
    /// The variable's value.
    Local(i32),
    /// The line was written.
    Log,
    /// What a method of the game returned.
    Bytes(Vec<u8>),
}

display_enum! {
    /// Why there is no answer.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum CallFailure: Error {
        /// There is no such method.
        UnknownMethod => "there is no such method",
        /// The argument names nothing there is.
        BadArgument => "the argument names nothing there is",
        /// Not for this client, or not now.
        Refused => "the server refused",
        /// What was answered is no answer to this question.
        Undecodable => "the answer makes no sense",
        /// No answer came in time.
        TimedOut => "no answer came in time",
        /// The connection ended first.
        Disconnected => "the connection ended",
    }
}

/// What is kept with a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked {
    /// The client itself asks what a creature of this module is.
    Creature(ObjectId, ModuleNumber),
    /// The application asks something that the protocol knows.
    Typed(Method),
    /// The application asks something of its game.
    Game,
}

impl Asked {
    /// What an outcome means as the answer to this.
    pub(super) fn read(self, outcome: CallOutcome) -> Result<CallReply, CallFailure> {
        let body = match outcome {
            CallOutcome::Answered { status, body } => match status {
                CallStatus::Done => body,
                CallStatus::UnknownMethod => return Err(CallFailure::UnknownMethod),
                CallStatus::BadArgument => return Err(CallFailure::BadArgument),
                CallStatus::Refused => return Err(CallFailure::Refused),
            },
            CallOutcome::TimedOut => return Err(CallFailure::TimedOut),
            CallOutcome::Disconnected => return Err(CallFailure::Disconnected),
        };
        let method = match self {
            Self::Game => return Ok(CallReply::Bytes(body)),
            Self::Creature(..) => Method::Resref,
            Self::Typed(method) => method,
        };
        match Answer::decode(method, &body) {
            Ok(answer) => Ok(CallReply::from(answer)),
            Err(_) => Err(CallFailure::Undecodable),
        }
    }
}

impl From<Answer<'_>> for CallReply {
    fn from(answer: Answer<'_>) -> Self {
        match answer {
            Answer::Resref(text) => Self::Resref(text.as_str().into()),
            Answer::Inventory(items) => {
                Self::Inventory(items.iter().map(|item| item.as_str().into()).collect())
            }
            Answer::Global(value) => Self::Global(value),
            Answer::Local(value) => Self::Local(value),
            Answer::Log => Self::Log,
        }
    }
}

/// The status of the wire as that of the shared mechanism.
pub(super) const fn status(status: Status) -> CallStatus {
    match status {
        Status::Ok => CallStatus::Done,
        Status::UnknownMethod => CallStatus::UnknownMethod,
        Status::BadArgument => CallStatus::BadArgument,
        Status::Refused => CallStatus::Refused,
    }
}
