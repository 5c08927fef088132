//! A relay between members and strangers, by datagram and by stream.

use std::collections::BTreeSet;
use std::time::Duration;

use tickwire_rendezvous::probe::{Kind, Probe};
use tickwire_rendezvous::{Budget, Relay};
use tickwire_session::{Addr, Instant, Session, Transmit};

use super::{KEY, probe, socket};
use crate::driven::peer;
use crate::script::Script;

const PAIRING: u32 = 7;

const BUDGET: Budget = Budget {
    bytes: 40_000,
    rate: 5_000,
    burst: 20_000,
    idle: Duration::from_secs(30),
};

/// Plays a script of members, strangers and time.
///
/// # Panics
/// If anybody is sent something who did not make itself known with the pairing's key, or more than two are, or more
/// is carried than the budget has.
pub fn rendezvous_relay(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let mut now = script.start();
    let mut relay = Relay::new(now, PAIRING, KEY, BUDGET);
    // Who made itself known, by datagram or by stream.
    let mut bound: BTreeSet<(bool, Addr)> = BTreeSet::new();
    while let Some(choice) = script.choice() {
        let bytes = match choice & 3 {
            0 | 1 => probe(&mut script, PAIRING + u32::from(choice >> 7)),
            2 => script.blob().to_vec(),
            _ => vec![choice; usize::from(script.u16()) % 2_000],
        };
        let by_stream = choice & 4 != 0;
        let from = script.u8();
        let at = match by_stream {
            true => socket(from).into(),
            false => peer(from),
        };
        let is_bind = Probe::decode(&bytes, &KEY)
            .is_ok_and(|probe| probe.kind == Kind::Bind && probe.pairing == PAIRING);
        if is_bind {
            bound.insert((by_stream, at));
        }
        match by_stream {
            true => relay.handle_carried(now, socket(from), &bytes),
            false => relay.handle_datagram(now, at, &bytes),
        }
        if choice & 8 != 0 {
            now += Duration::from_millis(script.u16().into());
            relay.handle_timeout(now);
        }
        drain(&mut relay, now, &bound);
        assert!(relay.carried() <= BUDGET.bytes);
        let mut members = 0;
        relay.visit_peers(&mut |_| members += 1);
        assert!(members <= 2);
        assert_eq!(relay.poll_timeout().is_none(), relay.ended().is_some());
    }
}

fn drain(relay: &mut Relay, now: Instant, bound: &BTreeSet<(bool, Addr)>) {
    let mut out = Vec::new();
    let mut sent = 0;
    while let Some(transmit) = relay.poll_transmit(now, &mut out) {
        let Transmit::Datagram { to } = transmit else {
            panic!("{transmit:?}");
        };
        assert!(bound.contains(&(false, to)), "{to} is a third");
        out.clear();
        sent += 1;
    }
    while let Some((to, _)) = relay.poll_carried() {
        assert!(bound.contains(&(true, to.into())), "{to} is a third");
        sent += 1;
    }
    assert!(sent <= 1, "one datagram makes one at most");
}
