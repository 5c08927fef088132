//! What a server has to say of its last second: as a line, as JSON, and as the dashboard reads it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tickwire_demo::gateway::{ClientGateway, Status};
use tickwire_demo::{OwnerId, STEP};
use tickwire_session::{Instant, PeerStats};

use crate::figures::millis;

/// Columns of a line, as narrow as a terminal usually is.
const WIDTH: usize = 80;

/// How counters of what went well end.
const CARRIED: [&str; 4] = ["_received", "_sent", "_linked", "_accepted"];

/// One second of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// When it ended.
    pub(crate) time: Instant,
    /// How long it was.
    pub(crate) span: Duration,
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
    /// By what protocol pilots of the arena play; those who need none are left out.
    pub(crate) pilots: BTreeMap<OwnerId, &'static str>,
    /// The driver's counters.
    pub(crate) network: Vec<(&'static str, u64)>,
    /// Those of them that grew in this second, and by how much.
    pub(crate) network_grown: Vec<(&'static str, u64)>,
}

/// One protocol's server.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    pub(crate) protocol: &'static str,
    pub(crate) players: usize,
    pub(crate) counters: Vec<(&'static str, u64)>,
    /// Those of them that grew in this second, and by how much.
    pub(crate) grown: Vec<(&'static str, u64)>,
}

/// One client, as its session knows it.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) protocol: &'static str,
    /// Without its name.
    pub(crate) stats: PeerStats<'static>,
    pub(crate) rates: Rates,
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
    /// What a client's own session has to say: no steps, one client.
    pub(crate) fn of_client(
        time: Instant,
        protocol: &'static str,
        name: String,
        gateway: &dyn ClientGateway,
    ) -> Self {
        let mut counters = Vec::new();
        let mut count = |name, count| counters.push((name, count));
        gateway.figures().visit_counters(&mut count);
        let client = gateway.stats().map(|stats| Client {
            name,
            protocol,
            stats,
            rates: Rates::default(),
        });
        let door = Door {
            protocol,
            players: usize::from(gateway.status() == Status::Playing),
            counters,
            grown: Vec::new(),
        };
        Self {
            time,
            doors: vec![door],
            clients: client.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The share of its steps that there was time for.
    #[expect(clippy::cast_precision_loss, reason = "steps of a second")]
    pub(crate) fn tick_rate_kept(&self) -> f64 {
        let wanted = self.span.as_secs_f64() / STEP.as_secs_f64();
        // The end of a second falls between two steps.
        (self.steps as f64 / wanted.floor().max(1.0)).min(1.0)
    }

    /// A line of at most [`WIDTH`] columns for the second, and one for each kind of thing that went
    /// wrong in it. Totals since the beginning are in the JSON.
    pub(crate) fn text(&self) -> Vec<String> {
        let seconds = self.time.as_millis() / 1_000;
        let players: Vec<_> = self
            .doors
            .iter()
            .map(|door| format!("{} {}", door.players, door.protocol))
            .collect();
        let figures = format!(
            "{seconds:>6} s  {} steps p99 {:.1} ms  {:.0}/{:.0} kbit/s  ",
            self.steps,
            millis(self.step_p99.unwrap_or_default()),
            self.total.kbits_in,
            self.total.kbits_out,
        );
        let played: usize = self.doors.iter().map(|door| door.players).sum();
        let each = players.join(", ");
        let mut lines = vec![if figures.len() + each.len() <= WIDTH {
            figures + &each
        } else {
            format!(
                "{figures}{played} {}",
                if played == 1 { "player" } else { "players" }
            )
        }];
        let doors = self.doors.iter().map(|door| (door.protocol, &door.grown));
        // What was carried is in the rates; what was not is worth a line.
        let carried = |name: &str| CARRIED.iter().any(|word| name.ends_with(word));
        for (owner, counters) in doors.chain([("net", &self.network_grown)]) {
            for (name, grown) in counters.iter().filter(|(name, _)| !carried(name)) {
                lines.push(format!("{seconds:>6} s  {owner}: {name} +{grown}"));
            }
        }
        lines
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
            "tick_rate_kept": self.tick_rate_kept(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn door(protocol: &'static str, grown: &[(&'static str, u64)]) -> Door {
        Door {
            protocol,
            players: 123,
            counters: vec![("undecodable", 1_000)],
            grown: grown.to_vec(),
        }
    }

    #[test]
    fn a_second_is_a_line_that_fits_and_what_went_wrong_in_it_another() {
        let names = ["lwar", "cppevy", "pixmess", "opendrakan", "reone"];
        let mut report = Report {
            time: Instant::from_millis(100_000_000),
            steps: 60,
            step_p99: Some(Duration::from_millis(12)),
            doors: names.map(|name| door(name, &[])).to_vec(),
            ..Report::default()
        };
        report.total.kbits_out = 123_456.0;
        let lines = report.text();
        assert!(lines.iter().all(|line| line.len() <= WIDTH), "{lines:?}");
        assert_eq!(lines.len(), 1, "what is over is not told again: {lines:?}");
        assert!(lines[0].ends_with("615 players"), "{lines:?}");

        report.doors = vec![door("lwar", &[("undecodable", 7)])];
        report.network_grown = vec![("datagrams_received", 9), ("refused", 2)];
        report
            .network_grown
            .extend([("datagrams_linked", 7), ("links_accepted", 1)]);
        let lines = report.text();
        assert!(lines[0].ends_with("123 lwar"), "{lines:?}");
        assert!(lines[1].ends_with("lwar: undecodable +7"), "{lines:?}");
        assert!(lines[2].ends_with("net: refused +2"), "{lines:?}");
        assert_eq!(lines.len(), 3);
    }
}
