//! The line in which a player writes.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tickwire_demo::is_printable;

/// Bytes of a line: what every protocol's chat carries.
const LINE_BYTES: usize = 200;

/// A line that is being written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Editor {
    text: String,
}

/// What a key made of the line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Edited {
    /// It is still being written.
    Writing,
    /// It is given up.
    Cancelled,
    /// It is done; empty, if nothing was written.
    Done(String),
}

impl Editor {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Edited {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Edited::Done(self.text.trim().to_owned()),
            KeyCode::Esc => return Edited::Cancelled,
            KeyCode::Backspace => {
                self.text.pop();
            }
            KeyCode::Char('u') if control => self.text.clear(),
            KeyCode::Char('w') if control => {
                let kept = self.text.trim_end().rfind(' ').map_or(0, |space| space + 1);
                self.text.truncate(kept);
            }
            KeyCode::Char(letter) if !control => self.paste(letter.encode_utf8(&mut [0; 4])),
            _ => {}
        }
        Edited::Writing
    }

    /// Appends what fits and can be shown.
    pub(super) fn paste(&mut self, text: &str) {
        for letter in text.chars().filter(|&letter| is_printable(letter)) {
            if self.text.len() + letter.len_utf8() <= LINE_BYTES {
                self.text.push(letter);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(editor: &mut Editor, code: KeyCode, modifiers: KeyModifiers) -> Edited {
        editor.press(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn a_line_is_written_corrected_and_sent() {
        let mut editor = Editor::default();
        editor.paste("hello wörld\u{1b}\n");
        press(&mut editor, KeyCode::Char('w'), KeyModifiers::CONTROL);
        assert_eq!(editor.text(), "hello ");
        for letter in "yoü".chars() {
            press(&mut editor, KeyCode::Char(letter), KeyModifiers::NONE);
        }
        press(&mut editor, KeyCode::Backspace, KeyModifiers::NONE);
        let done = press(&mut editor, KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(done, Edited::Done("hello yo".into()));
    }

    #[test]
    fn a_line_is_bounded() {
        let mut editor = Editor::default();
        editor.paste(&"ä".repeat(1_000));
        assert_eq!(editor.text().len(), LINE_BYTES);
        let cancelled = press(&mut editor, KeyCode::Esc, KeyModifiers::NONE);
        assert_eq!(cancelled, Edited::Cancelled);
    }
}
