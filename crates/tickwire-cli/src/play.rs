//! `tickwire play`: a person plays in a terminal, through any protocol: here, and in [`tiles`] for the
//! protocols of the tile world.
//!
//! What is shown comes from [`ArenaClient::view`], what is wanted goes to [`ArenaClient::act`];
//! nothing here knows which protocol is in between. The loop owns the socket and never waits for the
//! terminal, which has a thread of its own.

mod editor;
mod helm;
mod keys;
mod netgraph;
mod panels;
mod tiles;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use tickwire_demo::gateway::{ArenaClient, ClientGateway, Connect, Ending, Protocol, Status};
use tickwire_demo::limits::WEAPON_SLOTS;
use tickwire_demo::{Loadout, STEP, Score, Vec2, View, printable};
use tickwire_net::Driver;
use tickwire_session::{Addr, Instant};

use crate::address;
use crate::arena_canvas::{Blast, Blasts, Camera, Zoom};
use crate::screen::{self, FRAME, Input, Screen};
use crate::stop::Stop;
use editor::{Edited, Editor};
use helm::{Aim, Helm};
use netgraph::NetGraph;

/// Fly a ship yourself, in this terminal, or walk and build in the tile world.
///
/// In the arena, W A S D or the arrows fly, Z and C strafe, Space and 2 to 4 fire. Weapons aim by themselves at the
/// nearest enemy ahead; the mouse aims instead while it is moved, and its left button fires. Enter
/// chats, Tab shows the scores, + and - zoom, q leaves.
///
/// In the tile world (pixmess), the arrows or W A S D walk, Y U B N, 7 9 1 3 or Home, Page Up, End and
/// Page Down walk diagonally, and Shift with an arrow only turns. Space places a block in front, X takes
/// one away, [ and ] choose. Enter chats, q leaves.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The protocol to speak.
    #[arg(value_name = "PROTOCOL", value_parser = address::protocol())]
    protocol: &'static Protocol,

    /// The server; without a port, the protocol's own.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1")]
    connect: String,

    /// What others call you.
    #[arg(long, value_name = "NAME", default_value = "player")]
    name: String,
}

/// How long a player who leaves waits for the server's answer.
const FAREWELL: Duration = Duration::from_secs(1);

/// Notices that are kept to be shown.
const NOTICES_KEPT: usize = 20;

/// All that one drawing needs.
#[derive(Clone, Debug)]
struct Picture {
    server: String,
    name: String,
    time: Duration,
    stage: Stage,
    view: View,
    blasts: Vec<Blast>,
    camera: Camera,
    aim: Aim,
    fires: [bool; WEAPON_SLOTS],
    net: NetGraph,
    /// What happened and was said, and when; the newest last.
    notices: VecDeque<(Duration, String)>,
    shows_scores: bool,
    /// What the player is writing.
    line: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Connecting,
    Loading { have: u64, of: u64 },
    Playing,
}

