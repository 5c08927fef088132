//! Nobody silences another: neither links the sockets, nor one session the others.
//!
//! Counted in turns, which the sessions see as datagrams over their link: one each way a turn.

use std::time::Duration;

use tickwire_net::{Carries, Driver, NodeId, limits};
use tickwire_session::{Addr, Host, Idle, Instant, Session, Transmit, pass_on_session};

use crate::PATIENCE;

/// Returns every datagram to where it came from, and remembers how many came over links before each
/// one that came from the network.
#[derive(Default)]
struct Rally {
    serves: Vec<Addr>,
    linked: usize,
    before_each: Vec<usize>,
}

impl Session for Rally {
    fn handle_datagram(&mut self, _now: Instant, from: Addr, _bytes: &[u8]) {
        match from.host {
            Host::Link(_) => self.linked += 1,
            Host::Ip(_) => self.before_each.push(self.linked),
        }
        self.serves.push(from);
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let to = self.serves.pop()?;
        out.push(1);
        Some(Transmit::Datagram { to })
    }

    pass_on_session!(self => Idle; handle_opened handle_stream handle_room handle_closed handle_timeout
        poll_timeout set_busy shut_down is_finished visit_peers visit_counters);
}

#[test]
fn sockets_are_heard_every_few_turns_while_links_never_rest() {
    let mut driver = Driver::new().unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let server = driver.bind(any, Carries::Datagrams).unwrap();
    let (bot, link) = driver.link(server);
    let client = driver.open();
    let addr = Addr::from(driver.local_addr(server).unwrap());

    let mut rallies = [(); 3].map(|()| Rally::default());
    rallies[bot.index()].serves.push(link);
    rallies[client.index()].serves.push(addr);
    let deadline = driver.now() + PATIENCE;
    while rallies[server.index()].before_each.len() < 20 {
        assert!(driver.now() < deadline, "the network is silenced");
        let until = driver.now() + Duration::from_millis(1);
        let mut sessions = rallies.each_mut().map(|rally| rally as &mut dyn Session);
        driver.run_until(until, &mut sessions).unwrap();
    }

    // The ball of the link is at the server every second turn. That of the network is there and at
    // the client by turns, and each of the two hears of it when sockets are asked.
    let between = rallies[server.index()]
        .before_each
        .windows(2)
        .map(|pair| pair[1] - pair[0]);
    let asked_every = limits::LINK_TURNS + 1;
    let longest = between.max();
    assert!(
        longest <= Some(asked_every + 1),
        "{longest:?} of at most {asked_every}"
    );
    assert!(longest >= Some(2), "sockets are asked in every turn");
}

/// Has more to send than any turn has time for; counts how much of it went out.
struct Torrent {
    to: Addr,
    polls: usize,
}

/// Orders of a [`Torrent`] in all: a driver that carried them out in one turn would be at it for a
/// second or more.
const TORRENT: usize = 5_000_000;

impl Session for Torrent {
    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.polls == TORRENT {
            return None;
        }
        self.polls += 1;
        out.push(1);
        Some(Transmit::Datagram { to: self.to })
    }

    fn is_finished(&self) -> bool {
        self.polls == TORRENT
    }

    pass_on_session!(self => Idle; handle_opened handle_stream handle_datagram handle_room handle_closed
        handle_timeout poll_timeout set_busy shut_down visit_peers visit_counters);
}

#[test]
fn a_session_with_much_to_send_holds_up_neither_the_turn_nor_the_others() {
    let mut driver = Driver::new().unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let server = driver.bind(any, Carries::Datagrams).unwrap();
    let (first, link) = driver.link(server);
    let (last, _) = driver.link(server);
    let client = driver.open();
    assert_eq!(
        [server, first, last, client].map(NodeId::index),
        [0, 1, 2, 3]
    );
    let mut torrents = [link; 2].map(|to| Torrent { to, polls: 0 });
    // The second one's link is its own.
    torrents[1].to.host = Host::Link(1);
    let mut rallies = [(); 2].map(|()| Rally::default());
    let addr = Addr::from(driver.local_addr(server).unwrap());
    rallies[1].serves.push(addr);

    // What goes over the network goes on, while both pour.
    let mut turns = 0;
    while rallies[1].before_each.len() < 5 {
        let [near, far] = &mut rallies;
        let [one, two] = &mut torrents;
        let now = driver.now();
        driver.turn(now, &mut [near, one, two, far]).unwrap();
        turns += 1;
        assert!(turns < 1_000, "the client is silenced");
    }
    for torrent in &torrents {
        assert!(torrent.polls > 0, "a session was never drained");
        assert!(!torrent.is_finished(), "a turn did everything at once");
    }
}
