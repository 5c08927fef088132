//! Measuring by turns, so that whatever else the machine does meets both sides alike.
//!
//! A round measures each side once, the first one first in every other round. What is compared is
//! compared within a round; over all rounds the middle counts, and the quartiles are the noise.

/// The middle of many measurements, and where the middle half of them lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) low: f64,
    pub(super) median: f64,
    pub(super) high: f64,
}

impl Spread {
    /// # Panics
    /// If there are no samples.
    pub(super) fn of(mut samples: Vec<f64>) -> Self {
        assert!(!samples.is_empty(), "something was measured");
        samples.sort_by(f64::total_cmp);
        let at = |quarter: usize| samples[(samples.len() - 1) * quarter / 4];
        Self {
            low: at(1),
            median: at(2),
            high: at(3),
        }
    }

    /// Something that was counted, not measured.
    pub(super) const fn exactly(value: f64) -> Self {
        Self {
            low: value,
            median: value,
            high: value,
        }
    }
}

/// What two sides measured, round by round.
pub(super) struct Rounds<M> {
    pairs: Vec<(M, M)>,
}

/// Two sides in one respect.
pub(super) struct Compared {
    pub(super) first: Spread,
    pub(super) second: Spread,
    /// First to second, within each round.
    pub(super) ratio: Spread,
}

impl<M> Rounds<M> {
    /// Measures two sides on one bench. A round more is run to warm up, and does not count.
    pub(super) fn run<B>(
        rounds: usize,
        bench: &mut B,
        mut first: impl FnMut(&mut B) -> anyhow::Result<M>,
        mut second: impl FnMut(&mut B) -> anyhow::Result<M>,
    ) -> anyhow::Result<Self> {
        let mut pairs = Vec::with_capacity(rounds);
        for round in 0..=rounds {
            let pair = if round % 2 == 0 {
                let a = first(bench)?;
                (a, second(bench)?)
            } else {
                let b = second(bench)?;
                (first(bench)?, b)
            };
            if round > 0 {
                pairs.push(pair);
            }
        }
        Ok(Self { pairs })
    }

    /// Compares what `respect` picks of each measurement.
    pub(super) fn compare(&self, respect: impl Fn(&M) -> f64) -> Compared {
        let pairs = || self.pairs.iter().map(|(a, b)| (respect(a), respect(b)));
        Compared {
            first: Spread::of(pairs().map(|(a, _)| a).collect()),
            second: Spread::of(pairs().map(|(_, b)| b).collect()),
            ratio: Spread::of(pairs().map(|(a, b)| a / b).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half_is_the_noise() {
        let spread = Spread::of(vec![9.0, 1.0, 3.0, 2.0, 100.0]);
        assert_eq!(
            spread,
            Spread {
                low: 2.0,
                median: 3.0,
                high: 9.0
            }
        );
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        // A machine that becomes slower changes both sides and so no ratio.
        let mut slowness = 1.0;
        let mut measure = |factor: f64| {
            slowness *= 1.5;
            Ok(factor * slowness)
        };
        let rounds = Rounds::run(100, &mut measure, |m| m(4.0), |m| m(1.0)).unwrap();
        let Spread { low, high, .. } = rounds.compare(|m| *m).ratio;
        assert!((4.0 / 1.5..=4.0).contains(&low) && (4.0..=6.0).contains(&high));
    }
}
