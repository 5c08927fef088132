//! One stream: frames in, frames and resources out, and whose it is.
//!
//! Answers wait as frames. Resources do not: a piece is made when everything before it is on its way and
//! the stream has room, so a client that loads holds one piece of memory here, and an answer never waits
//! behind more than that. Fetches are answered one after another, refusals in their turn.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::bulk::{Piece, SendError, Sending, Shelf};
use tickwire_session::{Backlog, Wrote};
use tickwire_wire::Full;

use super::client::Client;
use super::limits::FETCHES_WAITING;
use crate::reone::limits::{PIECE_MAX, STREAM_WAITING};
use crate::reone::message::{Down, DownFrame, Refusal, Up, encode_frame};
use crate::reone::{Inbox, Text};

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) inbox: Inbox<Up>,
    pub(super) talk: Talk,
    outbox: Backlog,
    fetches: VecDeque<Fetch>,
    sending: Option<Sending>,
}

/// Whose a stream is.
#[derive(Debug)]
pub(super) enum Talk {
    /// Nobody's yet: Hello is expected.
    Greeting,
    Client(Box<Client>),
    /// Nobody's any more: what was said last is on its way.
    Over,
}

/// Something that was asked for and waits for its turn.
#[derive(Debug)]
enum Fetch {
    Resource { name: Box<str>, offset: u64 },
    Refused(Refusal),
}

impl Connection {
    /// A stream that has just opened.
    pub(super) const fn new() -> Self {
        Self {
            inbox: Inbox::new(),
            talk: Talk::Greeting,
            outbox: Backlog::new(STREAM_WAITING),
            fetches: VecDeque::new(),
            sending: None,
        }
    }

    pub(super) fn client(&self) -> Option<&Client> {
        match &self.talk {
            Talk::Client(client) => Some(client),
            Talk::Greeting | Talk::Over => None,
        }
    }

    pub(super) fn client_mut(&mut self) -> Option<&mut Client> {
        match &mut self.talk {
            Talk::Client(client) => Some(client),
            Talk::Greeting | Talk::Over => None,
        }
    }

    /// Says its last word, and belongs to nobody any more. Returns whose it was.
    pub(super) fn end(&mut self, last: &DownFrame<'_>) -> Result<Talk, Full> {
        self.forget_fetches();
        self.push(last)?;
        Ok(core::mem::replace(&mut self.talk, Talk::Over))
    }

    /// Bytes that wait.
    pub(super) const fn waiting(&self) -> usize {
        self.outbox.waiting()
    }

    pub(super) fn push(&mut self, frame: &DownFrame<'_>) -> Result<(), Full> {
        self.outbox.push(|out| encode_frame::<Down>(frame, out))
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

    /// Writes what a stream takes that has room for so many bytes.
    pub(super) fn write(&mut self, shelf: &Shelf, room: u32, out: &mut Vec<u8>) -> Wrote {
        if self.outbox.waiting() == 0 && room > 0 {
            self.push_piece(shelf);
        }
        match self.outbox.write_within(room, out) {
            Some(_) => Wrote::Stream,
            None if self.is_drained() && self.sending.is_none() && self.fetches.is_empty() => {
                Wrote::Nothing
            }
            None => Wrote::Blocked,
        }
    }

    /// Whether every frame was written whole.
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
                    let frame = DownFrame::Resource {
                        name: Text::new(&name).unwrap_or_default(),
                        total: of,
                        offset,
                        piece: bytes,
                    };
                    let pushed = self.outbox.push(|out| encode_frame::<Down>(&frame, out));
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
                    let pushed = self.push(&DownFrame::refused(reason));
                    debug_assert!(pushed.is_ok(), "an empty outbox takes a refusal");
                    return;
                }
                None => return,
            }
        }
    }
}
