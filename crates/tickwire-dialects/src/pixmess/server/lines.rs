//! The lines that everybody is told: chats, and who came and went.
//!
//! A line is kept once, and each client reads on from where it was (see [`news`](super::news)); one
//! that falls behind by more than [`LINES_KEPT`] misses the oldest. Arrivals and departures that come
//! faster than anybody can read share a line.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::{Instant, TokenBucket};

use crate::pixmess::limits::{
    ANNOUNCEMENT_REFILL, ANNOUNCEMENTS_AT_ONCE, LINES_KEPT, NAMES_A_LINE,
};
use crate::pixmess::message::{FromServer, Shared};

/// What everybody is told.
#[derive(Debug)]
pub(super) struct Lines {
    kept: VecDeque<Shared>,
    /// How many lines there were in all.
    total: u64,
    joined: Names,
    left: Names,
    pace: TokenBucket,
}

/// Players of whom the same is to be said.
#[derive(Debug, Default)]
struct Names {
    /// As many as a line shows.
    shown: Vec<String>,
    more: usize,
}

impl Lines {
    pub(super) const fn new() -> Self {
        Self {
            kept: VecDeque::new(),
            total: 0,
            joined: Names::NOBODY,
            left: Names::NOBODY,
            pace: TokenBucket::new(Instant::ZERO, ANNOUNCEMENTS_AT_ONCE, ANNOUNCEMENT_REFILL),
        }
    }

    pub(super) fn push(&mut self, line: &str) {
        self.kept.push_back(line.into());
        self.total += 1;
        if self.kept.len() > LINES_KEPT {
            self.kept.pop_front();
        }
    }

    /// How many lines there were: where a newcomer begins to read.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Tells the lines behind the first `read`, as far as they are kept; how many.
    pub(super) fn tell(&self, read: &mut u64, mut say: impl FnMut(FromServer<Shared>)) -> usize {
        let unread = usize::try_from(self.total - *read).unwrap_or(usize::MAX);
        let unread = unread.min(self.kept.len());
        for text in self.kept.range(self.kept.len() - unread..) {
            say(FromServer::Chat { text: text.clone() });
        }
        *read = self.total;
        unread
    }

    pub(super) fn note_joined(&mut self, name: &str) {
        self.joined.add(name);
    }

    pub(super) fn note_left(&mut self, name: &str) {
        self.left.add(name);
    }

    /// Makes lines of who came and went. Returns when there may be another, if some have to wait.
    pub(super) fn announce(&mut self, now: Instant) -> Option<Instant> {
        // Whoever came and went in the meantime came first.
        for verb in ["joined", "left"] {
            let names = match verb {
                "joined" => &mut self.joined,
                _ => &mut self.left,
            };
            if names.shown.is_empty() {
                continue;
            }
            if let Some(next) = self.pace.wait(now) {
                return Some(next);
            }
            self.pace.take(now);
            let line = core::mem::take(names).line(verb);
            self.push(&line);
        }
        None
    }
}

impl Names {
    const NOBODY: Self = Self {
        shown: Vec::new(),
        more: 0,
    };

    fn add(&mut self, name: &str) {
        if self.shown.len() < NAMES_A_LINE {
            self.shown.push(name.into());
        } else {
            self.more += 1;
        }
    }

    /// Short enough for a packet, whatever the names.
    fn line(self, verb: &str) -> String {
        let names = self.shown.join(", ");
        match (self.shown.len(), self.more) {
            (1, _) => of_one(&names, verb),
            (_, 0) => format!("* {names} have {verb}"),
            (_, more) => format!("* {names} and {more} more have {verb}"),
        }
    }
}

/// What is said of one player.
pub(super) fn of_one(name: &str, verb: &str) -> String {
    format!("* {name} has {verb}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pixmess::limits::{NAME_MAX, TEXT_MAX};

    fn texts(lines: &Lines, mut read: u64) -> Vec<String> {
        let mut texts = Vec::new();
        lines.tell(&mut read, |message| {
            let FromServer::Chat { text } = message else {
                panic!("{message:?} is no line");
            };
            texts.push(String::from_utf8(text.as_ref().into()).unwrap());
        });
        assert_eq!(read, lines.total());
        texts
    }

    #[test]
    fn the_longest_names_fit_a_line() {
        let mut names = Names::default();
        for _ in 0..10_000 {
            names.add(&"x".repeat(NAME_MAX));
        }
        assert!(names.line("joined").len() <= TEXT_MAX);
    }

    #[test]
    fn whoever_falls_behind_misses_the_oldest() {
        let mut lines = Lines::new();
        for number in 0..LINES_KEPT + 3 {
            lines.push(&format!("{number}"));
        }
        assert_eq!(texts(&lines, 0).len(), LINES_KEPT);
        assert_eq!(texts(&lines, 0)[0], "3");
        assert_eq!(
            texts(&lines, lines.total() - 1),
            [format!("{}", LINES_KEPT + 2)]
        );
        assert!(texts(&lines, lines.total()).is_empty());
    }
}
