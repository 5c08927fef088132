//! What became of the bots, and what they saw of their server.
//!
//! In: players, as they go on. Out: text, JSON, metrics, and a sentence for every threshold that was missed.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tickwire_demo::gateway::{Ending, Status};
use tickwire_session::stats::Kind;
use tickwire_session::{Instant, Traffic};

use super::player::Player;
use crate::conditions::parse_time;
use crate::figures::{Spread, millis};
use crate::serve::report as server;

/// What is good enough.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Thresholds {
    /// Fail if the slowest of a hundred round trips takes longer, as in 50ms.
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = "Thresholds")]
    max_p99: Option<Duration>,

    /// Fail if a bot that plays hears nothing new for longer, as in 250ms.
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = "Thresholds")]
    max_gap: Option<Duration>,

    /// Fail if more bots are lost: not let in, or gone before the end.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        help_heading = "Thresholds"
    )]
    max_lost: usize,
}

/// What became of them all.
#[derive(Debug)]
pub(super) struct Report {
    protocol: &'static str,
    pub(super) wanted: u16,
    /// How often one got in.
    pub(super) connected: usize,
    refused: usize,
    timed_out: usize,
    removed: usize,
    /// Who left because it was time, and had another come in its place.
    pub(super) left: usize,
    lost: usize,
    traffic: Traffic,
    /// What all clients counted, by name.
    counters: BTreeMap<&'static str, u64>,
    /// Every figure of every client under its common name.
    figures: BTreeMap<&'static str, Figure>,
    round_trips: Spread,
    /// Between two states of the world at the same bot.
    gaps: Spread,
    updates: u64,
    /// The same, of the second before the last look.
    second: Second,
    last: Second,
    /// How long bots played, all together.
    played: Duration,
}

/// One second of all bots.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    updates: u64,
    longest: Option<Duration>,
    playing: u32,
}

/// A figure of many clients.
#[derive(Clone, Copy, Debug)]
enum Figure {
    Sum(f64),
    Gauge { sum: f64, most: f64, count: u32 },
}

impl Report {
    pub(super) fn new(protocol: &'static str, wanted: u16) -> Self {
        Self {
            protocol,
            wanted,
            connected: 0,
            refused: 0,
            timed_out: 0,
            removed: 0,
            left: 0,
            lost: 0,
            traffic: Traffic::NONE,
            counters: BTreeMap::new(),
            figures: BTreeMap::new(),
            round_trips: Spread::default(),
            gaps: Spread::default(),
            updates: 0,
            second: Second::default(),
            last: Second::default(),
            played: Duration::ZERO,
        }
    }

    /// A state of the world arrived, so long after the one before it.
    pub(super) fn add_update(&mut self, gap: Option<Duration>) {
        self.updates += 1;
        self.second.updates += 1;
        if let Some(gap) = gap {
            self.gaps.add(gap);
            self.second.longest = self.second.longest.max(Some(gap));
        }
    }

    /// A bot that goes has played so long.
    pub(super) fn add_stay(&mut self, stay: Duration) {
        self.played += stay;
    }

    /// Notes the round trips of this moment, and ends a second.
    pub(super) fn sample(&mut self, players: &[Player]) {
        for player in players {
            if player.status() == Status::Playing {
                self.second.playing += 1;
                let stats = player.stats();
                let round_trip = stats.and_then(|stats| stats.round_trip);
                round_trip
                    .into_iter()
                    .for_each(|span| self.round_trips.add(span));
            }
        }
        self.last = std::mem::take(&mut self.second);
    }

    /// States of the world that a bot heard of in the last second.
    pub(super) fn last_rate(&self) -> f64 {
        rate(self.last.updates, f64::from(self.last.playing))
    }

    /// The longest gap of the last second.
    pub(super) const fn last_gap(&self) -> Option<Duration> {
        self.last.longest
    }

    /// Counts what became of everybody.
    pub(super) fn count(&mut self, now: Instant, players: &[Player], wanted: usize) {
        // It was not even their turn to connect.
        self.timed_out += wanted - players.len();
        self.lost += wanted - players.len();
        for player in players {
            if let Some(joined) = player.joined {
                self.played += now.since(joined);
            }
            if let Some(silence) = player.silence(now) {
                // A server that stopped makes no gap between two states.
                self.gaps.add_if_longest(silence);
            }
            if player.is_well() {
                continue;
            }
            self.lost += 1;
            match player.status() {
                Status::Ended(Ending::Full | Ending::Refused) => self.refused += 1,
                Status::Ended(Ending::Unreachable | Ending::Lost) => self.timed_out += 1,
                Status::Ended(_) => self.removed += 1,
                // The time was up before anybody answered.
                Status::Connecting | Status::Loading { .. } => self.timed_out += 1,
                Status::Playing => {}
            }
        }
    }

    /// Adds all that one client counted.
    pub(super) fn add_traffic(&mut self, player: &Player) {
        let counters = &mut self.counters;
        player
            .body
            .gateway()
            .figures()
            .visit_counters(&mut |name, count| *counters.entry(name).or_default() += count);
        let Some(stats) = player.stats() else {
            return;
        };
        let traffic = &mut self.traffic;
        traffic.bytes_in += stats.traffic.bytes_in;
        traffic.bytes_out += stats.traffic.bytes_out;
        traffic.packets_in += stats.traffic.packets_in;
        traffic.packets_out += stats.traffic.packets_out;
        traffic.messages_in += stats.traffic.messages_in;
        traffic.messages_out += stats.traffic.messages_out;
        let newest = stats.updates.newest().unwrap_or_default();
        stats.visit(newest, &mut |metric, value| {
            let figure = self
                .figures
                .entry(metric.name)
                .or_insert_with(|| Figure::new(metric.kind));
            figure.add(value);
        });
    }

