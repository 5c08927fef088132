//! The lab in a terminal: truth on the left, what a client shows on the right, the error between them below.

use std::thread;
use std::time::{Duration, Instant as WallClock};

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table};
use tickwire_demo::{STEP, Vec2, View};

use super::bench::{Bench, Wanted};
use super::errors::Errors;
use super::subject::Pair;
use crate::arena_canvas::{ArenaCanvas, Camera, Tints};
use crate::conditions::Network;
use crate::dashboard::{draw_too_small, key_line, map_spot, panel};
use crate::figures::bars;
use crate::lag::keys;
use crate::log::print_line;
use crate::palette;
use crate::screen::{FRAME, Input, Screen};
use crate::stop::Stop;

/// Below this, only words fit.
const SMALLEST: (u16, u16) = (60, 16);

/// Looks whose error is a bar.
const BARS: usize = 24;

/// Steps between two bars: a bar is a tenth of a second.
const BAR_STEPS: usize = 6;

/// All that one drawing needs.
#[derive(Clone, Debug)]
struct Picture {
    title: String,
    network: Network,
    /// Which client is shown, and what it is called.
    shown: (usize, String),
    scene: Scene,
    clients: Vec<(String, Errors)>,
}

/// What is drawn twice.
#[derive(Clone, Debug)]
enum Scene {
    Arena {
        truth: View,
        shown: View,
    },
    /// A world that is too large to be drawn whole: only who is where.
    Tiles(Vec<Pair>),
}

/// Runs a bench at the speed of a clock until whoever looks has seen enough.
pub(super) fn run(wanted: Wanted, stop: &Stop) -> anyhow::Result<std::process::ExitCode> {
    let mut bench = Bench::new(wanted)?;
    bench.settle()?;
    let screen = Screen::open(Input::Typing, draw)?;
    let mut place = 0;
    let mut due = WallClock::now();
    let mut next_frame = due;
    while !stop.is_asked() && screen.is_open() {
        bench.step();
        due += STEP;
        let keys: Vec<_> = screen.events().filter_map(keys::pressed).collect();
        for key in keys {
            match key {
                KeyCode::Char('q') | KeyCode::Esc => stop.ask(),
                KeyCode::Tab => place = (place + 1) % usize::from(wanted.clients),
                other => {
                    let mut network = *bench.network();
                    keys::change(&mut network, other);
                    bench.set_network(network);
                }
            }
        }
        let now = WallClock::now();
        if now >= next_frame {
            next_frame = now + FRAME;
            screen.show(picture(&bench, wanted, place));
        }
        // A machine that is too slow shows it slower, not less of it.
        due = due.max(now - Duration::from_secs(1));
        thread::sleep(due.saturating_duration_since(now));
    }
    screen.close()?;
    let errors = bench.errors();
    let row = super::row(wanted.protocol, bench.network(), &errors);
    print_line(&format!("{}\n{row}", super::HEADINGS))?;
    Ok(std::process::ExitCode::SUCCESS)
}

fn picture(bench: &Bench, wanted: Wanted, place: usize) -> Picture {
    let subject = bench.subject(place);
    let name = subject.map(|subject| subject.name.clone());
    let scene = match subject.and_then(|subject| subject.view()) {
        Some(shown) => Scene::Arena {
            truth: bench.host().arena().view(),
            shown: shown.clone(),
        },
        None => Scene::Tiles(bench.pairs(place)),
    };
    let errors = bench.errors().into_iter().zip(0..);
    let clients = errors.map(|(errors, place)| {
        let subject = bench.subject(place);
        (
            subject.map_or_else(String::new, |subject| subject.name.clone()),
            errors,
        )
    });
    Picture {
        title: wanted.protocol.name.into(),
        network: *bench.network(),
        shown: (place, name.unwrap_or_default()),
        scene,
        clients: clients.collect(),
    }
}

