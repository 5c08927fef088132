//! `tickwire replay`: a recording, played back in the terminal through the ordinary client.
//!
//! In: a [`Tape`] and keys. Out: the screen of `tickwire play`, at any speed, from any moment. Going forward is
//! playing faster; going back is playing from the beginning, or from the last moment at which everything was
//! told anew. Either is done in slices, so that keys work meanwhile.

mod tape;

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant as WallClock};

use ratatui::Frame;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tickwire_demo::STEP;
use tickwire_demo::gateway::{Status, TileClient};
use tickwire_demo::recording::Replay;
use tickwire_demo::tiles::Cell;
use tickwire_session::Instant;

use super::seat::{Margin, Stage};
use super::{Picture, panels, tiles};
use crate::arena_canvas::{Blasts, Camera, Zoom};
use crate::palette;
use crate::screen::{self, FRAME, Input, Screen};
use crate::stop::Stop;
use tape::Tape;

/// Play back a recording that `serve`, `play` or `bots` made with --record.
///
/// Space pauses, the left and right arrows go 5 seconds back and on, up and down play faster and slower, Home and
/// End go to the beginning and the end, q leaves. One that was cut off by a crash plays to where it ends.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The recording.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// How fast: 2 is twice as fast as it was.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_speed)]
    speed: f64,

    /// Where to begin: seconds, or minutes and seconds as in 1:30.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    at: Option<Duration>,

    /// Of a server's recording, for which of its clients, counted from 1; otherwise for the onlooker that was
    /// there for it, or for the client that was sent most.
    #[arg(long, value_name = "N")]
    client: Option<usize>,

    /// Show nothing: play it through as fast as can be, and say whether all that was seen is as it was then.
    #[arg(long)]
    check: bool,
}

/// The keys, for the last line.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("Space", "pause"),
    ("← →", "5 s"),
    ("↑ ↓", "speed"),
    ("Tab", "scores"),
    ("?", "keys"),
    ("q", "leave"),
];

/// Every key.
pub(super) const HELP: &[(&str, &str)] = &[
    ("Space", "pause and go on"),
    ("← →", "5 seconds back and on"),
    ("↑ ↓", "faster and slower"),
    ("Home End", "the beginning and the end"),
    ("Tab", "scores"),
    ("+ -", "zoom"),
    ("?", "this help"),
    ("q", "leave"),
];

/// How far an arrow goes.
const LEAP: Duration = Duration::from_secs(5);

/// How long may be wound between two looks at the keyboard.
const SLICE: Duration = Duration::from_millis(15);

/// How long before a moment everything must have been told anew, so that it is all there and moves smoothly.
const SETTLING: Duration = Duration::from_secs(1);

/// Between two looks, where the recording does not say when to look.
const LOOK: Duration = STEP;

const SLOWEST: f64 = 0.125;
const FASTEST: f64 = 64.0;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut deck = Deck::load(Tape::open(&args.file, args.client)?)?;
    deck.speed = args.speed;
    if args.check || !screen::is_terminal() {
        return check(deck);
    }
    if let Some(at) = args.at {
        deck.go_to(deck.tape.began + at)?;
    }
    watch(deck)
}

