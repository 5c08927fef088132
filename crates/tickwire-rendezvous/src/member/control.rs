//! A member's stream to the server.
//!
//! In: what to say, and what comes. Out: whole messages of the server, and orders for the driver. Who is silent
//! for too long is gone.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_session::{Addr, Backlog, Instant, Room, StreamId, Transmit};
use tickwire_wire::DecodeError;

use crate::limits::{CONTROL_SILENCE, KEEP_ALIVE, WAITING_MAX};
use crate::message::{Down, FrameReader, Up};

#[derive(Debug)]
pub(super) enum Control {
    /// There is none.
    Idle,
    /// It was asked for.
    Dialling(Stream),
    /// It is there.
    Open(Stream),
    /// What was said goes out, then it ends.
    Closing(Stream),
    /// It is to be cut.
    Cut(StreamId),
}

#[derive(Debug)]
pub(super) struct Stream {
    on: StreamId,
    dial: Option<Addr>,
    backlog: Backlog,
    frames: FrameReader,
    heard: Instant,
    said: Instant,
}

/// The server said nothing for too long.
#[derive(Debug)]
pub(super) struct Silent;

impl Control {
    pub(super) fn dial(&mut self, now: Instant, on: StreamId, to: Addr) {
        *self = Self::Dialling(Stream {
            on,
            dial: Some(to),
            backlog: Backlog::new(WAITING_MAX),
            frames: FrameReader::default(),
            heard: now,
            said: now,
        });
    }

    pub(super) fn open(&mut self, now: Instant, on: StreamId) {
        if let Self::Dialling(stream) = self
            && stream.on == on
        {
            stream.heard = now;
            stream.said = now;
            if let Self::Dialling(stream) = core::mem::replace(self, Self::Idle) {
                *self = Self::Open(stream);
            }
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    pub(super) const fn is_idle(&self) -> bool {
        matches!(self, Self::Idle)
    }

    pub(super) const fn stream(&self) -> Option<StreamId> {
        match self {
            Self::Dialling(stream) | Self::Open(stream) | Self::Closing(stream) => Some(stream.on),
            Self::Idle | Self::Cut(_) => None,
        }
    }

    /// The stream that the driver still has, or is about to be told to cut.
    pub(super) const fn unfinished(&self) -> Option<StreamId> {
        match self {
            // One that nobody dialled yet is not there.
            Self::Dialling(Stream { dial: Some(_), .. }) | Self::Idle => None,
            Self::Dialling(stream) | Self::Open(stream) | Self::Closing(stream) => Some(stream.on),
            Self::Cut(on) => Some(*on),
        }
    }

    /// The word of STATES.md.
    pub(super) const fn state(&self) -> &'static str {
        match self {
            Self::Idle | Self::Cut(_) => "Offline",
            Self::Dialling(_) => "Dialling",
            Self::Open(_) => "Online",
            Self::Closing(_) => "Closing",
        }
    }

    pub(super) fn say(&mut self, up: &Up) {
        if let Self::Open(stream) = self {
            let pushed = stream.backlog.push(|out| {
                up.encode(out);
                Ok(())
            });
            // A server that does not read is found out by its silence.
            pushed.ok();
        }
    }

    /// Takes bytes; returns the messages in them, if they are of the stream in use.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        on: StreamId,
        bytes: &[u8],
    ) -> Option<Result<VecDeque<Down>, DecodeError>> {
        let Self::Open(stream) = self else {
            return None;
        };
        if stream.on != on {
            return None;
        }
        stream.heard = now;
        let mut downs = VecDeque::new();
        let received = stream.frames.receive(bytes, |frame| {
            downs.push_back(Down::decode(frame)?);
            Ok(())
        });
        Some(received.map(|()| downs))
    }

    pub(super) fn set_room(&mut self, on: StreamId, room: Room) {
        if let Self::Dialling(stream) | Self::Open(stream) | Self::Closing(stream) = self
            && stream.on == on
        {
            stream.backlog.set_room(room);
        }
    }

    /// Says that this member is still there, if nothing else was said.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Result<(), Silent> {
        let Self::Open(stream) = self else {
            return Ok(());
        };
        if now.since(stream.heard) >= CONTROL_SILENCE {
            return Err(Silent);
        }
        if now.since(stream.said) >= KEEP_ALIVE {
            stream.said = now;
            self.say(&Up::Alive);
        }
        Ok(())
    }

    pub(super) fn wake(&self) -> Option<Instant> {
        match self {
            Self::Open(stream) => {
                Some((stream.said + KEEP_ALIVE).min(stream.heard + CONTROL_SILENCE))
            }
            Self::Idle | Self::Dialling(_) | Self::Closing(_) | Self::Cut(_) => None,
        }
    }

    /// Ends the stream when everything went out.
    pub(super) fn finish(&mut self) {
        match core::mem::replace(self, Self::Idle) {
            Self::Open(stream) => *self = Self::Closing(stream),
            Self::Dialling(_) => self.abort(),
            other => *self = other,
        }
    }

    /// Ends the stream at once.
    pub(super) fn abort(&mut self) {
        *self = match core::mem::replace(self, Self::Idle) {
            Self::Dialling(stream) | Self::Open(stream) | Self::Closing(stream) => {
                Self::Cut(stream.on)
            }
            other => other,
        };
    }

    /// The stream ended. One that is to be cut still is.
    pub(super) fn lose(&mut self) {
        if !matches!(self, Self::Cut(_)) {
            *self = Self::Idle;
        }
    }

    pub(super) fn poll_transmit(&mut self, out: &mut Vec<u8>) -> Option<Transmit> {
        match self {
            Self::Idle => None,
            Self::Dialling(stream) => {
                let to = stream.dial.take()?;
                Some(Transmit::Dial { on: stream.on, to })
            }
            Self::Open(stream) => {
                stream.backlog.write(out)?;
                Some(Transmit::Stream { on: stream.on })
            }
            Self::Closing(stream) => {
                let on = stream.on;
                if stream.backlog.write(out).is_some() {
                    return Some(Transmit::Stream { on });
                }
                // What there is no room for waits for the next report.
                if stream.backlog.waiting() > 0 {
                    return None;
                }
                *self = Self::Idle;
                Some(Transmit::Finish { on })
            }
            Self::Cut(on) => {
                let on = *on;
                *self = Self::Idle;
                Some(Transmit::Abort { on })
            }
        }
    }
}