fn draw(picture: &Picture, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        draw_too_small(frame, SMALLEST);
        return;
    }
    let rows = u16::try_from(picture.clients.len()).unwrap_or(u16::MAX);
    let [header, worlds, table, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(rows.saturating_add(2).min(area.height / 2)),
        Constraint::Length(1),
    ])
    .areas(area);
    let title = Line::from(vec![
        Span::styled(" lab ", palette::TITLE),
        Span::raw(format!(" {} ", picture.title)),
        Span::styled("on ", palette::LABEL),
        Span::raw(picture.network.to_string()),
    ]);
    frame.render_widget(title, header);
    draw_worlds(picture, worlds, frame);
    draw_errors(picture, table, frame);
    let keys_shown = [
        ("Tab", "next client"),
        ("1-6", "preset"),
        ("↑ ↓", "delay"),
        ("← →", "loss"),
        ("q", "end"),
    ];
    frame.render_widget(key_line(&keys_shown), keys);
}

fn draw_worlds(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)])
        .spacing(1)
        .areas(area);
    let name = format!("what {} shows", picture.shown.1);
    for (place, title, is_truth) in [(left, "truth", true), (right, &name, false)] {
        let block = panel(title);
        let inner = block.inner(place);
        frame.render_widget(block, place);
        match &picture.scene {
            Scene::Arena { truth, shown } => {
                let view = if is_truth { truth } else { shown };
                let canvas = ArenaCanvas {
                    view,
                    scores: &[],
                    blasts: &[],
                    flashes: &[],
                    camera: Camera::whole(inner),
                    tints: Tints::Sides,
                };
                frame.render_widget(canvas, inner);
            }
            Scene::Tiles(pairs) => draw_pairs(pairs, is_truth, inner, frame),
        }
    }
}

/// Who is where, around the middle of them all.
fn draw_pairs(pairs: &[Pair], is_truth: bool, area: Rect, frame: &mut Frame<'_>) {
    let own = pairs.iter().find(|pair| pair.is_own);
    let centre = own.map_or(Vec2::ZERO, |own| own.truth);
    for pair in pairs {
        let at = if is_truth {
            Some(pair.truth)
        } else {
            pair.shown
        };
        let Some(at) = at.map(|at| at - centre) else {
            continue;
        };
        #[expect(clippy::cast_possible_truncation, reason = "whole cells")]
        let spot = map_spot(area, (at.x as i64, at.y as i64));
        if let Some(spot) = spot {
            let (sign, tint) = match pair.is_own {
                true => ('@', palette::SKY_BLUE),
                false => ('o', palette::ORANGE),
            };
            frame.buffer_mut()[spot].set_char(sign).set_fg(tint);
        }
    }
}

fn draw_errors(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let rows = picture
        .clients
        .iter()
        .enumerate()
        .map(|(place, (name, errors))| {
            let mark = if place == picture.shown.0 { "▶" } else { " " };
            let others = &errors.others;
            let last = |value: Option<f64>| {
                value.map_or_else(|| "–".into(), |value| format!("{value:.1}"))
            };
            let newest = others.newest(BARS * BAR_STEPS).step_by(BAR_STEPS);
            let full = others.quantile(0.99).unwrap_or(1.0);
            let row = [
                format!("{mark} {name}"),
                last(errors.own.last()),
                errors.own.mean_text(),
                errors.own.quantile_text(0.99),
                last(others.last()),
                others.mean_text(),
                others.quantile_text(0.99),
                last(errors.ages.last()),
                bars(newest, full),
            ];
            let cells = row.into_iter().enumerate();
            Row::new(cells.map(|(column, text)| match column {
                0 => Cell::new(text),
                8 => Cell::new(Span::styled(text, Style::new().fg(palette::GREEN))),
                _ => Cell::new(Line::from(text).right_aligned()),
            }))
        });
    let right = |text: &'static str| Cell::new(Line::from(text).right_aligned());
    let headings = Row::new([
        Cell::new("  client"),
        right("own"),
        right("mean"),
        right("p99"),
        right("others"),
        right("mean"),
        right("p99"),
        right("age ms"),
        Cell::new("others, over time"),
    ]);
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(6),
        Constraint::Length(6),
        Constraint::Length(6),
        Constraint::Length(6),
        Constraint::Length(6),
        Constraint::Length(6),
        Constraint::Length(6),
        Constraint::Length(u16::try_from(BARS).unwrap_or(u16::MAX)),
    ];
    let table = Table::new(rows, widths)
        .header(headings.style(palette::LABEL))
        .block(panel("how far off it shows them"));
    frame.render_widget(table, area);
}
