//! What a tester sees and presses while a proxy runs.
//!
//! In: the network and what went through it. Out: a picture for the [`Screen`], and the network as keys changed
//! it.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Wrap};
use tickwire_session::Instant;
use tickwire_sim::{Chance, PRESETS};

use super::Traffic;
use super::keys::{change, pressed};
use crate::conditions::{Network, Words};
use crate::figures::{bars, kbits, per_second};
use crate::palette::{DIM, FAINT, GREEN, ORANGE};
use crate::screen::{Input, Screen};

/// Seconds of traffic that are shown.
const SECONDS_KEPT: usize = 60;

const SECOND: Duration = Duration::from_secs(1);

pub(super) struct Panel {
    screen: Screen<Picture>,
    picture: Picture,
    /// The beginning of the second that is counted.
    second: Traffic,
    /// What the network was before it was cut.
    cut: Option<Network>,
}

/// All that one drawing needs.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    title: String,
    network: Network,
    is_cut: bool,
    clients: usize,
    traffic: Traffic,
    /// The last second's datagrams and kilobits a second, up and down.
    rates: [(f64, f64); 2],
    /// Kilobits of each of the last seconds, up and down.
    history: [VecDeque<f64>; 2],
}

impl Panel {
    pub(super) fn open(listen: SocketAddr, to: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self {
            screen: Screen::open(Input::Typing, draw)?,
            picture: Picture::new(format!(" {listen} ⇄ {to} ")),
            second: Traffic::default(),
            cut: None,
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.screen.is_open()
    }

    pub(super) fn close(self) -> anyhow::Result<()> {
        self.screen.close()
    }

    /// Changes the network by what was pressed; break: the tester has seen enough.
    pub(super) fn handle_keys(&mut self, network: &mut Network) -> ControlFlow<()> {
        let pressed: Vec<_> = self.screen.events().filter_map(pressed).collect();
        for key in pressed {
            match key {
                KeyCode::Char('q') | KeyCode::Esc => return ControlFlow::Break(()),
                KeyCode::Char('x') => match self.cut.take() {
                    Some(before) => *network = before,
                    None => {
                        self.cut = Some(*network);
                        for direction in [&mut network.up, &mut network.down] {
                            direction.loss = Chance::ALWAYS;
                        }
                    }
                },
                other => change(network, other),
            }
        }
        ControlFlow::Continue(())
    }

    pub(super) fn show(&mut self, network: &Network, traffic: Traffic, clients: usize) {
        self.picture.network = *network;
        self.picture.is_cut = self.cut.is_some();
        self.picture.clients = clients;
        self.picture.traffic = traffic;
        if traffic.at.since(self.second.at) >= SECOND {
            self.picture.add_second(&self.second, &traffic);
            self.second = traffic;
        }
        self.screen.show(self.picture.clone());
    }
}

impl Picture {
    fn new(title: String) -> Self {
        Self {
            title,
            network: Network::default(),
            is_cut: false,
            clients: 0,
            traffic: Traffic::default(),
            rates: [(0.0, 0.0); 2],
            history: [VecDeque::new(), VecDeque::new()],
        }
    }

