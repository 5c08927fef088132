//! Moving datagrams across the system call boundary in batches; the only unsafe code of the crate.
//!
//! In: a socket, and buffers that are allocated once. Out: what crossed. `linux` moves a whole batch
//! in one call, `portable` makes one call each; both have the same functions, and the tests run both
//! where both can be built. Others wait until there is something to move, and ask what became of
//! earlier datagrams, as far as the system tells. What an error means is for the caller.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, not(target_os = "linux")))]
mod portable;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::time::Duration;

use mio::net::UdpSocket;
use mio::{Events, Poll};
use socket2::SockAddr;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use portable as system;

use crate::limits::{DATAGRAM_BATCH, DATAGRAM_LARGEST};

/// A batch of datagrams that arrived.
pub(crate) struct Arrivals {
    slots: Box<[Slot]>,
    found: Vec<Arrival>,
}

/// One byte longer than what is handed in: where the system does not say that it cut a datagram, a
/// full slot does.
type Slot = [u8; DATAGRAM_LARGEST + 1];

/// What a slot holds.
struct Arrival {
    from: SocketAddr,
    /// The address of this machine that it was sent to, where the system tells.
    asked: Option<IpAddr>,
    length: usize,
}

/// A datagram longer than [`DATAGRAM_LARGEST`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Oversize;

impl Arrivals {
    pub(crate) fn new() -> Self {
        Self {
            slots: vec![[0; DATAGRAM_LARGEST + 1]; DATAGRAM_BATCH].into(),
            found: Vec::with_capacity(DATAGRAM_BATCH),
        }
    }

    /// Replaces the batch by what waits in the socket, and returns how many that is: from 1 to
    /// `most`, or an error.
    pub(crate) fn receive(&mut self, socket: &UdpSocket, most: usize) -> io::Result<usize> {
        self.found.clear();
        let slots = &mut self.slots[..most.min(DATAGRAM_BATCH)];
        system::receive(socket, slots, &mut self.found)?;
        Ok(self.found.len())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Received<'_>> {
        self.found.iter().zip(&self.slots).map(|(arrival, slot)| {
            let bytes = match arrival.length {
                length @ 0..=DATAGRAM_LARGEST => Ok(&slot[..length]),
                _ => Err(Oversize),
            };
            Received {
                from: arrival.from,
                asked: arrival.asked,
                bytes,
            }
        })
    }
}

/// A datagram that arrived.
#[derive(Debug)]
pub(crate) struct Received<'a> {
    pub(crate) from: SocketAddr,
    /// The address of this machine that it was sent to, where [`report_asked`] was called and the
    /// system tells.
    pub(crate) asked: Option<IpAddr>,
    pub(crate) bytes: Result<&'a [u8], Oversize>,
}

impl fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrivals").finish_non_exhaustive()
    }
}

/// One datagram to send, or several of one size: their place in the batch's bytes.
#[derive(Clone, Debug)]
pub(crate) struct Departure {
    pub(crate) to: SockAddr,
    /// The address of this machine to send from; the system's choice if `None`. Some systems always
    /// choose.
    pub(crate) from: Option<IpAddr>,
    pub(crate) bytes: Range<usize>,
    /// Bytes of each datagram but the last, if there are several.
    pub(crate) segment: Option<u16>,
}

impl Departure {
    /// How many datagrams it is.
    pub(crate) fn datagrams(&self) -> usize {
        match self.segment {
            Some(size) => self.bytes.len().div_ceil(size.into()),
            None => 1,
        }
    }
}

/// Sends the first departures of a batch, as many as go at once, and returns how many went. At least
/// one went, or the error is that of the first.
pub(crate) fn send(
    socket: &UdpSocket,
    departures: &[Departure],
    bytes: &[u8],
) -> io::Result<usize> {
    system::send(socket, departures, bytes)
}

/// The most datagrams that the system may take as one departure.
pub(crate) const SEGMENTS: usize = system::SEGMENTS;

/// Whether an error of [`send`] says that the system has no place for more at this moment.
pub(crate) fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || system::is_full(error)
}

/// Has the system tell, with every datagram that arrives, which address of this machine it was sent
/// to. `family` is that of the address that the socket is bound to.
pub(crate) fn report_asked(socket: &UdpSocket, family: IpAddr) -> io::Result<()> {
    system::report_asked(socket, family)
}

/// Has every datagram sent whole or not at all, and says nothing of its size before the path did: QUIC
/// finds out what fits.
pub(crate) fn forbid_fragments(socket: &UdpSocket, family: IpAddr) -> io::Result<()> {
    system::forbid_fragments(socket, family)
}

/// Has the system keep, for [`take_error`], what it learns of datagrams sent to the family of `to`.
pub(crate) fn keep_errors(socket: &UdpSocket, to: IpAddr) -> io::Result<()> {
    system::keep_errors(socket, to)
}

/// What became of a datagram sent earlier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Failure {
    /// Nobody listens there.
    Refused(SocketAddr),
    /// The path takes packets of this size at most.
    TooLong { to: SocketAddr, mtu: u32 },
    /// Something else.
    Other,
}

/// Takes the oldest failure kept. `WouldBlock` if there is none.
pub(crate) fn take_error(socket: &UdpSocket) -> io::Result<Failure> {
    system::take_error(socket)
}

/// Raises the number of files that this process may have open to `wanted`, as far as it may; returns
/// what it is then.
pub(crate) fn raise_file_limit(wanted: usize) -> usize {
    system::raise_file_limit(wanted)
}

/// Waits until a socket is ready, at most for `longest`, of which some systems leave out what is below
/// a millisecond; then collects what is ready.
pub(crate) fn poll(poll: &mut Poll, events: &mut Events, longest: Duration) -> io::Result<()> {
    system::poll(poll, events, longest)
}

#[cfg(test)]
mod tests;
