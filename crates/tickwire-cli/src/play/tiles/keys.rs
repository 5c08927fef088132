//! What keys mean to a walker.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tickwire_demo::tiles::Direction;

/// What a walker can want.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Command {
    Walk(Direction),
    /// Looks there without going.
    Turn(Direction),
    Place,
    Remove,
    /// Asks who one is.
    Identify,
    /// Hears no more of whoever is nearest.
    Ignore,
    NextWare,
    LastWare,
    Write,
    Help,
    Leave,
}

/// What a key means, if anything.
pub(super) fn command(key: KeyEvent) -> Option<Command> {
    if key
        .modifiers
        .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
    {
        return None;
    }
    if let Some(direction) = direction(key.code) {
        let turns = key.modifiers.contains(KeyModifiers::SHIFT);
        return Some(if turns {
            Command::Turn(direction)
        } else {
            Command::Walk(direction)
        });
    }
    Some(match key.code {
        KeyCode::Char(' ') => Command::Place,
        KeyCode::Char('x' | 'X') | KeyCode::Delete | KeyCode::Backspace => Command::Remove,
        KeyCode::Char(']') => Command::NextWare,
        KeyCode::Char('[') => Command::LastWare,
        KeyCode::Char('p' | 'P') => Command::Identify,
        KeyCode::Char('i' | 'I') => Command::Ignore,
        KeyCode::Char('q' | 'Q') => Command::Leave,
        KeyCode::Char('?') => Command::Help,
        KeyCode::Enter => Command::Write,
        _ => return None,
    })
}

/// The arrows, the number pad with its names, and letters for those who have neither.
fn direction(code: KeyCode) -> Option<Direction> {
    Some(match code {
        KeyCode::Right | KeyCode::Char('6' | 'd' | 'D') => Direction::East,
        KeyCode::Left | KeyCode::Char('4' | 'a' | 'A') => Direction::West,
        KeyCode::Down | KeyCode::Char('2' | 's' | 'S') => Direction::South,
        KeyCode::Up | KeyCode::Char('8' | 'w' | 'W') => Direction::North,
        KeyCode::PageDown | KeyCode::Char('3' | 'n' | 'N') => Direction::SouthEast,
        KeyCode::Home | KeyCode::Char('7' | 'y' | 'Y') => Direction::NorthWest,
        KeyCode::End | KeyCode::Char('1' | 'b' | 'B') => Direction::SouthWest,
        KeyCode::PageUp | KeyCode::Char('9' | 'u' | 'U') => Direction::NorthEast,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: KeyCode, modifiers: KeyModifiers, expected: Option<Command>) {
        assert_eq!(command(KeyEvent::new(code, modifiers)), expected);
    }

    #[test]
    fn every_direction_has_a_letter_a_digit_and_a_named_key() {
        let letters = "dasnybuw".chars().map(KeyCode::Char);
        let digits = "64237198".chars().map(KeyCode::Char);
        let named = [
            KeyCode::Right,
            KeyCode::Left,
            KeyCode::Down,
            KeyCode::PageDown,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::PageUp,
            KeyCode::Up,
        ];
        for keys in [letters.collect(), digits.collect(), named.to_vec()] {
            let meant: Vec<_> = keys.into_iter().filter_map(direction).collect();
            assert_eq!(meant.len(), 8);
            assert!(Direction::ALL.iter().all(|way| meant.contains(way)));
        }
    }

    #[test]
    fn shift_turns_and_control_is_for_others() {
        let east = Direction::East;
        check(
            KeyCode::Right,
            KeyModifiers::NONE,
            Some(Command::Walk(east)),
        );
        check(
            KeyCode::Right,
            KeyModifiers::SHIFT,
            Some(Command::Turn(east)),
        );
        check(KeyCode::Char('x'), KeyModifiers::CONTROL, None);
        check(KeyCode::Char('~'), KeyModifiers::NONE, None);
    }
}
