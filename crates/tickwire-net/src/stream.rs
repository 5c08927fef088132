//! A TCP connection that belongs to a session.
//!
//! In: readiness, and bytes that the session sends. Out: what happened, handed to the session; bytes
//! that the kernel does not take wait here, at most [`STREAM_PENDING`], and what is left of that is
//! the room that the session is told. When either side finished, the connection goes on as
//! [`Closing`], of which no session hears.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use mio::net::TcpStream;
use socket2::SockRef;
use tickwire_session::{Addr, Ended, Instant, Path, Room, Session, StreamId};

use crate::Counters;
use crate::closing::Closing;
use crate::limits::STREAM_PENDING;
use crate::node::End;

#[derive(Debug)]
pub(crate) struct Stream {
    tcp: TcpStream,
    end: End,
    peer: Addr,
    state: State,
    /// There may be something to read.
    pub(crate) readable: bool,
    pending: Pending,
    /// What the session may send, as far as it knows.
    room: usize,
}

#[derive(Debug, Eq, PartialEq)]
enum State {
    /// Its session has not heard of it, or waits for the answer.
    Opening,
    Open,
    /// Nothing can be written any more; what had arrived before is still to be read.
    Broken,
}

/// Where a stream stands after its session was handed what there was.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    /// Nothing more happens until the socket is ready again.
    Waits,
    /// There is more to read in the next turn.
    More,
    /// There may be more, which the session does not want yet.
    Held,
    /// The session heard the end, and its own last bytes are still to be sent.
    Finished,
    /// The session heard the end.
    Gone,
}

/// The session sent more than it had been told there was room for.
#[derive(Debug)]
pub(crate) struct Overdrawn;

impl Stream {
    pub(crate) fn dial(to: SocketAddr, end: End) -> io::Result<Self> {
        Ok(Self::new(TcpStream::connect(to)?, to, end))
    }

    /// A connection that was accepted or is being dialled, as its session's number for it tells.
    pub(crate) fn new(tcp: TcpStream, peer: SocketAddr, end: End) -> Self {
        let socket = SockRef::from(&tcp);
        // A stream whose options cannot be set is slower or already gone; reading will tell.
        socket.set_tcp_nodelay(true).ok();
        #[cfg(target_os = "linux")]
        socket
            .set_tcp_notsent_lowat(crate::limits::STREAM_UNSENT)
            .ok();
        Self {
            tcp,
            end,
            peer: peer.into(),
            state: State::Opening,
            readable: false,
            pending: Pending::default(),
            room: 0,
        }
    }

    /// Whose it is.
    pub(crate) const fn end(&self) -> End {
        self.end
    }

    pub(crate) const fn source(&mut self) -> &mut TcpStream {
        &mut self.tcp
    }

    /// Hands in what the socket is ready for, at most as many bytes as `scratch` holds.
    pub(crate) fn hand_in(
        &mut self,
        now: Instant,
        session: &mut dyn Session,
        scratch: &mut [u8],
        counters: &mut Counters,
    ) -> Outcome {
        let path = Path::Stream(self.end.on);
        if self.state == State::Opening {
            match self.answer() {
                None => return Outcome::Waits,
                Some(Err(why)) => {
                    session.handle_closed(now, path, why);
                    return Outcome::Gone;
                }
                Some(Ok(())) => {
                    self.state = State::Open;
                    session.handle_opened(now, self.end.on, self.peer);
                }
            }
        }
        self.flush(counters);
        if let Some(why) = self.read(now, session, scratch, counters) {
            session.handle_closed(now, path, why);
            return match why {
                Ended::Finished => Outcome::Finished,
                _ => Outcome::Gone,
            };
        }
        self.report_room(now, session);
        match self.readable {
            true if session.is_reading(self.end.on) => Outcome::More,
            true => Outcome::Held,
            false => Outcome::Waits,
        }
    }

    /// Whether the peer answered, and how.
    fn answer(&self) -> Option<Result<(), Ended>> {
        if let StreamId::Accepted(_) = self.end.on {
            // It may be gone again, but its session must hear of it before it hears that.
            return Some(Ok(()));
        }
        match self.tcp.take_error() {
            Ok(None) => {}
            Ok(Some(error)) | Err(error) => return Some(Err(dial_failure(&error))),
        }
        // A socket is writable before it is connected on some systems; it has a peer when it is.
        self.tcp.peer_addr().is_ok().then_some(Ok(()))
    }

    fn flush(&mut self, counters: &mut Counters) {
        match self.pending.write_to(&mut self.tcp) {
            Ok(sent) => counters.stream_bytes_sent += sent as u64,
            Err(_) => self.break_off(),
        }
    }

