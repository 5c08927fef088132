//! How far it is, on standard error: a bar in a terminal, else a line a second.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use tickwire_demo::gateway::Status;

use super::player::Player;
use super::report::Report;
use crate::figures::{fill_bar, millis};

/// Columns of the bar.
const WIDTH: u64 = 24;

/// Shows how far it is.
pub(super) struct Progress {
    how: How,
    length: Duration,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum How {
    Not,
    Lines,
    Bar,
}

impl Progress {
    pub(super) fn new(is_quiet: bool, length: Duration) -> Self {
        let how = match (is_quiet, io::stderr().is_terminal()) {
            (true, _) => How::Not,
            (false, true) => How::Bar,
            (false, false) => How::Lines,
        };
        Self { how, length }
    }

    pub(super) fn show(
        &self,
        passed: Duration,
        players: &[Player],
        report: &Report,
        loading: &str,
    ) {
        if self.how == How::Not {
            return;
        }
        let plays = |player: &&Player| player.status() == Status::Playing;
        let there = players.iter().filter(plays).count();
        let gap = report.last_gap().map_or(0.0, millis);
        let (seconds, count) = (passed.as_secs(), report.wanted);
        let words = format!(
            "{seconds:>4} s  {there} of {count} bots play{loading}, {:.1} snapshots/s, longest gap {gap:.0} ms",
            report.last_rate(),
        );
        let bar = fill_bar(passed.as_millis(), self.length.as_millis(), WIDTH);
        // Nobody may be there to read it.
        let mut out = io::stderr().lock();
        match self.how {
            How::Bar => write!(out, "\r\x1b[2K▕{bar}▏{words}")
                .and_then(|()| out.flush())
                .ok(),
            _ => writeln!(out, "{words}").ok(),
        };
    }

    /// Leaves the line of the bar.
    pub(super) fn finish(&self) {
        if self.how == How::Bar {
            eprintln!();
        }
    }
}
