//! How the dashboard looks: pure functions from a picture to cells.

use std::cmp::Reverse;
use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState, Wrap};
use tickwire_demo::{Kind, Seen};

use super::roster::{Column, Roster};
use super::{Page, Picture, netgraph};
use crate::arena_canvas::{ArenaCanvas, Camera, Tints};
use crate::figures::{Trace, bars, millis};
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
    let doors = door_lines(picture, area.width);
    let doors_height = u16::try_from(doors.len()).unwrap_or(u16::MAX);
    let [header, page, keys] = Layout::vertical([
        Constraint::Length(doors_height),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    draw_header(picture, doors, header, frame);
    match picture.page {
        Page::Arena => draw_overview(picture, page, frame),
        Page::Clients => draw_roster(picture, page, frame),
        Page::Client => draw_client(picture, page, frame),
        Page::Events => draw_events(picture, page, frame),
        Page::Tiles => draw_tiles(picture, page, frame),
    }
    draw_keys(picture, keys, frame);
}

/// The arena, and something of everything else.
fn draw_overview(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let clients = u16::try_from(picture.report.clients.len()).unwrap_or(u16::MAX);
    let table = 2 + clients.clamp(1, area.height / 4);
    let counts = counter_lines(picture, area);
    let [world, table, figures, counters] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(table),
        Constraint::Length(2),
        Constraint::Length(u16::try_from(counts.len()).unwrap_or(u16::MAX)),
    ])
    .areas(area);
    draw_world(picture, world, frame);
    draw_clients(picture, table, frame);
    draw_figures(picture, figures, frame);
    frame.render_widget(Text::from(counts), counters);
}

/// Says that the window is too small, in as many cells as there are.
pub(crate) fn draw_too_small(frame: &mut Frame<'_>, (width, height): (u16, u16)) {
    let text = format!("too small: make this window at least {width}×{height}");
    let words = Paragraph::new(text)
        .wrap(Wrap { trim: true })
        .alignment(Alignment::Center);
    frame.render_widget(words, frame.area());
}

fn draw_header(picture: &Picture, doors: Vec<Line<'static>>, area: Rect, frame: &mut Frame<'_>) {
    let clock = clock(picture);
    let width = u16::try_from(clock.width()).unwrap_or(u16::MAX);
    let [_, corner] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(width)]).areas(area);
    frame.render_widget(Text::from(doors), area);
    frame.render_widget(clock, corner);
}

fn clock(picture: &Picture) -> Line<'static> {
    let seconds = picture.time.as_secs();
    let clock = format!("  up {}:{:02} ", seconds / 60, seconds % 60);
    // A styled line would style the whole row.
    Line::from(Span::styled(clock, palette::LABEL))
}

/// What is served where: whole addresses if they fit on a line, else ports, on as many lines as they take.
fn door_lines(picture: &Picture, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    let first = width.saturating_sub(clock(picture).width());
    let title = || Span::styled(" tickwire ", palette::TITLE);
    let whole = |address: &str| address.to_owned();
    let port = |address: &str| match address.rfind(':') {
        // What comes behind the port of an encrypted door is long.
        Some(at) => address[at..].split(' ').next().unwrap_or_default().into(),
        None => address.to_owned(),
    };
    let door = |name: &str, address: String| {
        [
            Span::raw(format!("  {name}")),
            Span::styled(format!(" {address}"), palette::LABEL),
        ]
    };
    let doors = picture.open.iter();
    let line: Line<'_> = [title()]
        .into_iter()
        .chain(doors.flat_map(|(name, address)| door(name, whole(address))))
        .collect();
    if line.width() <= first {
        return vec![line];
    }
    let mut lines = vec![Line::from(title())];
    for (name, address) in &picture.open {
        let words = door(name, port(address));
        let length: usize = words.iter().map(Span::width).sum();
        let room = if lines.len() == 1 { first } else { width };
        let line = lines.last_mut().expect("there is a first line");
        if line.width() + length <= room {
            words.into_iter().for_each(|word| line.push_span(word));
        } else {
            lines.push(words.into_iter().collect());
        }
    }
    lines
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
        draw_nobody(picture, block, area, frame);
        return;
    }
    let rows = picture.roster.clients.iter().map(client_row);
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
        Cell::new(or_unknown(
            client.stats.resent.map(|resent| resent.to_string()),
        )),
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

