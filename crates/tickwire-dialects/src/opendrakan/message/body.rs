//! The fields of each type, in the order of the wire.

use tickwire_state::Tick;
use tickwire_wire::{DecodeError, Field};

use super::{BasicChanges, Confirm, Kind, Message, ObjectChange};
use crate::opendrakan::{Reader, Writer, path};

/// Reads the fields of a kind, the last of which may reach to `end`.
pub(super) fn decode<'a>(
    kind: Kind,
    r: &mut Reader<'a>,
    end: usize,
) -> Result<Message<'a>, DecodeError> {
    Ok(match kind {
        Kind::DatabaseEntry => Message::DatabaseEntry {
            database: Field::read(r, "database")?,
            path: path::decode(r, "path", end - r.position())?,
        },
        Kind::LoadLevel => Message::LoadLevel {
            databases: r.u32("databases")?,
            path: path::decode(r, "path", end - r.position())?,
        },
        Kind::ObjectStates
        | Kind::ObjectExtraStates
        | Kind::ObjectCreated
        | Kind::LifecycleChanged => Message::ObjectChanged {
            tick: tick(r)?,
            object: Field::read(r, "object")?,
            change: match kind {
                Kind::ObjectStates => ObjectChange::States(BasicChanges::decode(r)?),
                Kind::ObjectCreated => ObjectChange::Created(Field::read(r, "prototype")?),
                Kind::LifecycleChanged => ObjectChange::Lifecycle(Field::read(r, "new state")?),
                _ => ObjectChange::ExtraStates(r.bytes("states", end - r.position())?),
            },
        },
        Kind::ConfirmSnapshot => Message::ConfirmSnapshot(Confirm::decode(r)?),
        Kind::GlobalMessage => Message::GlobalMessage {
            channel: r.u32("channel")?,
            real_time: real_time(r)?,
            body: r.bytes("body", end - r.position())?,
        },
        Kind::ObjectMessage => Message::ObjectMessage {
            channel: r.u32("channel")?,
            sender: Field::read(r, "sender")?,
            receiver: Field::read(r, "receiver")?,
            real_time: real_time(r)?,
            body: r.bytes("body", end - r.position())?,
        },
        Kind::ObjectAnimation => Message::ObjectAnimation {
            real_time: real_time(r)?,
            object: Field::read(r, "object")?,
            animation: Field::read(r, "asset")?,
            channel: r.i32("channel")?,
            speed: finite(r, "speed")?,
        },
        Kind::AcknowledgeSnapshot => Message::AcknowledgeSnapshot {
            tick: Tick(r.u64("tick")?),
        },
        Kind::Action => Message::Action(Field::read(r, "action")?),
        Kind::AnalogAction => Message::AnalogAction(Field::read(r, "action")?),
        Kind::Sound => Message::Sound {
            real_time: real_time(r)?,
            sound: Field::read(r, "asset")?,
        },
        Kind::Attach => Message::Attach {
            token: Field::read(r, "token")?,
        },
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
        Message::ObjectChanged {
            tick,
            object,
            change,
        } => {
            w.u64(tick.0);
            w.u32(object.0);
            change.encode(w);
        }
        Message::ConfirmSnapshot(confirm) => confirm.encode(w),
        Message::AcknowledgeSnapshot { tick } => w.u64(tick.0),
        Message::Action(action) => action.write(w),
        Message::AnalogAction(action) => action.write(w),
        Message::Attach { token } => w.u64(token.0),
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
            animation.write(w);
            w.i32(channel);
            w.f32(speed);
        }
        Message::Sound { real_time, sound } => {
            w.f64(real_time);
            sound.write(w);
        }
    }
}

/// A snapshot's tick: 0 stands for none, so no snapshot has it.
pub(super) fn tick(r: &mut Reader<'_>) -> Result<Tick, DecodeError> {
    match r.u64("tick")? {
        0 => Err(r.refuse("tick", 0)),
        tick => Ok(Tick(tick)),
    }
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

pub(super) fn finite(r: &mut Reader<'_>, field: &'static str) -> Result<f32, DecodeError> {
    let value = r.f32(field)?;
    if !value.is_finite() {
        return Err(r.refuse(field, value.to_bits().into()));
    }
    Ok(value)
}
