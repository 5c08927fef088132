//! `tickwire play`: a person plays in a terminal, through any protocol: here, and in [`tiles`] for the
//! protocols of the tile world.
//!
//! What is shown comes from [`ArenaClient::view`], what is wanted goes to [`ArenaClient::act`];
//! nothing here knows which protocol is in between. The loop is the [`seat`]'s, for every game.

mod editor;
mod helm;
mod keys;
mod killer;
mod line;
mod moments;
mod netgraph;
mod panels;
pub(crate) mod replay;
mod seat;
mod tiles;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use tickwire_demo::gateway::{
    ArenaClient, Carried, ClientGateway, Connect, Flash, Notice, Protocol,
};
use tickwire_demo::limits::WEAPON_SLOTS;
use tickwire_demo::recording::{self, Kit, Player, Start};
use tickwire_demo::{Loadout, Score, Vec2, View};
use tickwire_net::Driver;
use tickwire_session::Instant;

use crate::address;
use crate::arena_canvas::{Blast, Blasts, Camera, Zoom};
use crate::capture::CaptureArgs;
use crate::conditions::{Lags, NetworkArgs};
use crate::metrics::{Metrics, MetricsArgs};
use crate::misuse::Misuse;
use crate::name;
use crate::quic;
use crate::record::RecordFile;
use crate::screen::{self, Input};
use crate::stop::Stop;
use crate::weapons;
use editor::{Edited, Editor};
use helm::{Aim, Helm};
use killer::Killer;
use line::Meaning;
use moments::Moments;
use seat::{Game, Margin, Seat};

/// Fly a ship yourself, in this terminal, or walk and build in the tile world.
///
/// In the arena, W A S D or the arrows fly, Z and C strafe, Space and 2 to 4 fire. Weapons aim by themselves at the
/// nearest enemy ahead; the mouse aims instead while it is moved, and its left button fires. Enter
/// chats, or changes your name and weapons with /name and /weapons where the protocol can, G taunts, Tab shows the scores,
/// + and - zoom, F3 shows the net graph, ? all keys, q leaves.
///
/// In the tile world (pixmess), the arrows or W A S D walk, Y U B N, 7 9 1 3 or Home, Page Up, End and
/// Page Down walk diagonally, and Shift with an arrow only turns. Space places a block in front, X takes
/// one away, [ and ] choose. I ignores whoever is nearest, P asks which player you are. Enter chats, q leaves.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The protocol to speak.
    #[arg(value_name = "PROTOCOL", default_value = address::PROTOCOL, value_parser = address::protocol())]
    protocol: &'static Protocol,

    /// The server; without a port, the protocol's own.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1")]
    connect: String,

    /// What others call you. In the tile world, whoever has an empty name only watches.
    #[arg(long, value_name = "NAME", default_value = "player", value_parser = name::parse)]
    name: String,

    /// What your ship carries, slot by slot: gun, phaser, rocket, shockwave or -. In the arena only.
    #[arg(long, value_name = "A,B,C,D", value_parser = weapons::parse)]
    weapons: Option<Loadout>,

    /// The databases that your own program has, in its own order. OpenDrakan only.
    #[arg(long, value_name = "PATH,PATH", value_delimiter = ',')]
    databases: Option<Vec<String>>,

    /// A character that others see beside your name, where the protocol and the server take one.
    #[arg(long, value_name = "CHARACTER")]
    emblem: Option<char>,

    /// Record the game as you see it, for `tickwire replay` and `tickwire inspect`.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    #[command(flatten)]
    capture: CaptureArgs,

    #[command(flatten)]
    metrics: MetricsArgs,

    #[command(flatten)]
    encryption: quic::ClientArgs,

    #[command(flatten)]
    network: NetworkArgs,
}

/// All that one drawing needs.
#[derive(Clone, Debug)]
struct Picture {
    margin: Margin,
    view: View,
    scores: Vec<Score>,
    blasts: Vec<Blast>,
    moments: Moments,
    flashes: Vec<Flash>,
    camera: Camera,
    aim: Aim,
    loadout: Loadout,
    /// What lies in the slots, where the protocol tells.
    inventory: Option<[Option<Carried>; WEAPON_SLOTS]>,
    fires: [bool; WEAPON_SLOTS],
    shows_scores: bool,
    /// Why there is no ship, while there is none.
    loss: String,
}