/// Keys of the page, then those of other pages: where there is no room, the last are missing.
fn draw_keys(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let mut keys = vec![("q", "quit")];
    keys.extend(match picture.page {
        Page::Arena => vec![("Tab", "follow the next pilot")],
        Page::Clients => vec![
            ("↑ ↓", "choose"),
            ("Enter", "net graph"),
            ("s", "sort"),
            ("r", "reverse"),
        ],
        Page::Client => vec![("↑ ↓", "other client"), ("Enter", "back")],
        Page::Events | Page::Tiles => Vec::new(),
    });
    if picture.page == Page::Arena && picture.follows.is_some() {
        keys.extend([("0", "whole arena"), ("+ -", "zoom")]);
    }
    let tiles = picture
        .residents
        .is_some()
        .then_some((Page::Tiles, ("t", "tiles")));
    let pages = [
        (Page::Arena, ("a", "arena")),
        (Page::Clients, ("c", "clients")),
        (Page::Events, ("e", "events")),
    ];
    let others = pages.into_iter().chain(tiles);
    let others = others.filter(|(page, _)| *page != picture.page);
    keys.extend(others.map(|(_, key)| key));
    frame.render_widget(key_line(&keys), area);
}

/// Every client, in the order that was chosen, each with what it was sent.
fn draw_roster(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let roster = &picture.roster;
    let block = panel(&format!("{} clients", roster.clients.len()));
    if roster.clients.is_empty() {
        draw_nobody(picture, block, area, frame);
        return;
    }
    let spark = usize::from((area.width / 5).clamp(8, 60));
    let rows = roster
        .clients
        .iter()
        .map(|client| roster_row(roster, client, spark));
    let names = ["name", "protocol", "rtt", "loss", "kbit ↑", "snap/s", "gap"];
    let headings = names.into_iter().zip(Column::ALL).enumerate();
    let headings = headings.map(|(place, (name, column))| {
        let mark = match (column == roster.column, roster.is_descending) {
            (false, _) => "",
            (true, false) => "▲",
            (true, true) => "▼",
        };
        match place {
            0 => Cell::new(format!(" {name}{mark}")),
            1 => Cell::new(format!("{name}{mark}")),
            _ => Cell::new(number(format!("{name}{mark}"))),
        }
    });
    let headings = headings.chain([Cell::new("sent")]);
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(10),
        Constraint::Length(7),
        Constraint::Length(6),
        Constraint::Length(7),
        Constraint::Length(7),
        Constraint::Length(7),
        Constraint::Length(u16::try_from(spark).unwrap_or(u16::MAX)),
    ];
    let table = Table::new(rows, widths)
        .header(Row::new(headings.collect::<Vec<_>>()).style(palette::LABEL))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .block(block);
    let mut state = TableState::new().with_selected(Some(roster.chosen));
    frame.render_stateful_widget(table, area, &mut state);
}

fn roster_row<'a>(roster: &'a Roster, client: &'a Client, spark: usize) -> Row<'a> {
    let trace = roster.trace(client);
    let last = trace.and_then(Trace::last).copied().unwrap_or_default();
    let loss = client.stats.loss.map(|share| share * 100.0);
    let or_unknown = |text: Option<String>| number(text.unwrap_or_else(|| "–".into()));
    let sent: Vec<_> = trace
        .into_iter()
        .flat_map(|trace| trace.values(|sample| sample.kbits_out))
        .collect();
    let most = sent.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let newest = sent.len().saturating_sub(spark);
    let line = bars(sent.into_iter().skip(newest), most);
    Row::new([
        Cell::new(format!(" {}", client.name)),
        Cell::new(client.protocol),
        Cell::new(or_unknown(client.stats.round_trip.map(short))),
        Cell::new(or_unknown(loss.map(|loss| format!("{loss:.1}%"))))
            .style(warning(loss.is_some_and(|loss| loss >= 5.0))),
        Cell::new(number(format!("{:.1}", client.rates.kbits_out))),
        Cell::new(number(format!("{:.0}", last.updates))),
        Cell::new(number(format!("{:.0} ms", last.gap))),
        Cell::new(Span::styled(line, Style::new().fg(palette::GREEN))),
    ])
}

