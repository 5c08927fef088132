//! What a server has to say of its last second: as a line, as JSON, and as the dashboard reads it.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tickwire_session::Instant;

use crate::figures::millis;

/// One second of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// When it ended.
    pub(crate) time: Instant,
    /// How many steps the arena took; the tile world takes a third.
    pub(crate) steps: usize,
    /// How long a step took in the middle; `None` without steps.
    pub(crate) step_p50: Option<Duration>,
    /// How long the slowest of a hundred took.
    pub(crate) step_p99: Option<Duration>,
    pub(crate) entities: usize,
    /// All clients together.
    pub(crate) total: Rates,
    /// Protocol by protocol.
    pub(crate) doors: Vec<Door>,
    pub(crate) clients: Vec<Client>,
    /// The driver's counters.
    pub(crate) network: Vec<(&'static str, u64)>,
}

/// One protocol's server.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    pub(crate) protocol: &'static str,
    pub(crate) players: usize,
    pub(crate) counters: Vec<(&'static str, u64)>,
}

/// One client, as its session knows it.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) protocol: &'static str,
    pub(crate) round_trip: Option<Duration>,
    pub(crate) loss: Option<f32>,
    pub(crate) rates: Rates,
    pub(crate) resent: u64,
    pub(crate) refused: u64,
}

/// What crossed the network in a second, seen from the server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    pub(crate) kbits_in: f64,
    pub(crate) kbits_out: f64,
    pub(crate) packets_in: f64,
    pub(crate) packets_out: f64,
}

impl Rates {
    pub(crate) fn add(&mut self, other: &Self) {
        self.kbits_in += other.kbits_in;
        self.kbits_out += other.kbits_out;
        self.packets_in += other.packets_in;
        self.packets_out += other.packets_out;
    }
}

impl Report {
    pub(crate) fn text(&self) -> String {
        let mut line = format!(
            "{:>6} s  {} steps, p50 {:.2} ms, p99 {:.2} ms; {} entities; \
             {:.0} kbit/s in, {:.0} out",
            self.time.as_millis() / 1_000,
            self.steps,
            millis(self.step_p50.unwrap_or_default()),
            millis(self.step_p99.unwrap_or_default()),
            self.entities,
            self.total.kbits_in,
            self.total.kbits_out,
        );
        for door in &self.doors {
            line += &format!("; {} {} players", door.protocol, door.players);
            for (name, count) in door.counters.iter().filter(|(_, count)| *count > 0) {
                line += &format!(" {name}={count}");
            }
        }
        // What was carried is in the rates; what was not belongs in the line.
        let carried = |name: &str| name.ends_with("_received") || name.ends_with("_sent");
        let network = self.network.iter();
        for (name, count) in network.filter(|(name, count)| *count > 0 && !carried(name)) {
            line += &format!("; net {name}={count}");
        }
        line
    }

    pub(crate) fn json(&self) -> String {
        let protocols = self.doors.iter().map(|door| {
            let counters = by_name(&door.counters);
            let value = json!({ "players": door.players, "counters": counters });
            (door.protocol.to_owned(), value)
        });
        json!({
            "time": self.time.since(Instant::ZERO).as_secs_f64(),
            "steps": self.steps,
            "step_ms": {
                "p50": self.step_p50.map(millis),
                "p99": self.step_p99.map(millis),
            },
            "entities": self.entities,
            "kbit_in": self.total.kbits_in,
            "kbit_out": self.total.kbits_out,
            "protocols": protocols.collect::<Map<String, Value>>(),
            "network": by_name(&self.network),
        })
        .to_string()
    }
}

fn by_name(counters: &[(&'static str, u64)]) -> Map<String, Value> {
    let counters = counters.iter();
    counters
        .map(|&(name, count)| (name.to_owned(), count.into()))
        .collect()
}
