//! A hash of everything that happened.
//!
//! In: every call into a session and everything that came out of one. Out: FNV-1a over their fields,
//! 64 bits. Two runs of one seed that differ anywhere, be it in a byte or a microsecond, end with
//! different hashes; and a hash written down on one machine holds on every other.

use core::fmt;

use tickwire_session::tap::{Input, Observer};
use tickwire_session::{Addr, Ended, Host, Instant, Path, StreamId, Transmit};

/// A hash of calls.
///
/// It is an [`Observer`], so that a [`Tap`](tickwire_session::Tap) can hash a single session as well.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TraceHash(u64);

impl TraceHash {
    /// Nothing happened yet.
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes, such as the outcome of a scenario. Their number is not added.
    pub const fn write(&mut self, mut bytes: &[u8]) {
        while let [first, rest @ ..] = bytes {
            self.0 = (self.0 ^ *first as u64).wrapping_mul(0x0100_0000_01b3);
            bytes = rest;
        }
    }

    /// Adds a number.
    pub const fn write_u64(&mut self, number: u64) {
        self.write(&number.to_le_bytes());
    }

    /// The bits.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    fn write_call(&mut self, now: Instant, kind: u8) {
        self.write_u64(now.as_micros());
        self.write(&[kind]);
    }

    fn write_bytes(&mut self, bytes: &[u8]) {
        self.write_u64(bytes.len() as u64);
        self.write(bytes);
    }

    fn write_addr(&mut self, addr: Addr) {
        match addr.host {
            Host::Ip(core::net::IpAddr::V4(ip)) => self.write_bytes(&ip.octets()),
            Host::Ip(core::net::IpAddr::V6(ip)) => self.write_bytes(&ip.octets()),
            Host::Link(link) => self.write_bytes(&link.to_le_bytes()),
        }
        self.write(&addr.port.to_le_bytes());
    }

    fn write_stream(&mut self, on: StreamId) {
        let (kind, number) = match on {
            StreamId::Accepted(number) => (0, number),
            StreamId::Dialled(number) => (1, number),
        };
        self.write(&[kind]);
        self.write(&number.to_le_bytes());
    }

    fn write_path(&mut self, path: Path) {
        match path {
            Path::Datagrams(addr) => self.write_addr(addr),
            Path::Stream(on) => self.write_stream(on),
            Path::Link(link) => self.write_u64(link),
        }
    }
}

impl Default for TraceHash {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for TraceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Observer for TraceHash {
    fn input(&mut self, now: Instant, input: Input<'_>) {
        match input {
            Input::Opened { on, peer } => {
                self.write_call(now, 0);
                self.write_stream(on);
                self.write_addr(peer);
            }
            Input::Stream { on, bytes } => {
                self.write_call(now, 1);
                self.write_stream(on);
                self.write_bytes(bytes);
            }
            Input::Datagram { from, bytes } => {
                self.write_call(now, 2);
                self.write_addr(from);
                self.write_bytes(bytes);
            }
            Input::Room { path, room } => {
                self.write_call(now, 3);
                self.write_path(path);
                self.write(&room.bytes.to_le_bytes());
                self.write(&room.largest.to_le_bytes());
            }
            Input::Closed { path, why } => {
                self.write_call(now, 4);
                self.write_path(path);
                self.write(&[match why {
                    Ended::Finished => 0,
                    Ended::Reset => 1,
                    Ended::Refused => 2,
                    Ended::Unreachable => 3,
                }]);
            }
            Input::Timeout => self.write_call(now, 5),
        }
    }

    fn output(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]) {
        match transmit {
            Transmit::Datagram { to } => {
                self.write_call(now, 16);
                self.write_addr(to);
            }
            Transmit::Stream { on } => {
                self.write_call(now, 17);
                self.write_stream(on);
            }
            Transmit::Dial { on, to } => {
                self.write_call(now, 18);
                self.write_stream(on);
                self.write_addr(to);
            }
            Transmit::Finish { on } => {
                self.write_call(now, 19);
                self.write_stream(on);
            }
            Transmit::Abort { on } => {
                self.write_call(now, 20);
                self.write_stream(on);
            }
            Transmit::Segments { to, size } => {
                self.write_call(now, 21);
                self.write_addr(to);
                self.write(&size.to_le_bytes());
            }
            Transmit::Unlink { link } => {
                self.write_call(now, 22);
                self.write_u64(link);
            }
        }
        self.write_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        let mut hash = TraceHash::new();
        hash.write(b"foobar");
        assert_eq!(hash.as_u64(), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_microsecond_and_a_byte_make_a_difference() {
        let hash = |micros, bytes| {
            let mut hash = TraceHash::new();
            let on = StreamId::Dialled(1);
            hash.input(Instant::from_micros(micros), Input::Stream { on, bytes });
            hash
        };
        assert_eq!(hash(5, b"abc"), hash(5, b"abc"));
        assert_ne!(hash(5, b"abc"), hash(6, b"abc"));
        assert_ne!(hash(5, b"abc"), hash(5, b"abd"));
    }
}