    fn add_second(&mut self, before: &Traffic, now: &Traffic) {
        let span = now.at.since(before.at.max(Instant::ZERO));
        for direction in 0..2 {
            let [datagrams, bytes] = [
                now.links[direction].pushed - before.links[direction].pushed,
                now.bytes[direction] - before.bytes[direction],
            ];
            let kbits = kbits(bytes, span);
            self.rates[direction] = (per_second(datagrams, span), kbits);
            let history = &mut self.history[direction];
            if history.len() == SECONDS_KEPT {
                history.pop_front();
            }
            history.push_back(kbits);
        }
    }
}

fn draw(picture: &Picture, frame: &mut Frame<'_>) {
    let [up, down, keys] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Fill(1),
        Constraint::Length(3),
    ])
    .areas(frame.area());
    let directions = [&picture.network.up, &picture.network.down];
    let names = [
        ("up: clients to server", ORANGE),
        ("down: server to clients", GREEN),
    ];
    for (direction, area) in [up, down].into_iter().enumerate() {
        let (name, color) = names[direction];
        let links = picture.traffic.links[direction];
        let (datagrams, kbits) = picture.rates[direction];
        let history = &picture.history[direction];
        let full = history.iter().copied().fold(1.0, f64::max);
        let words = match picture.is_cut {
            true => "cut: nothing passes until x is pressed again".to_owned(),
            false => Words(directions[direction]).to_string().replace(',', "  "),
        };
        let lines = vec![
            Line::styled(words, Style::new().fg(color)),
            Line::raw(format!("{datagrams:.0} datagrams/s, {kbits:.0} kbit/s")),
            Line::raw(format!(
                "{} sent, {} arrived, {} lost, {} overflowed, {} duplicated, {} reordered",
                links.pushed,
                links.delivered,
                links.lost,
                links.overflowed,
                links.duplicated,
                links.reordered
            )),
            Line::styled(bars(history.iter().copied(), full), Style::new().fg(color)),
        ];
        let block = Block::bordered()
            .border_style(Style::new().fg(FAINT))
            .title(Span::raw(format!(" {name} ")));
        let block = if direction == 0 {
            block.title_top(Line::raw(picture.title.as_str()).right_aligned())
        } else {
            block
        };
        frame.render_widget(
            Paragraph::new(lines)
                .wrap(Wrap { trim: false })
                .block(block),
            area,
        );
    }
    let names = PRESETS.iter().enumerate();
    let presets: Vec<_> = names
        .map(|(at, preset)| format!("{} {}", at + 1, preset.name))
        .collect();
    let help = vec![
        Line::raw(format!(
            "{} clients   ↑↓ delay   ←→ loss   j J jitter   x cut   q end",
            picture.clients
        )),
        Line::raw(format!("0 off   {}", presets.join("   "))),
    ];
    frame.render_widget(Paragraph::new(help).style(Style::new().fg(DIM)), keys);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot;

    #[test]
    fn keys_change_the_network() {
        let mut network = Network::default();
        let mut press = |keys: &[KeyCode]| {
            keys.iter().for_each(|key| change(&mut network, *key));
            network.to_string()
        };
        assert_eq!(
            press(&[KeyCode::Up, KeyCode::Up, KeyCode::Right]),
            "delay=20ms,loss=1%"
        );
        assert_eq!(
            press(&[KeyCode::Down, KeyCode::Left, KeyCode::Left]),
            "delay=10ms"
        );
        assert_eq!(press(&[KeyCode::Char('2')]), "wifi");
        assert_eq!(press(&[KeyCode::Char('7'), KeyCode::Char('9')]), "wifi");
        assert_eq!(
            press(&[KeyCode::Char('0'), KeyCode::Char('J')]),
            "jitter=10ms"
        );
    }

    #[test]
    fn the_panel_is_as_agreed() {
        let mut picture = Picture::new(" 127.0.0.1:7000 ⇄ 127.0.0.1:32422 ".into());
        picture.network = "wifi,down.loss=5%".parse().unwrap();
        let mut now = Traffic::default();
        for second in 1..=20 {
            let before = now;
            now.at = Instant::from_millis(second * 1_000);
            now.bytes = [before.bytes[0] + 1_000 * second, before.bytes[1] + 20_000];
            for links in &mut now.links {
                links.pushed += 60;
                links.delivered += 57;
                links.lost += 3;
            }
            picture.add_second(&before, &now);
        }
        picture.traffic = now;
        picture.clients = 3;
        snapshot::check("lag-80x24", &snapshot::text(&picture, (80, 24), draw));
        // Whatever the size, nothing panics.
        for size in [(1, 1), (10, 3), (300, 80)] {
            snapshot::text(&picture, size, draw);
        }
    }
}
