//! A person walks and builds in the tile world.
//!
//! In: what the player types. Out: steps and blocks, and pictures, which hold what is in sight and no
//! more, since the world has no end. The loop is the [`seat`](super::seat)'s.

mod keys;
pub(super) mod panels;

use std::process::ExitCode;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use tickwire_demo::gateway::{ClientGateway, TileClient};
use tickwire_demo::printable;
use tickwire_demo::tiles::{Block, Cell, Direction, Look, Sublayer, Tile};
use tickwire_session::Instant;

use super::editor::{Edited, Editor};
use super::seat::{Game, Margin, Seat};
use crate::screen::Input;
use keys::{Command, command};

/// What a person looks like: white.
pub(super) const LOOK: Look = Look {
    chr: b'@' as u16,
    col: 15,
};

/// What one can build with.
#[derive(Clone, Copy, Debug)]
struct Ware {
    name: &'static str,
    block: Block,
    sublayer: Sublayer,
}

const WARES: [Ware; 8] = [
    wall("brick", Block::fixed(12, b'#')),
    wall("timber", Block::fixed(6, b'H')),
    wall("hedge", Block::fixed(10, b'%')),
    wall("glass", Block::fixed(11, b'+')),
    wall("lamp", Block::fixed(14, b'*')),
    wall("crate, which can be pushed", Block::pushable(6, b'o')),
    floor("pavement", Block::fixed(7, b':')),
    floor("planks", Block::fixed(6, b'=')),
];

const fn wall(name: &'static str, block: Block) -> Ware {
    Ware {
        name,
        block,
        sublayer: Sublayer::Solid,
    }
}

const fn floor(name: &'static str, block: Block) -> Ware {
    Ware {
        name,
        block,
        sublayer: Sublayer::Walkable,
    }
}

/// All that one drawing needs.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    pub(super) margin: Margin,
    land: Land,
    others: Vec<Other>,
    position: Cell,
    facing: Direction,
    ware: usize,
    /// Only looks, and stands nowhere.
    watches: bool,
}

/// Somebody else.
#[derive(Clone, Debug)]
struct Other {
    at: Cell,
    look: Look,
    /// As it can be printed.
    name: String,
}

impl Picture {
    /// Before anything was seen.
    pub(super) fn new(margin: Margin, watches: bool) -> Self {
        Self {
            margin,
            land: Land::default(),
            others: Vec::new(),
            position: Cell::default(),
            facing: Direction::South,
            ware: 0,
            watches,
        }
    }

    /// What a walker sees, on a screen of this size.
    pub(super) fn look_around(&mut self, walker: &dyn TileClient, area: Rect) {
        let Some(position) = walker.position() else {
            return;
        };
        let (width, height) = panels::cells(area);
        self.position = position;
        self.land = Land::around(position, width, height, |cell| walker.tile(cell));
        let others = walker.others();
        let shown = others.iter().map(|other| Other {
            at: other.position,
            look: other.look,
            name: printable(other.name),
        });
        self.others = shown.collect();
    }
}

/// The cells in sight, row by row.
#[derive(Clone, Debug, Default)]
struct Land {
    /// Cells of a row.
    width: u16,
    height: u16,
    /// The north-western one.
    corner: Cell,
    tiles: Vec<Option<Tile>>,
}

impl Land {
    /// What there is around a cell, on a screen with so many places.
    fn around(centre: Cell, width: u16, height: u16, look: impl Fn(Cell) -> Option<Tile>) -> Self {
        let corner = Cell {
            x: centre.x.saturating_sub(i32::from(width) / 2),
            y: centre.y.saturating_sub(i32::from(height) / 2),
        };
        let cells = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let tile = |(x, y): (u16, u16)| look(corner.offset(x.into(), y.into())?);
        Self {
            width,
            height,
            corner,
            tiles: cells.map(tile).collect(),
        }
    }

    /// Column and row of a cell, if it is in sight.
    fn place(&self, cell: Cell) -> Option<(u16, u16)> {
        let column = u16::try_from(cell.x.checked_sub(self.corner.x)?).ok()?;
        let row = u16::try_from(cell.y.checked_sub(self.corner.y)?).ok()?;
        (column < self.width && row < self.height).then_some((column, row))
    }
}

/// Walks until somebody has enough.
pub(super) fn walk(seat: Seat, gateway: Box<dyn TileClient>) -> anyhow::Result<ExitCode> {
    let walk = Walk::new(gateway, &seat);
    seat.play(walk, panels::draw)
}

