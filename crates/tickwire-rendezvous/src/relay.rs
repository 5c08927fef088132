//! A relay: what one member of a pairing sends goes to the other, and nowhere else.
//!
//! In: datagrams. Out: the same, to the other member; and why it is over, when it is. A member makes itself
//! known by a probe with the pairing's key ([`Kind::Bind`]), from whichever address its router gives it; until
//! then nothing of it is forwarded, and no third address is ever sent anything. What is carried is encrypted
//! from member to member: a relay cannot read it. How much it carries, how fast and how long it waits for more
//! are its [`Budget`].

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::SocketAddr;
use core::time::Duration;

use tickwire_session::{
    Addr, Ended, Host, Instant, Path, PeerStats, Room, Session, StreamId, Traffic, Transmit,
    counters,
};

use crate::limits::{
    RELAY_BURST, RELAY_BYTES, RELAY_IDLE, RELAY_LARGEST, RELAY_RATE, RELAY_WAITING,
};
use crate::message::RelayEnd;
use crate::probe::{Key, Kind, PROBE_LENGTH, Probe, Role};

/// What one relay may carry, both directions together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Budget {
    /// Bytes in all.
    pub bytes: u64,
    /// Bytes a second.
    pub rate: u32,
    /// Bytes at once, before the rate counts.
    pub burst: u32,
    /// How long it waits for something to carry.
    pub idle: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            bytes: RELAY_BYTES,
            rate: RELAY_RATE,
            burst: RELAY_BURST,
            idle: RELAY_IDLE,
        }
    }
}

/// One pairing's relay.
#[derive(Debug)]
pub struct Relay {
    pairing: u32,
    key: Key,
    members: [Option<Member>; 2],
    /// For members on a stream, which the embedder has.
    streamed: VecDeque<(SocketAddr, Vec<u8>)>,
    budget: Budget,
    /// Bytes that may be carried now.
    allowance: u64,
    counted: Instant,
    used: Instant,
    carried: u64,
    state: State,
    /// Datagrams on their way: to whom, and how many of the bytes.
    waiting: VecDeque<(Addr, usize)>,
    bytes: Vec<u8>,
    /// Bytes in front that were sent.
    sent: usize,
    counters: Counters,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Open,
    Ended(RelayEnd),
}

/// A member that made itself known.
#[derive(Clone, Copy, Debug)]
struct Member {
    at: Place,
    /// Of its last probe: an older one, sent again by somebody else, does not move it.
    number: u32,
    traffic: Traffic,
}

/// Where a member is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    /// At this address.
    Datagrams(Addr),
    /// At the other end of the stream from this address. The same numbers may be another's for datagrams.
    Stream(SocketAddr),
}

impl Place {
    fn addr(self) -> Addr {
        match self {
            Self::Datagrams(addr) => addr,
            Self::Stream(addr) => addr.into(),
        }
    }
}

counters! {
    /// What a relay did not carry.
    pub struct Counters {
        /// From an address that belongs to no member.
        strangers,
        /// Probes with a wrong tag, of another pairing, or older than one before.
        probes_refused,
        /// The other member has not made itself known.
        unbound,
        /// Above the budget's rate.
        above_rate,
        /// Longer than a datagram may be, or too many at once.
        overrun,
    }
}

impl Relay {
    /// A relay that knows nobody yet.
    pub fn new(now: Instant, pairing: u32, key: Key, budget: Budget) -> Self {
        Self {
            pairing,
            key,
            members: [None, None],
            streamed: VecDeque::new(),
            allowance: budget.burst.into(),
            budget,
            counted: now,
            used: now,
            carried: 0,
            state: State::Open,
            waiting: VecDeque::new(),
            bytes: Vec::new(),
            sent: 0,
            counters: Counters::default(),
        }
    }

    /// Why it is over, when it is.
    pub const fn ended(&self) -> Option<RelayEnd> {
        match self.state {
            State::Open => None,
            State::Ended(why) => Some(why),
        }
    }

