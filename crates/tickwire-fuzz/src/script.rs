//! Bytes as a script: each choice takes the next ones.
//!
//! Past the end every number is 0, so that a cut script is still one; only [`Script::choice`] tells
//! that there is nothing left to do. A mutation of one byte changes one choice, which is what makes
//! a fuzzer good at it.

use tickwire_session::Instant;

/// What is left of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script<'a> {
    rest: &'a [u8],
}

impl<'a> Script<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What to do next; `None` at the end.
    pub(crate) fn choice(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    pub(crate) fn u8(&mut self) -> u8 {
        self.choice().unwrap_or_default()
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_be_bytes([self.u8(), self.u8()])
    }

    pub(crate) fn i16(&mut self) -> i16 {
        self.u16().cast_signed()
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from(self.u16()) << 16 | u32::from(self.u16())
    }

    /// When a session begins. Seldom at zero: a clock that began long ago is the usual case.
    pub(crate) fn start(&mut self) -> Instant {
        Instant::from_micros(u64::from(self.u8()) << 32)
    }

    /// The next `length` bytes, or as many as are left.
    pub(crate) fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// Bytes behind a length of their own.
    pub(crate) fn blob(&mut self) -> &'a [u8] {
        let length = self.u8();
        self.bytes(length.into())
    }

    /// Everything that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        self.bytes(usize::MAX)
    }

    /// A text of at most `most` bytes: a blob whose broken parts are replaced.
    pub(crate) fn text(&mut self, most: usize) -> String {
        let mut text = String::from_utf8_lossy(self.blob()).into_owned();
        text.truncate(text.floor_char_boundary(most));
        text
    }

    /// Cuts a packet, makes it longer than the `longest` there may be, or changes one of its bytes.
    pub(crate) fn harm(&mut self, packet: &mut Vec<u8>, longest: usize) {
        let at = usize::from(self.u16()) % packet.len();
        match self.u8() {
            0 => packet.truncate(at),
            0xff => packet.resize(longest + 1 + at, 0),
            change => packet[at] ^= change,
        }
    }

    /// The same one time in eight.
    pub(crate) fn harm_seldom(&mut self, packet: &mut Vec<u8>, longest: usize) {
        if !packet.is_empty() && self.u8() & 7 == 7 {
            self.harm(packet, longest);
        }
    }
}
