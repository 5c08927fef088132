//! The server's dashboard: the arena, its clients and the server's own figures, live.
//!
//! In: what the game loop has at hand anyway (views, reports, notices). Out: pictures for a
//! [`Screen`], and the one wish that keys can have of the loop, which is to end. Which protocols there
//! are is unknown here.

pub(crate) mod netgraph;
mod panels;
mod roster;

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use tickwire_demo::tiles::Cell;
use tickwire_demo::{GameServer, OwnerId, Score, View, printable};
use tickwire_session::Instant;

use crate::arena_canvas::{Blast, Blasts, Zoom};
use crate::screen::{FRAME, Input, Screen};
use crate::serve::report::Report;
use crate::stop::Stop;
use roster::Roster;

pub(crate) use panels::{draw, draw_too_small, key_line, map_spot, panel};

/// Notices that are kept to be shown: what the highest window has rows for.
const NOTICES_KEPT: usize = 200;

/// Of the tile world's crowd, so many are told of.
const RESIDENTS_SHOWN: usize = 500;

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
    pub(crate) page: Page,
    pub(crate) roster: Roster,
    /// Who is in the tile world, if there is one.
    pub(crate) residents: Option<Vec<(String, Cell)>>,
}

/// What fills the screen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Page {
    /// The arena with everything around it.
    #[default]
    Arena,
    /// The clients as a table.
    Clients,
    /// One client's net graph.
    Client,
    /// Everything that happened.
    Events,
    /// The tile world.
    Tiles,
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
        if self.picture.page == Page::Client {
            self.picture.watch(now, host);
        }
        if now >= self.next_frame {
            self.next_frame = now + FRAME;
            self.picture.time = now.since(Instant::ZERO);
            self.picture.view = host.arena().view();
            self.picture.scores = host.arena().scores();
            self.picture.look_at_tiles(host);
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
        self.roster.add(&report);
        self.report = report;
    }

    /// Looks at the chosen client at every step: a report a second would hide its gaps.
    fn watch(&mut self, now: Instant, host: &GameServer) {
        let Some((protocol, addr)) = self.roster.chosen().map(roster::key) else {
            return;
        };
        let doors = self.report.doors.iter().map(|door| door.protocol);
        for (gateway, name) in host.gateways().zip(doors) {
            if name == protocol {
                gateway.figures().visit_peers(&mut |peer| {
                    if peer.addr == addr {
                        self.roster.watch(now, protocol, peer);
                    }
                });
            }
        }
    }

    fn look_at_tiles(&mut self, host: &GameServer) {
        let is_shown = self.page == Page::Tiles;
        self.residents = host.tiles().map(|tiles| {
            let entities = tiles.entities().filter(|_| is_shown);
            let named = entities.map(|(_, entity)| (printable(entity.name()), entity.position()));
            named.take(RESIDENTS_SHOWN).collect()
        });
    }

    fn press(&mut self, key: KeyEvent, stop: &Stop) {
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => stop.ask(),
            KeyCode::Esc if self.page != Page::Arena => self.page = Page::Arena,
            KeyCode::Char('q') | KeyCode::Esc => stop.ask(),
            KeyCode::Char('a') => self.page = Page::Arena,
            KeyCode::Char('c') => self.page = Page::Clients,
            KeyCode::Char('e') => self.page = Page::Events,
            KeyCode::Char('t') if self.residents.is_some() => self.page = Page::Tiles,
            KeyCode::Char('s') => self.roster.sort_by_next(),
            KeyCode::Char('r') => self.roster.reverse(),
            KeyCode::Down | KeyCode::Char('j') => self.roster.choose_next(),
            KeyCode::Up | KeyCode::Char('k') => self.roster.choose_last(),
            KeyCode::Enter => {
                self.page = match self.page {
                    Page::Client => Page::Clients,
                    _ => Page::Client,
                };
            }
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
