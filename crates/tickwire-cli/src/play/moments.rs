//! What is shown for a moment: where things touched and ships fired, what was heard, who hit the player.
//!
//! In: what a protocol told of, and when. Out: signs in the arena and words in its upper corners.

use std::collections::VecDeque;
use std::time::Duration;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::text::{Line, Span};
use tickwire_demo::{Effect, Vec2, printable};
use tickwire_session::Instant;

use crate::arena_canvas::Camera;
use crate::palette;

/// Long enough to be noticed.
const SHOWN: Duration = Duration::from_millis(400);

/// More would hide the arena.
const KEPT: usize = 64;

/// From a ship to its muzzle's flash, in dots: the cell beside the ship's own.
const MUZZLE_DOTS: f64 = 5.0;

/// What happened within the last moment, the newest last.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments(VecDeque<(Instant, Effect)>);

impl Moments {
    pub(super) fn update(&mut self, now: Instant, effects: Vec<Effect>) {
        self.0.retain(|(until, _)| now < *until);
        self.0
            .extend(effects.into_iter().map(|effect| (now + SHOWN, effect)));
        let excess = self.0.len().saturating_sub(KEPT);
        self.0.drain(..excess);
    }

    pub(super) fn draw(&self, camera: Camera, area: Rect, frame: &mut Frame<'_>) {
        let (mut heard, mut hit) = (None, None);
        for (_, effect) in &self.0 {
            match effect {
                Effect::Impact { at } => {
                    let buf = frame.buffer_mut();
                    set_sign(buf, camera, area, *at, ('✶', palette::YELLOW));
                }
                Effect::Muzzle { at, heading } => {
                    let at = *at + heading.unit() * (MUZZLE_DOTS * camera.units_per_dot);
                    set_sign(frame.buffer_mut(), camera, area, at, ('✹', palette::ORANGE));
                }
                Effect::Heard { what } => heard = Some(*what),
                Effect::Hit { by } => hit = Some(printable(by)),
                _ => {}
            }
        }
        if let Some(what) = heard {
            let line = Line::from(Span::styled(format!("♪ {what} "), palette::LABEL));
            frame.render_widget(line.right_aligned(), top(area));
        }
        if let Some(by) = hit {
            let line = Line::from(Span::styled(format!(" hit by {by} "), palette::WARNING));
            frame.render_widget(line, top(area));
        }
    }
}

fn set_sign(buf: &mut Buffer, camera: Camera, area: Rect, at: Vec2, (sign, tint): (char, Color)) {
    if let Some(at) = camera.cell(area, at) {
        buf[at].set_char(sign).set_fg(tint);
    }
}

const fn top(area: Rect) -> Rect {
    Rect { height: 1, ..area }
}
