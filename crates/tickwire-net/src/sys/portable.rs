//! One call a datagram, on every system.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use mio::net::UdpSocket;
use mio::{Events, Poll};
use socket2::SockRef;

use super::{Arrival, Departure, Failure, Slot};

pub(super) fn receive(
    socket: &UdpSocket,
    slots: &mut [Slot],
    found: &mut Vec<Arrival>,
) -> io::Result<()> {
    for slot in slots {
        match socket.recv_from(slot) {
            Ok((length, from)) => found.push(Arrival {
                from,
                asked: None,
                length,
            }),
            Err(error) if found.is_empty() => return Err(error),
            // What was found is handed in first. An error that lasts shows itself again.
            Err(_) => break,
        }
    }
    Ok(())
}

pub(super) fn send(
    socket: &UdpSocket,
    departures: &[Departure],
    bytes: &[u8],
) -> io::Result<usize> {
    let mut sent = 0;
    for departure in departures {
        debug_assert!(departure.segment.is_none(), "see `SEGMENTS`");
        let datagram = &bytes[departure.bytes.clone()];
        let send = || SockRef::from(socket).send_to(datagram, &departure.to);
        match socket.try_io(send) {
            Ok(_) => sent += 1,
            Err(error) if sent == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(sent)
}

/// One call takes one datagram.
pub(super) const SEGMENTS: usize = 1;

pub(super) const fn is_full(_error: &io::Error) -> bool {
    false
}

/// Without it, packets stay at the size that passes everywhere.
pub(super) fn forbid_fragments(_socket: &UdpSocket, _family: IpAddr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nothing is told: answers come from the address that the system chooses.
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse")]
pub(super) fn report_asked(_socket: &UdpSocket, _family: IpAddr) -> io::Result<()> {
    Ok(())
}

/// Nothing is kept: a client learns from silence.
#[expect(clippy::unnecessary_wraps, reason = "other systems may refuse")]
pub(super) fn keep_errors(_socket: &UdpSocket, _to: IpAddr) -> io::Result<()> {
    Ok(())
}

pub(super) fn take_error(_socket: &UdpSocket) -> io::Result<Failure> {
    Err(io::ErrorKind::WouldBlock.into())
}

/// Nobody here knows a limit.
pub(super) const fn raise_file_limit(wanted: usize) -> usize {
    wanted
}

/// Collects what is ready, after waiting for it: whole milliseconds, because more of one would be
/// waited for as if it were all of it.
pub(super) fn poll(poll: &mut Poll, events: &mut Events, longest: Duration) -> io::Result<()> {
    let part = Duration::from_nanos((longest.subsec_nanos() % 1_000_000).into());
    poll.poll(events, Some(longest - part))
}