    /// Bytes that it carried.
    pub const fn carried(&self) -> u64 {
        self.carried
    }

    /// A datagram came on the stream from this address ([`Gate`](crate::Gate)).
    pub fn handle_carried(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) {
        self.handle(now, Place::Stream(from), bytes);
    }

    /// A datagram for the stream from this address.
    pub fn poll_carried(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.streamed.pop_front()
    }

    fn handle(&mut self, now: Instant, from: Place, bytes: &[u8]) {
        if self.state != State::Open {
            return;
        }
        if Probe::pairing_of(bytes) == Some(self.pairing) {
            match Probe::decode(bytes, &self.key) {
                Ok(probe) if probe.kind == Kind::Bind => return self.handle_probe(from, probe),
                // Probes between the members pass like everything else.
                Ok(_) => {}
                Err(_) => {
                    self.counters.probes_refused += 1;
                    return;
                }
            }
        }
        let is_sender = |member: &Option<Member>| member.is_some_and(|member| member.at == from);
        match self.members.iter().position(is_sender) {
            Some(sender) => self.forward(now, sender, bytes),
            None => self.counters.strangers += 1,
        }
    }

    fn send(&mut self, to: Place, bytes: &[u8]) {
        match to {
            Place::Datagrams(to) => {
                self.bytes.extend_from_slice(bytes);
                self.waiting.push_back((to, bytes.len()));
            }
            Place::Stream(to) => self.streamed.push_back((to, bytes.to_vec())),
        }
    }

    fn is_overrun(&self) -> bool {
        self.waiting.len() + self.streamed.len() >= RELAY_WAITING
    }

    fn handle_probe(&mut self, from: Place, probe: Probe) {
        let place = match probe.role {
            Role::Host => &mut self.members[0],
            Role::Joiner => &mut self.members[1],
        };
        // A replayed probe would aim what the other member sends at whoever replays it.
        if place.is_some_and(|member| member.at != from && probe.number <= member.number) {
            self.counters.probes_refused += 1;
            return;
        }
        let before = place.get_or_insert(Member {
            at: from,
            number: probe.number,
            traffic: Traffic::NONE,
        });
        before.at = from;
        before.number = before.number.max(probe.number);
        let answer = Probe {
            kind: Kind::Bound,
            ..probe
        };
        if !self.is_overrun() {
            let mut bytes = Vec::with_capacity(PROBE_LENGTH);
            answer.encode(&self.key, &mut bytes);
            self.send(from, &bytes);
        }
    }

    fn forward(&mut self, now: Instant, sender: usize, bytes: &[u8]) {
        let Some(receiver) = self.members.get(1 - sender).copied().flatten() else {
            self.counters.unbound += 1;
            return;
        };
        if self.is_overrun() || bytes.len() > RELAY_LARGEST {
            self.counters.overrun += 1;
            return;
        }
        if !self.spend(now, bytes.len() as u64) {
            self.counters.above_rate += 1;
            return;
        }
        self.used = now;
        self.send(receiver.at, bytes);
        for (index, member) in self.members.iter_mut().enumerate() {
            if let Some(Member { traffic, .. }) = member {
                match index == sender {
                    true => traffic.received(bytes.len()),
                    false => traffic.sent(bytes.len()),
                }
            }
        }
    }

    /// Whether so many bytes may be carried now.
    fn spend(&mut self, now: Instant, bytes: u64) -> bool {
        let elapsed = u64::try_from(now.since(self.counted).as_micros()).unwrap_or(u64::MAX);
        let gained = elapsed.saturating_mul(self.budget.rate.into()) / 1_000_000;
        if gained > 0 {
            self.counted = now;
            self.allowance = (self.allowance + gained).min(self.budget.burst.into());
        }
        if self.carried + bytes > self.budget.bytes {
            self.state = State::Ended(RelayEnd::Spent);
            return false;
        }
        let Some(left) = self.allowance.checked_sub(bytes) else {
            return false;
        };
        self.allowance = left;
        self.carried += bytes;
        true
    }
}

