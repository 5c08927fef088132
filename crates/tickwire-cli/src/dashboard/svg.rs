//! The picture of the dashboard in the README, from a real run.
//!
//! ```text
//! cargo test -p tickwire-cli --bins -- --ignored the_picture_of_the_readme
//! ```
//!
//! plays for half a minute, with clients on real sockets, and writes `docs/dashboard.svg`. Dots are drawn,
//! not written, so that the picture looks the same whichever fonts there are.

use std::collections::BTreeMap;
use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use tickwire_demo::gateway::{ArenaClient, Connect, PROTOCOLS, Settings};
use tickwire_demo::{Bot, STEP};
use tickwire_net::{Carries, Driver};

use super::*;
use crate::palette;
use crate::serve::meter::Meter;

/// The size of a cell, in pixels.
const CELL: (usize, usize) = (8, 16);

const INK: &str = "#d6d9e0";
const PAPER: &str = "#0d1017";

/// A buffer as an SVG.
fn svg(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width) * CELL.0;
    let height = usize::from(buffer.area.height) * CELL.1;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-8 -8 {} {}\" \
         font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"13.3\">\n\
         <rect x=\"-8\" y=\"-8\" width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n",
        width + 16,
        height + 16
    );
    // One path of dots for each colour.
    let mut dots: BTreeMap<&str, String> = BTreeMap::new();
    for (row, cells) in buffer.content.chunks(buffer.area.width.into()).enumerate() {
        let mut column = 0;
        for cells in cells.chunk_by(|a, b| ink(a) == ink(b) && a.modifier == b.modifier) {
            write_run(&mut svg, cells, (column, row));
            for (cell, column) in cells.iter().zip(column..) {
                write_dots(dots.entry(ink(cell)).or_default(), cell, (column, row));
            }
            column += cells.len();
        }
    }
    for (ink, path) in dots.into_iter().filter(|(_, path)| !path.is_empty()) {
        writeln!(svg, "<path fill=\"{ink}\" d=\"{path}\"/>").unwrap();
    }
    svg + "</svg>\n"
}

/// Cells of one style, word by word: what the letters of a font are wide does not add up then.
fn write_run(svg: &mut String, cells: &[Cell], (column, row): (usize, usize)) {
    let is_letter = |cell: &Cell| cell.symbol() != " " && pattern(cell).is_none();
    let mut column = column;
    for word in cells.chunk_by(|a, b| is_letter(a) && is_letter(b)) {
        if is_letter(&word[0]) {
            let text: String = word.iter().map(Cell::symbol).collect();
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            let (x, y) = (column * CELL.0, row * CELL.1 + 12);
            let (ink, width) = (ink(&word[0]), word.len() * CELL.0);
            let weight = if word[0].modifier.contains(Modifier::BOLD) {
                " font-weight=\"bold\""
            } else {
                ""
            };
            writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" textLength=\"{width}\" fill=\"{ink}\"{weight}>{text}</text>"
            )
            .unwrap();
        }
        column += word.len();
    }
}

/// The dots of a braille sign as squares.
fn write_dots(path: &mut String, cell: &Cell, (column, row): (usize, usize)) {
    // Bits go down the left side, down the right side, and then along the last row.
    const PLACES: [(usize, usize); 8] = [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
        (0, 3),
        (1, 3),
    ];
    let Some(pattern) = pattern(cell) else {
        return;
    };
    for (bit, (right, down)) in PLACES.into_iter().enumerate() {
        if pattern >> bit & 1 == 1 {
            let x = column * CELL.0 + right * 4;
            let y = row * CELL.1 + down * 4;
            write!(path, "M{x} {y}h3v3h-3z").unwrap();
        }
    }
}

/// Which dots of a braille sign are set.
fn pattern(cell: &Cell) -> Option<u32> {
    let letter = u32::from(cell.symbol().chars().next()?);
    (0x2800..=0x28ff).contains(&letter).then(|| letter - 0x2800)
}

