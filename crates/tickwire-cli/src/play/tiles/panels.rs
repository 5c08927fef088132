//! How a walker's screen looks: pure functions from a picture to cells.
//!
//! Characters are about twice as high as wide, so a cell of the world takes two of them side by side:
//! what is solid fills both, what is walked on only the first, and squares look square.

use std::time::Duration;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use tickwire_demo::tiles::{Block, Direction, Look, Tile};

use super::{LOOK, Picture, WARES};
use crate::dashboard::draw_too_small;
use crate::palette;
use crate::play::panels::{
    SMALLEST, draw_connecting, draw_header, draw_headline, draw_help, draw_last_line, draw_net,
    draw_notices, places, silence_text,
};
use crate::play::replay;
use crate::play::seat::Stage;

/// Silence that a player should know of: longer than what passes between two pings.
const SILENCE: Duration = Duration::from_secs(7);

/// How many cells fit on a screen of this size.
pub(super) fn cells(area: Rect) -> (u16, u16) {
    let world = places(area).arena;
    (world.width / 2, world.height)
}

/// Draws the whole screen.
pub(in crate::play) fn draw(picture: &Picture, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        draw_too_small(frame, SMALLEST);
        return;
    }
    let places = places(area);
    let margin = &picture.margin;
    let playing = margin.stage == Stage::Playing;
    let verb = if picture.watches { "watching" } else { "at" };
    let position = format!("  {verb} {}", picture.position);
    let of_player = if playing { position } else { String::new() };
    draw_header(margin, of_player, places.header, frame);
    let mut keys: &[_] = if playing {
        draw_world(picture, places.arena, frame);
        draw_hands(picture, places.hull, frame);
        &[
            ("arrows yubn", "walk"),
            ("Space", "place"),
            ("x", "remove"),
            ("Enter", "chat"),
            ("?", "keys"),
            ("q", "leave"),
        ]
    } else {
        draw_connecting(margin.time, places.arena, frame);
        &[("q", "give up")]
    };
    draw_net(margin, places.net, frame);
    if margin.tape.is_some() {
        keys = replay::KEYS;
    }
    margin.net.draw_detail(places.arena, frame);
    if margin.shows_help {
        let keys = margin.tape.map_or(HELP, |_| replay::HELP);
        draw_help(keys, places.arena, frame);
    }
    draw_last_line(margin.line.as_deref(), keys, places.keys, frame);
}

/// Every key of a walker.
const HELP: &[(&str, &str)] = &[
    ("arrows WASD", "walk"),
    ("Y U B N", "walk diagonally, as 7 9 1 3"),
    ("Shift+arrow", "only turn"),
    ("Space", "place a block in front"),
    ("X Delete", "take one away"),
    ("[ ]", "choose what to place"),
    ("I", "ignore whoever is nearest"),
    ("P", "ask which player you are"),
    ("Enter", "chat"),
    ("F3", "net graph"),
    ("?", "this help"),
    ("q", "leave"),
];

fn draw_world(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let land = &picture.land;
    let canvas = frame.buffer_mut();
    let columns = usize::from(land.width.max(1));
    for (y, row) in (0..).zip(land.tiles.chunks(columns)) {
        for (x, tile) in (0..).zip(row) {
            if let Some(tile) = tile {
                set_tile(canvas, area, (x, y), *tile);
            }
        }
    }
    let others = || picture.others.iter();
    for (other, place) in others().filter_map(|other| Some((other, land.place(other.at)?))) {
        set_name(canvas, area, place, &other.name);
    }
    // Whoever stands where a name would be hides it.
    for (other, place) in others().filter_map(|other| Some((other, land.place(other.at)?))) {
        set_entity(canvas, area, place, other.look);
    }
    if let Some(place) = land.place(picture.position).filter(|_| !picture.watches) {
        set_entity(canvas, area, place, LOOK);
    }
    let ahead = picture.position.step(picture.facing);
    if let Some(place) = ahead.and_then(|cell| land.place(cell)) {
        for at in spots(area, place) {
            canvas[at].set_bg(palette::FAINT);
        }
    }
    draw_notices(&picture.margin, area, frame);
    let silence = picture.margin.net.age();
    if silence >= SILENCE && picture.margin.tape.is_none() {
        draw_headline(silence_text(silence), palette::WARNING, area, frame);
    } else if land.tiles.iter().all(Option::is_none) {
        draw_headline(
            " the world is on its way ".into(),
            palette::KEY,
            area,
            frame,
        );
    }
}