    /// Reads as much as `scratch` holds, and says whether that was all there will ever be.
    fn read(
        &mut self,
        now: Instant,
        session: &mut dyn Session,
        scratch: &mut [u8],
        counters: &mut Counters,
    ) -> Option<Ended> {
        let mut left = scratch.len();
        while self.readable && left > 0 && session.is_reading(self.end.on) {
            match self.tcp.read(&mut scratch[..left]) {
                Ok(0) if self.state == State::Broken => return Some(Ended::Reset),
                Ok(0) => return Some(Ended::Finished),
                Ok(length) => {
                    left -= length;
                    counters.stream_bytes_received += length as u64;
                    session.handle_stream(now, self.end.on, &scratch[..length]);
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => self.readable = false,
                    io::ErrorKind::Interrupted => {}
                    _ => return Some(Ended::Reset),
                },
            }
        }
        // Nothing more will make the socket readable.
        (self.state == State::Broken && !self.readable).then_some(Ended::Reset)
    }

    fn report_room(&mut self, now: Instant, session: &mut dyn Session) {
        let room = STREAM_PENDING - self.pending.len();
        if room == self.room {
            return;
        }
        self.room = room;
        session.handle_room(now, Path::Stream(self.end.on), stream_room(room));
    }

    /// Takes bytes from the session.
    pub(crate) fn send(&mut self, bytes: &[u8], counters: &mut Counters) -> Result<(), Overdrawn> {
        self.room = self.room.checked_sub(bytes.len()).ok_or(Overdrawn)?;
        match self.pending.write_after(&mut self.tcp, bytes) {
            Ok(sent) => counters.stream_bytes_sent += sent as u64,
            Err(_) => self.break_off(),
        }
        Ok(())
    }

    fn break_off(&mut self) {
        self.state = State::Broken;
        self.readable = true;
        self.pending.clear();
    }

    /// Goes on without its session; `None` if there is nothing to go on with.
    pub(crate) fn finish(self, now: Instant) -> Option<Closing> {
        let node = self.end.node;
        (self.state == State::Open).then(|| Closing::new(self.tcp, node, self.pending, now))
    }

    /// Drops the connection so that the peer hears of it at once.
    pub(crate) fn abort(self) {
        // Closing a socket that lingers for no time resets the connection.
        SockRef::from(&self.tcp)
            .set_linger(Some(Duration::ZERO))
            .ok();
    }
}

/// The room of a stream that takes `bytes`.
pub(crate) fn stream_room(bytes: usize) -> Room {
    Room {
        bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        ..Room::CLOSED
    }
}

/// What to tell a session whose dialling came to nothing.
pub(crate) fn dial_failure(error: &io::Error) -> Ended {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Ended::Refused,
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => Ended::Reset,
        _ => Ended::Unreachable,
    }
}

/// Bytes that the kernel did not take yet.
#[derive(Debug, Default)]
pub(crate) struct Pending(VecDeque<u8>);

impl Pending {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn clear(&mut self) {
        self.0 = VecDeque::new();
    }

    /// Gives the kernel what it takes, and says how much that was. Ends only when nothing is left or
    /// the kernel refuses more: readiness is reported again only after a refusal.
    pub(crate) fn write_to(&mut self, to: &mut impl Write) -> io::Result<usize> {
        let mut sent = 0;
        while !self.0.is_empty() {
            let length = write_some(to, self.0.as_slices().0)?;
            if length == 0 {
                break;
            }
            self.0.drain(..length);
            sent += length;
        }
        Ok(sent)
    }

    /// The same for what waits and then `bytes`; what the kernel refuses of them is kept.
    pub(crate) fn write_after(&mut self, to: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
        let mut sent = self.write_to(to)?;
        let mut rest = bytes;
        while self.0.is_empty() && !rest.is_empty() {
            let length = write_some(to, rest)?;
            if length == 0 {
                break;
            }
            rest = &rest[length..];
            sent += length;
        }
        self.0.extend(rest);
        Ok(sent)
    }
}

/// Writes once, and says how much; 0 if the kernel takes nothing now.
fn write_some(to: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match to.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => return Ok(length),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => return Ok(0),
                io::ErrorKind::Interrupted => {}
                _ => return Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes `room` bytes, at most 3 at once.
    struct Narrow {
        room: usize,
        taken: Vec<u8>,
    }

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let length = bytes.len().min(self.room).min(3);
            if length == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.room -= length;
            self.taken.extend_from_slice(&bytes[..length]);
            Ok(length)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_the_carrier_refuses_is_sent_later_and_in_order() {
        let mut carrier = Narrow {
            room: 4,
            taken: Vec::new(),
        };
        let mut pending = Pending::default();
        assert_eq!(pending.write_after(&mut carrier, b"abcdefg").unwrap(), 4);
        assert_eq!(pending.len(), 3);
        assert_eq!(pending.write_after(&mut carrier, b"hi").unwrap(), 0);
        carrier.room = 100;
        assert_eq!(pending.write_to(&mut carrier).unwrap(), 5);
        assert_eq!(carrier.taken, b"abcdefghi");
        assert_eq!(pending.len(), 0);
    }

    #[test]
    fn only_a_refusal_says_that_nobody_listens() {
        let why = |kind: io::ErrorKind| dial_failure(&kind.into());
        assert_eq!(why(io::ErrorKind::ConnectionRefused), Ended::Refused);
        assert_eq!(why(io::ErrorKind::NetworkUnreachable), Ended::Unreachable);
        assert_eq!(why(io::ErrorKind::TimedOut), Ended::Unreachable);
    }
}
