//! Measuring a server, a second at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_demo::gateway::Protocol;
use tickwire_demo::{GameServer, OwnerId, printable};
use tickwire_net::Counters;
use tickwire_session::{Addr, Instant, PeerStats, Traffic};

use super::report::{Client, Door, Rates, Report};
use crate::figures::{kbits, per_second, percentile};

/// What a report covers.
const WINDOW: Duration = Duration::from_secs(1);

/// Takes the times of steps and the figures of sessions; gives a [`Report`] a second.
#[derive(Debug)]
pub(crate) struct Meter {
    protocols: Vec<&'static Protocol>,
    steps: Vec<Duration>,
    window_began: Instant,
    /// What each peer of each gateway had sent and received when the window began.
    before: BTreeMap<(usize, Addr), Traffic>,
    /// Every counter that was not zero then, by its owner and name.
    counted: BTreeMap<(&'static str, &'static str), u64>,
}

impl Meter {
    /// Measures the gateways of these protocols, in the order in which they were opened.
    pub(crate) const fn new(protocols: Vec<&'static Protocol>) -> Self {
        Self {
            protocols,
            steps: Vec::new(),
            window_began: Instant::ZERO,
            before: BTreeMap::new(),
            counted: BTreeMap::new(),
        }
    }

    pub(crate) fn add_step(&mut self, took: Duration) {
        self.steps.push(took);
    }

    /// The report, when a second has passed.
    pub(crate) fn measure(
        &mut self,
        now: Instant,
        host: &GameServer,
        network: &Counters,
    ) -> Option<Report> {
        let span = now.since(self.window_began);
        if span < WINDOW {
            return None;
        }
        // Counted from where the last one should have ended, or every window is one step too long.
        self.window_began = if span < WINDOW * 2 {
            self.window_began + WINDOW
        } else {
            now
        };
        let mut steps = std::mem::take(&mut self.steps);
        let mut report = Report {
            time: now,
            span,
            steps: steps.len(),
            step_p50: percentile(&mut steps, 50),
            step_p99: percentile(&mut steps, 99),
            entities: host.arena().entities().count()
                + host.tiles().map_or(0, |tiles| tiles.entities().count()),
            total: Rates::default(),
            doors: Vec::new(),
            clients: Vec::new(),
            pilots: self.pilots(host),
            network: Vec::new(),
            network_grown: Vec::new(),
        };
        network.visit(&mut |name, count| report.network.push((name, count)));
        report.network_grown = self.grown("net", &report.network);
        let before = std::mem::take(&mut self.before);
        for (index, (gateway, protocol)) in host.gateways().zip(self.protocols.clone()).enumerate()
        {
            let session = gateway.figures();
            let mut door = Door {
                protocol: protocol.name,
                players: 0,
                counters: Vec::new(),
                grown: Vec::new(),
            };
            session.visit_counters(&mut |name, count| door.counters.push((name, count)));
            door.grown = self.grown(protocol.name, &door.counters);
            session.visit_peers(&mut |peer| {
                // Whoever has not got in yet may be nobody.
                let arriving = matches!(peer.state, "Joining" | "Open" | "Greeting" | "Closing");
                door.players += usize::from(!arriving);
                let key = (index, peer.addr);
                self.before.insert(key, peer.traffic);
                let rates = rates(before.get(&key), peer.traffic, span);
                report.total.add(&rates);
                report.clients.push(client(protocol.name, peer, rates));
            });
            report.doors.push(door);
        }
        Some(report)
    }

    /// By what protocol pilots play.
    fn pilots(&self, host: &GameServer) -> BTreeMap<OwnerId, &'static str> {
        let gateways: Vec<_> = host.gateways().zip(&self.protocols).collect();
        let pilots = host.arena().pilots().filter_map(|(pilot, _)| {
            let mut gateways = gateways.iter();
            let (_, protocol) = gateways.find(|(gateway, _)| gateway.has_pilot(pilot))?;
            Some((OwnerId::from(pilot), protocol.name))
        });
        pilots.collect()
    }

    /// What grew of somebody's counters since the last time, and by how much.
    fn grown(
        &mut self,
        owner: &'static str,
        counters: &[(&'static str, u64)],
    ) -> Vec<(&'static str, u64)> {
        let mut grown = Vec::new();
        for &(name, count) in counters.iter().filter(|(_, count)| *count > 0) {
            let before = self
                .counted
                .insert((owner, name), count)
                .unwrap_or_default();
            if count > before {
                grown.push((name, count - before));
            }
        }
        grown
    }
}

fn client(protocol: &'static str, peer: &PeerStats<'_>, rates: Rates) -> Client {
    Client {
        name: printable(peer.name),
        protocol,
        stats: peer.without_name(),
        rates,
    }
}

/// What a peer's totals grew by.
///
/// Of peers, not of sums: a sum falls when somebody leaves. A total that fell belongs to a new peer at
/// an old address, and all of it is new.
fn rates(before: Option<&Traffic>, now: Traffic, span: Duration) -> Rates {
    let before = match before {
        Some(before) if before.bytes_in <= now.bytes_in => *before,
        _ => Traffic::NONE,
    };
    let grown = |total: fn(&Traffic) -> u64| total(&now).saturating_sub(total(&before));
    Rates {
        kbits_in: kbits(grown(|traffic| traffic.bytes_in), span),
        kbits_out: kbits(grown(|traffic| traffic.bytes_out), span),
        packets_in: per_second(grown(|traffic| traffic.packets_in), span),
        packets_out: per_second(grown(|traffic| traffic.packets_out), span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn traffic(bytes_in: u64, bytes_out: u64) -> Traffic {
        Traffic {
            bytes_in,
            bytes_out,
            ..Traffic::NONE
        }
    }

    #[test]
    fn rates_are_what_was_added() {
        let got = rates(Some(&traffic(1_000, 0)), traffic(2_000, 500), WINDOW);
        assert_eq!((got.kbits_in, got.kbits_out), (8.0, 4.0));
    }

    #[test]
    fn a_new_peer_at_an_old_address_starts_from_nothing() {
        let got = rates(Some(&traffic(1_000_000, 9_000)), traffic(250, 125), WINDOW);
        assert_eq!((got.kbits_in, got.kbits_out), (2.0, 1.0));
    }
}