/// Both characters of a cell, as far as they are on the screen. A picture may be older than a size.
fn spots(area: Rect, (column, row): (u16, u16)) -> impl Iterator<Item = (u16, u16)> {
    let x = area.x.saturating_add(column.saturating_mul(2));
    let y = area.y.saturating_add(row);
    let inside = move |at: &(u16, u16)| area.contains((*at).into());
    [(x, y), (x.saturating_add(1), y)]
        .into_iter()
        .filter(inside)
}

fn set_tile(canvas: &mut Buffer, area: Rect, place: (u16, u16), tile: Tile) {
    let solid = !tile.is_free();
    let block = if solid { tile.solid } else { tile.walkable };
    if block.is_empty() {
        return;
    }
    for (nth, at) in spots(area, place).enumerate() {
        let ch = if solid || nth == 0 {
            character(block)
        } else {
            ' '
        };
        canvas[at].set_char(ch).set_style(colours(block.col));
    }
}

fn set_entity(canvas: &mut Buffer, area: Rect, place: (u16, u16), look: Look) {
    let ch = char::from_u32(look.chr.into()).filter(|ch| ch.is_ascii_graphic());
    if let Some(at) = spots(area, place).next() {
        let ink = INKS[usize::from(look.col & 15)];
        canvas[at]
            .set_char(ch.unwrap_or('?'))
            .set_style(Style::new().fg(ink).add_modifier(Modifier::BOLD));
    }
}

/// The name of somebody, in the cells east of it.
fn set_name(canvas: &mut Buffer, area: Rect, place: (u16, u16), name: &str) {
    let Some((x, y)) = spots(area, place).next() else {
        return;
    };
    let x = x.saturating_add(2);
    let room = usize::from(area.right().saturating_sub(x));
    canvas.set_stringn(x, y, name, room.min(NAME_SHOWN), palette::LABEL);
}

/// Characters of a name that are shown: more would hide what is east of it.
const NAME_SHOWN: usize = 12;

/// What is in the player's hands, and where it would go.
fn draw_hands(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let ware = WARES[picture.ware];
    let shown = character(ware.block).to_string().repeat(2);
    let label = |text| Span::styled(text, palette::LABEL);
    let line = Line::from(vec![
        label(" facing "),
        Span::raw(name(picture.facing)),
        label("   block "),
        Span::styled(shown, colours(ware.block.col)),
        Span::raw(format!(" {}", ware.name)),
        label("   in sight "),
        Span::raw(picture.others.len().to_string()),
    ]);
    frame.render_widget(line, area);
}

/// Peers may have put anything there, and this goes to a terminal.
fn character(block: Block) -> char {
    let ch = char::from(block.ch.cast_unsigned());
    if ch.is_ascii_graphic() || ch == ' ' {
        ch
    } else {
        '?'
    }
}

fn colours(col: i8) -> Style {
    let col = usize::from(col.cast_unsigned());
    let style = Style::new().fg(INKS[col & 15]);
    match (col >> 4) & 7 {
        // What has no paper shows the terminal's own.
        0 => style,
        paper => style.bg(INKS[paper]),
    }
}

/// The sixteen colours of text screens, from the 256-colour table. The darkest inks are a little
/// lighter than they were, to be seen on black.
const INKS: [Color; 16] = [
    Color::Indexed(236),
    Color::Indexed(26),
    Color::Indexed(34),
    Color::Indexed(37),
    Color::Indexed(124),
    Color::Indexed(133),
    Color::Indexed(136),
    Color::Indexed(250),
    Color::Indexed(243),
    Color::Indexed(75),
    Color::Indexed(77),
    Color::Indexed(123),
    Color::Indexed(203),
    Color::Indexed(213),
    Color::Indexed(227),
    Color::Indexed(231),
];

const fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::East => "east",
        Direction::West => "west",
        Direction::South => "south",
        Direction::North => "north",
        Direction::SouthEast => "south-east",
        Direction::NorthWest => "north-west",
        Direction::SouthWest => "south-west",
        Direction::NorthEast => "north-east",
    }
}
