//! Datagrams on their way from sessions to sockets.
//!
//! In: what `poll_transmit` appends, datagram after datagram, to one buffer. Out: batches for one
//! socket each. Nothing is kept: a datagram that the socket does not take is dropped and counted.

use std::io;
use std::iter;
use std::ops::Range;

use mio::Token;
use mio::net::UdpSocket;
use socket2::SockAddr;

use crate::Counters;
use crate::limits::DATAGRAM_BATCH;
use crate::sockets::{Socket, Sockets};
use crate::sys::{self, Departure};

/// A batch in the making, and behind its bytes those of the transmit that is being carried out.
#[derive(Debug)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    departures: Vec<Departure>,
    /// Bytes that belong to departures.
    staged: usize,
    /// The socket that all departures go through.
    socket: Token,
}

impl Outgoing {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            departures: Vec::with_capacity(DATAGRAM_BATCH),
            staged: 0,
            socket: Token(0),
        }
    }

    /// Where `poll_transmit` appends.
    pub(crate) const fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// What it appended last.
    pub(crate) fn fresh(&self) -> &[u8] {
        &self.bytes[self.staged..]
    }

    /// Ends a transmit: what it appended is either staged or done with.
    pub(crate) fn discard_fresh(&mut self) {
        self.bytes.truncate(self.staged);
    }

    /// Adds what was appended last to the batch, as datagrams of `size` bytes.
    pub(crate) fn stage(
        &mut self,
        socket: Token,
        to: &SockAddr,
        size: usize,
        sockets: &Sockets,
        counters: &mut Counters,
    ) {
        if socket != self.socket {
            self.flush(sockets, counters);
        }
        self.socket = socket;
        let fresh = self.bytes.len() - self.staged;
        for length in datagrams(0..fresh, size).map(|range| range.len()) {
            if self.departures.len() == DATAGRAM_BATCH {
                self.flush(sockets, counters);
            }
            let bytes = self.staged..self.staged + length;
            self.staged = bytes.end;
            let to = to.clone();
            self.departures.push(Departure { to, bytes });
        }
    }

    /// Sends the batch.
    pub(crate) fn flush(&mut self, sockets: &Sockets, counters: &mut Counters) {
        if self.departures.is_empty() {
            return;
        }
        if let Some(Socket::Datagrams { udp, .. }) = sockets.get(self.socket) {
            send_all(udp, &self.departures, &self.bytes, counters);
        }
        self.departures.clear();
        self.bytes.drain(..self.staged);
        self.staged = 0;
    }
}

/// Cuts a range of bytes into datagrams of `size` bytes, the last of which may be shorter. No bytes
/// are one datagram: an empty one.
pub(crate) fn datagrams(bytes: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = bytes.end;
    let rest = bytes.clone().step_by(size).skip(1);
    iter::once(bytes.start)
        .chain(rest)
        .map(move |start| start..end.min(start.saturating_add(size)))
}

fn send_all(udp: &UdpSocket, departures: &[Departure], bytes: &[u8], counters: &mut Counters) {
    let mut rest = departures;
    let mut retried = false;
    while !rest.is_empty() {
        match sys::send(udp, rest, bytes) {
            Ok(sent) => {
                counters.datagrams_sent += sent as u64;
                rest = &rest[sent..];
                retried = false;
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock => {
                    counters.datagrams_overrun += rest.len() as u64;
                    return;
                }
                // What became of an earlier datagram, told once: this one has not been tried. Each
                // such answer is kept and read like what arrives.
                io::ErrorKind::ConnectionRefused if !retried => retried = true,
                // It concerns the first alone: the others may go elsewhere.
                _ => {
                    counters.datagrams_unsendable += 1;
                    rest = &rest[1..];
                }
            },
        }
    }
}
