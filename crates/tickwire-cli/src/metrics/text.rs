//! A report in Prometheus's text format.
//!
//! Every family is told once, with its help and type, and then all of its samples, as the format wants it.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use tickwire_session::stats::{Kind, Metric};

use crate::serve::report::{Client, Report};

/// Peers that are told of one by one. A scraper keeps every series for weeks; the others are in the sums.
const PEERS_MAX: usize = 1_000;

pub(super) fn render(report: &Report) -> String {
    let mut page = Page(String::new());
    // A client has no steps of a world.
    if !report.span.is_zero() {
        page.write_server(report);
    }
    page.write_players(report);
    page.write_counters(report);
    page.write_peers(report);
    page.0
}

struct Page(String);

impl Page {
    fn family(&mut self, name: &str, about: &str, kind: Kind) {
        let kind = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
        };
        self.line(format_args!("# HELP tickwire_{name} {about}"));
        self.line(format_args!("# TYPE tickwire_{name} {kind}"));
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        writeln!(self.0, "{line}").expect("a string takes everything");
    }

    fn gauge(&mut self, name: &str, about: &str, value: f64) {
        self.family(name, about, Kind::Gauge);
        self.line(format_args!("tickwire_{name} {value}"));
    }

    fn write_server(&mut self, report: &Report) {
        let step = "How long steps took in the last second.";
        self.family("step_seconds", step, Kind::Gauge);
        let quantiles = [("0.5", report.step_p50), ("0.99", report.step_p99)];
        for (quantile, span) in quantiles {
            if let Some(span) = span {
                let seconds = span.as_secs_f64();
                self.line(format_args!(
                    "tickwire_step_seconds{{quantile=\"{quantile}\"}} {seconds}"
                ));
            }
        }
        let kept = "Steps of the last second, of those that there should have been.";
        self.gauge("tick_rate_kept_ratio", kept, report.tick_rate_kept());
        let entities = "Entities in all worlds.";
        #[expect(clippy::cast_precision_loss, reason = "few enough to be counted")]
        self.gauge("entities", entities, report.entities as f64);
    }

    fn write_players(&mut self, report: &Report) {
        let players = "Players, by protocol.";
        self.family("players", players, Kind::Gauge);
        for door in &report.doors {
            let (protocol, players) = (door.protocol, door.players);
            self.line(format_args!(
                "tickwire_players{{protocol=\"{protocol}\"}} {players}"
            ));
        }
    }

    fn write_counters(&mut self, report: &Report) {
        let about = "What happened, by protocol and name: what was refused, above all.";
        self.family("events_total", about, Kind::Counter);
        for door in &report.doors {
            for (event, count) in &door.counters {
                let protocol = door.protocol;
                self.line(format_args!(
                    "tickwire_events_total{{protocol=\"{protocol}\",event=\"{event}\"}} {count}"
                ));
            }
        }
        if report.network.is_empty() {
            return;
        }
        let about = "What the sockets did, by name.";
        self.family("network_total", about, Kind::Counter);
        for (event, count) in &report.network {
            self.line(format_args!(
                "tickwire_network_total{{event=\"{event}\"}} {count}"
            ));
        }
    }

    fn write_peers(&mut self, report: &Report) {
        let mut families: BTreeMap<&str, Family<'_>> = BTreeMap::new();
        for client in report.clients.iter().take(PEERS_MAX) {
            client.stats.visit(report.time, &mut |metric, value| {
                let family = families
                    .entry(metric.name)
                    .or_insert_with(|| (metric, Vec::new()));
                family.1.push((client, value));
            });
        }
        for (name, (metric, samples)) in families {
            let name = format!("peer_{name}");
            self.family(&name, metric.about, metric.kind);
            for (client, value) in samples {
                let labels = Labels(client);
                self.line(format_args!("tickwire_{name}{{{labels}}} {value}"));
            }
        }
    }
}

/// A figure, and everybody's value of it.
type Family<'a> = (&'static Metric, Vec<(&'a Client, f64)>);

/// Who a sample is about.
struct Labels<'a>(&'a Client);

impl fmt::Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Client {
            protocol,
            name,
            stats,
            ..
        } = self.0;
        let name = Quoted(name);
        write!(
            f,
            "protocol=\"{protocol}\",peer=\"{}\",name={name}",
            stats.addr
        )
    }
}

/// A label's value: of the characters in it, three are written otherwise.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}