impl Picture {
    fn own_score(&self) -> Option<&Score> {
        let own = self.view.own_ship().and_then(|ship| ship.owner);
        let mut scores = self.view.scores.iter();
        // Without a ship, the name is all there is to go by.
        scores.find(|score| match own {
            Some(own) => score.owner == own,
            None => score.name == self.name,
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let server = address::resolve(&args.connect, args.protocol.port)?;
    if !screen::is_terminal() {
        anyhow::bail!("play needs a terminal; `tickwire bots` plays without one");
    }
    let mut driver = Driver::new().context("the system has no way to wait for sockets")?;
    driver.open();
    let mut seat = Seat {
        stop: Stop::listen()?,
        title: format!("{} {server}", args.protocol.name),
        name: printable(&args.name),
        driver,
        server,
    };
    let (now, to) = (seat.driver.now(), Addr::from(server));
    match args.protocol.connect {
        Connect::Arena(connect) => fly(&mut seat, connect(now, to, &args.name, Loadout::STANDARD)),
        Connect::Tiles(connect) => {
            tiles::walk(&mut seat, connect(now, to, &args.name, tiles::LOOK))
        }
    }
}

/// What a player has, whichever the game.
struct Seat {
    driver: Driver,
    stop: Stop,
    server: SocketAddr,
    /// Protocol and server.
    title: String,
    name: String,
}

impl Seat {
    /// Why it is over, in the most telling words.
    fn over(&self, ending: Ending, gateway: &dyn ClientGateway) -> anyhow::Error {
        let words = gateway.last_words().unwrap_or_else(|| ending.to_string());
        anyhow::anyhow!("{}: {words}", self.server)
    }

    /// Leaves in the protocol's own way.
    fn leave(&mut self, gateway: &mut dyn ClientGateway) -> anyhow::Result<()> {
        gateway.disconnect(self.driver.now());
        let deadline = self.driver.now() + FAREWELL;
        while !matches!(gateway.status(), Status::Ended(_)) && self.driver.now() < deadline {
            self.driver
                .turn(deadline, &mut [gateway.session()])
                .context("waiting for the network failed")?;
        }
        Ok(())
    }
}

/// Flies in the arena until somebody has enough.
fn fly(seat: &mut Seat, gateway: Box<dyn ArenaClient>) -> anyhow::Result<ExitCode> {
    let mut game = Game::new(gateway, seat.title.clone(), seat.name.clone());
    let screen = Screen::open(Input::Playing, panels::draw)?;
    let played = game.play(&mut seat.driver, &screen, &seat.stop);
    // First, so that whatever is said next stays to be read.
    let closed = screen.close();
    let ending = played?;
    closed?;
    match ending {
        None | Some(Ending::Left) => {
            seat.leave(&mut *game.gateway)?;
            println!("{}", game.summary());
            Ok(ExitCode::SUCCESS)
        }
        Some(ending) => Err(seat.over(ending, &*game.gateway)),
    }
}

/// One player's session, and what the player sees of it.
struct Game {
    gateway: Box<dyn ArenaClient>,
    helm: Helm,
    blasts: Blasts,
    editor: Option<Editor>,
    zoom: Zoom,
    /// The whole screen.
    area: Rect,
    picture: Picture,
    leaves: bool,
}

impl Game {
    fn new(gateway: Box<dyn ArenaClient>, server: String, name: String) -> Self {
        let zoom = Zoom::default();
        Self {
            gateway,
            helm: Helm::default(),
            blasts: Blasts::default(),
            editor: None,
            zoom,
            area: Rect::default(),
            picture: Picture {
                server,
                name,
                time: Duration::ZERO,
                stage: Stage::Connecting,
                view: View::default(),
                blasts: Vec::new(),
                camera: Camera::around(Vec2::ZERO, zoom),
                aim: Aim::Ahead,
                fires: [false; WEAPON_SLOTS],
                net: NetGraph::default(),
                notices: VecDeque::new(),
                shows_scores: false,
                line: None,
            },
            leaves: false,
        }
    }

    /// Plays until the player leaves (`None`) or the session ends by itself.
    fn play(
        &mut self,
        driver: &mut Driver,
        screen: &Screen<Picture>,
        stop: &Stop,
    ) -> anyhow::Result<Option<Ending>> {
        self.area = screen::area();
        let mut next_step = driver.now();
        let mut next_frame = driver.now();
        while !self.leaves && !stop.is_asked() && screen.is_open() {
            driver
                .run_until(next_step, &mut [self.gateway.session()])
                .context("waiting for the network failed")?;
            let now = driver.now();
            next_step = (next_step + STEP).max(now);
            screen.events().for_each(|event| self.handle(now, event));
            self.collect(now);
            match self.gateway.status() {
                Status::Ended(ending) => return Ok(Some(ending)),
                Status::Connecting => self.picture.stage = Stage::Connecting,
                Status::Loading { have, of } => self.picture.stage = Stage::Loading { have, of },
                Status::Playing => {
                    self.picture.stage = Stage::Playing;
                    self.steer(now);
                }
            }
            if now >= next_frame {
                next_frame = now + FRAME;
                screen.show(self.picture.clone());
            }
        }
        Ok(None)
    }

    /// Takes what happened.
    fn collect(&mut self, now: Instant) {
        let mut notices = Vec::new();
        self.gateway.collect(now, &mut notices);
        let time = now.since(Instant::ZERO);
        self.picture.time = time;
        for notice in notices {
            self.notice(time, notice.to_string());
        }
        let age = self.gateway.update_age(now);
        self.picture.net.update(now, self.gateway.figures(), age);
        self.picture.net.set_remark(self.gateway.remark());
    }

    fn notice(&mut self, time: Duration, text: String) {
        if self.picture.notices.len() == NOTICES_KEPT {
            self.picture.notices.pop_front();
        }
        self.picture.notices.push_back((time, text));
    }

    /// Looks at the world and acts in it.
    fn steer(&mut self, now: Instant) {
        let view = self.gateway.view(now);
        let centre = view
            .own_ship()
            .map_or(self.picture.camera.centre, |ship| ship.position);
        let camera = Camera::around(centre, self.zoom);
        let arena = panels::places(self.area).arena;
        let (intent, aim) = self.helm.steer(now, &view, camera, arena);
        self.gateway.act(&intent);
        self.picture.blasts = self.blasts.update(&view);
        self.picture.view = view;
        self.picture.camera = camera;
        self.picture.aim = aim;
        self.picture.fires = intent.fire;
    }

    fn handle(&mut self, now: Instant, event: Event) {
        match event {
            Event::Key(key) => self.press(now, key),
            Event::Mouse(mouse) => self.helm.handle_mouse(now, mouse),
            Event::Resize(width, height) => self.area = Rect::new(0, 0, width, height),
            // Whatever is let go elsewhere is never told.
            Event::FocusLost => self.helm.held.clear(),
            Event::Paste(text) => {
                if let Some(editor) = &mut self.editor {
                    editor.paste(&text);
                }
            }
            Event::FocusGained => {}
        }
        self.picture.line = self.editor.as_ref().map(|editor| editor.text().to_owned());
    }

    fn press(&mut self, now: Instant, key: KeyEvent) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && key.code == KeyCode::Char('c') {
            self.leaves = true;
        } else if let Some(editor) = &mut self.editor {
            if key.kind == KeyEventKind::Release {
                return;
            }
            match editor.press(key) {
                Edited::Writing => return,
                Edited::Done(text) if !text.is_empty() => self.say(now, &text),
                Edited::Done(_) | Edited::Cancelled => {}
            }
            self.editor = None;
        } else if control || self.helm.held.handle_key(now, key) || key.kind != KeyEventKind::Press
        {
            // A control is held, not done.
        } else {
            match key.code {
                KeyCode::Char('q' | 'Q') => self.leaves = true,
                KeyCode::Tab => self.picture.shows_scores = !self.picture.shows_scores,
                KeyCode::Char('+' | '=') => self.zoom = self.zoom.nearer(),
                KeyCode::Char('-') => self.zoom = self.zoom.further(),
                KeyCode::Enter => {
                    self.helm.held.clear();
                    self.editor = Some(Editor::default());
                }
                _ => {}
            }
        }
    }

    fn say(&mut self, now: Instant, text: &str) {
        if let Err(why) = self.gateway.chat(now, text) {
            self.notice(now.since(Instant::ZERO), format!("not said: {why}"));
        }
    }

    fn summary(&self) -> String {
        let time = minutes(self.picture.time);
        match self.picture.own_score() {
            Some(score) => format!(
                "you left after {time}; kills {}, deaths {}",
                score.kills, score.deaths
            ),
            None => format!("you left after {time}"),
        }
    }
}

fn minutes(span: Duration) -> String {
    let seconds = span.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests;