impl Session for Relay {
    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if !matches!(from.host, Host::Link(_)) {
            self.handle(now, Place::Datagrams(from), bytes);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.state == State::Open && now.since(self.used) >= self.budget.idle {
            self.state = State::Ended(RelayEnd::Idle);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (self.state == State::Open).then(|| self.used + self.budget.idle)
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let Some((to, length)) = self.waiting.pop_front() else {
            self.bytes.clear();
            self.sent = 0;
            return None;
        };
        let end = self.sent + length;
        out.extend_from_slice(self.bytes.get(self.sent..end).unwrap_or_default());
        self.sent = end;
        Some(Transmit::Datagram { to })
    }

    fn shut_down(&mut self, _now: Instant) {
        if self.state == State::Open {
            self.state = State::Ended(RelayEnd::Released);
        }
    }

    fn is_finished(&self) -> bool {
        self.state != State::Open && self.waiting.is_empty() && self.streamed.is_empty()
    }

    // It has no streams, and what a path does not take is lost, as anywhere else.
    fn handle_opened(&mut self, _now: Instant, _on: StreamId, _peer: Addr) {}
    fn handle_stream(&mut self, _now: Instant, _on: StreamId, _bytes: &[u8]) {}
    fn handle_room(&mut self, _now: Instant, _path: Path, _room: Room) {}
    fn handle_closed(&mut self, _now: Instant, _path: Path, _why: Ended) {}
    fn set_busy(&mut self, _is_busy: bool) {}

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        for (member, name) in self.members.iter().zip(["host", "joiner"]) {
            if let Some(member) = member {
                visit_member(member, name, visit);
            }
        }
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.counters.visit(visit);
    }
}

