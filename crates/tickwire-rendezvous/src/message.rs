//! Control messages: what members and the server say to each other on a stream.
//!
//! Each is a frame of a length, a kind and a body; WIRE.md has the layout. Decoding is total, and a frame
//! that does not decode ends its stream.

mod down;
mod up;

pub use down::{Down, Listing, Refusal, RelayEnd};
pub use up::{Register, Up};

use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};

use tickwire_wire::{DecodeError, LittleEndian};

use crate::limits::{CANDIDATES_MAX, FRAME_MAX};

/// The byte order of the protocol.
pub(crate) type Reader<'a> = tickwire_wire::Reader<'a, LittleEndian>;
/// The byte order of the protocol.
pub(crate) type Writer<'a> = tickwire_wire::Writer<'a, LittleEndian>;

/// What kind of address a member says it may have.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum CandidateKind {
    /// Of its own network: good for those who are in the same.
    Local,
    /// Of its own, and what the world sees: there is no router in between.
    Public,
    /// What the world sees of a router: good once both have sent something.
    Mapped,
}

/// An address that a member may have.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Candidate {
    /// What kind it is.
    pub kind: CandidateKind,
    /// The address.
    pub addr: SocketAddr,
}

/// Puts frames together from bytes that are cut anywhere. It holds less than one whole frame.
#[derive(Clone, Debug, Default)]
pub struct FrameReader {
    bytes: Vec<u8>,
}

impl FrameReader {
    /// Takes bytes, and hands every frame that is whole to `handle`, until that fails. After an error the
    /// stream cannot be read any further.
    pub fn receive<E: From<DecodeError>>(
        &mut self,
        bytes: &[u8],
        mut handle: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.bytes.extend_from_slice(bytes);
        let mut r = Reader::new(&self.bytes);
        let mut read = 0;
        while r.remaining() >= 2 {
            let length = r.u16("length")?;
            r.limit("length", length.into(), FRAME_MAX as u64)?;
            if r.remaining() < usize::from(length) {
                break;
            }
            let frame = r.bytes("frame", length.into())?;
            read = r.position();
            handle(frame)?;
        }
        self.bytes.drain(..read);
        Ok(())
    }
}

/// Appends a frame whose body `encode` writes.
fn write_frame(out: &mut Vec<u8>, kind: u8, encode: impl FnOnce(&mut Writer<'_>)) {
    let mut body = Vec::new();
    let mut w = Writer::new(&mut body, FRAME_MAX);
    w.u8(kind);
    encode(&mut w);
    debug_assert!(w.finish().is_ok(), "a frame beyond its bound");
    let length = u16::try_from(body.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend(body);
}

fn read_text(
    r: &mut Reader<'_>,
    field: &'static str,
    longest: usize,
) -> Result<String, DecodeError> {
    let length = r.u8(field)?;
    r.limit(field, length.into(), longest as u64)?;
    Ok(r.text(field, length.into())?.into())
}

/// Writes a text, cut where it is too long.
fn write_text(w: &mut Writer<'_>, text: &str, longest: usize) {
    let text = text
        .get(..text.floor_char_boundary(longest))
        .unwrap_or(text);
    w.u8(u8::try_from(text.len()).unwrap_or(u8::MAX));
    w.bytes(text.as_bytes());
}

fn read_array<const N: usize>(
    r: &mut Reader<'_>,
    field: &'static str,
) -> Result<[u8; N], DecodeError> {
    let mut array = [0; N];
    array.copy_from_slice(r.bytes(field, N)?);
    Ok(array)
}

fn read_flag(r: &mut Reader<'_>, field: &'static str) -> Result<bool, DecodeError> {
    match r.u8(field)? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(r.refuse(field, other.into())),
    }
}

fn read_candidates(r: &mut Reader<'_>) -> Result<Vec<Candidate>, DecodeError> {
    let count = r.u8("candidates")?;
    r.limit("candidates", count.into(), CANDIDATES_MAX as u64)?;
    (0..count).map(|_| read_candidate(r)).collect()
}

fn read_candidate(r: &mut Reader<'_>) -> Result<Candidate, DecodeError> {
    let kind = match r.u8("candidate kind")? {
        0 => CandidateKind::Local,
        1 => CandidateKind::Public,
        2 => CandidateKind::Mapped,
        other => return Err(r.refuse("candidate kind", other.into())),
    };
    let ip = match r.u8("family")? {
        4 => IpAddr::from(read_array::<4>(r, "address")?),
        6 => IpAddr::from(read_array::<16>(r, "address")?),
        other => return Err(r.refuse("family", other.into())),
    };
    let port = r.u16("port")?;
    // Nobody can be asked to send to everybody, or to nobody; and an address is written in one way only.
    if port == 0
        || ip != ip.to_canonical()
        || ip.is_unspecified()
        || ip.is_multicast()
        || is_broadcast(ip)
    {
        return Err(r.refuse("port", port.into()));
    }
    let addr = SocketAddr::new(ip, port);
    Ok(Candidate { kind, addr })
}

fn is_broadcast(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(ip) if ip.is_broadcast())
}

fn write_candidates(w: &mut Writer<'_>, candidates: &[Candidate]) {
    let candidates = candidates.get(..CANDIDATES_MAX).unwrap_or(candidates);
    w.u8(u8::try_from(candidates.len()).unwrap_or_default());
    for candidate in candidates {
        w.u8(match candidate.kind {
            CandidateKind::Local => 0,
            CandidateKind::Public => 1,
            CandidateKind::Mapped => 2,
        });
        match candidate.addr.ip().to_canonical() {
            IpAddr::V4(ip) => {
                w.u8(4);
                w.bytes(&ip.octets());
            }
            IpAddr::V6(ip) => {
                w.u8(6);
                w.bytes(&ip.octets());
            }
        }
        w.u16(candidate.addr.port());
    }
}

#[cfg(test)]
mod tests;
