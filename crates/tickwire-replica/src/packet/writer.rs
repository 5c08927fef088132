//! Filling a packet.

use alloc::vec::Vec;

use tickwire_wire::{Full, LittleEndian, Writer};

use crate::packet::{Form, Header, Last, Notices, RecordHead, Target, flag, head};

/// A packet that is being filled, behind whatever the buffer held before.
#[derive(Debug)]
pub struct PacketWriter<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    /// The buffer may not grow beyond this length. What `finish` may add is left out already.
    end: usize,
    place: u32,
    records: usize,
}

/// Where the words about the send stand, if there are any.
const LAST_AT: usize = 6;
const LAST_BYTES: usize = 2;

impl<'a> PacketWriter<'a> {
    /// The most that a header takes.
    pub const HEADER_BYTES: usize = LAST_AT + LAST_BYTES;

    /// The most that a record's head takes; 3 or 4 bytes where place numbers are close.
    pub const RECORD_HEAD_BYTES: usize = 5 + 2 + 3;

    /// Begins a packet of at most `limit` bytes. If not even header and notices fit, `out` is left as
    /// it was.
    pub fn new(
        header: Header,
        notices: &Notices<'_>,
        limit: usize,
        out: &'a mut Vec<u8>,
    ) -> Result<Self, Full> {
        let start = out.len();
        let end = start + limit.checked_sub(LAST_BYTES).ok_or(Full)?;
        let mut w = Writer::<LittleEndian>::new(out, end - start);
        w.whole(|w| {
            let [low, high, ..] = header.number.0.to_le_bytes();
            w.u16(u16::from_le_bytes([low, high]));
            let [a, b, c, d, ..] = (header.send.0 << 2).to_le_bytes();
            let flags = if notices.is_empty() { 0 } else { flag::NOTICES };
            w.u32(u32::from_le_bytes([a, b, c, d]) | flags);
            if flags != 0 {
                notices.write(w);
            }
        })?;
        Ok(Self {
            out,
            start,
            end,
            place: 0,
            records: 0,
        })
    }

    /// Appends a record, whole or not at all.
    pub fn record(&mut self, record: &RecordHead, body: &[u8]) -> Result<(), Full> {
        let step = record.place.0.wrapping_sub(self.place);
        let step = (step << 1) ^ (step.cast_signed() >> 31).cast_unsigned();
        let mut bits = u16::from(record.ages.baseline) << head::BASELINE
            | u16::from(record.ages.previous) << head::PREVIOUS;
        if record.form == Form::Coded {
            bits |= head::CODED;
        }
        let mut w = Writer::<LittleEndian>::new(self.out, self.end - self.out.len());
        w.whole(|w| {
            w.varint(step);
            match record.target {
                Target::Place => w.u16(bits),
                Target::Block(block) => {
                    w.u16(bits | head::ONE_BLOCK);
                    w.varint(block.0.into());
                }
            }
            w.bytes(body);
        })?;
        self.place = record.place.0;
        self.records += 1;
        Ok(())
    }

    /// How many bytes of records still fit, heads included.
    pub const fn room(&self) -> usize {
        self.end - self.out.len()
    }

    /// How many records there are.
    pub const fn records(&self) -> usize {
        self.records
    }

    /// Ends the packet; if it is its send's last, with what is to be said about the send. Returns its
    /// length.
    pub fn finish(self, last: Option<Last>) -> usize {
        if let Some(Last { complete, settled }) = last {
            let flags = self.start + 2;
            if let Some(byte) = self.out.get_mut(flags) {
                *byte |= flag::LAST.to_le_bytes()[0];
            }
            let at = self.start + LAST_AT;
            self.out.splice(at..at, [complete, settled]);
        }
        self.out.len() - self.start
    }
}
