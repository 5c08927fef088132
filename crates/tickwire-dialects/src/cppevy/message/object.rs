//! One object of a payload.

use tickwire_session::Reason;
use tickwire_wire::DecodeError;

use super::content;
use crate::cppevy::limits::DATA_MAX;
use crate::cppevy::{ActionId, EventId, Reader, StateId, Writer};

/// Which side sends: each kind of object is sent by one of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sender {
    /// The side that asks.
    Client,
    /// The side that decides.
    Server,
}

/// An object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Object<'a> {
    /// Server: true at the payload's moment.
    State {
        /// What it describes.
        state: StateId,
        /// Its value.
        value: Data<'a>,
    },
    /// Client: wants to hear of a state.
    StateRequest {
        /// Which one.
        state: StateId,
    },
    /// Server: happened at the payload's moment.
    Event {
        /// What kind.
        event: EventId,
        /// What else there is to say.
        data: Data<'a>,
    },
    /// Client: wants something done.
    Action {
        /// What kind.
        action: ActionId,
        /// What else there is to say.
        data: Data<'a>,
    },
    /// Server: it was done.
    Success {
        /// The action's kind.
        action: ActionId,
        /// What came of it; may be empty.
        message: Data<'a>,
    },
    /// Server: it was not done.
    Failure {
        /// The action's kind.
        action: ActionId,
        /// Why.
        reason: Reason,
    },
}

/// Up to 255 bytes inside an object.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Data<'a>(&'a [u8]);

impl<'a> Data<'a> {
    /// No bytes.
    pub const EMPTY: Self = Self(&[]);

    /// These bytes, unless there are more than an object carries.
    pub const fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() <= DATA_MAX {
            Some(Self(bytes))
        } else {
            None
        }
    }

    /// The bytes.
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }

    fn encode(self, w: &mut Writer<'_>) {
        #[expect(clippy::cast_possible_truncation, reason = "bounded by `new`")]
        w.u8(self.0.len() as u8);
        w.bytes(self.0);
    }
}

impl<'a> Object<'a> {
    /// Reads the next object of a payload.
    pub fn decode(r: &mut Reader<'a>, sender: Sender) -> Result<Self, DecodeError> {
        let kind = r.u8("kind")?;
        r.means(name_of(kind));
        match (kind, sender) {
            (1, Sender::Server) => {
                let state = read_state(r)?;
                let value = read_data(r, content::Layout::PLAIN)?;
                Ok(Self::State { state, value })
            }
            (2, Sender::Client) => Ok(Self::StateRequest {
                state: read_state(r)?,
            }),
            (3, Sender::Server) => {
                let event = EventId(r.u16("event")?);
                r.means(event.name().unwrap_or_default());
                let data = read_data(r, content::Layout::of_event(event))?;
                Ok(Self::Event { event, data })
            }
            (4, Sender::Client) => {
                let action = read_action(r)?;
                let data = read_data(r, content::Layout::of_action(action))?;
                Ok(Self::Action { action, data })
            }
            (5, Sender::Server) => {
                let action = read_action(r)?;
                let message = read_data(r, content::Layout::of_success(action))?;
                Ok(Self::Success { action, message })
            }
            (6, Sender::Server) => {
                let action = read_action(r)?;
                let code = r.u8("reason")?;
                let Some(reason) = reason_of(code) else {
                    return Err(r.refuse("reason", code.into()));
                };
                r.means(reason.name());
                Ok(Self::Failure { action, reason })
            }
            _ => Err(r.refuse("kind", kind.into())),
        }
    }

