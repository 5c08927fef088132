//! STUN (RFC 8489): the Binding method, which tells a client the address that the world sees.
//!
//! In: a datagram. Out: the message, or what is wrong with it; for a server, the answer. This is the subset
//! that needs no credentials: header, XOR-MAPPED-ADDRESS, ERROR-CODE, UNKNOWN-ATTRIBUTES, SOFTWARE and
//! FINGERPRINT. Attributes of the authentication mechanisms are passed over, as RFC 8489 section 12 asks of a
//! server that has none. Crates that have the whole of STUN bring hashes, credentials and a random number
//! generator, which a pure crate cannot have and a Binding does not need.

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tickwire_wire::{BigEndian, DecodeError};

type Reader<'a> = tickwire_wire::Reader<'a, BigEndian>;
type Writer<'a> = tickwire_wire::Writer<'a, BigEndian>;

/// In every header, to tell STUN from everything else.
const MAGIC_COOKIE: u32 = 0x2112_a442;
/// What the CRC-32 of a message is combined with (RFC 8489, section 14.7).
const FINGERPRINT_XOR: u32 = 0x5354_554e;
const HEADER: usize = 20;
/// The largest message that is read: what crosses every network in one piece.
const LARGEST: usize = 1_200;
/// Attributes that are reported as unknown in one answer.
const UNKNOWN_TOLD: usize = 4;

/// Unknown attributes in a row of a request, which is answered with 420.
const UNKNOWN_ATTRIBUTE: u16 = 420;

mod attribute {
    pub(super) const MAPPED_ADDRESS: u16 = 0x0001;
    pub(super) const ERROR_CODE: u16 = 0x0009;
    pub(super) const UNKNOWN_ATTRIBUTES: u16 = 0x000a;
    pub(super) const XOR_MAPPED_ADDRESS: u16 = 0x0020;
    pub(super) const SOFTWARE: u16 = 0x8022;
    pub(super) const FINGERPRINT: u16 = 0x8028;

    /// Those of credentials, and PADDING: known, and without a meaning here.
    pub(super) const PASSED_OVER: [u16; 8] = [
        0x0006, // USERNAME
        0x0008, // MESSAGE-INTEGRITY
        0x0014, // REALM
        0x0015, // NONCE
        0x001c, // MESSAGE-INTEGRITY-SHA256
        0x001d, // PASSWORD-ALGORITHM
        0x001e, // USERHASH
        0x0026, // PADDING
    ];
}

/// Tells an answer's question.
pub type TransactionId = [u8; 12];

/// What a message is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Class {
    /// A client asks.
    Request,
    /// It wants no answer.
    Indication,
    /// The answer.
    Success,
    /// The question was refused.
    Error,
}

/// A Binding message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// What it is.
    pub class: Class,
    /// Which transaction it belongs to.
    pub transaction: TransactionId,
    /// The address that the server saw.
    pub mapped: Option<SocketAddr>,
    /// Why the server refused.
    pub error: Option<u16>,
    /// Whether it has a FINGERPRINT, which was right.
    pub has_fingerprint: bool,
    /// Attributes that must be understood and are not; the first few.
    pub unknown: Vec<u16>,
}

/// Whether a datagram looks like STUN: two zero bits, the cookie, a length that fits.
pub fn is_stun(bytes: &[u8]) -> bool {
    let mut r = Reader::new(bytes);
    let head = (|| Ok::<_, DecodeError>((r.u16("type")?, r.u16("length")?, r.u32("cookie")?)))();
    head.is_ok_and(|(kind, length, cookie)| {
        kind < 0x4000 && cookie == MAGIC_COOKIE && HEADER + usize::from(length) == bytes.len()
    })
}