/// Okabe and Ito's own values where a terminal has to do with the nearest of its table.
fn ink(cell: &Cell) -> &'static str {
    const INKS: [(Color, &str); 9] = [
        (palette::ORANGE, "#e69f00"),
        (palette::SKY_BLUE, "#56b4e9"),
        (palette::GREEN, "#009e73"),
        (palette::YELLOW, "#f0e442"),
        (palette::BLUE, "#2f8fd0"),
        (palette::VERMILLION, "#d55e00"),
        (palette::PURPLE, "#cc79a7"),
        (palette::FAINT, "#585b63"),
        (palette::DIM, "#949494"),
    ];
    INKS.iter()
        .find(|(color, _)| *color == cell.fg)
        .map_or(INK, |(_, ink)| ink)
}

/// A server with its dashboard, and clients of every protocol on real sockets.
fn real_run(lasts: Duration) -> Picture {
    let mut driver = Driver::new().unwrap();
    let mut host = GameServer::new(7, 5);
    let mut players: Vec<(Bot, Box<dyn ArenaClient>)> = Vec::new();
    let mut picture = Picture::default();
    let mut names = ["Ada", "Grace", "Linus", "Barbara", "Edsger"]
        .into_iter()
        .cycle();
    for protocol in PROTOCOLS {
        let node = driver
            .bind("127.0.0.1:0".parse().unwrap(), Carries::Both)
            .unwrap();
        host.serve(protocol, driver.now(), [0; 32], &Settings::default());
        let addr = driver.local_addr(node).unwrap();
        let shown = format!("127.0.0.1:{}", protocol.port);
        picture.open.push((protocol.name, shown));
        let count = 6 / PROTOCOLS.len().clamp(2, 6);
        for name in names.by_ref().take(count) {
            let bot = Bot::new(players.len() as u64 + 40);
            let Connect::Arena(connect) = protocol.connect else {
                break;
            };
            let gateway = connect(driver.now(), addr.into(), name, bot.loadout());
            players.push((bot, gateway));
        }
    }
    players.iter().for_each(|_| {
        driver.open();
    });
    let mut meter = Meter::new(PROTOCOLS.iter().collect());
    let mut blasts = Blasts::default();
    let (mut notices, mut next_step) = (Vec::new(), driver.now());
    while driver.now().since(Instant::ZERO) < lasts {
        let mut sessions = host.sessions();
        sessions.extend(players.iter_mut().map(|(_, gateway)| gateway.session()));
        driver.run_until(next_step, &mut sessions).unwrap();
        let now = driver.now();
        next_step += STEP;
        for (bot, gateway) in &mut players {
            gateway.collect(now, &mut Vec::new());
            let view = gateway.view(now);
            gateway.act(&bot.think(&view));
        }
        let began = std::time::Instant::now();
        host.step(now, &mut notices);
        meter.add_step(began.elapsed());
        picture.time = now.since(Instant::ZERO);
        for notice in notices.drain(..) {
            picture.add_notice(picture.time, notice.to_string());
        }
        if let Some(report) = meter.measure(now, &host, driver.counters()) {
            picture.add_report(report);
        }
        picture.view = host.arena().view();
        picture.scores = host.arena().scores();
        picture.blasts = blasts.update(&picture.view);
    }
    picture
}

#[test]
#[ignore = "writes docs/dashboard.svg"]
fn the_picture_of_the_readme() {
    let picture = real_run(Duration::from_secs(24));
    let backend = ratatui::backend::TestBackend::new(112, 34);
    let mut terminal = ratatui::Terminal::new(backend).unwrap();
    terminal.draw(|frame| draw(&picture, frame)).unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dashboard.svg");
    std::fs::write(file, svg(terminal.backend().buffer())).unwrap();
}

#[test]
fn letters_are_written_and_dots_are_drawn() {
    let buffer = Buffer::with_lines(["a<⠁"]);
    let svg = svg(&buffer);
    assert!(
        svg.contains("<text x=\"0\" y=\"12\" textLength=\"16\" fill=\"#d6d9e0\">a&lt;</text>"),
        "{svg}"
    );
    assert!(svg.contains("d=\"M16 0h3v3h-3z\""), "{svg}");
}
