//! Two endpoints without sockets, on a clock that the test sets.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::*;
use crate::limits::{LINK_IDLE, LINK_KEEP_ALIVE};
use crate::quic::{LinkFailure, Trust};

const AT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
const FROM: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 2);

struct Pair {
    began: time::Instant,
    now: Instant,
    server: Endpoint,
    /// The server's number of the connection.
    accepted: Option<usize>,
    client: Endpoint,
    dialled: usize,
    counters: Counters,
}

impl Pair {
    fn new() -> Self {
        #[expect(clippy::disallowed_methods, reason = "any moment will do")]
        let began = time::Instant::now();
        let now = Instant::ZERO;
        let server = Server::new(Identity::generate().unwrap()).protocol("test", NodeId(0));
        let client = Client {
            to: AT,
            name: "localhost".into(),
            protocol: "test".into(),
            trust: Trust::Pinned(server.fingerprint()),
            ticket: Vec::new(),
        };
        let origin = Origin {
            number: 0,
            since: now,
            host: Host::Link(0),
        };
        let (client, dialled) = Endpoint::connect(origin, began, client, false).unwrap();
        let server = Endpoint::listen(now, server, false).unwrap();
        Self {
            began,
            now,
            server,
            accepted: None,
            client,
            dialled,
            counters: Counters::default(),
        }
    }

    fn wall(&self) -> time::Instant {
        self.began + self.now.since(Instant::ZERO)
    }

    /// Moves everything that there is to move at this moment, except for what is said by those who are cut off.
    fn exchange(&mut self, is_cut: bool) {
        let (now, wall) = (self.now, self.wall());
        for _ in 0..20 {
            let sent = packets(&mut self.client, self.dialled, wall);
            for packet in sent.into_iter().filter(|_| !is_cut) {
                let mut out = Vec::new();
                self.server
                    .receive(now, wall, FROM, None, &packet, &mut out);
            }
            while self.server.has_strangers() {
                self.server.read_first(now, wall, &mut Vec::new());
                let (received, _) = self.server.accept(now, wall, 1, &mut Vec::new());
                if let Received::Connection(connection) = received {
                    self.accepted = Some(connection);
                }
            }
            if let Some(connection) = self.accepted {
                self.server
                    .update(now, wall, connection, &mut self.counters);
                self.server.entry(now, wall, connection);
                for packet in packets(&mut self.server, connection, wall) {
                    if !is_cut {
                        self.client
                            .receive(now, wall, AT, None, &packet, &mut Vec::new());
                    }
                }
            }
            self.client
                .update(now, wall, self.dialled, &mut self.counters);
        }
    }

    /// Lets time go on, in steps.
    fn pass(&mut self, time: Duration, is_cut: bool) {
        let until = self.now + time;
        while self.now < until {
            self.now += Duration::from_millis(500);
            self.exchange(is_cut);
        }
    }

    fn server_failure(&mut self) -> Option<LinkFailure> {
        self.server.link_mut(self.accepted?)?.take_failure()
    }
}

/// What a connection sends now, packet by packet.
fn packets(endpoint: &mut Endpoint, connection: usize, wall: time::Instant) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut out = Vec::new();
    while let Some(link) = endpoint.link_mut(connection)
        && let Some(sent) = link.poll_transmit(wall, &mut out)
    {
        let length = sent.segment_size.unwrap_or(sent.size);
        all.extend(out.chunks(length).map(<[u8]>::to_vec));
        out.clear();
    }
    all
}

#[test]
fn a_silent_link_is_over_after_a_minute_and_one_that_is_kept_alive_is_not() {
    let mut pair = Pair::new();
    pair.exchange(false);
    let link = pair.server.link_mut(pair.accepted.unwrap()).unwrap();
    assert!(matches!(link.stage, Stage::Open), "{:?}", link.stage);

    // Nobody says anything, but the client's machine that it is there.
    pair.pass(3 * LINK_IDLE, false);
    assert_eq!(pair.server_failure(), None);

    pair.pass(LINK_IDLE - LINK_KEEP_ALIVE - Duration::from_secs(1), true);
    assert_eq!(pair.server_failure(), None);
    pair.pass(LINK_KEEP_ALIVE + Duration::from_secs(2), true);
    assert_eq!(pair.server_failure(), Some(LinkFailure::Silent));
}

#[test]
fn an_answer_to_a_stranger_is_never_more_than_three_times_what_it_sent() {
    let mut pair = Pair::new();
    let (now, wall) = (pair.now, pair.wall());
    let first = packets(&mut pair.client, pair.dialled, wall);
    let asked: usize = first.iter().map(Vec::len).sum();
    for packet in &first {
        pair.server
            .receive(now, wall, FROM, None, packet, &mut Vec::new());
        pair.server.read_first(now, wall, &mut Vec::new());
    }
    let (received, _) = pair.server.accept(now, wall, 1, &mut Vec::new());
    let Received::Connection(connection) = received else {
        panic!("{received:?}");
    };
    // Whoever claimed the address never answers, and the server tries again until it gives up.
    let mut answered = 0;
    while pair.now < Instant::ZERO + 2 * HANDSHAKE_PATIENCE {
        pair.now += Duration::from_millis(20);
        let (now, wall) = (pair.now, pair.wall());
        let sent = packets(&mut pair.server, connection, wall);
        answered += sent.iter().map(Vec::len).sum::<usize>();
        pair.server
            .update(now, wall, connection, &mut pair.counters);
    }
    assert!(
        answered > 0 && answered <= 3 * asked,
        "{answered} for {asked}"
    );
}