impl Message {
    /// Reads a Binding message.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let class = read_class(&mut r)?;
        let length = usize::from(r.u16("length")?);
        r.limit("length", length as u64, (LARGEST - HEADER) as u64)?;
        if !length.is_multiple_of(4) {
            return Err(r.refuse("length", length as u64));
        }
        let cookie = r.u32("cookie")?;
        if cookie != MAGIC_COOKIE {
            return Err(r.refuse("cookie", cookie.into()));
        }
        let mut transaction = TransactionId::default();
        transaction.copy_from_slice(r.bytes("transaction", 12)?);
        let mut message = Self {
            class,
            transaction,
            mapped: None,
            error: None,
            has_fingerprint: false,
            unknown: Vec::new(),
        };
        let end = HEADER + length;
        while r.position() < end {
            // RFC 8489, section 14.7: FINGERPRINT is the last attribute.
            if message.has_fingerprint {
                return Err(r.refuse("fingerprint", r.position() as u64));
            }
            message.read_attribute(bytes, &mut r)?;
        }
        // The last attribute ends where the message does.
        if r.position() != end {
            return Err(r.refuse("length", length as u64));
        }
        r.finish()?;
        Ok(message)
    }

    fn read_attribute(&mut self, bytes: &[u8], r: &mut Reader<'_>) -> Result<(), DecodeError> {
        let before = r.position();
        let (kind, length) = (r.u16("attribute")?, usize::from(r.u16("attribute length")?));
        let value = r.bytes("value", length)?;
        r.bytes("padding", length.wrapping_neg() % 4)?;
        let mut value_reader = Reader::new(value);
        match kind {
            attribute::XOR_MAPPED_ADDRESS => {
                let addr = read_address(&mut value_reader, Some(&self.transaction))?;
                self.mapped = self.mapped.or(Some(addr));
            }
            // A server of RFC 3489 has only this; routers that rewrite addresses rewrite it, too.
            attribute::MAPPED_ADDRESS => {
                let addr = read_address(&mut value_reader, None)?;
                self.mapped = self.mapped.or(Some(addr));
            }
            attribute::ERROR_CODE => {
                value_reader.u16("reserved")?;
                let (hundreds, rest) = (value_reader.u8("class")?, value_reader.u8("number")?);
                self.error = Some(u16::from(hundreds & 7) * 100 + u16::from(rest % 100));
            }
            attribute::FINGERPRINT => {
                let crc = value_reader.u32("fingerprint")?;
                value_reader.finish()?;
                let covered = bytes.get(..before).unwrap_or_default();
                if crc != fingerprint(covered) {
                    return Err(value_reader.refuse("fingerprint", crc.into()));
                }
                self.has_fingerprint = true;
            }
            attribute::UNKNOWN_ATTRIBUTES => {}
            // The upper half of the types need not be understood.
            0x8000.. => {}
            _ if attribute::PASSED_OVER.contains(&kind) => {}
            _ if self.unknown.len() < UNKNOWN_TOLD => self.unknown.push(kind),
            _ => {}
        }
        Ok(())
    }
}

/// Appends a request. It is as long as the longest answer, so that nobody gets more than was sent.
pub fn write_request(transaction: &TransactionId, out: &mut Vec<u8>) {
    let start = out.len();
    begin(out, Class::Request, transaction);
    write_attribute(out, attribute::SOFTWARE, b"tickwire rendezvous     ");
    end(out, start, true);
}

/// What a server answers to a datagram; `None` if it is no request.
pub fn answer(request: &[u8], from: SocketAddr, out: &mut Vec<u8>) -> Option<()> {
    let message = Message::decode(request).ok()?;
    if message.class != Class::Request {
        return None;
    }
    let start = out.len();
    if message.unknown.is_empty() {
        begin(out, Class::Success, &message.transaction);
        write_address(out, from, &message.transaction);
    } else {
        begin(out, Class::Error, &message.transaction);
        let [hundreds, rest] = [UNKNOWN_ATTRIBUTE / 100, UNKNOWN_ATTRIBUTE % 100];
        let code = [0, 0, hundreds.to_be_bytes()[1], rest.to_be_bytes()[1]];
        write_attribute(out, attribute::ERROR_CODE, &code);
        let unknown: Vec<u8> = message
            .unknown
            .iter()
            .flat_map(|kind| kind.to_be_bytes())
            .collect();
        write_attribute(out, attribute::UNKNOWN_ATTRIBUTES, &unknown);
    }
    end(out, start, message.has_fingerprint);
    Some(())
}

