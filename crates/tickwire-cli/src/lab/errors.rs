//! How far off a client's picture was, over time.

use std::time::Duration;

use serde_json::{Value, json};
use tickwire_session::Traffic;

use crate::figures::kbits;

/// What was measured of one client, or of several together.
#[derive(Clone, Debug, Default)]
pub(super) struct Errors {
    /// From where the own player is shown to where it is, in the game's units.
    pub(super) own: Samples,
    /// The same of everybody else.
    pub(super) others: Samples,
    /// How old the newest state of the world was, in milliseconds.
    pub(super) ages: Samples,
    /// How far off predictions were, where the protocol predicts.
    pub(super) predictions: Samples,
    /// Looks at somebody who was not shown.
    pub(super) unseen: u64,
    pub(super) traffic: Traffic,
    pub(super) span: Duration,
    pub(super) round_trip: Option<Duration>,
    /// Whether it was there to the end.
    pub(super) is_there: bool,
}

impl Errors {
    /// All of them together; rates are those of one.
    pub(super) fn sum(all: &[Self]) -> Self {
        let mut sum = Self {
            is_there: all.iter().all(|errors| errors.is_there),
            round_trip: all.iter().filter_map(|errors| errors.round_trip).max(),
            ..Self::default()
        };
        for errors in all {
            sum.own.0.extend(&errors.own.0);
            sum.others.0.extend(&errors.others.0);
            sum.ages.0.extend(&errors.ages.0);
            sum.predictions.0.extend(&errors.predictions.0);
            sum.unseen += errors.unseen;
            sum.traffic.bytes_in += errors.traffic.bytes_in;
            sum.traffic.bytes_out += errors.traffic.bytes_out;
            sum.span += errors.span;
        }
        sum
    }

    /// What came from the server, a second.
    pub(super) fn kbits_in(&self) -> f64 {
        kbits(self.traffic.bytes_in, self.span)
    }

    pub(super) fn kbits_out(&self) -> f64 {
        kbits(self.traffic.bytes_out, self.span)
    }

    /// The share of looks at which whoever was there was shown.
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    pub(super) fn in_sight(&self) -> f64 {
        let seen = (self.own.0.len() + self.others.0.len()) as f64;
        seen / (seen + self.unseen as f64).max(1.0)
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "own_error": self.own.json(),
            "others_error": self.others.json(),
            "snapshot_age_ms": self.ages.json(),
            "prediction_error": self.predictions.json(),
            "in_sight": self.in_sight(),
            "kbit_in": self.kbits_in(),
            "kbit_out": self.kbits_out(),
            "round_trip_ms": self.round_trip.map(crate::figures::millis),
            "there_at_the_end": self.is_there,
        })
    }
}

/// An hour of eight clients; whoever looks longer is told of the last of it.
const SAMPLES_KEPT: usize = 2_000_000;

/// Numbers of which the middle and the worst matter.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples(Vec<f64>);

impl Samples {
    pub(super) fn add(&mut self, value: f64) {
        if self.0.len() >= SAMPLES_KEPT {
            self.0.drain(..SAMPLES_KEPT / 2);
        }
        self.0.push(value);
    }

    pub(super) fn last(&self) -> Option<f64> {
        self.0.last().copied()
    }

    /// The newest so many, the oldest of them first.
    pub(super) fn newest(&self, count: usize) -> impl Iterator<Item = f64> {
        let skipped = self.0.len().saturating_sub(count);
        self.0.iter().skip(skipped).copied()
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    pub(super) fn mean(&self) -> Option<f64> {
        let count = self.0.len();
        (count > 0).then(|| self.0.iter().sum::<f64>() / count as f64)
    }

    /// The value below which this share of all lie.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in a list"
        )]
        let place = (last as f64 * share).ceil() as usize;
        let mut sorted = self.0.clone();
        let (_, value, _) = sorted.select_nth_unstable_by(place, f64::total_cmp);
        Some(*value)
    }

    pub(super) fn mean_text(&self) -> String {
        text(self.mean())
    }

    pub(super) fn quantile_text(&self, share: f64) -> String {
        text(self.quantile(share))
    }

    fn json(&self) -> Value {
        json!({
            "mean": self.mean(),
            "p50": self.quantile(0.5),
            "p99": self.quantile(0.99),
            "max": self.quantile(1.0),
            "count": self.0.len(),
        })
    }
}

fn text(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), |value| format!("{value:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_a_middle_and_a_worst() {
        let mut samples = Samples::default();
        assert_eq!((samples.mean(), samples.quantile(0.99)), (None, None));
        assert_eq!(samples.mean_text(), "–");
        (1..=101).rev().for_each(|n| samples.add(f64::from(n)));
        assert_eq!(samples.mean(), Some(51.0));
        assert_eq!(samples.quantile(0.5), Some(51.0));
        assert_eq!(samples.quantile(0.99), Some(100.0));
        assert_eq!(samples.quantile(1.0), Some(101.0));
        assert_eq!(samples.newest(2).collect::<Vec<_>>(), [2.0, 1.0]);
    }

    #[test]
    fn the_rates_of_several_are_those_of_one() {
        let one = Errors {
            traffic: Traffic {
                bytes_in: 1_000,
                ..Traffic::NONE
            },
            span: Duration::from_secs(1),
            ..Errors::default()
        };
        let sum = Errors::sum(&[one.clone(), one]);
        assert!((sum.kbits_in() - 8.0).abs() < 1e-9);
    }
}