    /// What is behind the object that `bytes` begin with; `None` if none does.
    #[inline]
    pub(super) fn skip(bytes: &'a [u8], sender: Sender) -> Option<&'a [u8]> {
        match (bytes, sender) {
            (&[1 | 3 | 5, _, _, size, ref rest @ ..], Sender::Server)
            | (&[4, _, _, size, ref rest @ ..], Sender::Client) => rest.get(usize::from(size)..),
            (&[2, _, _, ref rest @ ..], Sender::Client) => Some(rest),
            (&[6, _, _, code, ref rest @ ..], Sender::Server) => reason_of(code).and(Some(rest)),
            _ => None,
        }
    }

    /// The object that `bytes` begin with, and what is behind it; `None` if none does. It takes what
    /// [`decode`](Self::decode) takes, and shows no field to anybody.
    #[inline]
    pub(super) fn split(bytes: &'a [u8], sender: Sender) -> Option<(Self, &'a [u8])> {
        let (object, rest) = match (bytes, sender) {
            (&[1, low, high, size, ref rest @ ..], Sender::Server) => {
                let (value, rest) = rest.split_at_checked(size.into())?;
                let (state, value) = (StateId::from_descriptor(word(low, high)), Data(value));
                (Self::State { state, value }, rest)
            }
            (&[3, low, high, size, ref rest @ ..], Sender::Server) => {
                let (data, rest) = rest.split_at_checked(size.into())?;
                let (event, data) = (EventId(word(low, high)), Data(data));
                (Self::Event { event, data }, rest)
            }
            (&[4, low, high, size, ref rest @ ..], Sender::Client) => {
                let (data, rest) = rest.split_at_checked(size.into())?;
                let (action, data) = (ActionId(word(low, high)), Data(data));
                (Self::Action { action, data }, rest)
            }
            (&[5, low, high, size, ref rest @ ..], Sender::Server) => {
                let (message, rest) = rest.split_at_checked(size.into())?;
                let (action, message) = (ActionId(word(low, high)), Data(message));
                (Self::Success { action, message }, rest)
            }
            (&[2, low, high, ref rest @ ..], Sender::Client) => {
                let state = StateId::from_descriptor(word(low, high));
                (Self::StateRequest { state }, rest)
            }
            (&[6, low, high, code, ref rest @ ..], Sender::Server) => {
                let (action, reason) = (ActionId(word(low, high)), reason_of(code)?);
                (Self::Failure { action, reason }, rest)
            }
            _ => return None,
        };
        Some((object, rest))
    }

    /// Writes the object.
    pub fn encode(&self, w: &mut Writer<'_>) {
        match *self {
            Self::State { state, value } => {
                w.u8(1);
                w.u16(state.descriptor());
                value.encode(w);
            }
            Self::StateRequest { state } => {
                w.u8(2);
                w.u16(state.descriptor());
            }
            Self::Event { event, data } => {
                w.u8(3);
                w.u16(event.0);
                data.encode(w);
            }
            Self::Action { action, data } => {
                w.u8(4);
                w.u16(action.0);
                data.encode(w);
            }
            Self::Success { action, message } => {
                w.u8(5);
                w.u16(action.0);
                message.encode(w);
            }
            Self::Failure { action, reason } => {
                w.u8(6);
                w.u16(action.0);
                w.u8(code_of(reason));
            }
        }
    }

    /// Who sends it.
    pub const fn sender(&self) -> Sender {
        match self {
            Self::StateRequest { .. } | Self::Action { .. } => Sender::Client,
            Self::State { .. } | Self::Event { .. } => Sender::Server,
            Self::Success { .. } | Self::Failure { .. } => Sender::Server,
        }
    }
}

const fn word(low: u8, high: u8) -> u16 {
    u16::from_le_bytes([low, high])
}

fn read_state(r: &mut Reader<'_>) -> Result<StateId, DecodeError> {
    Ok(StateId::from_descriptor(r.u16("state")?))
}

fn read_action(r: &mut Reader<'_>) -> Result<ActionId, DecodeError> {
    let action = ActionId(r.u16("action")?);
    r.means(action.name().unwrap_or_default());
    Ok(action)
}

fn read_data<'a>(r: &mut Reader<'a>, layout: content::Layout) -> Result<Data<'a>, DecodeError> {
    let size = usize::from(r.u8("size")?);
    let ahead = r.peek(size);
    if ahead.len() == size && r.is_traced() && layout.fits(ahead) {
        layout.trace(r, size)?;
        return Ok(Data(ahead));
    }
    Ok(Data(r.bytes("data", size)?))
}

/// What the object of this kind is called.
const fn name_of(kind: u8) -> &'static str {
    match kind {
        1 => "State",
        2 => "StateRequest",
        3 => "Event",
        4 => "Action",
        5 => "ActionSuccess",
        6 => "ActionFailure",
        _ => "unknown",
    }
}

const fn reason_of(code: u8) -> Option<Reason> {
    Some(match code {
        1 => Reason::Unavailable,
        2 => Reason::Disabled,
        3 => Reason::Error,
        4 => Reason::Waiting,
        5 => Reason::Delayed,
        6 => Reason::Busy,
        _ => return None,
    })
}

const fn code_of(reason: Reason) -> u8 {
    match reason {
        Reason::Unavailable => 1,
        Reason::Disabled => 2,
        Reason::Error => 3,
        Reason::Waiting => 4,
        Reason::Delayed => 5,
        Reason::Busy => 6,
    }
}
