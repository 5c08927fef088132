//! How a player's screen looks: pure functions from a picture to cells.

use std::cmp::Reverse;
use std::time::Duration;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Cell, Clear, Paragraph, Row, Table};
use tickwire_demo::gateway::Carried;
use tickwire_demo::{Heading, Kind, printable};

use super::helm::Aim;
use super::seat::{Margin, Stage};
use super::{Picture, replay};
use crate::arena_canvas::{ArenaCanvas, Tints, arrow};
use crate::dashboard::{draw_too_small, key_line};
use crate::figures::loading_bar;
use crate::palette;
use crate::weapons;

/// Below this there is nothing to fly in.
pub(super) const SMALLEST: (u16, u16) = (40, 12);

/// How long a notice is shown.
const NOTICE_SHOWN: Duration = Duration::from_secs(8);

/// Notices shown at a time, and the rows that they take together.
const NOTICES: usize = 5;
const NOTICE_ROWS: usize = 8;

/// Silence that a player should know of.
const SILENCE: Duration = Duration::from_secs(3);

/// Where things are on a screen of this size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) header: Rect,
    /// The arena, or whatever the game is played in.
    pub(super) arena: Rect,
    /// What the player has.
    pub(super) hull: Rect,
    pub(super) net: Rect,
    pub(super) keys: Rect,
}

pub(super) fn places(area: Rect) -> Places {
    let [header, arena, hull, net, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(area);
    Places {
        header,
        arena,
        hull,
        net,
        keys,
    }
}

/// Draws the whole screen.
pub(super) fn draw(picture: &Picture, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        draw_too_small(frame, SMALLEST);
        return;
    }
    let places = places(area);
    let score = picture.own_score().map_or(String::new(), |score| {
        format!("  kills {}  deaths {}", score.kills, score.deaths)
    });
    let margin = &picture.margin;
    draw_header(margin, score, places.header, frame);
    match margin.stage {
        Stage::Connecting => {
            draw_connecting(margin.time, places.arena, frame);
            // What happened before tells why it is to be waited for.
            draw_notices(margin, places.arena, frame);
        }
        Stage::Loading { have, of } => draw_loading(have, of, places.arena, frame),
        Stage::Playing => {
            draw_arena(picture, places.arena, frame);
            if margin.tape.is_none() || picture.view.own_ship.is_some() {
                draw_hull(picture, places.hull, frame);
            }
        }
    }
    draw_net(margin, places.net, frame);
    let keys: &[_] = match (&margin.tape, margin.stage) {
        (Some(_), _) => replay::KEYS,
        (_, Stage::Connecting | Stage::Loading { .. }) => &[("q", "give up")],
        (_, Stage::Playing) => &[
            ("WASD", "fly"),
            ("Z C", "strafe"),
            ("Enter", "chat"),
            ("Tab", "scores"),
            ("?", "keys"),
            ("q", "leave"),
        ],
    };
    margin.net.draw_detail(places.arena, frame);
    if margin.shows_help {
        let keys = margin.tape.map_or(HELP, |_| replay::HELP);
        draw_help(keys, places.arena, frame);
    }
    draw_last_line(margin.line.as_deref(), keys, places.keys, frame);
}

/// How good the connection is, or where in a recording this is.
pub(super) fn draw_net(margin: &Margin, area: Rect, frame: &mut Frame<'_>) {
    match (&margin.tape, margin.stage) {
        (Some(tape), _) => frame.render_widget(tape.line(), area),
        (None, Stage::Playing) => frame.render_widget(margin.net.line(area.width), area),
        (None, _) => {}
    }
}

/// Every key of a pilot.
pub(super) const HELP: &[(&str, &str)] = &[
    ("W S ↑ ↓", "forward and back"),
    ("A D ← →", "turn"),
    ("Z C", "strafe"),
    ("Space 2 3 4", "fire"),
    ("mouse", "aim; its left button fires"),
    ("T", "teleport, if the server allows it"),
    ("G", "taunt, if the protocol can"),
    ("Enter", "chat, /name NAME, /weapons A,B,C,D"),
    ("Tab", "scores"),
    ("+ -", "zoom"),
    ("F3", "net graph"),
    ("?", "this help"),
    ("q", "leave"),
];

/// All keys of a game, in the middle of it.
pub(super) fn draw_help(keys: &[(&str, &str)], area: Rect, frame: &mut Frame<'_>) {
    let height = u16::try_from(keys.len()).unwrap_or(u16::MAX);
    let [_, middle, _] = Layout::horizontal([
        Constraint::Fill(1),
        Constraint::Max(52),
        Constraint::Fill(1),
    ])
    .areas(area);
    let [_, panel, _] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Max(height.saturating_add(2)),
        Constraint::Fill(1),
    ])
    .areas(middle);
    let rows = keys.iter().map(|(key, does)| {
        Row::new([
            Cell::new(Span::styled(*key, palette::KEY)),
            Cell::new(*does),
        ])
    });
    let table = Table::new(rows, [Constraint::Length(13), Constraint::Fill(1)]).block(
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(Style::new().fg(palette::FAINT))
            .title(Span::styled(" keys ", palette::TITLE)),
    );
    frame.render_widget(Clear, panel);
    frame.render_widget(table, panel);
}

