//! Moving datagrams across the system call boundary in batches; the only unsafe code of the crate.
//!
//! In: a socket, and buffers that are allocated once. Out: what crossed. `linux` moves a whole batch
//! in one call, `portable` makes one call each; both have the same functions, and the tests run both
//! where both can be built. Others wait until there is something to move, and ask which earlier
//! datagram was refused, as far as the system tells. What an error means is for the caller.

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

    pub(crate) fn iter(&self) -> impl Iterator<Item = (SocketAddr, Result<&[u8], Oversize>)> {
        self.found.iter().zip(&self.slots).map(|(arrival, slot)| {
            let datagram = match arrival.length {
                length @ 0..=DATAGRAM_LARGEST => Ok(&slot[..length]),
                _ => Err(Oversize),
            };
            (arrival.from, datagram)
        })
    }
}

impl fmt::Debug for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrivals").finish_non_exhaustive()
    }
}

/// A datagram to send: its place in the batch's bytes.
#[derive(Debug)]
pub(crate) struct Departure {
    pub(crate) to: SockAddr,
    pub(crate) bytes: Range<usize>,
}

/// Sends the first datagrams of a batch, as many as go at once, and returns how many went. At least
/// one went, or the error is that of the first.
pub(crate) fn send(
    socket: &UdpSocket,
    departures: &[Departure],
    bytes: &[u8],
) -> io::Result<usize> {
    system::send(socket, departures, bytes)
}

/// Has the system keep, for [`take_error`], what it learns of datagrams sent to the family of `to`.
pub(crate) fn keep_errors(socket: &UdpSocket, to: IpAddr) -> io::Result<()> {
    system::keep_errors(socket, to)
}

/// Takes the oldest error kept: the address where nobody listens, or `None` if it was another error.
/// `WouldBlock` if there is none.
pub(crate) fn take_error(socket: &UdpSocket) -> io::Result<Option<SocketAddr>> {
    system::take_error(socket)
}

/// Waits until a socket is ready, at most for `longest`, of which some systems leave out what is below
/// a millisecond; then collects what is ready.
pub(crate) fn poll(poll: &mut Poll, events: &mut Events, longest: Duration) -> io::Result<()> {
    system::poll(poll, events, longest)
}

#[cfg(test)]
mod tests;
