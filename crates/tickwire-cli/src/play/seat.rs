//! Where a player sits, whichever the game.
//!
//! In: a [`Game`], and what the player does at the terminal. Out: pictures for the terminal, which has a
//! thread of its own and is never waited for, and why it ended. What a game looks like and what its keys
//! do is its own; what stands around every picture is the [`Margin`].

use std::collections::VecDeque;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use ratatui::Frame;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind};
use ratatui::layout::Rect;
use tickwire_demo::gateway::{ClientGateway, Ending, Notice, Status};
use tickwire_demo::{STEP, printable};
use tickwire_net::Driver;
use tickwire_session::{Addr, Instant, Session};

use super::netgraph::NetGraph;
use super::replay::TapeLine;
use crate::capture::{self, CaptureFile};
use crate::conditions::Lags;
use crate::metrics::Metrics;
use crate::quic::Route;
use crate::record::RecordFile;
use crate::screen::{self, FRAME, Input, Screen};
use crate::serve::report::Report;
use crate::stop::Stop;

/// How long a player who leaves waits for the server's answer.
const FAREWELL: Duration = Duration::from_secs(1);

/// Notices that are kept to be shown.
const NOTICES_KEPT: usize = 20;

/// What a player has.
pub(super) struct Seat {
    pub(super) driver: Driver,
    pub(super) stop: Stop,
    /// What the session calls the server.
    pub(super) server: Addr,
    /// Protocol and server.
    pub(super) title: String,
    pub(super) name: String,
    pub(super) record: Option<RecordFile>,
    pub(super) capture: Option<CaptureFile>,
    pub(super) metrics: Option<Metrics>,
    pub(super) protocol: &'static str,
    /// How the server is reached.
    pub(super) route: Route,
    /// The network that the player asked for.
    pub(super) lags: Lags,
}

/// One player's session, and what the player sees of it.
pub(super) trait Game {
    /// All that one drawing needs.
    type Picture: Send + 'static;

    /// What the terminal is to tell.
    const INPUT: Input;

    /// The session, and what stands around its picture.
    fn parts(&mut self) -> (&mut dyn ClientGateway, &mut Margin);

    /// Something happened that the player is told of.
    fn handle_notice(&mut self, _now: Instant, _notice: &Notice) {}

    /// Whether the player wants to leave.
    fn leaves(&self) -> bool;

    /// The player did something, or the whole screen has another size.
    fn handle(&mut self, now: Instant, event: Event);

    /// Looks at the world and acts in it, once a step.
    fn step(&mut self, now: Instant);

    /// What is to be shown now.
    fn picture(&mut self) -> Self::Picture;

    /// A sentence for whoever has left.
    fn summary(&self) -> String;
}

