//! How the dashboard looks: pure functions from a picture to cells.

use std::cmp::Reverse;
use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, Wrap};
use tickwire_demo::{Kind, Seen};

use super::Picture;
use crate::arena_canvas::{ArenaCanvas, Camera, Tints};
use crate::figures::{bars, millis};
use crate::palette;
use crate::serve::report::Client;

/// Below this, only words fit.
const SMALLEST: (u16, u16) = (50, 14);

/// From this width on there is room for standings and events beside the arena.
const TWO_COLUMNS: u16 = 72;

/// Draws the whole dashboard.
pub(crate) fn draw(picture: &Picture, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        draw_too_small(frame, SMALLEST);
        return;
    }
    let clients = u16::try_from(picture.report.clients.len()).unwrap_or(u16::MAX);
    let table = 2 + clients.clamp(1, area.height / 4);
    let counts = counter_lines(picture, area);
    let [header, world, table, figures, counters, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(table),
        Constraint::Length(2),
        Constraint::Length(u16::try_from(counts.len()).unwrap_or(u16::MAX)),
        Constraint::Length(1),
    ])
    .areas(area);
    draw_header(picture, header, frame);
    draw_world(picture, world, frame);
    draw_clients(picture, table, frame);
    draw_figures(picture, figures, frame);
    frame.render_widget(Text::from(counts), counters);
    draw_keys(picture, keys, frame);
}

/// Says that the window is too small, in as many cells as there are.
pub(crate) fn draw_too_small(frame: &mut Frame<'_>, (width, height): (u16, u16)) {
    let text = format!("too small: make this window at least {width}×{height}");
    let words = Paragraph::new(text)
        .wrap(Wrap { trim: true })
        .alignment(Alignment::Center);
    frame.render_widget(words, frame.area());
}

fn draw_header(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let seconds = picture.time.as_secs();
    let clock = format!("  up {}:{:02} ", seconds / 60, seconds % 60);
    // A styled line would style the whole row.
    let clock = Line::from(Span::styled(clock, palette::LABEL));
    let [doors, corner] = Layout::horizontal([
        Constraint::Fill(1),
        Constraint::Length(u16::try_from(clock.width()).unwrap_or(u16::MAX)),
    ])
    .areas(area);
    frame.render_widget(clock, corner);
    frame.render_widget(door_line(picture, doors.width), doors);
}

/// What is served where, with as much of every address as leaves room for all of them.
fn door_line(picture: &Picture, width: u16) -> Line<'static> {
    let whole: fn(&str) -> &str = |address| address;
    let port: fn(&str) -> &str = |address| address.rfind(':').map_or("", |at| &address[at..]);
    let nothing: fn(&str) -> &str = |_| "";
    let lines = [whole, port, nothing].map(|shorten| {
        let mut words = vec![Span::styled(" tickwire ", palette::TITLE)];
        for (protocol, address) in &picture.open {
            words.push(Span::raw(format!("  {protocol}")));
            let address = shorten(address);
            if !address.is_empty() {
                words.push(Span::styled(format!(" {address}"), palette::LABEL));
            }
        }
        Line::from(words)
    });
    let [_, _, shortest] = &lines;
    let shortest = shortest.clone();
    let fits = |line: &Line<'_>| line.width() <= usize::from(width);
    lines.into_iter().find(fits).unwrap_or(shortest)
}

fn draw_world(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    if area.width < TWO_COLUMNS {
        draw_arena(picture, area, frame);
        return;
    }
    // A cell is twice as high as it is wide, so this leaves the arena a square and a margin.
    let square = (area.height * 2 + 8).clamp(area.width / 2, area.width - 34);
    let [arena, side] = Layout::horizontal([Constraint::Length(square), Constraint::Fill(1)])
        .spacing(1)
        .areas(area);
    draw_arena(picture, arena, frame);
    let pilots = u16::try_from(picture.scores.len()).unwrap_or(u16::MAX);
    let [standings, events] = Layout::vertical([
        Constraint::Length(pilots.saturating_add(1).clamp(2, area.height * 3 / 5)),
        Constraint::Fill(1),
    ])
    .areas(side);
    draw_standings(picture, standings, frame);
    draw_events(picture, events, frame);
}

fn draw_arena(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let followed = picture.follows.and_then(|owner| {
        let scores = &picture.scores;
        let name = &scores.iter().find(|score| score.owner == owner)?.name;
        let is_ship = |seen: &&Seen| seen.kind == Kind::Ship && seen.owner == Some(owner);
        Some((name, picture.view.seen.iter().find(is_ship)))
    });
    let title = match followed {
        None => "arena".to_owned(),
        Some((name, Some(ship))) => format!("{name} {}%", ship.health),
        Some((name, None)) => format!("{name} is coming back"),
    };
    let block = panel(&title);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let camera = match followed {
        Some((_, Some(ship))) => Camera::around(ship.position, picture.zoom),
        _ => Camera::whole(inner),
    };
    let canvas = ArenaCanvas {
        view: &picture.view,
        scores: &picture.scores,
        blasts: &picture.blasts,
        flashes: &[],
        camera,
        tints: Tints::Owners,
    };
    frame.render_widget(canvas, inner);
}