/// One client: its net graph, and every figure that it has.
fn draw_client(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let roster = &picture.roster;
    let Some(client) = roster.chosen() else {
        draw_nobody(picture, panel("client"), area, frame);
        return;
    };
    let title = format!(
        "{} on {} from {}",
        client.name, client.protocol, client.stats.addr
    );
    let block = panel(&title);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let Some(trace) = roster.trace(client) else {
        return;
    };
    let [graphs, figures] = Layout::vertical([
        Constraint::Length(netgraph::height(trace).saturating_add(1)),
        Constraint::Fill(1),
    ])
    .areas(inner);
    netgraph::draw(trace, graphs, frame);
    let block = panel("figures");
    let rows = block.inner(figures);
    frame.render_widget(block, figures);
    let mut words = Vec::new();
    client
        .stats
        .visit(picture.report.time, &mut |metric, value| {
            words.push((
                metric.name,
                format!("{value:.3}").trim_end_matches(".000").to_owned(),
            ));
        });
    let columns = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).split(rows);
    let mut places = columns.iter().flat_map(|column| column.rows());
    for (name, value) in words {
        let Some(row) = places.next() else {
            return;
        };
        let line = Line::from(vec![
            Span::styled(format!(" {name:<28}"), palette::LABEL),
            Span::raw(value),
        ]);
        frame.render_widget(line, row);
    }
}

fn draw_nobody(picture: &Picture, block: Block<'_>, area: Rect, frame: &mut Frame<'_>) {
    let name = picture.open.first().map_or("PROTOCOL", |(name, _)| *name);
    let hint = Line::from(vec![
        Span::styled(" nobody yet: in another terminal, ", palette::LABEL),
        Span::raw(format!("tickwire play {name}")),
        Span::styled(" or ", palette::LABEL),
        Span::raw(format!("tickwire bots {name}")),
    ]);
    frame.render_widget(Paragraph::new(hint).block(block), area);
}

/// Who is where in the tile world: a map around the first of them, and a list.
fn draw_tiles(picture: &Picture, area: Rect, frame: &mut Frame<'_>) {
    let residents = picture.residents.as_deref().unwrap_or_default();
    let [map, list] = Layout::horizontal([Constraint::Fill(2), Constraint::Length(30)])
        .spacing(1)
        .areas(area);
    let block = panel(&format!("tile world, {} in it", residents.len()));
    let inner = block.inner(map);
    frame.render_widget(block, map);
    let centre = residents.first().map(|(_, at)| *at).unwrap_or_default();
    for (place, (name, at)) in residents.iter().enumerate() {
        let spot = map_spot(
            inner,
            (
                i64::from(at.x) - i64::from(centre.x),
                i64::from(at.y) - i64::from(centre.y),
            ),
        );
        if let Some(spot) = spot {
            let sign = name.chars().next().unwrap_or('o');
            frame.buffer_mut()[spot]
                .set_char(sign)
                .set_fg(palette::player(place));
        }
    }
    let block = panel("who is where");
    let rows = block.inner(list);
    frame.render_widget(block, list);
    for ((place, (name, at)), row) in residents.iter().enumerate().zip(rows.rows()) {
        let line = Line::from(vec![
            Span::styled(
                format!(" {name:<16} "),
                Style::new().fg(palette::player(place)),
            ),
            Span::raw(at.to_string()),
        ]);
        frame.render_widget(line, row);
    }
}

/// Where on a map something is that is so many cells east and south of its middle: a cell is twice as high as wide.
pub(crate) fn map_spot(area: Rect, (east, south): (i64, i64)) -> Option<(u16, u16)> {
    let x = i64::from(area.width / 2) + east.checked_mul(2)?;
    let y = i64::from(area.height / 2) + south;
    let [x, y] = [u16::try_from(x).ok()?, u16::try_from(y).ok()?];
    (x < area.width && y < area.height).then(|| (area.x + x, area.y + y))
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

/// The frame of everything that has a title.
pub(crate) fn panel(title: &str) -> Block<'static> {
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
