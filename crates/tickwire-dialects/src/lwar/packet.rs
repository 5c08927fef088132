//! A packet: header, then messages to the end.

use tickwire_wire::{DecodeError, Trace};

use super::limits::{APP_ID, PACKET_MAX};
use super::message::Framed;
use super::{Reader, Writer};

/// What every packet begins with, the application id left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// Number of the last reliable message that was processed; 0 for none.
    pub ack: u32,
    /// Milliseconds since the sender's session began; wraps after 49 days.
    pub timestamp: u32,
}

impl Header {
    /// Reads the header; the messages follow, see [`Framed::decode`].
    pub fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let app_id = r.u32("appId")?;
        if app_id != APP_ID {
            return Err(r.refuse("appId", app_id.into()));
        }
        Ok(Self {
            ack: r.u32("ack")?,
            timestamp: r.u32("timestamp")?,
        })
    }

    /// Begins a packet at the end of `out`; what follows fits the rest of it or is left out.
    pub fn begin(self, out: &mut alloc::vec::Vec<u8>) -> Writer<'_> {
        let mut w = Writer::new(out, PACKET_MAX);
        w.u32(APP_ID);
        w.u32(self.ack);
        w.u32(self.timestamp);
        w
    }
}

/// Shows `trace` every field of a datagram of either side, as far as it can be read.
///
/// Forbidden content does not end the reading, since the message's end is known; the first such fault
/// is returned when everything else was read.
pub fn inspect(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    let mut r = Reader::traced(bytes, trace);
    r.group("header", Header::decode)?;
    let mut fault = Ok(());
    while !r.is_empty() {
        let framed = r.group("message", |r| {
            Framed::decode(r).map_err(|unframed| unframed.error)
        })?;
        if let Framed::Reliable {
            content: Err(text), ..
        } = framed
        {
            fault = fault.and_then(|()| Err(text.error()));
        }
    }
    fault
}