/// Where the player is, and behind its name what is to be said of it.
pub(super) fn draw_header(margin: &Margin, of_player: String, area: Rect, frame: &mut Frame<'_>) {
    let words = Line::from(vec![
        Span::styled(" tickwire ", palette::TITLE),
        Span::styled(format!("  {} ", margin.server), palette::LABEL),
    ]);
    frame.render_widget(words, area);
    let own = Line::from(vec![
        Span::styled(
            margin.name.clone(),
            Style::new()
                .fg(palette::SKY_BLUE)
                .add_modifier(Modifier::BOLD),
        ),
        Span::raw(of_player),
        Span::raw(" "),
    ]);
    frame.render_widget(own.right_aligned(), area);
}

pub(super) fn draw_connecting(time: Duration, area: Rect, frame: &mut Frame<'_>) {
    draw_waiting(format!("connecting… ({} s)", time.as_secs()), area, frame);
}

fn draw_loading(have: u64, of: u64, area: Rect, frame: &mut Frame<'_>) {
    draw_waiting(format!("loading {}", loading_bar(have, of)), area, frame);
}

fn draw_waiting(text: String, area: Rect, frame: &mut Frame<'_>) {
    let middle = Rect {
        y: area.y + area.height / 2,
        height: 1,
        ..area
    };
    frame.render_widget(Paragraph::new(text).alignment(Alignment::Center), middle);
}

fn draw_arena(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let canvas = ArenaCanvas {
        view: &picture.view,
        scores: &picture.scores,
        blasts: &picture.blasts,
        flashes: &picture.flashes,
        camera: picture.camera,
        tints: Tints::Sides,
    };
    frame.render_widget(canvas, area);
    set_hints(picture, area, frame.buffer_mut());
    set_sight(picture, area, frame.buffer_mut());
    picture.moments.draw(picture.camera, area, frame);
    draw_notices(&picture.margin, area, frame);
    draw_news(picture, area, frame);
    if picture.shows_scores {
        draw_scores(picture, area, frame);
    }
}

/// Arrows at the border, towards enemies that are further away.
fn set_hints(picture: &Picture, area: Rect, buf: &mut Buffer) {
    let ships = picture.view.seen.iter();
    for enemy in ships.filter(|seen| seen.kind == Kind::Ship && !seen.own) {
        let way = Heading::of(enemy.position - picture.camera.centre);
        if let (Some(way), Some(at)) = (way, picture.camera.border(area, enemy.position)) {
            buf[at].set_char(arrow(way)).set_fg(palette::VERMILLION);
        }
    }
}

/// What the weapons point at.
fn set_sight(picture: &Picture, area: Rect, buf: &mut Buffer) {
    let (Aim::Enemy(place) | Aim::Mouse(place)) = picture.aim else {
        return;
    };
    if let Some(at) = picture.camera.cell(area, place) {
        buf[at].set_char('┼').set_fg(palette::YELLOW);
    }
}

/// The latest of what happened and was said, above the lower border; older ones too, for somebody who
/// writes or waits.
pub(super) fn draw_notices(margin: &Margin, area: Rect, frame: &mut Frame<'_>) {
    let has_time = margin.line.is_some() || margin.stage != Stage::Playing;
    let fresh = |said: &Duration| margin.time.saturating_sub(*said) < NOTICE_SHOWN;
    let notices = margin.notices.iter().rev();
    let shown = notices
        .filter(|(time, _)| has_time || fresh(time))
        .take(NOTICES);
    let width = usize::from(area.width.saturating_sub(2));
    let lines = shown.flat_map(|(_, text)| wrapped(text, width).into_iter().rev());
    for (row, text) in area.rows().rev().zip(lines.take(NOTICE_ROWS)) {
        frame.render_widget(Line::raw(format!(" {text} ")), row);
    }
}

/// A text in lines of at most so many characters, which end between words where they can.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    let length = |text: &str| text.chars().count();
    for word in text.split(' ') {
        if line.is_empty() || length(&line) + 1 + length(word) > width {
            lines.extend(Some(core::mem::take(&mut line)).filter(|line| !line.is_empty()));
        } else {
            line.push(' ');
        }
        for letter in word.chars() {
            if length(&line) >= width.max(1) {
                lines.push(core::mem::take(&mut line));
            }
            line.push(letter);
        }
    }
    lines.push(line);
    lines
}

/// What the player must know: the ship is gone, or the server is.
fn draw_news(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    if picture.margin.tape.is_some() {
        return;
    }
    let silence = picture.margin.net.age();
    let (text, style) = if silence >= SILENCE {
        (silence_text(silence), palette::WARNING)
    } else if picture.view.own_ship.is_none() {
        let loss = printable(&picture.loss);
        let text = format!(" {loss}: the next one comes in a moment ");
        (text, palette::KEY)
    } else {
        return;
    };
    draw_headline(text, style, area, frame);
}

