//! Many spans of time, kept as a histogram: how they are spread, in numbers and as a chart.

use std::fmt::Write as _;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use super::{fill_bar, millis};

/// Three digits are kept of every span.
const DIGITS: u8 = 3;

/// Rows of a chart at most.
const ROWS: usize = 10;

/// Columns of its longest bar.
const WIDTH: u64 = 40;

/// Spans of time, in microseconds.
#[derive(Clone, Debug)]
pub(crate) struct Spread(Histogram<u64>);

impl Default for Spread {
    fn default() -> Self {
        Self(Histogram::new(DIGITS).expect("the number of digits is one that it takes"))
    }
}

impl Spread {
    pub(crate) fn add(&mut self, span: Duration) {
        let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        // It grows as it must.
        self.0.record(micros).ok();
    }

    /// Adds a span only if none was longer: one that has not ended counts for what it is already.
    pub(crate) fn add_if_longest(&mut self, span: Duration) {
        if self.most().is_none_or(|most| span > most) {
            self.add(span);
        }
    }

    /// The span below which this share of all lie, 0 to 1.
    pub(crate) fn quantile(&self, share: f64) -> Option<Duration> {
        let is_empty = self.0.is_empty();
        (!is_empty).then(|| Duration::from_micros(self.0.value_at_quantile(share)))
    }

    pub(crate) fn most(&self) -> Option<Duration> {
        self.quantile(1.0)
    }

    /// The usual quantiles in a line.
    pub(crate) fn summary(&self) -> String {
        let words = QUANTILES.map(|(name, share)| match self.quantile(share) {
            Some(span) => format!("{name} {:.1} ms", millis(span)),
            None => format!("{name} unknown"),
        });
        words.join(", ")
    }

    pub(crate) fn json(&self) -> Value {
        let quantile = |(name, share): (&str, f64)| {
            let span = self.quantile(share).map(millis);
            (name.to_owned(), json!(span))
        };
        let mut object: serde_json::Map<_, _> = QUANTILES.into_iter().map(quantile).collect();
        let rows = self.rows();
        let rows = rows.map(|(up_to, count)| json!([millis(up_to), count]));
        object.insert("histogram".into(), rows.collect());
        object.into()
    }

    /// A bar for each of a few classes, each twice as wide as the one before it.
    pub(crate) fn chart(&self, title: &str) -> String {
        let rows: Vec<_> = self.rows().collect();
        let most = rows.iter().map(|(_, count)| *count).max();
        let Some(most) = most.filter(|most| *most > 0) else {
            return String::new();
        };
        let mut chart = format!("{title}\n");
        for (up_to, count) in rows {
            let bar = fill_bar(count.into(), most.into(), WIDTH);
            let bar = bar.trim_end_matches('░');
            let up_to = format!("{:.1}", millis(up_to));
            writeln!(chart, "  up to {up_to:>8} ms {count:>9} {bar}").expect("it is a string");
        }
        chart
    }

    /// Classes that double, from the first to the last with anything in it.
    fn rows(&self) -> impl Iterator<Item = (Duration, u64)> {
        let classes = self.0.iter_log(FIRST_CLASS, 2.0);
        let classes: Vec<_> = classes
            .map(|class| {
                (
                    class.value_iterated_to(),
                    class.count_since_last_iteration(),
                )
            })
            .skip_while(|(_, count)| *count == 0)
            .collect();
        // Those below the last few are one class.
        let split = classes.len().saturating_sub(ROWS);
        let (low, high) = classes.split_at(split);
        let below: u64 = low.iter().map(|(_, count)| *count).sum();
        let mut high = high.to_vec();
        if let Some((_, count)) = high.first_mut() {
            *count += below;
        }
        let span = |(micros, count)| (Duration::from_micros(micros), count);
        high.into_iter().map(span)
    }
}

/// Microseconds of the narrowest class.
const FIRST_CLASS: u64 = 125;

const QUANTILES: [(&str, f64); 5] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p999", 0.999),
    ("max", 1.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(millis: impl IntoIterator<Item = u64>) -> Spread {
        let mut spread = Spread::default();
        let spans = millis.into_iter().map(Duration::from_millis);
        spans.for_each(|span| spread.add(span));
        spread
    }

    #[test]
    fn quantiles_are_right_to_three_digits() {
        let spread = spread(1..=1_000);
        for (share, expected) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1_000.0)] {
            let got = millis(spread.quantile(share).unwrap());
            assert!((got - expected).abs() <= expected / 1_000.0 + 0.1, "{got}");
        }
        let nothing = Spread::default();
        assert_eq!(nothing.quantile(0.5), None);
        assert!(nothing.summary().starts_with("p50 unknown"));
        assert_eq!(nothing.chart("nothing"), "");
    }

    #[test]
    fn a_chart_holds_every_span_in_few_rows() {
        let spread = spread((0..1_000).map(|n| 1 << (n % 14)));
        let rows: Vec<_> = spread.rows().collect();
        assert_eq!(rows.len(), ROWS);
        assert_eq!(rows.iter().map(|(_, count)| count).sum::<u64>(), 1_000);
        assert_eq!(spread.chart("spans").lines().count(), 1 + ROWS);
    }

    #[test]
    fn a_gap_that_goes_on_counts_if_it_is_the_longest() {
        let mut spread = spread([50, 60]);
        spread.add_if_longest(Duration::from_millis(20));
        assert_eq!(spread.0.len(), 2);
        spread.add_if_longest(Duration::from_millis(200));
        assert!(spread.most().unwrap() >= Duration::from_millis(200));
    }
}
