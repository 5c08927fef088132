//! Reading a packet from a peer that nobody trusts.

use tickwire_wire::{DecodeError, LittleEndian, Reader};

use crate::coder::Ages;
use crate::number::{BlockNumber, PacketNumber, PlaceNumber, SendIndex};
use crate::packet::notice::{self, Notice};
use crate::packet::{Form, Header, Last, RecordHead, Target, flag, head};

/// A packet whose header was read. Notices are read once, before the records.
#[derive(Debug)]
pub struct PacketReader<'a> {
    r: Reader<'a, LittleEndian>,
    number: u16,
    send: u32,
    last: Option<Last>,
    has_notices: bool,
    place: u32,
}

impl<'a> PacketReader<'a> {
    /// Reads a header.
    pub fn new(mut r: Reader<'a, LittleEndian>) -> Result<Self, DecodeError> {
        let number = r.u16("number")?;
        let send = r.u32("send")?;
        let last = match send & flag::LAST {
            0 => None,
            _ => Some(Last {
                complete: r.u8("complete")?,
                settled: r.u8("settled")?,
            }),
        };
        Ok(Self {
            r,
            number,
            send: send >> 2,
            last,
            has_notices: send & flag::NOTICES != 0,
            place: 0,
        })
    }

    /// The header, its numbers widened to those nearest to `near`.
    pub const fn header(&self, near: Header) -> Header {
        Header {
            number: PacketNumber(near.number.nearest(self.number).0),
            send: SendIndex(near.send.nearest(self.send).0),
        }
    }

    /// What it says about its send, if it is the send's last.
    pub const fn last(&self) -> Option<Last> {
        self.last
    }

    /// Reads what was left.
    pub fn notices(&mut self, each: impl FnMut(Notice)) -> Result<(), DecodeError> {
        if core::mem::take(&mut self.has_notices) {
            self.r.group("notices", |r| notice::read(r, each))?;
        }
        Ok(())
    }

    /// Reads the head of the next record; nothing after the last. Its body must be
    /// [passed over](Self::skip_body) before the next.
    pub fn record(&mut self) -> Result<Option<RecordHead>, DecodeError> {
        let r = &mut self.r;
        if r.is_empty() {
            return Ok(None);
        }
        let step = r.varint("place")?;
        // Folded, so that places may come in any order.
        let step = (step >> 1) ^ (step & 1).wrapping_neg();
        self.place = self.place.wrapping_add(step);
        let bits = r.u16("head")?;
        let age = |shift: u32| (bits >> shift & head::AGE).to_le_bytes()[0];
        let ages = Ages {
            baseline: age(head::BASELINE),
            previous: age(head::PREVIOUS),
        };
        // A previous version is older than the baseline, and there is none without it.
        let is_odd = ages.previous != 0 && (ages.baseline == 0 || ages.previous <= ages.baseline);
        if is_odd || bits >> (head::PREVIOUS + 6) != 0 {
            return Err(r.refuse("head", bits.into()));
        }
        let target = if bits & head::ONE_BLOCK == 0 {
            Target::Place
        } else {
            let block = r.varint("block")?;
            let Ok(block) = u16::try_from(block) else {
                return Err(r.refuse("block", block.into()));
            };
            Target::Block(BlockNumber(block))
        };
        Ok(Some(RecordHead {
            place: PlaceNumber(self.place),
            target,
            form: match bits & head::CODED {
                0 => Form::Packed,
                _ => Form::Coded,
            },
            ages,
        }))
    }

    /// All that is left of the packet. Where a body begins, it is the body and what follows.
    pub fn rest(&self) -> &'a [u8] {
        self.r.peek(self.r.remaining())
    }

    /// Where [`rest`](Self::rest) begins.
    pub fn at_bit(&self) -> u32 {
        u32::try_from(self.r.position().saturating_mul(8)).unwrap_or(u32::MAX)
    }

    /// Passes over a body that has so many bytes.
    pub fn skip_body(&mut self, length: usize) -> Result<(), DecodeError> {
        self.r.bytes("body", length).map(|_| ())
    }
}