/// The pilots by what they achieved, each with the colour of its ship.
fn draw_standings(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let mut places: Vec<_> = picture.scores.iter().enumerate().collect();
    places.sort_by_key(|(_, score)| (Reverse(score.kills), score.deaths));
    let rows = places.into_iter().map(|(place, score)| {
        let protocol = picture.report.pilots.get(&score.owner);
        let tint = Style::new().fg(palette::player(place));
        let mut row = Row::new([
            Cell::new(Span::styled(format!("▲ {}", score.name), tint)),
            Cell::new(number(score.kills)),
            Cell::new(number(score.deaths)),
            Cell::new(Span::styled(
                *protocol.unwrap_or(&"nothing"),
                palette::LABEL,
            )),
        ]);
        if picture.follows == Some(score.owner) {
            row = row.style(Style::new().add_modifier(Modifier::REVERSED));
        }
        row
    });
    let table = Table::new(
        rows,
        [
            Constraint::Fill(1),
            Constraint::Length(5),
            Constraint::Length(6),
            Constraint::Length(10),
        ],
    )
    .block(panel("pilots").title(
        // Over their columns.
        Line::styled("kills deaths plays by  ", palette::LABEL).right_aligned(),
    ));
    frame.render_widget(table, area);
}

fn draw_events(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let block = panel("events");
    let rows = block.inner(area);
    frame.render_widget(block, area);
    let newest = picture.notices.iter().rev();
    for (row, (time, text)) in rows.rows().zip(newest) {
        let seconds = time.as_secs();
        let clock = format!("{:>2}:{:02} ", seconds / 60, seconds % 60);
        let line = Line::from(vec![
            Span::styled(clock, palette::LABEL),
            Span::raw(text.as_str()),
        ]);
        frame.render_widget(line, row);
    }
}

fn draw_clients(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let block = panel("clients   ↓ received and ↑ sent a second");
    if picture.report.clients.is_empty() {
        let name = picture.open.first().map_or("PROTOCOL", |(name, _)| *name);
        let hint = Line::from(vec![
            Span::styled(" nobody yet: in another terminal, ", palette::LABEL),
            Span::raw(format!("tickwire play {name}")),
            Span::styled(" or ", palette::LABEL),
            Span::raw(format!("tickwire bots {name}")),
        ]);
        frame.render_widget(Paragraph::new(hint).block(block), area);
        return;
    }
    let rows = picture.report.clients.iter().map(client_row);
    let table = Table::new(
        rows,
        [
            Constraint::Fill(1),
            Constraint::Length(10),
            Constraint::Length(6),
            Constraint::Length(5),
            Constraint::Length(6),
            Constraint::Length(5),
            Constraint::Length(6),
            Constraint::Length(5),
            Constraint::Length(6),
            Constraint::Length(7),
        ],
    )
    .header(headings(
        [
            " name", "protocol", "rtt", "loss", "kbit ↓", "↑", "pkts ↓", "↑", "resent", "refused",
        ],
        2..10,
    ))
    .block(block);
    frame.render_widget(table, area);
}

fn client_row(client: &Client) -> Row<'_> {
    let loss = client.stats.loss.map(|share| share * 100.0);
    let or_unknown = |text: Option<String>| number(text.unwrap_or_else(|| "–".into()));
    Row::new([
        Cell::new(format!(" {}", client.name)),
        Cell::new(client.protocol),
        Cell::new(or_unknown(client.stats.round_trip.map(short))),
        Cell::new(or_unknown(loss.map(|loss| format!("{loss:.1}%"))))
            .style(warning(loss.is_some_and(|loss| loss >= 5.0))),
        Cell::new(number(format!("{:.1}", client.rates.kbits_in))),
        Cell::new(number(format!("{:.1}", client.rates.kbits_out))),
        Cell::new(number(format!("{:.0}", client.rates.packets_in))),
        Cell::new(number(format!("{:.0}", client.rates.packets_out))),
        Cell::new(number(client.stats.resent)),
        Cell::new(number(client.stats.refused)).style(warning(client.stats.refused > 0)),
    ])
}

