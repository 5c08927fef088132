//! Datagrams on their way from sessions to sockets.
//!
//! In: what `poll_transmit` appends, datagram after datagram, to one buffer. Out: batches for one
//! socket each, and to whom a socket that was full did not send. Nothing is kept: a datagram that the
//! socket does not take is dropped and counted.

use std::io;
use std::iter;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use mio::Token;
use tickwire_session::Addr;

use crate::Counters;
use crate::limits::{DATAGRAM_BATCH, SEGMENTED_BYTES};
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
    /// Whether the system takes several datagrams as one.
    segments: bool,
    /// Where a full socket did not send to.
    full: Vec<(Token, Addr)>,
}

/// How a datagram travels.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) socket: Token,
    /// As the socket wants it.
    pub(crate) to: SocketAddr,
    /// See [`Departure::from`].
    pub(crate) from: Option<IpAddr>,
}

impl Outgoing {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            departures: Vec::with_capacity(DATAGRAM_BATCH),
            staged: 0,
            socket: Token(0),
            segments: sys::SEGMENTS > 1,
            full: Vec::new(),
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

    /// Adds what was appended last to the batch: one datagram, or several of `segment` bytes.
    pub(crate) fn stage(
        &mut self,
        route: &Route,
        segment: Option<u16>,
        sockets: &Sockets,
        counters: &mut Counters,
    ) {
        if route.socket != self.socket {
            self.flush(sockets, counters);
        }
        self.socket = route.socket;
        let fresh = self.bytes.len() - self.staged;
        for length in departures(fresh, segment, self.segments).map(|range| range.len()) {
            if self.departures.len() == DATAGRAM_BATCH {
                self.flush(sockets, counters);
            }
            let bytes = self.staged..self.staged + length;
            self.staged = bytes.end;
            self.departures.push(Departure {
                to: route.to.into(),
                from: route.from,
                bytes,
                segment: segment.filter(|&size| length > size.into()),
            });
        }
    }

    /// Sends the batch.
    pub(crate) fn flush(&mut self, sockets: &Sockets, counters: &mut Counters) {
        if self.departures.is_empty() {
            return;
        }
        if let Some(udp) = sockets.get(self.socket).and_then(Socket::packets) {
            let mut send = |departures: &[Departure]| sys::send(udp, departures, &self.bytes);
            let outcome = send_all(&mut send, &self.departures, counters);
            self.segments &= !outcome.refused_segments;
            let full = outcome
                .full
                .iter()
                .filter_map(|dropped| dropped.to.as_socket());
            self.full
                .extend(full.map(|to| (self.socket, Addr::from(to))));
        }
        self.departures.clear();
        self.bytes.drain(..self.staged);
        self.staged = 0;
    }

    /// The paths that full sockets did not send on since the last call.
    pub(crate) fn take_full(&mut self) -> Vec<(Token, Addr)> {
        mem::take(&mut self.full)
    }
}

/// Cuts `length` bytes into datagrams of `size` bytes, the last of which may be shorter. No bytes are
/// one datagram: an empty one.
pub(crate) fn datagrams(length: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    iter::once(0)
        .chain((0..length).step_by(size).skip(1))
        .map(move |start| start..length.min(start.saturating_add(size)))
}

/// The same, into what the system takes as one departure: several datagrams, if it can.
fn departures(
    length: usize,
    segment: Option<u16>,
    together: bool,
) -> impl Iterator<Item = Range<usize>> {
    let size = segment.map_or(usize::MAX, |size| usize::from(size).max(1));
    let most = (SEGMENTED_BYTES / size).clamp(1, sys::SEGMENTS);
    let size = if together {
        size.saturating_mul(most)
    } else {
        size
    };
    datagrams(length, size)
}

/// What became of a batch, as far as others have to know.
#[derive(Debug, Default)]
struct Outcome<'a> {
    /// Those that found no place.
    full: &'a [Departure],
    /// The system does not take several datagrams as one.
    refused_segments: bool,
}