    /// What is to be told while they play.
    pub(super) fn metrics(&self, now: Instant, players: &[Player]) -> server::Report {
        let mut counters: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut report = server::Report {
            time: now,
            ..server::Report::default()
        };
        let mut playing = 0;
        for (number, player) in players.iter().enumerate() {
            let name = format!("bot-{}", number + 1);
            let mut one =
                server::Report::of_client(now, self.protocol, name, player.body.gateway());
            report.clients.append(&mut one.clients);
            for door in one.doors {
                playing += door.players;
                for (name, count) in door.counters {
                    *counters.entry(name).or_default() += count;
                }
            }
        }
        report.doors.push(server::Door {
            protocol: self.protocol,
            players: playing,
            counters: counters.into_iter().collect(),
            grown: Vec::new(),
        });
        report
    }

    /// A sentence for everything that is not good enough.
    pub(super) fn failures(&self, thresholds: &Thresholds) -> Vec<String> {
        let mut failures = Vec::new();
        let (lost, most) = (self.lost, thresholds.max_lost);
        if lost > most {
            let count = self.wanted;
            failures.push(format!(
                "{lost} of {count} bots were lost, more than {most} (--max-lost)"
            ));
        }
        let mut compare =
            |what: &str, option: &str, most: Option<Duration>, got: Option<Duration>| {
                let Some(most) = most else {
                    return;
                };
                match got {
                    Some(got) if got <= most => {}
                    Some(got) => failures.push(format!(
                        "{what} was {:.1} ms, more than {:.1} ms ({option})",
                        millis(got),
                        millis(most)
                    )),
                    None => failures.push(format!("{what} is not known, so {option} is not met")),
                }
            };
        let p99 = self.round_trips.quantile(0.99);
        let gap = self.gaps.most();
        compare("the round trip's p99", "--max-p99", thresholds.max_p99, p99);
        compare(
            "the longest gap between snapshots",
            "--max-gap",
            thresholds.max_gap,
            gap,
        );
        failures
    }

    /// States of the world a second, for one bot.
    fn updates_a_second(&self) -> f64 {
        rate(self.updates, self.played.as_secs_f64())
    }

    pub(super) fn text(&self) -> String {
        let Traffic {
            packets_in,
            packets_out,
            bytes_in,
            bytes_out,
            messages_in,
            messages_out,
        } = self.traffic;
        let left = match self.left {
            0 => String::new(),
            left => format!(", {left} left and others came"),
        };
        format!(
            "{} bots on {}: {} connected, {} refused, {} timed out, {} removed{left}\n\
             messages {messages_in} in, {messages_out} out; \
             packets {packets_in} in, {packets_out} out; \
             bytes {bytes_in} in, {bytes_out} out\n\
             round trip {}\n\
             snapshots {:.1} a second for each bot, gaps {}\n\
             {}{}",
            self.wanted,
            self.protocol,
            self.connected,
            self.refused,
            self.timed_out,
            self.removed,
            self.round_trips.summary(),
            self.updates_a_second(),
            self.gaps.summary(),
            self.round_trips.chart("round trips"),
            self.gaps.chart("gaps between snapshots"),
        )
        .trim_end()
        .to_owned()
    }

    pub(super) fn json(&self, network: Option<String>, failures: &[String]) -> String {
        let figures = self.figures.iter();
        let figures = figures.map(|(name, figure)| ((*name).to_owned(), figure.json()));
        json!({
            "protocol": self.protocol,
            "network": network,
            "bots": self.wanted,
            "connected": self.connected,
            "refused": self.refused,
            "timed_out": self.timed_out,
            "removed": self.removed,
            "left": self.left,
            "lost": self.lost,
            "messages_in": self.traffic.messages_in,
            "messages_out": self.traffic.messages_out,
            "packets_in": self.traffic.packets_in,
            "packets_out": self.traffic.packets_out,
            "bytes_in": self.traffic.bytes_in,
            "bytes_out": self.traffic.bytes_out,
            "round_trip_ms": self.round_trips.json(),
            "snapshots": {
                "count": self.updates,
                "a_second": self.updates_a_second(),
                "gap_ms": self.gaps.json(),
            },
            "metrics": figures.collect::<serde_json::Map<_, _>>(),
            "counters": self.counters,
            "failures": failures,
        })
        .to_string()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn rate(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

impl Figure {
    const fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Sum(0.0),
            Kind::Gauge => Self::Gauge {
                sum: 0.0,
                most: f64::NEG_INFINITY,
                count: 0,
            },
        }
    }

    const fn add(&mut self, value: f64) {
        match self {
            Self::Sum(sum) => *sum += value,
            Self::Gauge { sum, most, count } => {
                *sum += value;
                *most = most.max(value);
                *count += 1;
            }
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Sum(sum) => json!(sum),
            Self::Gauge { sum, most, count } => {
                json!({ "mean": sum / f64::from(*count), "max": most })
            }
        }
    }
}
