//! A TCP connection that its session has finished.
//!
//! Closing a socket while the peer's bytes lie unread resets the connection, and the reset destroys
//! our last bytes before the peer has read them. So the end is: send what is pending, say that it
//! was the last, read and drop what still comes until the peer closes, too; then close. A peer that
//! does not close is given [`FAREWELL`](limits::FAREWELL), and may send
//! [`FAREWELL_DISCARD`](limits::FAREWELL_DISCARD).

use std::io::{self, Read};
use std::net::Shutdown;

use mio::net::TcpStream;
use tickwire_session::Instant;

use crate::limits;
use crate::stream::Pending;

#[derive(Debug)]
pub(crate) struct Farewell {
    tcp: TcpStream,
    pending: Pending,
    /// The peer was told that nothing follows.
    said: bool,
    deadline: Instant,
    /// Bytes that the peer may still send.
    patience: usize,
}

/// Where a farewell stands.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Parting {
    /// Nothing more happens until the socket is ready again, or the deadline.
    Waits,
    /// There is more to drop in the next turn.
    More,
    /// The connection can be closed.
    Over,
}

impl Farewell {
    pub(crate) fn new(tcp: TcpStream, pending: Pending, now: Instant) -> Self {
        Self {
            tcp,
            pending,
            said: false,
            deadline: now + limits::FAREWELL,
            patience: limits::FAREWELL_DISCARD,
        }
    }

    pub(crate) const fn source(&mut self) -> &mut TcpStream {
        &mut self.tcp
    }

    pub(crate) const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Goes on as far as the socket is ready for, and drops at most as many bytes as `scratch` holds.
    pub(crate) fn go_on(&mut self, now: Instant, scratch: &mut [u8]) -> Parting {
        if now >= self.deadline || self.pending.write_to(&mut self.tcp).is_err() {
            return Parting::Over;
        }
        if self.pending.len() == 0 && !self.said {
            self.said = true;
            if self.tcp.shutdown(Shutdown::Write).is_err() {
                return Parting::Over;
            }
        }
        let mut left = scratch.len();
        while left > 0 {
            match self.tcp.read(&mut scratch[..left]) {
                // The peer closed; our last bytes may still wait for the kernel.
                Ok(0) if self.said => return Parting::Over,
                Ok(0) => return Parting::Waits,
                Ok(length) => {
                    left -= length;
                    let Some(patience) = self.patience.checked_sub(length) else {
                        return Parting::Over;
                    };
                    self.patience = patience;
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return Parting::Waits,
                    io::ErrorKind::Interrupted => {}
                    _ => return Parting::Over,
                },
            }
        }
        Parting::More
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    const BEGAN: Instant = Instant::from_millis(5);

    /// A farewell, and the peer.
    fn parting() -> (Farewell, std::net::TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (tcp, _) = listener.accept().unwrap();
        tcp.set_nonblocking(true).unwrap();
        let tcp = TcpStream::from_std(tcp);
        (Farewell::new(tcp, Pending::default(), BEGAN), peer)
    }

    #[test]
    fn a_peer_that_does_not_close_is_left_at_the_deadline() {
        let (mut farewell, mut peer) = parting();
        let mut scratch = [0; 100];
        assert_eq!(farewell.go_on(BEGAN, &mut scratch), Parting::Waits);
        // It has been told: it reads the end.
        assert_eq!(peer.read(&mut scratch).unwrap(), 0);
        assert_eq!(
            farewell.go_on(BEGAN + limits::FAREWELL, &mut scratch),
            Parting::Over
        );
    }

    #[test]
    fn a_peer_that_does_not_stop_is_cut_off() {
        let (mut farewell, mut peer) = parting();
        let mut scratch = [0; limits::STREAM_READ];
        peer.set_nonblocking(true).unwrap();
        let mut written = 0;
        while farewell.go_on(BEGAN, &mut scratch) != Parting::Over {
            // A kernel that takes nothing takes more after the next turn.
            written += peer.write(&[0; limits::STREAM_READ]).unwrap_or(0);
            assert!(written < 100 * limits::FAREWELL_DISCARD);
        }
        assert!(written > limits::FAREWELL_DISCARD);
    }
}
