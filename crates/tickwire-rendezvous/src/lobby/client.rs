//! One control connection of the server.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::net::IpAddr;

use tickwire_session::{Addr, Backlog, Instant, TokenBucket, Traffic};
use tickwire_wire::{DecodeError, Full};

use crate::code::Code;
use crate::limits::{CONTROL_SILENCE, FRAME_MAX, REQUEST_REFILL, REQUESTS, WAITING_MAX};
use crate::message::{Down, FrameReader, Up};

#[derive(Debug)]
pub(super) struct Client {
    pub(super) peer: Addr,
    pub(super) ip: Option<IpAddr>,
    pub(super) standing: Standing,
    pub(super) backlog: Backlog,
    pub(super) requests: TokenBucket,
    pub(super) pairings: BTreeSet<u32>,
    /// What came before its address was known.
    pub(super) early: Vec<u8>,
    /// It is closed when everything went out.
    pub(super) is_ending: bool,
    pub(super) traffic: Traffic,
    frames: FrameReader,
    heard: Instant,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Standing {
    /// Its address is not known.
    Unnamed,
    /// It may ask for something.
    Idle,
    /// It has a session.
    Hosting(Code),
}

impl Standing {
    /// The word of STATES.md.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Unnamed => "Unnamed",
            Self::Idle => "Idle",
            Self::Hosting(_) => "Hosting",
        }
    }
}

impl Client {
    pub(super) fn new(now: Instant, peer: Addr) -> Self {
        Self {
            peer,
            ip: None,
            standing: Standing::Unnamed,
            backlog: Backlog::new(WAITING_MAX),
            requests: TokenBucket::new(now, REQUESTS, REQUEST_REFILL),
            pairings: BTreeSet::new(),
            early: Vec::new(),
            is_ending: false,
            traffic: Traffic::NONE,
            frames: FrameReader::default(),
            heard: now,
        }
    }

    /// When it counts as gone.
    pub(super) fn deadline(&self) -> Instant {
        self.heard + CONTROL_SILENCE
    }

    pub(super) fn say(&mut self, down: &Down) -> Result<(), Full> {
        self.backlog.push(|out| {
            down.encode(out);
            Ok(())
        })
    }

    /// Takes bytes; returns the messages that are whole.
    pub(super) fn receive(&mut self, now: Instant, bytes: &[u8]) -> Result<Vec<Up>, DecodeError> {
        self.heard = now;
        self.traffic.received(bytes.len());
        let mut ups = Vec::new();
        if self.standing == Standing::Unnamed {
            self.early.extend_from_slice(bytes);
            let length = self.early.len() as u64;
            let limit = FRAME_MAX as u64;
            return match length > limit {
                true => Err(DecodeError::TooLong {
                    field: "early",
                    at_bit: 0,
                    length,
                    limit,
                }),
                false => Ok(ups),
            };
        }
        if self.is_ending {
            return Ok(ups);
        }
        self.frames.receive(bytes, |frame| {
            ups.push(Up::decode(frame)?);
            Ok::<_, DecodeError>(())
        })?;
        Ok(ups)
    }
}
