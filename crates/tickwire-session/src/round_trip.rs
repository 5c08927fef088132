//! Estimating the round trip to a peer.
//!
//! In: samples, each the time from sending something to hearing that it arrived. Out: a smoothed
//! mean and deviation, by the filter of RFC 6298 (gains 1/8 and 1/4). Which samples are honest (a
//! message sent twice cannot tell which copy was answered) is the protocol's to know.

use core::time::Duration;

/// A smoothed round trip.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RoundTrip {
    /// Mean and mean deviation.
    smoothed: Option<(Duration, Duration)>,
}

impl RoundTrip {
    /// Nothing measured yet.
    pub const fn new() -> Self {
        Self { smoothed: None }
    }

    /// Takes one measurement.
    pub fn add_sample(&mut self, sample: Duration) {
        self.smoothed = Some(match self.smoothed {
            None => (sample, sample / 2),
            Some((mean, deviation)) => {
                let error = mean.abs_diff(sample);
                ((mean * 7 + sample) / 8, (deviation * 3 + error) / 4)
            }
        });
    }

    /// The smoothed mean.
    pub fn mean(&self) -> Option<Duration> {
        self.smoothed.map(|(mean, _)| mean)
    }

    /// The mean deviation.
    pub fn jitter(&self) -> Option<Duration> {
        self.smoothed.map(|(_, deviation)| deviation)
    }

    /// How long to wait for an answer before it counts as lost: mean + 4 deviations, at least `floor`;
    /// `floor` itself while nothing was measured.
    pub fn patience(&self, floor: Duration) -> Duration {
        self.smoothed
            .map_or(floor, |(mean, deviation)| floor.max(mean + deviation * 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_first_sample_is_taken_whole() {
        let mut rtt = RoundTrip::new();
        assert_eq!((rtt.mean(), rtt.patience(ms(200))), (None, ms(200)));
        rtt.add_sample(ms(100));
        assert_eq!((rtt.mean(), rtt.jitter()), (Some(ms(100)), Some(ms(50))));
        assert_eq!(rtt.patience(ms(200)), ms(300));
    }

    #[test]
    fn a_steady_path_converges() {
        let mut rtt = RoundTrip::new();
        rtt.add_sample(ms(500));
        for _ in 0..100 {
            rtt.add_sample(ms(80));
        }
        let (mean, jitter) = (rtt.mean().unwrap(), rtt.jitter().unwrap());
        assert!(mean >= ms(80) && mean < ms(81), "{mean:?}");
        assert!(jitter < ms(1), "{jitter:?}");
    }

    #[test]
    fn one_outlier_moves_the_mean_by_an_eighth() {
        let mut rtt = RoundTrip::new();
        rtt.add_sample(ms(80));
        rtt.add_sample(ms(880));
        assert_eq!(rtt.mean(), Some(ms(180)));
    }
}