impl Seat {
    /// Plays until somebody has enough.
    pub(super) fn play<G: Game>(
        mut self,
        mut game: G,
        draw: fn(&G::Picture, &mut Frame<'_>),
    ) -> anyhow::Result<ExitCode> {
        let screen = Screen::open(G::INPUT, draw)?;
        let played = self.run(&mut game, &screen);
        // First, so that whatever is said next stays to be read.
        let closed = screen.close();
        let ending = played?;
        closed?;
        match ending {
            None | Some(Ending::Left) => {
                self.leave(game.parts().0)?;
                self.finish_record()?;
                println!("{}", game.summary());
                Ok(ExitCode::SUCCESS)
            }
            Some(ending) => {
                self.finish_record()?;
                // What carries the session may know more than the session.
                let failure = self.driver.link_failure(self.server);
                let words = failure.map(ToString::to_string).unwrap_or_else(|| {
                    let reason = game.parts().0.last_words();
                    reason.map_or_else(
                        || ending.to_string(),
                        |reason| format!("{ending}: {reason}"),
                    )
                });
                anyhow::bail!("{}: {words}", self.title)
            }
        }
    }

    /// Plays until the player leaves (`None`) or the session ends by itself.
    fn run<G: Game>(
        &mut self,
        game: &mut G,
        screen: &Screen<G::Picture>,
    ) -> anyhow::Result<Option<Ending>> {
        let Rect { width, height, .. } = screen::area();
        let mut next_step = self.driver.now();
        let mut next_frame = next_step;
        let mut next_second = next_step;
        game.handle(next_step, Event::Resize(width, height));
        while !game.leaves() && !self.stop.is_asked() && screen.is_open() {
            self.drive(next_step, game.parts().0, Driver::run_until)?;
            let now = self.driver.now();
            next_step = (next_step + STEP).max(now);
            for event in screen.events() {
                match event {
                    Event::Key(key) if key.code == KeyCode::F(3) => {
                        if key.kind == KeyEventKind::Press {
                            game.parts().1.net.toggle();
                        }
                    }
                    event => game.handle(now, event),
                }
            }
            let (gateway, margin) = game.parts();
            let notices = margin.collect(now, gateway);
            for line in self.meet()? {
                margin.notice(now, line);
            }
            notices
                .iter()
                .for_each(|notice| game.handle_notice(now, notice));
            let (gateway, margin) = game.parts();
            if let Some(metrics) = self.metrics.as_ref().filter(|_| now >= next_second) {
                next_second = now + Duration::from_secs(1);
                let name = margin.name.clone();
                metrics.set(Report::of_client(now, self.protocol, name, gateway));
            }
            margin.stage = match gateway.status() {
                Status::Ended(ending) => return Ok(Some(ending)),
                Status::Connecting => Stage::Connecting,
                Status::Loading { have, of } => Stage::Loading { have, of },
                Status::Playing => Stage::Playing,
            };
            if margin.stage == Stage::Playing {
                game.step(now);
            }
            if now >= next_frame {
                next_frame = now + FRAME;
                screen.show(game.picture());
            }
        }
        Ok(None)
    }

    /// Leaves in the protocol's own way.
    fn leave(&mut self, gateway: &mut dyn ClientGateway) -> anyhow::Result<()> {
        gateway.disconnect(self.driver.now());
        let deadline = self.driver.now() + FAREWELL;
        let is_over = |seat: &Self, gateway: &dyn ClientGateway| {
            matches!(gateway.status(), Status::Ended(_)) && seat.lags.is_idle()
        };
        while !is_over(self, gateway) && self.driver.now() < deadline {
            self.drive(deadline, gateway, Driver::turn)?;
        }
        Ok(())
    }

    fn finish_record(&mut self) -> anyhow::Result<()> {
        let now = self.driver.now();
        let record = self.record.as_mut();
        record.map_or(Ok(()), |record| record.finish(now))?;
        self.capture.take().map_or(Ok(()), CaptureFile::finish)
    }

    /// Lets the driver have the session.
    fn drive(
        &mut self,
        until: Instant,
        gateway: &mut dyn ClientGateway,
        run: fn(&mut Driver, Instant, &mut [&mut dyn Session]) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        if let Some(record) = &mut self.record {
            record.keep(self.driver.now())?;
        }
        let mut sessions: Vec<&mut dyn Session> = match &mut self.route {
            Route::At(_) => Vec::new(),
            Route::By(meeting) => vec![meeting.session()],
        };
        let own = sessions.len();
        sessions.push(gateway.session());
        let (lags, driver) = (&mut self.lags, &mut self.driver);
        let ran = capture::run(self.capture.as_mut(), &mut sessions, own, |sessions| {
            lags.run(sessions, own..own + 1, |sessions| {
                run(driver, until, sessions)
            })
        });
        ran.context("waiting for the network failed")
    }

    /// Follows the path to the server, and returns what the player wants to know of it.
    fn meet(&mut self) -> anyhow::Result<Vec<String>> {
        self.route.meet(&mut self.driver)
    }
}

/// What stands around the picture of every game.
#[derive(Clone, Debug)]
pub(super) struct Margin {
    /// Protocol and server.
    pub(super) server: String,
    pub(super) name: String,
    pub(super) time: Duration,
    pub(super) stage: Stage,
    pub(super) net: NetGraph,
    /// What happened and was said, and when; the newest last.
    pub(super) notices: VecDeque<(Duration, String)>,
    /// What the player is writing.
    pub(super) line: Option<String>,
    /// Whether all keys are shown.
    pub(super) shows_help: bool,
    /// Where in a recording this is, if it is one.
    pub(super) tape: Option<TapeLine>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    Connecting,
    Loading { have: u64, of: u64 },
    Playing,
}

impl Margin {
    pub(super) fn new(title: &str, name: &str) -> Self {
        Self {
            server: title.into(),
            name: name.into(),
            time: Duration::ZERO,
            stage: Stage::Connecting,
            net: NetGraph::default(),
            notices: VecDeque::new(),
            line: None,
            shows_help: false,
            tape: None,
        }
    }

    /// Takes what happened, and returns it.
    fn collect(&mut self, now: Instant, gateway: &mut dyn ClientGateway) -> Vec<Notice> {
        let mut notices = Vec::new();
        gateway.collect(now, &mut notices);
        self.take_given_name(now, gateway);
        self.show(now, gateway, &notices);
        notices
    }

    /// Shows what happened, and how the connection does.
    pub(super) fn show(&mut self, now: Instant, gateway: &dyn ClientGateway, notices: &[Notice]) {
        self.time = now.since(Instant::ZERO);
        for notice in notices {
            self.notice(now, notice.to_string());
        }
        self.net.update(now, gateway.stats());
        self.net.set_remark(gateway.remark());
    }

    /// Says, once, that others see another name than the one that was typed.
    fn take_given_name(&mut self, now: Instant, gateway: &dyn ClientGateway) {
        let given = gateway.given_name().map(printable);
        if let Some(given) = given.filter(|given| *given != self.name) {
            let text = format!("this protocol carries no names: others see {given}");
            self.name = given;
            self.notice(now, text);
        }
    }

    /// Says that something was not done, and why.
    pub(super) fn complain(&mut self, now: Instant, what: &str, result: Result<(), String>) {
        if let Err(why) = result {
            self.notice(now, format!("{what}: {why}"));
        }
    }

    pub(super) fn notice(&mut self, now: Instant, text: String) {
        if self.notices.len() == NOTICES_KEPT {
            self.notices.pop_front();
        }
        self.notices.push_back((now.since(Instant::ZERO), text));
    }

    /// How long it took, for a summary.
    pub(super) fn minutes(&self) -> String {
        let seconds = self.time.as_secs();
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }
}
