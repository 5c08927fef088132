//! Percentiles and rates, as the reports show them.

use std::time::Duration;

/// The value below which `percent` of the samples lie; `None` without samples.
pub(crate) fn percentile(samples: &mut [Duration], percent: usize) -> Option<Duration> {
    let last = samples.len().checked_sub(1)?;
    let rank = (last * percent).div_ceil(100);
    Some(*samples.select_nth_unstable(rank).1)
}

/// Milliseconds with their fraction.
pub(crate) fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}

/// Kilobits a second.
#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
pub(crate) fn kbits(bytes: u64, span: Duration) -> f64 {
    bytes as f64 * 8.0 / 1_000.0 / span.as_secs_f64().max(f64::EPSILON)
}

/// How often a second.
#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
pub(crate) fn per_second(count: u64, span: Duration) -> f64 {
    count as f64 / span.as_secs_f64().max(f64::EPSILON)
}

/// A row of bars, as high as the samples are to `full`.
pub(crate) fn bars(samples: impl Iterator<Item = f64>, full: f64) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the table; what is no number becomes 0"
    )]
    let bar = |sample: f64| BARS[(sample / full * 8.0).clamp(0.0, 7.0) as usize];
    samples.map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stay_within_their_row() {
        let samples = [-1.0, 0.0, 49.0, 50.0, 100.0, 1e9, f64::NAN];
        assert_eq!(bars(samples.into_iter(), 100.0), "▁▁▄▅██▁");
        assert_eq!(bars([0.0, 1.0].into_iter(), 0.0), "▁█");
    }

    #[test]
    fn percentiles_are_samples() {
        let mut samples: Vec<_> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(
            percentile(&mut samples, 50),
            Some(Duration::from_millis(51))
        );
        assert_eq!(
            percentile(&mut samples, 99),
            Some(Duration::from_millis(100))
        );
        assert_eq!(
            percentile(&mut samples[..1], 99).map(|d| d.is_zero()),
            Some(false)
        );
        assert_eq!(percentile(&mut [], 50), None);
    }
}
