//! Screens as text files under review: what a drawing gives must equal what was agreed on.

use std::path::Path;

use ratatui::backend::TestBackend;
use ratatui::{Frame, Terminal};

/// Draws on a screen of this size; its text, line by line, without the colours.
pub(crate) fn text<P>(picture: &P, size: (u16, u16), draw: fn(&P, &mut Frame<'_>)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| draw(picture, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let lines = buffer.content.chunks(size.0.max(1).into()).map(|row| {
        let line: String = row.iter().map(|cell| cell.symbol()).collect();
        line.trim_end().to_owned() + "\n"
    });
    lines.collect()
}

/// Compares with `src/snapshots/NAME.txt`. After a change that is meant, `TICKWIRE_BLESS=1` writes the
/// files anew.
#[track_caller]
pub(crate) fn check(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/snapshots");
    let file = folder.join(name).with_extension("txt");
    if std::env::var_os("TICKWIRE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&file, text).unwrap();
    }
    let agreed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        agreed == text,
        "{} differs; agreed:\n{agreed}\ngot:\n{text}",
        file.display()
    );
}