/// Plays everything through and compares.
fn check(mut deck: Deck) -> anyhow::Result<ExitCode> {
    deck.goal = deck.tape.ends;
    while !deck.wind(SLICE)? {}
    let compared = deck.replay.compared();
    let length = minutes(deck.tape.ends.since(deck.tape.began));
    let seen = if deck.replay.looks_by_itself() {
        format!("{} of {} looks differ", compared.other, compared.looks)
    } else {
        let count = match deck.replay.tiles() {
            None => deck.replay.view().seen.len(),
            Some(walker) => count_tiles(walker),
        };
        format!("at the end {count} things are in view")
    };
    println!("{}: {length}; {seen}", deck.tape.title());
    if let Some(fault) = &deck.tape.fault {
        anyhow::bail!("{fault}");
    }
    Ok(match compared.other {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Tiles around a walker that it knows.
fn count_tiles(walker: &dyn TileClient) -> usize {
    const AROUND: std::ops::RangeInclusive<i32> = -10..=10;
    let Some(Cell { x, y }) = walker.position() else {
        return 0;
    };
    let cells = AROUND.flat_map(|dx| AROUND.map(move |dy| (dx, dy)));
    let cells = cells.map(|(dx, dy)| Cell {
        x: x.wrapping_add(dx),
        y: y.wrapping_add(dy),
    });
    cells.filter(|cell| walker.tile(*cell).is_some()).count()
}

/// Shows it until somebody has enough.
fn watch(mut deck: Deck) -> anyhow::Result<ExitCode> {
    let stop = Stop::listen()?;
    let mut scene = Scene::new(&deck);
    let screen = Screen::open(Input::Typing, draw)?;
    let mut before = WallClock::now();
    while !deck.leaves && !stop.is_asked() && screen.is_open() {
        for event in screen.events() {
            scene.handle(&event);
            deck.handle(&event)?;
        }
        let now = WallClock::now();
        deck.pass(now.duration_since(before));
        before = now;
        deck.wind(SLICE)?;
        scene.update(&mut deck);
        screen.show(scene.clone());
        thread::sleep(FRAME.saturating_sub(now.elapsed()));
    }
    screen.close()?;
    if let Some(fault) = deck.tape.fault {
        eprintln!("tickwire: {fault}");
    }
    Ok(ExitCode::SUCCESS)
}

/// What plays the tape.
struct Deck {
    tape: Tape,
    replay: Replay,
    /// How far it is played.
    position: Instant,
    /// How far it is to be played.
    goal: Instant,
    /// Up to this byte only what must arrive counts: there everything is told anew.
    skips_to: u64,
    next_look: Instant,
    speed: f64,
    is_paused: bool,
    leaves: bool,
}

impl Deck {
    fn load(mut tape: Tape) -> anyhow::Result<Self> {
        let replay = tape.rewind()?;
        let began = tape.began;
        Ok(Self {
            tape,
            replay,
            position: began,
            goal: began,
            skips_to: 0,
            next_look: began,
            speed: 1.0,
            is_paused: false,
            leaves: false,
        })
    }

    /// Time passes for whoever looks.
    fn pass(&mut self, time: Duration) {
        if !self.is_paused && self.position == self.goal {
            self.goal = (self.goal + time.mul_f64(self.speed)).min(self.tape.ends);
        }
    }

    /// Goes on to the goal, but not for longer than this; whether it is reached.
    fn wind(&mut self, patience: Duration) -> anyhow::Result<bool> {
        let began = WallClock::now();
        for count in 1_u32.. {
            let Some((now, at)) = self.tape.ahead().filter(|(now, _)| *now <= self.goal) else {
                break;
            };
            let Some((_, record)) = self.tape.take() else {
                break;
            };
            let is_skipped = at < self.skips_to;
            let applied = match is_skipped {
                true => self.replay.skip(now, &record),
                false => self.replay.apply(now, &record),
            };
            if let Err(fault) = applied {
                self.tape.fault = Some(fault.to_string());
                break;
            }
            self.position = self.position.max(now);
            if !is_skipped {
                self.look(now);
            }
            if count.is_multiple_of(64) && began.elapsed() >= patience {
                return Ok(false);
            }
        }
        self.position = self.goal;
        self.look(self.goal);
        Ok(true)
    }

    /// Looks, where the recording does not say when.
    fn look(&mut self, now: Instant) {
        if now >= self.next_look && !self.replay.looks_by_itself() {
            self.next_look = now + LOOK;
            self.replay.look(now);
        }
    }

    /// Is to show this moment next.
    fn go_to(&mut self, moment: Instant) -> anyhow::Result<()> {
        let moment = moment.clamp(self.tape.began, self.tape.ends);
        let settled = Instant::ZERO + moment.since(Instant::ZERO).saturating_sub(SETTLING);
        let mark = self.tape.index.before(settled);
        let is_nearer = mark.is_some_and(|(at, _)| at > self.position);
        if moment < self.position || is_nearer {
            self.replay = self.tape.rewind()?;
            self.position = self.tape.began;
            self.next_look = self.tape.began;
            self.skips_to = mark.map_or(0, |(_, at)| at);
        }
        self.goal = moment;
        Ok(())
    }

    fn handle(&mut self, event: &Event) -> anyhow::Result<()> {
        let Event::Key(key) = event else {
            return Ok(());
        };
        if key.kind == KeyEventKind::Release {
            return Ok(());
        }
        let is_end = *key == KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        match key.code {
            _ if is_end => self.leaves = true,
            KeyCode::Char('q' | 'Q') => self.leaves = true,
            KeyCode::Char(' ') => self.is_paused = !self.is_paused,
            KeyCode::Right => self.go_to(self.goal + LEAP)?,
            KeyCode::Left => {
                let back = self.goal.since(Instant::ZERO).saturating_sub(LEAP);
                self.go_to(Instant::ZERO + back)?;
            }
            KeyCode::Home => self.go_to(self.tape.began)?,
            KeyCode::End => self.go_to(self.tape.ends)?,
            KeyCode::Up => self.speed = (self.speed * 2.0).min(FASTEST),
            KeyCode::Down => self.speed = (self.speed / 2.0).max(SLOWEST),
            _ => {}
        }
        Ok(())
    }

    fn line(&self) -> TapeLine {
        let position = self.position.min(self.tape.ends);
        TapeLine {
            at: position.since(self.tape.began),
            of: self.tape.ends.since(self.tape.began),
            speed: self.speed,
            motion: if self.position != self.goal {
                Motion::Winds
            } else if position == self.tape.ends {
                Motion::IsOver
            } else if self.is_paused {
                Motion::Rests
            } else {
                Motion::Plays
            },
        }
    }
}

/// What is shown of a recording, in either game.
#[derive(Clone)]
struct Scene {
    picture: Pictured,
    blasts: Blasts,
    zoom: Zoom,
    /// The whole screen.
    area: Rect,
}

#[derive(Clone)]
enum Pictured {
    Arena(Box<Picture>),
    Tiles(Box<tiles::Picture>),
}

fn draw(scene: &Scene, frame: &mut Frame<'_>) {
    match &scene.picture {
        Pictured::Arena(picture) => panels::draw(picture, frame),
        Pictured::Tiles(picture) => tiles::panels::draw(picture, frame),
    }
}

impl Scene {
    fn new(deck: &Deck) -> Self {
        let start = deck.replay.start();
        let margin = Margin::new(&deck.tape.title(), &start.name);
        Self {
            picture: match deck.replay.tiles() {
                Some(walker) => {
                    let picture = tiles::Picture::new(margin, walker.is_spectator());
                    Pictured::Tiles(Box::new(picture))
                }
                None => Pictured::Arena(Box::new(Picture::new(margin, start.kit.loadout))),
            },
            blasts: Blasts::default(),
            zoom: Zoom::default(),
            area: screen::area(),
        }
    }

    fn handle(&mut self, event: &Event) {
        match event {
            Event::Resize(width, height) => self.area = Rect::new(0, 0, *width, *height),
            Event::Key(key) if key.kind != KeyEventKind::Release => match key.code {
                KeyCode::Char('+' | '=') => self.zoom = self.zoom.nearer(),
                KeyCode::Char('-') => self.zoom = self.zoom.further(),
                KeyCode::Char('?') => {
                    let margin = self.margin();
                    margin.shows_help = !margin.shows_help;
                }
                KeyCode::Tab => {
                    if let Pictured::Arena(picture) = &mut self.picture {
                        picture.shows_scores = !picture.shows_scores;
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn margin(&mut self) -> &mut Margin {
        match &mut self.picture {
            Pictured::Arena(picture) => &mut picture.margin,
            Pictured::Tiles(picture) => &mut picture.margin,
        }
    }

    /// Shows what the deck is at.
    fn update(&mut self, deck: &mut Deck) {
        let notices = deck.replay.take_notices();
        let (now, line) = (deck.position, deck.line());
        let client = deck.replay.client();
        let margin = self.margin();
        margin.show(now, client, &notices);
        margin.tape = Some(line);
        margin.stage = match client.status() {
            Status::Connecting => Stage::Connecting,
            Status::Loading { have, of } => Stage::Loading { have, of },
            // What was there last stays to be seen.
            Status::Playing | Status::Ended(_) => Stage::Playing,
        };
        match &mut self.picture {
            Pictured::Tiles(picture) => {
                if let Some(walker) = deck.replay.tiles() {
                    picture.look_around(walker, self.area);
                }
            }
            Pictured::Arena(picture) => {
                picture.view = deck.replay.view().clone();
                picture.scores = deck.replay.scores();
                picture.blasts = self.blasts.update(&picture.view);
                let own = picture.view.own_ship().map(|ship| ship.position);
                picture.camera = match own {
                    Some(centre) => Camera::around(centre, self.zoom),
                    // Whoever was shot waits where it was; whoever never had a ship looks on from above.
                    None if picture.own_score().is_some() => picture.camera,
                    None => Camera::whole(panels::places(self.area).arena),
                };
            }
        }
    }
}

/// Where in a recording a picture is.
#[derive(Clone, Copy, Debug)]
pub(super) struct TapeLine {
    at: Duration,
    of: Duration,
    speed: f64,
    motion: Motion,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Motion {
    Plays,
    Rests,
    Winds,
    IsOver,
}

impl TapeLine {
    /// The line for the lower border.
    pub(super) fn line(&self) -> Line<'static> {
        const CELLS: usize = 30;
        let share = self.at.as_secs_f64() / self.of.as_secs_f64().max(0.001);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to the number of cells"
        )]
        let full = (share.clamp(0.0, 1.0) * CELLS as f64) as usize;
        let motion = match self.motion {
            Motion::Plays => "▶",
            Motion::Rests => "paused",
            Motion::Winds => "seeking…",
            Motion::IsOver => "the end",
        };
        Line::from(vec![
            Span::styled(" recording ", palette::LABEL),
            Span::raw(format!("{} of {} ", minutes(self.at), minutes(self.of))),
            Span::styled("━".repeat(full), palette::KEY),
            Span::styled("─".repeat(CELLS - full), Style::new().fg(palette::FAINT)),
            Span::raw(format!(" ×{} ", self.speed)),
            Span::styled(motion, palette::KEY),
        ])
    }
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn parse_speed(typed: &str) -> Result<f64, String> {
    let speed: f64 = typed.parse().map_err(|_| "it is no number".to_owned())?;
    if (SLOWEST..=FASTEST).contains(&speed) {
        Ok(speed)
    } else {
        Err(format!("from {SLOWEST} to {FASTEST}"))
    }
}

fn parse_time(typed: &str) -> Result<Duration, String> {
    let (minutes, seconds) = typed.split_once(':').unwrap_or(("0", typed));
    let minutes: u32 = minutes.parse().map_err(|_| EXAMPLE.to_owned())?;
    let seconds: f64 = seconds.parse().map_err(|_| EXAMPLE.to_owned())?;
    let seconds = Duration::try_from_secs_f64(seconds).map_err(|_| EXAMPLE.to_owned())?;
    Ok(seconds + Duration::from_secs(60) * minutes)
}

const EXAMPLE: &str = "write seconds, as in 90, or minutes and seconds, as in 1:30";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(parse_time("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("1:30.5"), Ok(Duration::from_millis(90_500)));
        for wrong in ["", "x", "1:2:3", "-1", "1:-3", "nan", "1e99"] {
            assert_eq!(parse_time(wrong), Err(EXAMPLE.into()), "{wrong}");
        }
        assert!(parse_speed("0").is_err() && parse_speed("nan").is_err());
        assert_eq!(parse_speed("0.5"), Ok(0.5));
    }
}
