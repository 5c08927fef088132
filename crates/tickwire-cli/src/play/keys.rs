//! Which controls are held.
//!
//! Some terminals tell when a key is let go (kitty's keyboard protocol, which [`crate::screen`] asks
//! for); they are believed from the first such report on. The others only repeat a key that is held:
//! after about half a second, then every 30 ms or so, and only the key pressed last. There, a control is
//! held for a while after each press: long enough to bridge the pauses where holding is usual (thrust,
//! triggers), short where a tap must stay a tap (turning).

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use tickwire_demo::limits::WEAPON_SLOTS;
use tickwire_session::Instant;

/// From a press to the first repetition, on slow keyboards.
const FIRST_REPEAT: Duration = Duration::from_millis(550);
/// From repetition to repetition, over a bad line.
const NEXT_REPEAT: Duration = Duration::from_millis(250);
/// A tap that turns: 23 degrees.
const TAP: Duration = Duration::from_millis(120);

/// Something that can be held.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Control {
    Forward,
    Backward,
    TurnLeft,
    TurnRight,
    StrafeLeft,
    StrafeRight,
    Fire(usize),
}

impl Control {
    /// What a key controls.
    fn of(code: KeyCode) -> Option<Self> {
        let letter = match code {
            KeyCode::Up => return Some(Self::Forward),
            KeyCode::Down => return Some(Self::Backward),
            KeyCode::Left => return Some(Self::TurnLeft),
            KeyCode::Right => return Some(Self::TurnRight),
            KeyCode::Char(letter) => letter.to_ascii_lowercase(),
            _ => return None,
        };
        Some(match letter {
            'w' => Self::Forward,
            's' => Self::Backward,
            'a' => Self::TurnLeft,
            'd' => Self::TurnRight,
            // Y is where Z is elsewhere.
            'z' | 'y' | ',' => Self::StrafeLeft,
            'c' | '.' => Self::StrafeRight,
            ' ' => Self::Fire(0),
            '1'..='9' => {
                let slot = letter as usize - '1' as usize;
                return (slot < WEAPON_SLOTS).then_some(Self::Fire(slot));
            }
            _ => return None,
        })
    }

    const fn opposite(self) -> Option<Self> {
        match self {
            Self::Forward => Some(Self::Backward),
            Self::Backward => Some(Self::Forward),
            Self::TurnLeft => Some(Self::TurnRight),
            Self::TurnRight => Some(Self::TurnLeft),
            Self::StrafeLeft => Some(Self::StrafeRight),
            Self::StrafeRight => Some(Self::StrafeLeft),
            Self::Fire(_) => None,
        }
    }

    /// How long a press counts, where nobody tells of its end; again: while the last one counts.
    const fn hold(self, again: bool) -> Duration {
        match self {
            Self::TurnLeft | Self::TurnRight => TAP,
            _ if again => NEXT_REPEAT,
            _ => FIRST_REPEAT,
        }
    }
}

/// The controls that are held.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// Each with the end of its holding.
    controls: Vec<(Control, Instant)>,
    /// This terminal tells when keys are let go.
    hears_releases: bool,
}

impl Held {
    /// A key was pressed, repeated or let go; whether it is a control.
    pub(super) fn handle_key(&mut self, now: Instant, key: KeyEvent) -> bool {
        let Some(control) = Control::of(key.code) else {
            return false;
        };
        self.hears_releases |= key.kind != KeyEventKind::Press;
        let again = self.is_held(now, control);
        self.controls.retain(|(held, _)| *held != control);
        if key.kind == KeyEventKind::Release {
            return true;
        }
        let end = if self.hears_releases {
            Instant::NEVER
        } else {
            // Without releases, turning round would wait for the end of the hold.
            self.controls
                .retain(|(held, _)| control.opposite() != Some(*held));
            now + control.hold(again)
        };
        self.controls.push((control, end));
        true
    }

    /// Lets everything go: the keys belong to somebody else for a while.
    pub(super) fn clear(&mut self) {
        self.controls.clear();
    }

    pub(super) fn is_held(&self, now: Instant, control: Control) -> bool {
        let mut controls = self.controls.iter();
        controls.any(|(held, end)| *held == control && now < *end)
    }
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::KeyModifiers;

    use super::*;

    const UP: KeyCode = KeyCode::Up;
    const LEFT: KeyCode = KeyCode::Left;

    /// Hands in keys at their milliseconds, then compares what is held at others.
    #[track_caller]
    fn check(keys: &[(u64, KeyCode, KeyEventKind)], control: Control, expected: &[(u64, bool)]) {
        let mut held = Held::default();
        for &(at, code, kind) in keys {
            let key = KeyEvent::new_with_kind(code, KeyModifiers::NONE, kind);
            assert!(held.handle_key(Instant::from_millis(at), key));
        }
        for &(at, is_held) in expected {
            let now = Instant::from_millis(at);
            assert_eq!(held.is_held(now, control), is_held, "at {at} ms");
        }
    }

    #[test]
    fn a_press_bridges_the_pause_before_repetitions() {
        let keys = [(0, UP, KeyEventKind::Press)];
        check(
            &keys,
            Control::Forward,
            &[(0, true), (549, true), (550, false)],
        );
    }

    #[test]
    fn repetitions_hold_until_they_stop() {
        let times = [0, 500, 530, 560];
        let keys = times.map(|at| (at, UP, KeyEventKind::Press));
        check(
            &keys,
            Control::Forward,
            &[(700, true), (809, true), (810, false)],
        );
    }

    #[test]
    fn a_tap_turns_a_little() {
        let keys = [(0, LEFT, KeyEventKind::Press)];
        check(&keys, Control::TurnLeft, &[(119, true), (120, false)]);
    }

    #[test]
    fn the_opposite_takes_over_at_once() {
        let keys = [
            (0, UP, KeyEventKind::Press),
            (100, KeyCode::Char('S'), KeyEventKind::Press),
        ];
        check(&keys, Control::Forward, &[(100, false)]);
        check(&keys, Control::Backward, &[(100, true)]);
    }

    #[test]
    fn reported_releases_are_believed() {
        let mut keys = vec![
            (0, LEFT, KeyEventKind::Press),
            (90, LEFT, KeyEventKind::Release),
            (100, UP, KeyEventKind::Press),
        ];
        check(&keys, Control::TurnLeft, &[(90, false)]);
        check(&keys, Control::Forward, &[(10_000, true)]);
        // Two keys at a time, however long.
        keys.push((110, LEFT, KeyEventKind::Press));
        check(&keys, Control::TurnLeft, &[(10_000, true)]);
        keys.push((120, UP, KeyEventKind::Release));
        check(&keys, Control::Forward, &[(120, false)]);
    }

    #[test]
    fn keys_without_a_control_are_left_to_others() {
        let key = KeyEvent::new(KeyCode::Char('9'), KeyModifiers::NONE);
        assert!(!Held::default().handle_key(Instant::ZERO, key));
    }
}