pub(super) fn silence_text(silence: Duration) -> String {
    format!(" no news from the server for {} s ", silence.as_secs())
}

/// Something that must not be overlooked.
pub(super) fn draw_headline(text: String, style: Style, area: Rect, frame: &mut Frame<'_>) {
    let row = Rect {
        y: area.y + area.height / 3,
        height: 1,
        ..area
    };
    frame.render_widget(Line::from(Span::styled(text, style)).centered(), row);
}

fn draw_scores(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let mut scores: Vec<_> = picture.scores.iter().collect();
    scores.sort_by_key(|score| (Reverse(score.kills), score.deaths));
    let height = u16::try_from(scores.len())
        .unwrap_or(u16::MAX)
        .saturating_add(3);
    let [_, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Max(44)]).areas(area);
    let [panel, _] = Layout::vertical([Constraint::Max(height), Constraint::Fill(1)]).areas(right);
    let right_aligned = |text: String| Line::from(text).right_aligned();
    let rows = scores.into_iter().map(|score| {
        let own = picture
            .own_score()
            .is_some_and(|own| own.owner == score.owner);
        let ping = score
            .ping
            .map_or_else(|| "–".into(), |ping| format!("{} ms", ping.as_millis()));
        let row = Row::new([
            Cell::new(printable(&score.name)),
            Cell::new(right_aligned(score.kills.to_string())),
            Cell::new(right_aligned(score.deaths.to_string())),
            Cell::new(right_aligned(ping)),
        ]);
        let tint = if own {
            palette::SKY_BLUE
        } else {
            palette::VERMILLION
        };
        row.style(Style::new().fg(tint))
    });
    let header = ["name", "kills", "deaths", "ping"].map(|name| match name {
        "name" => Line::from(name),
        _ => right_aligned(name.into()),
    });
    let table = Table::new(
        rows,
        [
            Constraint::Fill(1),
            Constraint::Length(5),
            Constraint::Length(6),
            Constraint::Length(7),
        ],
    )
    .header(Row::new(header).style(palette::LABEL))
    .block(
        Block::bordered()
            .border_type(BorderType::Rounded)
            .border_style(Style::new().fg(palette::FAINT))
            .title(Span::styled(" scores ", palette::TITLE)),
    );
    frame.render_widget(Clear, panel);
    frame.render_widget(table, panel);
}

/// What is left of the ship, and what it carries.
fn draw_hull(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let health = picture.view.own_ship().map_or(0, |ship| ship.health);
    let full = usize::from(health.min(100)).div_ceil(10);
    let tint = match health {
        ..=25 => palette::VERMILLION,
        26..=60 => palette::ORANGE,
        _ => palette::GREEN,
    };
    let mut words = vec![
        Span::styled(" hull ", palette::LABEL),
        Span::styled("█".repeat(full), Style::new().fg(tint)),
        Span::styled("░".repeat(10 - full), Style::new().fg(palette::FAINT)),
        Span::raw(format!(" {health:>3}%  ")),
    ];
    let slots = picture.loadout.0.into_iter().zip(picture.fires);
    for (slot, (weapon, fires)) in slots.enumerate() {
        let key = ["Space", "2", "3", "4"][slot];
        // What the server says is in the slot counts, if it says anything.
        let name = match &picture.inventory {
            Some(slots) => slots[slot]
                .as_ref()
                .map_or_else(|| "–".into(), carried_text),
            None => weapon.map_or("–", weapons::name).to_owned(),
        };
        let style = if fires {
            Style::new()
                .fg(palette::YELLOW)
                .add_modifier(Modifier::REVERSED)
        } else {
            palette::LABEL
        };
        words.push(Span::styled(key, palette::KEY));
        words.push(Span::styled(format!(" {name}"), style));
        words.push(Span::raw("  "));
    }
    let aim = match picture.aim {
        Aim::Ahead => "aim ahead",
        Aim::Enemy(_) => "aim enemy",
        Aim::Mouse(_) => "aim mouse",
    };
    words.push(Span::styled(aim, palette::LABEL));
    frame.render_widget(Line::from(words), area);
}

/// What lies in a slot, with its number if there are several.
fn carried_text(carried: &Carried) -> String {
    let name = printable(&carried.name);
    match carried.count {
        1 => name,
        count => format!("{name} ×{count}"),
    }
}

/// The keys, or the line that is being written.
pub(super) fn draw_last_line(
    line: Option<&str>,
    keys: &[(&'static str, &'static str)],
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let Some(text) = line else {
        frame.render_widget(key_line(keys), area);
        return;
    };
    // The end of what is written is what one wants to see.
    let room = usize::from(area.width).saturating_sub(28);
    let skipped = text.chars().count().saturating_sub(room);
    let tail: String = text.chars().skip(skipped).collect();
    let line = Line::from(vec![
        Span::styled(" say ", palette::KEY),
        Span::raw(tail),
        Span::styled("█", Style::new().fg(palette::YELLOW)),
        Span::styled("  Enter sends, Esc drops", palette::LABEL),
    ]);
    frame.render_widget(line, area);
}
