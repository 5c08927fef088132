//! One stream: frames in, frames and resources out.
//!
//! Answers wait as frames. Resources do not: a piece is made when everything before it is on its way and
//! the stream has room, so a client that loads holds one piece of memory here, and an answer never waits
//! behind more than that. Fetches are answered one after another, refusals in their turn.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::bulk::{Piece, SendError, Sending, Shelf};
use tickwire_session::{Addr, Instant, Room};
use tickwire_wire::Full;

use super::limits::FETCHES_WAITING;
use crate::reone::limits::PIECE_MAX;
use crate::reone::message::{Down, DownFrame, Refusal, Up};
use crate::reone::{ClientId, Inbox, Outbox, Text};

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) addr: Addr,
    pub(super) inbox: Inbox<Up>,
    pub(super) stage: Talk,
    /// It stands in the line of streams that have something to write.
    pub(super) is_queued: bool,
    outbox: Outbox<Down>,
    room: u32,
    fetches: VecDeque<Fetch>,
    sending: Option<Sending>,
}

/// Where a stream stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Talk {
    /// Hello is expected.
    Greeting { until: Instant },
    /// It is a client's.
    Client(ClientId),
    /// What was said last is on its way, then the stream ends.
    Closing { until: Instant },
}

/// Something that was asked for and waits for its turn.
#[derive(Debug)]
enum Fetch {
    Resource { name: Box<str>, offset: u64 },
    Refused(Refusal),
}

impl Connection {
    pub(super) const fn new(addr: Addr, stage: Talk) -> Self {
        Self {
            addr,
            inbox: Inbox::new(),
            stage,
            is_queued: false,
            outbox: Outbox::new(),
            room: Room::CLOSED.bytes,
            fetches: VecDeque::new(),
            sending: None,
        }
    }

    /// Whether its last word was said.
    pub(super) const fn is_closing(&self) -> bool {
        matches!(self.stage, Talk::Closing { .. })
    }

    /// When it has to have said, or read, what is expected.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Talk::Greeting { until } | Talk::Closing { until } => Some(until),
            Talk::Client(_) => None,
        }
    }

    pub(super) const fn set_room(&mut self, room: Room) {
        self.outbox.set_room(room);
        self.room = room.bytes;
    }

    pub(super) fn push(&mut self, frame: &DownFrame<'_>) -> Result<(), Full> {
        self.outbox.push(frame)
    }

    /// A resource is asked for. Returns whether it will be sent; fails if too much was asked for.
    pub(super) fn fetch(&mut self, shelf: &Shelf, name: &str, offset: u64) -> Result<bool, Full> {
        if self.fetches.len() >= FETCHES_WAITING {
            return Err(Full);
        }
        let fetch = match shelf.send(name, offset) {
            Ok(_) => Fetch::Resource {
                name: name.into(),
                offset,
            },
            Err(SendError::Unknown) => Fetch::Refused(Refusal::RESOURCE),
            Err(SendError::Offset { .. }) => Fetch::Refused(Refusal::OFFSET),
        };
        let is_there = matches!(fetch, Fetch::Resource { .. });
        self.fetches.push_back(fetch);
        Ok(is_there)
    }

    /// Forgets what was asked for: there is another module.
    pub(super) fn forget_fetches(&mut self) {
        self.fetches.clear();
        self.sending = None;
    }

    /// Writes what the stream takes; returns how many bytes that is, if any.
    pub(super) fn write(&mut self, shelf: &Shelf, out: &mut Vec<u8>) -> Option<usize> {
        if self.outbox.waiting() == 0 && self.room > 0 {
            self.push_piece(shelf);
        }
        let written = self.outbox.write(out)?;
        let written_u32 = u32::try_from(written).unwrap_or(u32::MAX);
        self.room = self.room.saturating_sub(written_u32);
        Some(written)
    }

    /// Whether everything was written.
    pub(super) fn is_drained(&self) -> bool {
        self.outbox.waiting() == 0
    }

    /// Puts the next piece, or the next refusal, into the empty outbox.
    fn push_piece(&mut self, shelf: &Shelf) {
        loop {
            if let Some(sending) = &mut self.sending {
                let name = String::from(sending.name());
                if let Some(piece) = sending.poll_piece(PIECE_MAX) {
                    let Piece { of, offset, bytes } = piece;
                    let pushed = self.outbox.push(&DownFrame::Resource {
                        name: Text::new(&name).unwrap_or_default(),
                        total: of,
                        offset,
                        piece: bytes,
                    });
                    debug_assert!(pushed.is_ok(), "an empty outbox takes a piece");
                    return;
                }
                self.sending = None;
            }
            match self.fetches.pop_front() {
                Some(Fetch::Resource { name, offset }) => {
                    self.sending = shelf.send(&name, offset).ok();
                }
                Some(Fetch::Refused(reason)) => {
                    let text = Text::new(reason.name()).unwrap_or_default();
                    let pushed = self.outbox.push(&DownFrame::Refused { reason, text });
                    debug_assert!(pushed.is_ok(), "an empty outbox takes a refusal");
                    return;
                }
                None => return,
            }
        }
    }
}