/// A walker's session, and what the walker sees of it.
struct Walk {
    gateway: Box<dyn TileClient>,
    editor: Option<Editor>,
    /// The whole screen.
    area: Rect,
    picture: Picture,
    steps: u64,
    leaves: bool,
}

impl Game for Walk {
    type Picture = Picture;

    const INPUT: Input = Input::Typing;

    fn parts(&mut self) -> (&mut dyn ClientGateway, &mut Margin) {
        (&mut *self.gateway, &mut self.picture.margin)
    }

    fn leaves(&self) -> bool {
        self.leaves
    }

    /// Whatever a walker does, a key does at once.
    fn step(&mut self, _now: Instant) {}

    fn handle(&mut self, now: Instant, event: Event) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.press(now, key),
            Event::Resize(width, height) => self.area = Rect::new(0, 0, width, height),
            Event::Paste(text) => {
                if let Some(editor) = &mut self.editor {
                    editor.paste(&text);
                }
            }
            _ => {}
        }
        self.picture.margin.line = self.editor.as_ref().map(|editor| editor.text().to_owned());
    }

    fn picture(&mut self) -> Picture {
        self.picture.look_around(&*self.gateway, self.area);
        self.picture.clone()
    }

    fn summary(&self) -> String {
        let time = self.picture.margin.minutes();
        let steps = if self.steps == 1 { "step" } else { "steps" };
        format!("you left after {time} and {} {steps}", self.steps)
    }
}

impl Walk {
    fn new(gateway: Box<dyn TileClient>, seat: &Seat) -> Self {
        let watches = gateway.is_spectator();
        Self {
            gateway,
            editor: None,
            area: Rect::default(),
            picture: Picture::new(Margin::new(&seat.title, &seat.name), watches),
            steps: 0,
            leaves: false,
        }
    }

    fn press(&mut self, now: Instant, key: KeyEvent) {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            self.leaves = true;
        } else if let Some(editor) = &mut self.editor {
            match editor.press(key) {
                Edited::Writing => return,
                Edited::Done(text) if !text.is_empty() => {
                    let said = self.gateway.chat(now, &text);
                    self.picture.margin.complain(now, "not said", said);
                }
                Edited::Done(_) | Edited::Cancelled => {}
            }
            self.editor = None;
        } else if let Some(command) = command(key) {
            self.obey(now, command);
        }
    }

    fn obey(&mut self, now: Instant, command: Command) {
        let wares = WARES.len();
        match command {
            Command::Leave => self.leaves = true,
            Command::Help => {
                let margin = &mut self.picture.margin;
                margin.shows_help = !margin.shows_help;
            }
            Command::Write => self.editor = Some(Editor::default()),
            Command::Turn(direction) => self.picture.facing = direction,
            Command::Walk(direction) => self.walk(now, direction),
            Command::NextWare => self.picture.ware = (self.picture.ware + 1) % wares,
            Command::LastWare => self.picture.ware = (self.picture.ware + wares - 1) % wares,
            Command::Place => {
                let ware = WARES[self.picture.ware];
                self.build(now, ware.sublayer, ware.block);
            }
            Command::Remove => self.build(now, Sublayer::Solid, Block::EMPTY),
            Command::Identify => {
                let asked = self.gateway.identify();
                self.picture.margin.complain(now, "not asked", asked);
            }
            Command::Ignore => {
                let text = match self.gateway.ignore_nearest() {
                    Ok(name) => {
                        format!("you ignore {}, until you come here anew", printable(&name))
                    }
                    Err(why) => format!("nobody is ignored: {why}"),
                };
                self.picture.margin.notice(now, text);
            }
        }
    }

    /// Turns, and takes a step unless something is seen to be in the way: the server would only say no.
    fn walk(&mut self, now: Instant, direction: Direction) {
        self.picture.facing = direction;
        let ahead = self.ahead().and_then(|cell| self.gateway.tile(cell));
        let free = self.picture.watches
            || ahead.is_none_or(|tile| tile.is_free() || tile.solid.is_pushable());
        // Held keys repeat faster than one can walk; those in between are not missed.
        if free && self.gateway.walk(now, direction).is_ok() {
            self.steps += 1;
        }
    }

    fn build(&mut self, now: Instant, sublayer: Sublayer, block: Block) {
        if let Some(cell) = self.ahead() {
            let at = self.gateway.block_at(cell, sublayer);
            let built = self.gateway.build(now, at, block);
            self.picture.margin.complain(now, "not built", built);
        }
    }

    fn ahead(&self) -> Option<Cell> {
        self.gateway.position()?.step(self.picture.facing)
    }
}

#[cfg(test)]
mod tests;
