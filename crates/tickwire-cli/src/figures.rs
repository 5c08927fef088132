//! Percentiles and rates, as the reports show them.

mod spread;
mod trace;

use std::time::Duration;

pub(crate) use spread::Spread;
pub(crate) use trace::{Graph, Sample, Trace};

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

/// How much of a load is here, as a bar and in words.
pub(crate) fn loading_bar(have: u64, of: u64) -> String {
    const WIDTH: u64 = 20;
    let bar = fill_bar(have.into(), of.into(), WIDTH);
    format!("{bar} {} of {}", size(have), size(of))
}

/// A row of so many cells, as full as `have` is of `of`. What is nothing at all is full.
pub(crate) fn fill_bar(have: u128, of: u128, width: u64) -> String {
    let width = u128::from(width);
    let full = (have.min(of) * width).checked_div(of).unwrap_or(width);
    let cell = |at| if at < full { '█' } else { '░' };
    (0..width).map(cell).collect()
}

/// Bytes, in a unit that people read.
#[expect(clippy::cast_precision_loss, reason = "a size for people")]
fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1_024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loading_bar_grows_with_what_is_here() {
        let (none, half) = (loading_bar(0, 2_048), loading_bar(1_024, 2_048));
        assert!(
            none.starts_with('░') && none.ends_with(" 0 B of 2.0 KiB"),
            "{none}"
        );
        assert_eq!(half.chars().filter(|c| *c == '█').count(), 10, "{half}");
        assert!(!loading_bar(0, 0).contains('░'));
    }

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