fn draw_figures(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let report = &picture.report;
    let block = panel("server");
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let span =
        |span: Option<_>| span.map_or_else(|| "–".into(), |span| format!("{:.2} ms", millis(span)));
    let label = |text| Span::styled(text, palette::LABEL);
    let mut line = Line::from(vec![
        label(" step p50 "),
        Span::raw(span(report.step_p50)),
        label("  p99 "),
        Span::raw(span(report.step_p99)),
        Span::raw(format!("  {}", report.steps)),
        label("/s  "),
        Span::raw(picture.view.seen.len().to_string()),
        label(" entities  ↓ "),
        Span::raw(rate(report.total.kbits_in)),
        label(" ↑ "),
        Span::raw(rate(report.total.kbits_out)),
        label("bit/s"),
    ]);
    // As many seconds as there is room for: figures come first.
    let room = usize::from(inner.width).saturating_sub(line.width() + 1);
    let newest = picture.slowest.iter().rev().take(room.min(SECONDS_SHOWN));
    // Highest bar: a tenth of what a step may take.
    let slowest = bars(newest.rev().copied(), 1.667);
    let slowest = Span::styled(format!(" {slowest}"), Style::new().fg(palette::GREEN));
    line.spans.insert(BEHIND_P99, slowest);
    frame.render_widget(line, inner);
}

/// Seconds whose slowest step is a bar.
const SECONDS_SHOWN: usize = 12;

/// Where they are among the words of that line.
const BEHIND_P99: usize = 4;

/// Kilobits or megabits, in at most six columns.
fn rate(kbits: f64) -> String {
    match kbits {
        ..10_000.0 => format!("{kbits:.0} k"),
        _ => format!("{:.0} M", kbits / 1_000.0),
    }
}

/// Every counter that counted something, on as few lines as they take. Those that do not fit on what a
/// window of this height has for them are counted at the end.
fn counter_lines(picture: &Picture, area: Rect) -> Vec<Line<'static>> {
    let doors = picture.report.doors.iter();
    let doors = doors.map(|door| (door.protocol, &door.counters));
    let all = doors.chain([("net", &picture.report.network)]);
    let mut counted = all.flat_map(|(owner, counters)| {
        let counted = counters.iter().filter(|(_, count)| *count > 0);
        counted.map(move |(name, count)| (format!("{owner}.{name} "), format!("{count}  ")))
    });
    // Two of a small window's rows; a large one shows every counter that there is.
    let most = usize::from((area.height / 12).max(1));
    let width = usize::from(area.width);
    let mut lines = vec![Line::raw(" ")];
    while let Some((name, count)) = counted.next() {
        let is_last = lines.len() == most;
        let room = width.saturating_sub(if is_last { MORE.len() } else { 0 });
        let line = lines.last_mut().expect("there is a first line");
        if line.width() + name.len() + count.trim_end().len() <= room {
            line.push_span(Span::styled(name, palette::LABEL));
            line.push_span(Span::raw(count));
        } else if is_last {
            let more = format!("+{} more", 1 + counted.by_ref().count());
            line.push_span(Span::styled(more, palette::LABEL));
        } else {
            lines.push(Line::from(vec![
                Span::raw(" "),
                Span::styled(name, palette::LABEL),
                Span::raw(count),
            ]));
        }
    }
    lines
}

/// What is said of counters that do not fit, at its longest.
const MORE: &str = "+99 more";

fn draw_keys(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let mut keys = vec![("q", "quit"), ("Tab", "follow the next pilot")];
    if picture.follows.is_some() {
        keys.extend([("0", "whole arena"), ("+ -", "zoom")]);
    }
    frame.render_widget(key_line(&keys), area);
}

/// Keys and what they do.
pub(crate) fn key_line(keys: &[(&'static str, &'static str)]) -> Line<'static> {
    let mut words = vec![Span::raw(" ")];
    for (key, does) in keys {
        words.push(Span::styled(*key, palette::KEY));
        words.push(Span::styled(format!(" {does}   "), palette::LABEL));
    }
    Line::from(words)
}

fn panel(title: &str) -> Block<'static> {
    Block::new()
        .borders(Borders::TOP)
        .border_style(Style::new().fg(palette::FAINT))
        .title(Span::styled(format!(" {title} "), palette::TITLE))
}

/// The first row of a table; the columns in `numbers` are right-aligned, as what stands below them.
fn headings<const N: usize>(
    names: [&'static str; N],
    numbers: std::ops::Range<usize>,
) -> Row<'static> {
    let cells = names.into_iter().enumerate().map(|(column, name)| {
        if numbers.contains(&column) {
            Cell::new(number(name))
        } else {
            Cell::new(name)
        }
    });
    Row::new(cells.collect::<Vec<_>>()).style(palette::LABEL)
}

/// With a decimal where it matters.
fn short(span: Duration) -> String {
    match millis(span) {
        few @ ..10.0 => format!("{few:.1} ms"),
        many => format!("{many:.0} ms"),
    }
}

fn number(value: impl ToString) -> Line<'static> {
    Line::from(value.to_string()).right_aligned()
}

fn warning(wanted: bool) -> Style {
    if wanted {
        palette::WARNING
    } else {
        Style::new()
    }
}
