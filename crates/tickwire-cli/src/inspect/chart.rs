//! Sizes over time, in a fixed number of columns: when they are full, two become one.

use std::time::Duration;

use crate::figures::bars;

/// Columns at most. A chart has at least half of them once it was full.
const COLUMNS: usize = 64;

/// What a column is at the beginning.
const NARROWEST: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Chart {
    width: Duration,
    columns: Vec<Column>,
    largest: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Column {
    count: u64,
    sum: u64,
}

impl Default for Chart {
    fn default() -> Self {
        Self {
            width: NARROWEST,
            columns: Vec::new(),
            largest: 0,
        }
    }
}

impl Chart {
    pub(super) fn add(&mut self, at: Duration, size: u64) {
        let mut column = self.column(at);
        while column >= COLUMNS {
            self.columns = self.columns.chunks(2).map(join).collect();
            self.width *= 2;
            column = self.column(at);
        }
        if self.columns.len() <= column {
            self.columns.resize(column + 1, Column::default());
        }
        self.columns[column].count += 1;
        self.columns[column].sum += size;
        self.largest = self.largest.max(size);
    }

    fn column(&self, at: Duration) -> usize {
        let column = at.as_nanos() / self.width.as_nanos().max(1);
        usize::try_from(column).unwrap_or(usize::MAX)
    }

    pub(super) fn count(&self) -> u64 {
        self.columns.iter().map(|column| column.count).sum()
    }

    pub(super) const fn width(&self) -> Duration {
        self.width
    }

    pub(super) const fn largest(&self) -> u64 {
        self.largest
    }

    /// The mean of all.
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub(super) fn mean(&self) -> f64 {
        let sum: u64 = self.columns.iter().map(|column| column.sum).sum();
        sum as f64 / self.count().max(1) as f64
    }

    /// The mean of each column.
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub(super) fn means(&self) -> impl Iterator<Item = f64> {
        let mean = |column: &Column| column.sum as f64 / column.count.max(1) as f64;
        self.columns.iter().map(mean)
    }

    /// A row of bars, one a column.
    pub(super) fn bars(&self) -> String {
        let full = self.means().fold(1.0, f64::max);
        bars(self.means(), full)
    }
}

fn join(two: &[Column]) -> Column {
    Column {
        count: two.iter().map(|column| column.count).sum(),
        sum: two.iter().map(|column| column.sum).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_time_has_as_many_columns_as_a_short_one() {
        let mut chart = Chart::default();
        for second in 0..100_000 {
            chart.add(Duration::from_secs(second), second % 7);
        }
        assert!(chart.columns.len() <= COLUMNS && chart.columns.len() > COLUMNS / 2);
        assert_eq!((chart.count(), chart.largest()), (100_000, 6));
        assert!((chart.mean() - 3.0).abs() < 0.01);
    }

    #[test]
    fn a_moment_of_a_hostile_file_takes_no_longer_than_any_other() {
        let mut chart = Chart::default();
        chart.add(Duration::MAX, 1);
        assert!(chart.columns.len() <= COLUMNS);
    }
}