fn visit_member(member: &Member, name: &str, visit: &mut dyn FnMut(&PeerStats<'_>)) {
    let mut stats = PeerStats::new(name, member.at.addr(), "Bound");
    stats.traffic = member.traffic;
    visit(&stats);
}

#[cfg(test)]
mod tests {
    use core::net::IpAddr;

    use super::*;

    const KEY: Key = [4; 16];

    fn at(number: u8) -> Addr {
        Addr {
            host: Host::Ip(IpAddr::from([10, 0, 0, number])),
            port: 5,
        }
    }

    fn bind(role: Role, number: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let probe = Probe {
            kind: Kind::Bind,
            role,
            pairing: 7,
            number,
        };
        probe.encode(&KEY, &mut bytes);
        bytes
    }

    fn relay(budget: Budget) -> Relay {
        Relay::new(Instant::ZERO, 7, KEY, budget)
    }

    fn bound(budget: Budget) -> Relay {
        let mut relay = relay(budget);
        relay.handle_datagram(Instant::ZERO, at(1), &bind(Role::Host, 1));
        relay.handle_datagram(Instant::ZERO, at(2), &bind(Role::Joiner, 1));
        assert_eq!(sent(&mut relay).len(), 2);
        relay
    }

    fn sent(relay: &mut Relay) -> Vec<(Addr, Vec<u8>)> {
        let mut all = Vec::new();
        let mut out = Vec::new();
        while let Some(Transmit::Datagram { to }) = relay.poll_transmit(Instant::ZERO, &mut out) {
            all.push((to, core::mem::take(&mut out)));
        }
        all
    }

    #[test]
    fn only_the_two_members_are_carried_between() {
        let mut relay = bound(Budget::default());
        let now = Instant::from_millis(1);
        relay.handle_datagram(now, at(1), b"to the joiner");
        relay.handle_datagram(now, at(2), b"to the host");
        relay.handle_datagram(now, at(3), b"from a third");
        assert_eq!(
            sent(&mut relay),
            [
                (at(2), b"to the joiner".to_vec()),
                (at(1), b"to the host".to_vec())
            ]
        );
        assert_eq!(relay.counters.strangers, 1);
    }

    #[test]
    fn a_stranger_is_not_bound_and_not_answered() {
        let mut relay = bound(Budget::default());
        let mut forged = bind(Role::Joiner, 99);
        forged[19] ^= 1;
        relay.handle_datagram(Instant::ZERO, at(3), &forged);
        // Overheard, and sent again from elsewhere.
        relay.handle_datagram(Instant::ZERO, at(3), &bind(Role::Joiner, 1));
        assert_eq!(sent(&mut relay), []);
        assert_eq!(relay.counters.probes_refused, 2);
    }

    #[test]
    fn a_member_moves_by_a_newer_probe() {
        let mut relay = bound(Budget::default());
        relay.handle_datagram(Instant::ZERO, at(9), &bind(Role::Joiner, 2));
        sent(&mut relay);
        relay.handle_datagram(Instant::ZERO, at(1), b"hello");
        assert_eq!(sent(&mut relay), [(at(9), b"hello".to_vec())]);
    }

    #[test]
    fn a_member_on_a_stream_is_not_the_one_with_the_same_numbers() {
        let on_stream: SocketAddr = "10.0.0.2:5".parse().unwrap();
        let mut relay = relay(Budget::default());
        relay.handle_datagram(Instant::ZERO, at(1), &bind(Role::Host, 1));
        relay.handle_carried(Instant::ZERO, on_stream, &bind(Role::Joiner, 1));
        assert_eq!(sent(&mut relay).len(), 1);
        assert!(relay.poll_carried().is_some_and(|(to, _)| to == on_stream));
        relay.handle_datagram(Instant::ZERO, at(2), b"from a third");
        assert_eq!(relay.counters.strangers, 1);
        relay.handle_datagram(Instant::ZERO, at(1), b"to the joiner");
        relay.handle_carried(Instant::ZERO, on_stream, b"to the host");
        assert_eq!(sent(&mut relay), [(at(1), b"to the host".to_vec())]);
        assert_eq!(
            relay.poll_carried(),
            Some((on_stream, b"to the joiner".to_vec()))
        );
        assert_eq!(relay.poll_carried(), None);
    }

    #[test]
    fn nothing_is_carried_before_both_are_known() {
        let mut relay = relay(Budget::default());
        relay.handle_datagram(Instant::ZERO, at(1), &bind(Role::Host, 1));
        relay.handle_datagram(Instant::ZERO, at(1), b"hello?");
        let answers = sent(&mut relay);
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0].1.len(), PROBE_LENGTH);
        assert_eq!(relay.counters.unbound, 1);
    }

    #[test]
    fn the_rate_and_the_budget_hold() {
        let budget = Budget {
            bytes: 5_000,
            rate: 1_000,
            burst: 2_000,
            ..Budget::default()
        };
        let mut relay = bound(budget);
        let mut carried = 0;
        for ms in 0..1_000 {
            relay.handle_datagram(Instant::from_millis(ms), at(1), &[0; 100]);
            carried += sent(&mut relay)
                .iter()
                .map(|(_, bytes)| bytes.len())
                .sum::<usize>();
        }
        assert!((2_800..=3_000).contains(&carried), "{carried}");
        for ms in 1_000..9_000 {
            relay.handle_datagram(Instant::from_millis(ms), at(1), &[0; 100]);
            carried += sent(&mut relay)
                .iter()
                .map(|(_, bytes)| bytes.len())
                .sum::<usize>();
        }
        assert_eq!(carried, 5_000);
        assert_eq!(relay.ended(), Some(RelayEnd::Spent));
    }

    #[test]
    fn silence_ends_it() {
        let mut relay = bound(Budget::default());
        let wake = relay.poll_timeout().unwrap();
        relay.handle_timeout(wake);
        assert_eq!(relay.ended(), Some(RelayEnd::Idle));
        assert_eq!(relay.poll_timeout(), None);
        relay.handle_datagram(wake, at(1), b"too late");
        assert_eq!(sent(&mut relay), []);
    }
}
