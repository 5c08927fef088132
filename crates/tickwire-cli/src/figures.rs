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

#[cfg(test)]
mod tests {
    use super::*;

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
