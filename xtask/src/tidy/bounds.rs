//! A `WIRE.md` that lists the bounds of its dialect lists those that there are, and all of them.

use std::collections::BTreeSet;

use super::Complaint;
use super::tree::Tree;

/// The head of the table that lists them.
const HEAD: &str = "| name | value | bounds |";

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for document in tree.ending("/WIRE.md") {
        let Some(listed) = listed(&document.text) else {
            continue;
        };
        let limits = document.path.replace("/WIRE.md", "/limits.rs");
        let source = tree.files().find(|file| file.path == limits);
        let bounds = source.map(|file| bounds(&file.text)).unwrap_or_default();
        let complain = |what| Complaint {
            file: document.path.clone(),
            line: None,
            what,
        };
        let unlisted = bounds.difference(&listed);
        complaints.extend(unlisted.map(|name| {
            complain(format!(
                "the table of bounds lacks `{name}`, which {limits} has"
            ))
        }));
        let unknown = listed.difference(&bounds);
        complaints.extend(unknown.map(|name| {
            complain(format!(
                "the table of bounds has `{name}`, which {limits} lacks"
            ))
        }));
    }
    complaints
}

/// The names in the table of bounds, if there is one.
fn listed(document: &str) -> Option<BTreeSet<&str>> {
    let mut lines = document.lines();
    lines.find(|line| *line == HEAD)?;
    let rows = lines.take_while(|line| line.starts_with('|'));
    // The second row only draws a line.
    Some(rows.filter_map(|row| row.split('`').nth(1)).collect())
}

/// The public constants of a file.
fn bounds(source: &str) -> BTreeSet<&str> {
    let names = source.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("pub const ")?.split_once(':')?;
        Some(name)
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    const WIRE: &str = "| name | value | bounds |\n|---|---|---|\n| `A` | 1 | `B` |\n\n| `C` | | |";

    #[track_caller]
    fn check_limits(limits: &str, expected: &[&str]) {
        let files = [("echo/WIRE.md", WIRE), ("echo/limits.rs", limits)];
        check(complaints, &files, expected);
    }

    #[test]
    fn the_table_and_the_file_have_the_same_names() {
        check_limits("/// One.\npub const A: u8 = 1;\nconst OWN: u8 = 2;\n", &[]);
        check_limits(
            "pub const B: u8 = 1;",
            &[
                "echo/WIRE.md: the table of bounds lacks `B`, which echo/limits.rs has",
                "echo/WIRE.md: the table of bounds has `A`, which echo/limits.rs lacks",
            ],
        );
    }

    #[test]
    fn a_document_without_a_table_is_fine() {
        let files = [
            ("echo/WIRE.md", "# Echo"),
            ("echo/limits.rs", "pub const A: u8 = 1;"),
        ];
        check(complaints, &files, &[]);
    }
}
