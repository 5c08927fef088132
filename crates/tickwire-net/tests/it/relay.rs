//! A bad network in the test's own loop: a UDP relay that delays, loses and redirects, by seed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use tickwire_session::Instant;
use tickwire_sim::{Chance, Rng};

use crate::quic::any_port;

pub(crate) struct Relay {
    front: UdpSocket,
    /// A socket for each client, so that the server can tell them apart.
    backs: BTreeMap<SocketAddr, UdpSocket>,
    /// Where clients' packets go; may be changed at any time.
    pub(crate) target: SocketAddr,
    pub(crate) loss: Chance,
    pub(crate) delay: Duration,
    /// Added to some packets, which are then overtaken.
    pub(crate) jitter: Duration,
    rng: Rng,
    under_way: BinaryHeap<Reverse<Packet>>,
    /// Packets that came from the server.
    pub(crate) from_server: usize,
}

/// When it arrives, its number, whether it goes to the server, its client, its bytes.
type Packet = (Instant, usize, bool, SocketAddr, Vec<u8>);

impl Relay {
    pub(crate) fn to(target: SocketAddr) -> Self {
        Self {
            front: socket(),
            backs: BTreeMap::new(),
            target,
            loss: Chance::NEVER,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            rng: Rng::new(7),
            under_way: BinaryHeap::new(),
            from_server: 0,
        }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.front.local_addr().unwrap()
    }

    /// How many clients it has heard of: a connection that is made anew comes from a port of its own.
    pub(crate) fn clients(&self) -> usize {
        self.backs.len()
    }

    /// Moves what has come, and what has been under way for long enough.
    pub(crate) fn pump(&mut self, now: Instant) {
        let mut buffer = [0; 2_048];
        let mut came = Vec::new();
        while let Ok((length, client)) = self.front.recv_from(&mut buffer) {
            self.backs.entry(client).or_insert_with(socket);
            came.push((true, client, buffer[..length].to_vec()));
        }
        for (&client, back) in &self.backs {
            while let Ok((length, _)) = back.recv_from(&mut buffer) {
                self.from_server += 1;
                came.push((false, client, buffer[..length].to_vec()));
            }
        }
        for (to_server, client, bytes) in came {
            if self.rng.happens(self.loss) {
                continue;
            }
            let mut arrives = now + self.delay;
            if self.rng.happens(Chance::percent(50)) {
                arrives += self.jitter;
            }
            let packet = (arrives, self.under_way.len(), to_server, client, bytes);
            self.under_way.push(Reverse(packet));
        }
        while let Some(Reverse((arrives, ..))) = self.under_way.peek()
            && *arrives <= now
            && let Some(Reverse((_, _, to_server, client, bytes))) = self.under_way.pop()
        {
            // Whoever is not there loses it.
            match to_server {
                true => self.backs[&client].send_to(&bytes, self.target).ok(),
                false => self.front.send_to(&bytes, client).ok(),
            };
        }
    }
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind(any_port()).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}
