//! The fields of each type, in the order of the wire.

use tickwire_session::Token;
use tickwire_state::Tick;
use tickwire_wire::DecodeError;

use super::super::{DatabaseId, ObjectId, Reader, Writer, path};
use super::{
    Action, ActionState, AnalogAction, AssetRef, BasicChanges, Confirm, Lifecycle, Message,
};

/// Reads the fields of type `id`, the last of which may reach to `end`.
pub(super) fn decode<'a>(
    id: u8,
    r: &mut Reader<'a>,
    end: usize,
) -> Result<Message<'a>, DecodeError> {
    Ok(match id {
        0 => Message::DatabaseEntry {
            database: DatabaseId(r.u32("database")?),
            path: path::decode(r, "path", end - r.position())?,
        },
        1 => Message::LoadLevel {
            databases: r.u32("databases")?,
            path: path::decode(r, "path", end - r.position())?,
        },
        2 => Message::ObjectStates {
            tick: tick(r)?,
            object: object(r, "object")?,
            states: BasicChanges::decode(r)?,
        },
        3 => Message::ObjectExtraStates {
            tick: tick(r)?,
            object: object(r, "object")?,
            bundle: r.bytes("states", end - r.position())?,
        },
        4 => Message::ConfirmSnapshot(Confirm::decode(r)?),
        5 => Message::GlobalMessage {
            channel: r.u32("channel")?,
            real_time: real_time(r)?,
            body: r.bytes("body", end - r.position())?,
        },
        6 => Message::ObjectMessage {
            channel: r.u32("channel")?,
            sender: object(r, "sender")?,
            receiver: object(r, "receiver")?,
            real_time: real_time(r)?,
            body: r.bytes("body", end - r.position())?,
        },
        7 => Message::ObjectAnimation {
            real_time: real_time(r)?,
            object: object(r, "object")?,
            animation: AssetRef::decode(r)?,
            channel: r.i32("channel")?,
            speed: finite(r, "speed")?,
        },
        11 => Message::Sound {
            real_time: real_time(r)?,
            sound: AssetRef::decode(r)?,
        },
        12 => Message::ObjectCreated {
            tick: tick(r)?,
            object: object(r, "object")?,
            prototype: object(r, "prototype")?,
        },
        13 => Message::LifecycleChanged {
            tick: tick(r)?,
            object: object(r, "object")?,
            lifecycle: Lifecycle::decode(r)?,
        },
        8..=10 | 14 => return decode_uplink(id, r),
        other => return Err(r.refuse("type", other.into())),
    })
}

/// Reads the fields of a type that clients send.
fn decode_uplink<'a>(id: u8, r: &mut Reader<'_>) -> Result<Message<'a>, DecodeError> {
    Ok(match id {
        8 => Message::AcknowledgeSnapshot {
            tick: Tick(r.u64("tick")?),
        },
        9 => Message::Action(Action {
            real_time: moment(r)?,
            code: r.u32("action code")?,
            state: ActionState::decode(r)?,
        }),
        10 => Message::AnalogAction(AnalogAction {
            real_time: moment(r)?,
            code: r.u32("action code")?,
            x: finite(r, "x")?,
            y: finite(r, "y")?,
        }),
        14 => Message::Attach {
            token: Token(r.u64("token")?),
        },
        other => return Err(r.refuse("type", other.into())),
    })
}

/// Writes the fields.
pub(super) fn encode(message: &Message<'_>, w: &mut Writer<'_>) {
    match *message {
        Message::DatabaseEntry { database, path } => {
            w.u32(database.0);
            w.bytes(path.as_bytes());
        }
        Message::LoadLevel { databases, path } => {
            w.u32(databases);
            w.bytes(path.as_bytes());
        }
        Message::ObjectStates {
            tick,
            object,
            states,
        } => {
            encode_place(tick, object, w);
            states.encode(w);
        }
        Message::ObjectExtraStates {
            tick,
            object,
            bundle,
        } => {
            encode_place(tick, object, w);
            w.bytes(bundle);
        }
        Message::ConfirmSnapshot(confirm) => confirm.encode(w),
        Message::AcknowledgeSnapshot { tick } => w.u64(tick.0),
        Message::ObjectCreated {
            tick,
            object,
            prototype,
        } => {
            encode_place(tick, object, w);
            w.u32(prototype.0);
        }
        Message::LifecycleChanged {
            tick,
            object,
            lifecycle,
        } => {
            encode_place(tick, object, w);
            w.u8(lifecycle.number());
        }
        Message::Attach { token } => w.u64(token.0),
        _ => encode_timed(message, w),
    }
}

/// Writes the fields of what carries a moment of its own.
fn encode_timed(message: &Message<'_>, w: &mut Writer<'_>) {
    match *message {
        Message::GlobalMessage {
            channel,
            real_time,
            body,
        } => {
            w.u32(channel);
            w.f64(real_time);
            w.bytes(body);
        }
        Message::ObjectMessage {
            channel,
            sender,
            receiver,
            real_time,
            body,
        } => {
            w.u32(channel);
            w.u32(sender.0);
            w.u32(receiver.0);
            w.f64(real_time);
            w.bytes(body);
        }
        Message::ObjectAnimation {
            real_time,
            object,
            animation,
            channel,
            speed,
        } => {
            w.f64(real_time);
            w.u32(object.0);
            animation.encode(w);
            w.i32(channel);
            w.f32(speed);
        }
        Message::Sound { real_time, sound } => {
            w.f64(real_time);
            sound.encode(w);
        }
        Message::Action(action) => {
            w.f64(action.real_time);
            w.u32(action.code);
            w.u8(action.state.number());
        }
        Message::AnalogAction(action) => {
            w.f64(action.real_time);
            w.u32(action.code);
            w.f32(action.x);
            w.f32(action.y);
        }
        _ => {}
    }
}

fn encode_place(tick: Tick, object: ObjectId, w: &mut Writer<'_>) {
    w.u64(tick.0);
    w.u32(object.0);
}

/// A snapshot's tick: 0 stands for none, so no snapshot has it.
pub(super) fn tick(r: &mut Reader<'_>) -> Result<Tick, DecodeError> {
    match r.u64("tick")? {
        0 => Err(r.refuse("tick", 0)),
        tick => Ok(Tick(tick)),
    }
}

fn object(r: &mut Reader<'_>, field: &'static str) -> Result<ObjectId, DecodeError> {
    r.u32(field).map(ObjectId)
}

/// A moment of the server's clock, as a server states it.
pub(super) fn real_time(r: &mut Reader<'_>) -> Result<f64, DecodeError> {
    let seconds = r.f64("realtime")?;
    // Also what no span of time can hold.
    if core::time::Duration::try_from_secs_f64(seconds).is_err() {
        return Err(r.refuse("realtime", seconds.to_bits()));
    }
    Ok(seconds)
}

/// A moment as a client states it: it will be moved to where it is allowed, if it is a number at all.
fn moment(r: &mut Reader<'_>) -> Result<f64, DecodeError> {
    let seconds = r.f64("realtime")?;
    if seconds.is_nan() {
        return Err(r.refuse("realtime", seconds.to_bits()));
    }
    Ok(seconds)
}

fn finite(r: &mut Reader<'_>, field: &'static str) -> Result<f32, DecodeError> {
    let value = r.f32(field)?;
    if !value.is_finite() {
        return Err(r.refuse(field, value.to_bits().into()));
    }
    Ok(value)
}
