//! The server's dashboard: the arena, its clients and the server's own figures, live.
//!
//! In: what the game loop has at hand anyway (views, reports, notices). Out: pictures for a
//! [`Screen`], and the one wish that keys can have of the loop, which is to end. Which protocols there
//! are is unknown here.

mod panels;

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use tickwire_demo::{GameServer, OwnerId, Score, View};
use tickwire_session::Instant;

use crate::arena_canvas::{Blast, Blasts, Zoom};
use crate::screen::{FRAME, Input, Screen};
use crate::serve::report::Report;
use crate::stop::Stop;

pub(crate) use panels::{draw, draw_too_small, key_line};

/// Notices that are kept to be shown: what the highest window has rows for.
const NOTICES_KEPT: usize = 100;

/// Seconds of step times that are kept to be shown.
const SECONDS_KEPT: usize = 60;

/// The loop's side of the dashboard.
#[derive(Debug)]
pub(crate) struct Dashboard {
    screen: Screen<Picture>,
    picture: Picture,
    blasts: Blasts,
    next_frame: Instant,
}

/// All that one drawing needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picture {
    /// What is served where.
    pub(crate) open: Vec<(&'static str, String)>,
    pub(crate) time: Duration,
    pub(crate) view: View,
    pub(crate) scores: Vec<Score>,
    pub(crate) blasts: Vec<Blast>,
    /// The last second.
    pub(crate) report: Report,
    /// The slowest steps of the last seconds, in milliseconds.
    pub(crate) slowest: VecDeque<f64>,
    /// What happened, and when; the newest last.
    pub(crate) notices: VecDeque<(Duration, String)>,
    /// Whom the camera follows; nobody: it shows everything.
    pub(crate) follows: Option<OwnerId>,
    pub(crate) zoom: Zoom,
}

impl Dashboard {
    /// Takes the terminal.
    pub(crate) fn open(open: Vec<(&'static str, String)>) -> anyhow::Result<Self> {
        Ok(Self {
            screen: Screen::open(Input::Typing, draw)?,
            picture: Picture {
                open,
                ..Picture::default()
            },
            blasts: Blasts::default(),
            next_frame: Instant::ZERO,
        })
    }

    pub(crate) fn add_notice(&mut self, now: Instant, text: String) {
        self.picture.add_notice(now.since(Instant::ZERO), text);
    }

    pub(crate) fn add_report(&mut self, report: Report) {
        self.picture.add_report(report);
    }

    /// After a step: listens to the keys and shows the world, as often as eyes can follow.
    pub(crate) fn refresh(&mut self, now: Instant, host: &GameServer, stop: &Stop) {
        for event in self.screen.events() {
            if let Event::Key(key) = event {
                self.picture.press(key, stop);
            }
        }
        if !self.screen.is_open() {
            stop.ask();
        }
        if now >= self.next_frame {
            self.next_frame = now + FRAME;
            self.picture.time = now.since(Instant::ZERO);
            self.picture.view = host.arena().view();
            self.picture.scores = host.arena().scores();
            self.picture.blasts = self.blasts.update(&self.picture.view);
            self.screen.show(self.picture.clone());
        }
    }

    /// Gives the terminal back.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        self.screen.close()
    }
}

impl Picture {
    pub(crate) fn add_notice(&mut self, time: Duration, text: String) {
        if self.notices.len() == NOTICES_KEPT {
            self.notices.pop_front();
        }
        self.notices.push_back((time, text));
    }

    pub(crate) fn add_report(&mut self, report: Report) {
        if self.slowest.len() == SECONDS_KEPT {
            self.slowest.pop_front();
        }
        self.slowest
            .push_back(crate::figures::millis(report.step_p99.unwrap_or_default()));
        self.report = report;
    }

    fn press(&mut self, key: KeyEvent, stop: &Stop) {
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => stop.ask(),
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => stop.ask(),
            KeyCode::Tab => self.follow_next(),
            KeyCode::Char('0') => self.follows = None,
            KeyCode::Char('+' | '=') => self.zoom = self.zoom.nearer(),
            KeyCode::Char('-') => self.zoom = self.zoom.further(),
            _ => {}
        }
    }

    /// From everything to each pilot in turn, and back to everything.
    fn follow_next(&mut self) {
        let pilots = || self.scores.iter().map(|score| score.owner);
        self.follows = match self.follows {
            None => pilots().next(),
            Some(last) => pilots().skip_while(|owner| *owner != last).nth(1),
        };
    }
}

#[cfg(test)]
mod svg;
#[cfg(test)]
mod tests;