fn read_class(r: &mut Reader<'_>) -> Result<Class, DecodeError> {
    match r.u16("type")? {
        0x0001 => Ok(Class::Request),
        0x0011 => Ok(Class::Indication),
        0x0101 => Ok(Class::Success),
        0x0111 => Ok(Class::Error),
        other => Err(r.refuse("type", other.into())),
    }
}

/// An address, in the clear or combined with the cookie and the transaction.
fn read_address(
    r: &mut Reader<'_>,
    combined: Option<&TransactionId>,
) -> Result<SocketAddr, DecodeError> {
    r.u8("reserved")?;
    let family = r.u8("family")?;
    if !matches!(family, 1 | 2) {
        return Err(r.refuse("family", family.into()));
    }
    let mut port = r.u16("port")?;
    let mut ip = if family == 1 {
        IpAddr::V4(r.u32("address")?.into())
    } else {
        let mut octets = [0; 16];
        octets.copy_from_slice(r.bytes("address", 16)?);
        IpAddr::V6(octets.into())
    };
    r.finish()?;
    if let Some(transaction) = combined {
        (ip, port) = combine(ip, port, transaction);
    }
    Ok(SocketAddr::new(ip, port))
}

fn write_address(out: &mut Vec<u8>, addr: SocketAddr, transaction: &TransactionId) {
    let (ip, port) = combine(addr.ip().to_canonical(), addr.port(), transaction);
    let mut value = Vec::new();
    value.extend([0, if ip.is_ipv4() { 1 } else { 2 }]);
    value.extend(port.to_be_bytes());
    match ip {
        IpAddr::V4(ip) => value.extend(ip.octets()),
        IpAddr::V6(ip) => value.extend(ip.octets()),
    }
    write_attribute(out, attribute::XOR_MAPPED_ADDRESS, &value);
}

/// Its own inverse (RFC 8489, section 14.2).
fn combine(ip: IpAddr, port: u16, transaction: &TransactionId) -> (IpAddr, u16) {
    let [high, low, ..] = MAGIC_COOKIE.to_be_bytes();
    let ip = match ip {
        IpAddr::V4(ip) => Ipv4Addr::from(ip.to_bits() ^ MAGIC_COOKIE).into(),
        IpAddr::V6(ip) => {
            let mask = MAGIC_COOKIE.to_be_bytes().into_iter().chain(*transaction);
            let mut octets = ip.octets();
            octets
                .iter_mut()
                .zip(mask)
                .for_each(|(octet, mask)| *octet ^= mask);
            Ipv6Addr::from(octets).into()
        }
    };
    (ip, port ^ u16::from_be_bytes([high, low]))
}

fn begin(out: &mut Vec<u8>, class: Class, transaction: &TransactionId) {
    let mut w = Writer::new(out, HEADER);
    w.u16(match class {
        Class::Request => 0x0001,
        Class::Indication => 0x0011,
        Class::Success => 0x0101,
        Class::Error => 0x0111,
    });
    w.u16(0);
    w.u32(MAGIC_COOKIE);
    w.bytes(transaction);
}

fn write_attribute(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let padding = value.len().wrapping_neg() % 4;
    let mut w = Writer::new(out, 4 + value.len() + padding);
    w.u16(kind);
    w.u16(u16::try_from(value.len()).unwrap_or(u16::MAX));
    w.bytes(value);
    w.bytes([0; 3].get(..padding).unwrap_or_default());
}

/// Writes the length, and the fingerprint, which covers it.
fn end(out: &mut Vec<u8>, start: usize, has_fingerprint: bool) {
    let attributes = out.len() - start - HEADER;
    let length = if has_fingerprint {
        attributes + 8
    } else {
        attributes
    };
    let length = u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes();
    if let Some(place) = out.get_mut(start + 2..start + 4) {
        place.copy_from_slice(&length);
    }
    if has_fingerprint {
        let crc = fingerprint(out.get(start..).unwrap_or_default());
        write_attribute(out, attribute::FINGERPRINT, &crc.to_be_bytes());
    }
}

fn fingerprint(covered: &[u8]) -> u32 {
    crc32fast::hash(covered) ^ FINGERPRINT_XOR
}

#[cfg(test)]
mod tests;