fn send_all<'a>(
    send: &mut dyn FnMut(&[Departure]) -> io::Result<usize>,
    departures: &'a [Departure],
    counters: &mut Counters,
) -> Outcome<'a> {
    let mut outcome = Outcome::default();
    let mut rest = departures;
    let mut retried = false;
    while let Some((first, others)) = rest.split_first() {
        match send(rest) {
            Ok(sent) => {
                let datagrams = rest.iter().take(sent).map(Departure::datagrams);
                counters.datagrams_sent += datagrams.sum::<usize>() as u64;
                rest = &rest[sent..];
                retried = false;
            }
            Err(error) if sys::is_full(&error) => {
                let datagrams = rest.iter().map(Departure::datagrams);
                counters.datagrams_overrun += datagrams.sum::<usize>() as u64;
                outcome.full = rest;
                return outcome;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // What became of an earlier datagram, told once: this one has not been tried. Each such
            // answer is kept and read like what arrives.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && !retried => {
                retried = true;
            }
            // An old kernel, or a card that cannot: one by one they go.
            Err(_) if first.segment.is_some() => {
                outcome.refused_segments = true;
                let single = split(first);
                for batch in single.chunks(DATAGRAM_BATCH) {
                    send_all(send, batch, counters);
                }
                rest = others;
            }
            // It concerns the first alone: the others may go elsewhere.
            Err(_) => {
                counters.datagrams_unsendable += 1;
                rest = others;
            }
        }
    }
    outcome
}

/// Each datagram of a departure by itself.
fn split(departure: &Departure) -> Vec<Departure> {
    let size = departure.segment.map_or(usize::MAX, usize::from);
    let start = departure.bytes.start;
    datagrams(departure.bytes.len(), size)
        .map(|range| Departure {
            bytes: start + range.start..start + range.end,
            segment: None,
            ..departure.clone()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departure(port: u16, bytes: Range<usize>, segment: Option<u16>) -> Departure {
        Departure {
            to: SocketAddr::from(([127, 0, 0, 1], port)).into(),
            from: None,
            bytes,
            segment,
        }
    }

    #[test]
    fn bytes_are_cut_into_datagrams() {
        let ends = |length, size| {
            let ranges = datagrams(length, size);
            ranges
                .map(|range| (range.start, range.end))
                .collect::<Vec<_>>()
        };
        assert_eq!(ends(7, 3), [(0, 3), (3, 6), (6, 7)]);
        assert_eq!(ends(6, 3), [(0, 3), (3, 6)]);
        assert_eq!(ends(0, 3), [(0, 0)]);
        assert_eq!(ends(7, usize::MAX), [(0, 7)]);
    }

    #[test]
    fn what_travels_as_one_departure_is_bounded() {
        for size in [1, 7, 1_200, u16::MAX] {
            for range in departures(1_000_000, Some(size), true) {
                let count = range.len().div_ceil(size.into());
                assert!(count <= sys::SEGMENTS && (count == 1 || range.len() <= SEGMENTED_BYTES));
            }
        }
    }

    #[test]
    fn a_full_socket_names_those_it_did_not_send_to() {
        let batch = [1, 2, 3].map(|port| departure(port, 0..1, None));
        let mut counters = Counters::default();
        let mut calls = 0;
        let mut send = |_: &[Departure]| {
            calls += 1;
            match calls {
                1 => Ok(1),
                _ => Err(io::ErrorKind::WouldBlock.into()),
            }
        };
        let outcome = send_all(&mut send, &batch, &mut counters);
        let full = outcome
            .full
            .iter()
            .filter_map(|dropped| dropped.to.as_socket());
        assert_eq!(full.map(|to| to.port()).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(
            (counters.datagrams_sent, counters.datagrams_overrun),
            (1, 2)
        );
    }

    #[test]
    fn a_system_without_segments_gets_datagrams() {
        let batch = [departure(1, 10..17, Some(3)), departure(2, 17..18, None)];
        let mut counters = Counters::default();
        let mut sent = Vec::new();
        let mut send = |departures: &[Departure]| {
            if departures
                .iter()
                .any(|departure| departure.segment.is_some())
            {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            sent.extend(departures.iter().map(|departure| departure.bytes.clone()));
            Ok(departures.len())
        };
        let outcome = send_all(&mut send, &batch, &mut counters);
        assert!(outcome.refused_segments);
        assert_eq!(sent, [10..13, 13..16, 16..17, 17..18]);
        assert_eq!(counters.datagrams_sent, 4);
        assert_eq!(counters.datagrams_unsendable, 0);
    }
}
