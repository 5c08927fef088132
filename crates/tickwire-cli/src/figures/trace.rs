//! How one peer did over the last while, sample by sample: what a net graph is drawn from.
//!
//! In: its figures, as often as somebody looks. Out: rows of samples, each of them a [`Graph`] with a name and a unit.

use std::collections::VecDeque;
use std::time::Duration;

use tickwire_session::{Instant, PeerStats, Traffic};

use super::{kbits, millis, per_second};

/// Samples that are kept: a minute of seconds, or six seconds of tenths.
pub(crate) const SAMPLES_KEPT: usize = 60;

/// What becomes of a peer.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    period: Duration,
    began: Option<Instant>,
    before: Traffic,
    updates_seen: u64,
    last_update: Option<Instant>,
    /// States of the world in this sample, and the longest time between two.
    updates: u64,
    gap: Duration,
    samples: VecDeque<Sample>,
}

/// One period.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) round_trip: Option<f64>,
    pub(crate) loss: Option<f64>,
    /// States of the world a second.
    pub(crate) updates: f64,
    /// The longest time between two of them, in milliseconds.
    pub(crate) gap: f64,
    pub(crate) kbits_in: f64,
    pub(crate) kbits_out: f64,
    pub(crate) interpolation: Option<f64>,
    pub(crate) prediction_error: Option<f64>,
    pub(crate) queued: Option<f64>,
}

/// One figure over time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Graph {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// The oldest first; what was not known is nothing.
    pub(crate) values: Vec<f64>,
}

impl Trace {
    /// A sample every so often.
    pub(crate) const fn new(period: Duration) -> Self {
        Self {
            period,
            began: None,
            before: Traffic::NONE,
            updates_seen: 0,
            last_update: None,
            updates: 0,
            gap: Duration::ZERO,
            samples: VecDeque::new(),
        }
    }

    /// Takes the figures of this moment.
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    pub(crate) fn add(&mut self, now: Instant, stats: &PeerStats<'_>) {
        self.note_updates(now, stats);
        let Some(began) = self.began else {
            (self.began, self.before) = (Some(now), stats.traffic);
            return;
        };
        let span = now.since(began);
        if span < self.period {
            return;
        }
        let grown = |now: u64, before: u64| kbits(now.saturating_sub(before), span);
        let sample = Sample {
            round_trip: stats.round_trip.map(millis),
            loss: stats.loss.map(|loss| f64::from(loss) * 100.0),
            updates: per_second(std::mem::take(&mut self.updates), span),
            gap: millis(std::mem::take(&mut self.gap)),
            kbits_in: grown(stats.traffic.bytes_in, self.before.bytes_in),
            kbits_out: grown(stats.traffic.bytes_out, self.before.bytes_out),
            interpolation: stats.interpolation.map(millis),
            prediction_error: stats.prediction_error.map(f64::from),
            queued: stats.queued.map(|queued| queued as f64),
        };
        if self.samples.len() == SAMPLES_KEPT {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        (self.began, self.before) = (Some(now), stats.traffic);
    }

    fn note_updates(&mut self, now: Instant, stats: &PeerStats<'_>) {
        let updates = &stats.updates;
        // Those of another session at the same address begin anew.
        self.updates_seen = self.updates_seen.min(updates.count());
        self.updates += updates.count() - self.updates_seen;
        for at in updates.since(self.updates_seen) {
            if let Some(last) = self.last_update {
                self.gap = self.gap.max(at.since(last));
            }
            self.last_update = Some(at);
        }
        self.updates_seen = updates.count();
        // A gap that goes on is one already.
        if let Some(last) = self.last_update {
            self.gap = self.gap.max(now.since(last));
        }
    }

    pub(crate) fn last(&self) -> Option<&Sample> {
        self.samples.back()
    }

    /// One figure of every sample, the oldest first.
    pub(crate) fn values(&self, figure: fn(&Sample) -> f64) -> impl Iterator<Item = f64> {
        self.samples.iter().map(figure)
    }

    /// All graphs of which anything is known.
    pub(crate) fn graphs(&self) -> Vec<Graph> {
        let known = |name, unit, figure: fn(&Sample) -> f64| Graph {
            name,
            unit,
            values: self.values(figure).collect(),
        };
        let perhaps = |name, unit, figure: fn(&Sample) -> Option<f64>| {
            let is_known = self.samples.iter().any(|sample| figure(sample).is_some());
            let values = self
                .samples
                .iter()
                .map(|sample| figure(sample).unwrap_or(0.0));
            is_known.then(|| Graph {
                name,
                unit,
                values: values.collect(),
            })
        };
        let graphs = [
            Some(known("snapshots", "/s", |sample| sample.updates)),
            Some(known("longest gap", "ms", |sample| sample.gap)),
            perhaps("round trip", "ms", |sample| sample.round_trip),
            perhaps("loss", "%", |sample| sample.loss),
            Some(known("received", "kbit/s", |sample| sample.kbits_in)),
            Some(known("sent", "kbit/s", |sample| sample.kbits_out)),
            perhaps("prediction error", "units", |sample| {
                sample.prediction_error
            }),
            perhaps("shown behind", "ms", |sample| sample.interpolation),
            perhaps("queued", "bytes", |sample| sample.queued),
        ];
        graphs.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_holds_the_longest_gap_even_one_that_goes_on() {
        let mut trace = Trace::new(Duration::from_millis(100));
        let addr = "127.0.0.1:9".parse().unwrap();
        let mut stats = PeerStats::new("", addr, "Playing");
        let at = Instant::from_millis;
        for millis in 0..=300 {
            let is_quiet = (105..285).contains(&millis);
            if millis % 10 == 0 && !is_quiet {
                stats.updates.add(at(millis));
                stats.traffic.received(1_250);
            }
            trace.add(at(millis), &stats);
        }
        let gaps: Vec<_> = trace.values(|sample| sample.gap.round()).collect();
        assert_eq!(gaps, [10.0, 100.0, 190.0]);
        let rates: Vec<_> = trace.values(|sample| sample.kbits_in.round()).collect();
        assert_eq!(rates, [1_000.0, 0.0, 200.0]);
        let names: Vec<_> = trace.graphs().iter().map(|graph| graph.name).collect();
        assert_eq!(names, ["snapshots", "longest gap", "received", "sent"]);
    }
}
