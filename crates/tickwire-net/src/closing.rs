//! A TCP connection that its session has finished.
//!
//! Closing a socket while the peer's bytes lie unread resets the connection, and the reset destroys
//! our last bytes before the peer has read them. So the end is: send what is pending, say that it
//! was the last, read and drop what still comes until the peer closes, too; then close. A peer that
//! does not close is given [`CLOSING_PATIENCE`](limits::CLOSING_PATIENCE), and may send
//! [`CLOSING_DISCARD`](limits::CLOSING_DISCARD).

use std::io::{self, Read};
use std::net::Shutdown;

use mio::net::TcpStream;
use tickwire_session::Instant;

use crate::limits;
use crate::stream::Pending;

#[derive(Debug)]
pub(crate) struct Closing {
    tcp: TcpStream,
    /// The node whose session it belonged to.
    node: usize,
    pending: Pending,
    /// The peer was told that nothing follows.
    is_shut: bool,
    deadline: Instant,
    /// Bytes that the peer may still send.
    discards: usize,
}

/// How far a closing connection is.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Progress {
    /// Nothing more happens until the socket is ready again, or the deadline.
    Waits,
    /// There is more to drop in the next turn.
    More,
    /// The connection can be closed.
    Over,
}

impl Closing {
    pub(crate) fn new(tcp: TcpStream, node: usize, pending: Pending, now: Instant) -> Self {
        Self {
            tcp,
            node,
            pending,
            is_shut: false,
            deadline: now + limits::CLOSING_PATIENCE,
            discards: limits::CLOSING_DISCARD,
        }
    }

    pub(crate) const fn source(&mut self) -> &mut TcpStream {
        &mut self.tcp
    }

    pub(crate) const fn node(&self) -> usize {
        self.node
    }

    pub(crate) const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Goes on as far as the socket is ready for, and drops at most as many bytes as `scratch` holds.
    pub(crate) fn advance(&mut self, now: Instant, scratch: &mut [u8]) -> Progress {
        if now >= self.deadline || self.pending.write_to(&mut self.tcp).is_err() {
            return Progress::Over;
        }
        if self.pending.len() == 0 && !self.is_shut {
            self.is_shut = true;
            if self.tcp.shutdown(Shutdown::Write).is_err() {
                return Progress::Over;
            }
        }
        let mut left = scratch.len();
        while left > 0 {
            match self.tcp.read(&mut scratch[..left]) {
                // The peer closed; our last bytes may still wait for the kernel.
                Ok(0) if self.is_shut => return Progress::Over,
                Ok(0) => return Progress::Waits,
                Ok(length) => {
                    left -= length;
                    let Some(discards) = self.discards.checked_sub(length) else {
                        return Progress::Over;
                    };
                    self.discards = discards;
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return Progress::Waits,
                    io::ErrorKind::Interrupted => {}
                    _ => return Progress::Over,
                },
            }
        }
        Progress::More
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    const BEGAN: Instant = Instant::from_millis(5);

    /// A closing connection, and the peer.
    fn closing() -> (Closing, std::net::TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (tcp, _) = listener.accept().unwrap();
        tcp.set_nonblocking(true).unwrap();
        let tcp = TcpStream::from_std(tcp);
        (Closing::new(tcp, 0, Pending::default(), BEGAN), peer)
    }

    #[test]
    fn a_peer_that_does_not_close_is_left_at_the_deadline() {
        let (mut closing, mut peer) = closing();
        let mut scratch = [0; 100];
        assert_eq!(closing.advance(BEGAN, &mut scratch), Progress::Waits);
        // It has been told: it reads the end.
        assert_eq!(peer.read(&mut scratch).unwrap(), 0);
        assert_eq!(
            closing.advance(BEGAN + limits::CLOSING_PATIENCE, &mut scratch),
            Progress::Over
        );
    }

    #[test]
    fn a_peer_that_does_not_stop_is_cut_off() {
        let (mut closing, mut peer) = closing();
        let mut scratch = [0; limits::STREAM_READ];
        peer.set_nonblocking(true).unwrap();
        let mut written = 0;
        while closing.advance(BEGAN, &mut scratch) != Progress::Over {
            // A kernel that takes nothing takes more after the next turn.
            written += peer.write(&[0; limits::STREAM_READ]).unwrap_or(0);
            assert!(written < 100 * limits::CLOSING_DISCARD);
        }
        assert!(written > limits::CLOSING_DISCARD);
    }
}
