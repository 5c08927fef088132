//! Figures, their targets, and whether they are met.

use std::fmt::Write as _;

use serde_json::json;

use super::rounds::Spread;

/// One line of the report.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) value: Spread,
    pub(super) unit: &'static str,
    pub(super) ratio: Option<Ratio>,
    pub(super) target: Option<Target>,
}

/// A figure in terms of another of the same run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    pub(super) spread: Spread,
    /// What it is relative to.
    pub(super) to: &'static str,
}

/// What a figure shall be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// The ratio.
    RatioAtLeast(f64),
    /// The ratio.
    RatioAtMost(f64),
    /// The value itself.
    AtMost(f64),
    /// The value itself.
    AtLeast(f64),
}

/// Whether it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    Met,
    /// The middle misses it, part of the middle half does not.
    Unclear,
    Missed,
}

impl Figure {
    /// A figure without a target.
    pub(super) const fn plain(name: &'static str, value: Spread, unit: &'static str) -> Self {
        Self {
            name,
            value,
            unit,
            ratio: None,
            target: None,
        }
    }

    /// What the target says about it, if it has one. A measurement that failed, whose figure is no finite
    /// number, misses every target.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let target = self.target?;
        let judged = match target {
            Target::RatioAtMost(_) | Target::RatioAtLeast(_) => self.ratio.map(|it| it.spread),
            Target::AtMost(_) | Target::AtLeast(_) => Some(self.value),
        };
        let Some(Spread { low, median, high }) = judged else {
            return Some(Verdict::Missed);
        };
        let (best, most, sign) = match target {
            Target::RatioAtMost(most) | Target::AtMost(most) => (low, most, 1.0),
            Target::RatioAtLeast(least) | Target::AtLeast(least) => (high, least, -1.0),
        };
        Some(match () {
            () if ![median, best].iter().all(|it| it.is_finite()) => Verdict::Missed,
            () if median * sign <= most * sign => Verdict::Met,
            () if best * sign <= most * sign => Verdict::Unclear,
            () => Verdict::Missed,
        })
    }

    fn target_text(&self) -> String {
        match self.target {
            None => String::new(),
            Some(Target::RatioAtLeast(least)) => format!("≥ {least:.2}"),
            Some(Target::RatioAtMost(most)) => format!("≤ {most:.2}"),
            Some(Target::AtMost(most)) => format!("≤ {most} {}", self.unit),
            Some(Target::AtLeast(least)) => format!("≥ {least} {}", self.unit),
        }
    }
}

impl Verdict {
    const fn text(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Unclear => "missed, within noise",
            Self::Missed => "NOT MET",
        }
    }
}

/// The report for people.
pub(super) fn table(figures: &[Figure]) -> String {
    let mut rows = vec![["figure", "measured", "ratio", "target", ""].map(String::from)];
    for figure in figures {
        let ratio = figure.ratio.map(|Ratio { spread, to }| {
            let Spread { low, median, high } = spread;
            format!("{median:.2} ({low:.2} to {high:.2}) of {to}")
        });
        rows.push([
            figure.name.to_owned(),
            format!("{} {}", number(figure.value.median), figure.unit),
            ratio.unwrap_or_default(),
            figure.target_text(),
            figure.verdict().map_or("", Verdict::text).to_owned(),
        ]);
    }
    let widths: [usize; 5] = std::array::from_fn(|column| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or(0)
    });
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            write!(line, "{cell:<width$}  ").expect("a string takes everything");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The report for programs.
pub(super) fn json(figures: &[Figure]) -> String {
    let figures: Vec<_> = figures
        .iter()
        .map(|figure| {
            let Spread { low, median, high } = figure.value;
            json!({
                "name": figure.name,
                "unit": figure.unit,
                "value": { "low": low, "median": median, "high": high },
                "ratio": figure.ratio.map(|Ratio { spread, to }| json!({
                    "to": to,
                    "low": spread.low,
                    "median": spread.median,
                    "high": spread.high,
                })),
                "target": figure.target.map(|_| figure.target_text()),
                "verdict": figure.verdict().map(Verdict::text),
            })
        })
        .collect();
    serde_json::Value::from(figures).to_string()
}

/// Three digits that mean something, and the thousands apart.
fn number(value: f64) -> String {
    if value < 100.0 {
        let decimals = if value < 10.0 { 2 } else { 1 };
        return format!("{value:.decimals$}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: Target, [low, median, high]: [f64; 3], verdict: Verdict) {
        let value = Spread { low, median, high };
        let figure = Figure {
            ratio: Some(Ratio {
                spread: value,
                to: "another",
            }),
            target: Some(target),
            ..Figure::plain("figure", value, "ns")
        };
        assert_eq!(figure.verdict(), Some(verdict));
    }

    #[test]
    fn the_middle_decides_and_the_better_quartile_excuses() {
        check(Target::RatioAtLeast(0.7), [0.6, 0.7, 0.8], Verdict::Met);
        check(
            Target::RatioAtLeast(0.7),
            [0.6, 0.69, 0.71],
            Verdict::Unclear,
        );
        check(
            Target::RatioAtLeast(0.7),
            [0.6, 0.65, 0.69],
            Verdict::Missed,
        );
        check(Target::RatioAtMost(0.2), [0.1, 0.2, 0.3], Verdict::Met);
        check(
            Target::RatioAtMost(0.2),
            [0.19, 0.21, 0.3],
            Verdict::Unclear,
        );
        check(Target::AtMost(10.0), [11.0, 12.0, 13.0], Verdict::Missed);
        check(Target::AtLeast(10.0), [7.0, 8.0, 11.0], Verdict::Unclear);
    }

    #[test]
    fn what_is_no_finite_number_misses_every_target() {
        for value in [f64::NEG_INFINITY, f64::INFINITY, f64::NAN] {
            for target in [
                Target::AtMost(1.0),
                Target::AtLeast(1.0),
                Target::RatioAtMost(1.0),
                Target::RatioAtLeast(1.0),
            ] {
                check(target, [value; 3], Verdict::Missed);
            }
        }
    }

    #[test]
    fn figures_without_a_target_are_not_judged() {
        let plain = Figure::plain("figure", Spread::exactly(1.0), "ns");
        assert_eq!(plain.verdict(), None);
    }

    #[test]
    fn numbers_are_readable() {
        let shown = [0.123, 9.87, 45.678, 123.4, 1_234_567.8].map(number);
        assert_eq!(shown, ["0.12", "9.87", "45.7", "123", "1,234,568"]);
    }
}
