//! What a command prints about many datagrams, kept in a file that stays readable.
//!
//! The first output is kept whole. Of each further one, only the lines that differ from the output
//! before it with the same names on the same lines; or, if there is none, those behind what it has
//! in common with the first.

use std::fs;
use std::path::{Path, PathBuf};

/// A snapshot that is being compared.
pub(super) struct Snapshot {
    path: PathBuf,
    outputs: Vec<Vec<String>>,
    text: String,
}

impl Snapshot {
    pub(super) fn new(file: &str) -> Self {
        let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots");
        Self {
            path: snapshots.join(file),
            outputs: Vec::new(),
            text: String::new(),
        }
    }

    /// Adds what was printed about the next datagram.
    pub(super) fn add(&mut self, output: &str) {
        let (heading, output) = output
            .trim_end()
            .split_once('\n')
            .expect("a heading and rows");
        let lines: Vec<_> = output.lines().map(str::to_owned).collect();
        let alike = |other: &&Vec<String>| {
            other.len() == lines.len() && other.iter().zip(&lines).all(|(a, b)| name(a) == name(b))
        };
        let shown: Vec<_> = match (self.outputs.iter().rfind(alike), self.outputs.first()) {
            (Some(other), _) => {
                let changed = lines
                    .iter()
                    .zip(other)
                    .filter(|(line, other)| line != other);
                changed.map(|(line, _)| line.as_str()).collect()
            }
            (None, Some(first)) => {
                let same = lines
                    .iter()
                    .zip(first)
                    .take_while(|(line, other)| line == other);
                let same = same.count();
                lines[same..].iter().map(String::as_str).collect()
            }
            (None, None) => lines.iter().map(String::as_str).collect(),
        };
        self.text += &format!("{heading}\n{}\n\n", shown.join("\n"));
        self.outputs.push(lines);
    }

    /// Compares with the file, or writes it.
    pub(super) fn check(&self) {
        let text = format!("{}\n", self.text.trim_end());
        if std::env::var_os("TICKWIRE_BLESS").is_some_and(|value| value == "1") {
            fs::write(&self.path, &text).expect("a snapshot can be written");
        }
        let kept = fs::read_to_string(&self.path).unwrap_or_default();
        let mut lines = (1..).zip(kept.lines().zip(text.lines()));
        if let Some((number, (kept, printed))) = lines.find(|(_, (kept, printed))| kept != printed)
        {
            panic!(
                "{}:{number}: kept    {kept}\nbut now it prints {printed}\n\
                 If that is meant, run with TICKWIRE_BLESS=1.",
                self.path.display()
            );
        }
        assert_eq!(
            kept.len(),
            text.len(),
            "{} ends elsewhere",
            self.path.display()
        );
    }
}

/// The field that a row of the table is about.
fn name(row: &str) -> &str {
    let behind_bytes = row.char_indices().nth(33).map_or(row.len(), |(at, _)| at);
    let name = row[behind_bytes..].trim_start();
    name.split("  ").next().unwrap_or(name)
}
