//! Neither memory links nor sockets silence the other.
//!
//! Counted in turns, which the sessions see as datagrams over their link: one each way a turn.

use std::time::Duration;

use tickwire_net::{Carries, Driver, limits};
use tickwire_session::{
    Addr, Ended, Host, Instant, Path, PeerStats, Room, Session, StreamId, Transmit,
};

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

    fn handle_opened(&mut self, _now: Instant, _on: StreamId, _peer: Addr) {}
    fn handle_stream(&mut self, _now: Instant, _on: StreamId, _bytes: &[u8]) {}
    fn handle_room(&mut self, _now: Instant, _path: Path, _room: Room) {}
    fn handle_closed(&mut self, _now: Instant, _path: Path, _why: Ended) {}
    fn handle_timeout(&mut self, _now: Instant) {}
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
    fn shut_down(&mut self, _now: Instant) {}
    fn is_finished(&self) -> bool {
        false
    }
    fn visit_peers(&self, _visit: &mut dyn FnMut(&PeerStats<'_>)) {}
    fn visit_counters(&self, _visit: &mut dyn FnMut(&'static str, u64)) {}
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
    while rallies[server.index()].before_each.len() < 20 {
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