impl Picture {
    /// Before anything was seen.
    fn new(margin: Margin, loadout: Loadout) -> Self {
        Self {
            margin,
            view: View::default(),
            scores: Vec::new(),
            blasts: Vec::new(),
            moments: Moments::default(),
            flashes: Vec::new(),
            inventory: None,
            camera: Camera::around(Vec2::ZERO, Zoom::default()),
            aim: Aim::Ahead,
            loadout,
            fires: [false; WEAPON_SLOTS],
            shows_scores: false,
            loss: String::new(),
        }
    }

    fn own_score(&self) -> Option<&Score> {
        let own = self.view.own_ship().and_then(|ship| ship.owner);
        let mut scores = self.scores.iter();
        // Without a ship, the name is all there is to go by.
        scores.find(|score| match own {
            Some(own) => score.owner == own,
            None => score.name == self.margin.name,
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.name.is_empty() && matches!(args.protocol.connect, Connect::Arena(_)) {
        anyhow::bail!(Misuse("a name must not be empty".into()));
    }
    if !screen::is_terminal() {
        anyhow::bail!("play needs a terminal; `tickwire bots` plays without one");
    }
    let mut driver = Driver::new().context("the system has no way to wait for sockets")?;
    let stop = Stop::listen()?;
    let typed = (args.connect.as_str(), args.protocol.port);
    let route = args.encryption.route(&mut driver, typed, &stop)?;
    let node = driver.open();
    let asked = (args.connect.as_str(), args.protocol.name);
    let to = args.encryption.connect(&mut driver, node, &route, asked)?;
    let mut capture = args.capture.create(driver.now())?;
    if let Some(capture) = &mut capture {
        capture.add_client(args.protocol.name, args.protocol.port);
    }
    let lags = Lags::of_clients(&args.network);
    let felt = lags.network().map(|network| format!(" ({network})"));
    let metrics = args.metrics.open()?;
    metrics.iter().for_each(Metrics::announce);
    let seat = Seat {
        stop,
        metrics,
        protocol: args.protocol.name,
        title: format!("{} {route}{}", args.protocol.name, felt.unwrap_or_default()),
        name: args.name.clone(),
        driver,
        server: to,
        record: args.record.as_deref().map(RecordFile::create).transpose()?,
        capture,
        route,
        lags,
    };
    let loadout = args.weapons.unwrap_or_default();
    let start = Start {
        protocol: args.protocol,
        now: seat.driver.now(),
        server: to,
        name: args.name.clone(),
        kit: Kit {
            loadout,
            look: tiles::LOOK,
        },
    };
    let player = start.connect().map_err(Misuse)?;
    let player = match &seat.record {
        Some(record) => recording::record(record.log(), &start, player),
        None => player,
    };
    match player {
        Player::Arena(mut gateway) => {
            if let Some(databases) = &args.databases {
                gateway.set_databases(databases).map_err(Misuse)?;
            }
            gateway.load_content(args.emblem).map_err(Misuse)?;
            let flight = Flight::new(gateway, loadout, &seat);
            seat.play(flight, panels::draw)
        }
        Player::Tiles(_) if args.databases.is_some() => {
            let why = "--databases are for OpenDrakan: leave them out";
            anyhow::bail!(Misuse(why.into()))
        }
        Player::Tiles(_) if args.weapons.is_some() => {
            let why = "--weapons are for ships, and nobody flies in the tile world: leave them out";
            anyhow::bail!(Misuse(why.into()))
        }
        Player::Tiles(gateway) => tiles::walk(seat, gateway),
    }
}

/// A pilot's session, and what the pilot sees of it.
struct Flight {
    gateway: Box<dyn ArenaClient>,
    helm: Helm,
    blasts: Blasts,
    editor: Option<Editor>,
    zoom: Zoom,
    /// The whole screen.
    area: Rect,
    picture: Picture,
    killer: Killer,
    leaves: bool,
}

impl Game for Flight {
    type Picture = Picture;

    // Ships are steered by keys that are held.
    const INPUT: Input = Input::Playing;

    fn parts(&mut self) -> (&mut dyn ClientGateway, &mut Margin) {
        (&mut *self.gateway, &mut self.picture.margin)
    }

    fn handle_notice(&mut self, now: Instant, notice: &Notice) {
        self.killer
            .handle_notice(now, notice, &self.picture.margin.name);
    }

    fn leaves(&self) -> bool {
        self.leaves
    }

    fn step(&mut self, now: Instant) {
        let view = self.gateway.view(now);
        let centre = view
            .own_ship()
            .map_or(self.picture.camera.centre, |ship| ship.position);
        let camera = Camera::around(centre, self.zoom);
        let arena = panels::places(self.area).arena;
        let (intent, aim) = self.helm.steer(now, &view, camera, arena);
        self.gateway.act(&intent);
        self.picture.blasts = self.blasts.update(&view);
        let effects = self.gateway.take_effects();
        self.picture.moments.update(now, effects);
        self.picture.flashes = self.gateway.flashes();
        self.picture.inventory = self.gateway.inventory();
        self.picture.view = view;
        let scores = self.gateway.scores();
        let own = self.picture.view.own_ship().and_then(|ship| ship.owner);
        self.killer.look(now, &scores, own);
        self.picture.loss = self.killer.sentence();
        self.picture.scores = scores;
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
        self.picture.margin.line = self.editor.as_ref().map(|editor| editor.text().to_owned());
    }

    fn picture(&mut self) -> Picture {
        self.picture.clone()
    }

    fn summary(&self) -> String {
        let time = self.picture.margin.minutes();
        match self.picture.own_score() {
            Some(score) => format!(
                "you left after {time}; kills {}, deaths {}",
                score.kills, score.deaths
            ),
            None => format!("you left after {time}"),
        }
    }
}

impl Flight {
    fn new(gateway: Box<dyn ArenaClient>, loadout: Loadout, seat: &Seat) -> Self {
        let zoom = Zoom::default();
        Self {
            gateway,
            helm: Helm::default(),
            blasts: Blasts::default(),
            editor: None,
            zoom,
            area: Rect::default(),
            picture: Picture::new(Margin::new(&seat.title, &seat.name), loadout),
            killer: Killer::default(),
            leaves: false,
        }
    }

    /// Does what a line says.
    fn follow(&mut self, now: Instant, line: &str) -> Result<(), String> {
        match line::read(line)? {
            Meaning::Say(text) => self.gateway.chat(now, &text)?,
            Meaning::Rename(name) => {
                self.gateway.rename(&name)?;
                self.picture.margin.name = name;
            }
            Meaning::Select(loadout) => {
                self.gateway.select(now, loadout)?;
                self.picture.loadout = loadout;
            }
        }
        Ok(())
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
                Edited::Done(text) if !text.is_empty() => {
                    let done = self.follow(now, &text);
                    self.picture.margin.complain(now, "not done", done);
                }
                Edited::Done(_) | Edited::Cancelled => {}
            }
            self.editor = None;
        } else if control || self.helm.held.handle_key(now, key) || key.kind != KeyEventKind::Press
        {
            // A control is held, not done.
        } else {
            match key.code {
                KeyCode::Char('q' | 'Q') => self.leaves = true,
                KeyCode::Char('?') => {
                    let margin = &mut self.picture.margin;
                    margin.shows_help = !margin.shows_help;
                }
                KeyCode::Char('t' | 'T') => {
                    let asked = self.gateway.teleport(now);
                    let margin = &mut self.picture.margin;
                    margin.complain(now, "you stay where you are", asked);
                }
                KeyCode::Char('g' | 'G') => {
                    let taunted = self.gateway.taunt();
                    let margin = &mut self.picture.margin;
                    margin.complain(now, "nobody is taunted", taunted);
                }
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
}

#[cfg(test)]
mod tests;
