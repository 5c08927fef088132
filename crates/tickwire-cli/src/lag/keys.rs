//! The keys that change a network, wherever one is shown.

use std::time::Duration;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tickwire_sim::{Chance, Conditions, PRESETS};

use crate::conditions::Network;

/// What an arrow adds to the delay, and J to the jitter.
const DELAY_STEP: Duration = Duration::from_millis(10);

/// What an arrow adds to the loss: a percent.
const LOSS_STEP: u32 = 10_000;

/// The key, unless it was let go; Ctrl-C is a key here, and means q.
pub(crate) fn pressed(event: Event) -> Option<KeyCode> {
    match event {
        Event::Key(KeyEvent {
            code: KeyCode::Char('c'),
            modifiers: KeyModifiers::CONTROL,
            ..
        }) => Some(KeyCode::Char('q')),
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(key.code),
        _ => None,
    }
}

/// Changes what a key means of a network.
pub(crate) fn change(network: &mut Network, key: KeyCode) {
    let preset = match key {
        KeyCode::Char('0') => Some(Network::default()),
        KeyCode::Char(digit) => digit
            .to_digit(10)
            .and_then(|digit| PRESETS.get((digit as usize).checked_sub(1)?))
            .map(Network::from),
        _ => None,
    };
    *network = preset.unwrap_or(*network);
    for direction in [&mut network.up, &mut network.down] {
        match key {
            KeyCode::Up => direction.latency += DELAY_STEP,
            KeyCode::Down => direction.latency = direction.latency.saturating_sub(DELAY_STEP),
            KeyCode::Right => change_loss(direction, u32::saturating_add),
            KeyCode::Left => change_loss(direction, u32::saturating_sub),
            KeyCode::Char('J') => direction.jitter += DELAY_STEP,
            KeyCode::Char('j') => direction.jitter = direction.jitter.saturating_sub(DELAY_STEP),
            _ => {}
        }
    }
}

fn change_loss(direction: &mut Conditions, change: fn(u32, u32) -> u32) {
    let per_million = change(direction.loss.as_per_million(), LOSS_STEP);
    direction.loss = Chance::per_million(per_million.min(Chance::ALWAYS.as_per_million()));
}
