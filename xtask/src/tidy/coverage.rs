//! Every section of the five published documents is in `docs/COVERAGE.md`, with tests that exist.
//!
//! The documents belong to others and are not in the repository, so their headings stand here. A row of the
//! table is: what the document says, where it stands, and the tests that show it, each in backticks, with as
//! much of its path as it takes to tell it from others (`client::playing::fifteen_seconds_of_silence_end_it`).

use std::collections::BTreeMap;

use super::Complaint;
use super::shown::Tests;
use super::tree::{File, Tree};

const TABLE: &str = "docs/COVERAGE.md";

/// The documents, and the headings of each in its own words and order, but for those that stand above other
/// headings alone, links to read, and histories of revisions.
const DOCUMENTS: &[(&str, &[&str])] = &[
    (
        "lwar",
        &[
            "Message Delivery Guarantees",
            "Network-related constants",
            "Packet Header",
            "Message Types",
            "Message Header",
            "Messages Payload Data",
            "Connecting to the server",
            "Disconnecting from the server",
            "Client-side prediction",
        ],
    ),
    (
        "pixmess",
        &[
            "Types",
            "Compression tips",
            "Packets",
            "Stuff to expand upon",
        ],
    ),
    (
        "C++evy",
        &[
            "Protocols",
            "Data format",
            "Client",
            "Server",
            "User",
            "Bot",
            "State",
            "State: Communication",
            "Event",
            "Event: Communication",
            "Client Action",
            "Client Action Responses",
            "Built in Events",
            "Summon Entity",
        ],
    ),
    (
        "OpenDrakan",
        &[
            "Tick number",
            "Asset references",
            "Snapshot transmission",
            "Object States",
            "State serialization",
            "Data structures",
            "Basic packet structure",
            "Handshake packets",
            "Snapshot packets",
            "Message Channel packets",
            "Event packets",
        ],
    ),
    (
        "reone",
        &[
            "Requirements",
            "Connection and Initialization",
            "Timing Parameters",
            "Snapshot and Delta Serialization",
            "Broadcast Packet Structure",
            "Client Architecture",
            "Server Architecture",
        ],
    ),
];

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let Some(table) = tree.files().find(|file| file.path == TABLE) else {
        let (file, line) = (TABLE.to_owned(), None);
        let what = "is missing; it says which test shows what of each document".to_owned();
        return vec![Complaint { file, line, what }];
    };
    let mut complaints = check_sections(table);
    let tests = Tests::of(tree);
    for (line, row) in rows(table) {
        let Some(shown) = row.trim_end_matches('|').rsplit('|').next() else {
            continue;
        };
        let mut named = shown.split('`').skip(1).step_by(2).peekable();
        if named.peek().is_none() {
            complaints.push(table.complain_at(line, "name the test that shows this"));
        }
        for test in named.filter(|test| !tests.has(test)) {
            let what = format!("there is no test `{test}`; name the one that shows this");
            complaints.push(table.complain_at(line, what));
        }
    }
    complaints
}

/// Whatever the headings of the table lack, or have too much.
fn check_sections(table: &File) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    // Lines of each section with its document, and whether it has a row.
    let mut sections: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    let (mut document, mut section) = ("", "");
    for (number, line) in table.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            (document, section) = (heading, "");
        } else if let Some(heading) = line.strip_prefix("### ") {
            section = heading;
            sections.insert((document, section), false);
            let known = DOCUMENTS.iter().find(|(name, _)| *name == document);
            if !known.is_some_and(|(_, headings)| headings.contains(&section)) {
                let what = format!("{document} has no section `{section}`");
                complaints.push(table.complain_at(number, what));
            }
        } else if is_row(line) {
            sections.insert((document, section), true);
        }
    }
    for (document, headings) in DOCUMENTS {
        let has_row = |heading: &&str| sections.get(&(*document, *heading)).copied();
        for heading in *headings {
            let what = match has_row(heading) {
                None => format!("add the section `{heading}` of {document}"),
                Some(false) => format!("say what shows the section `{heading}` of {document}"),
                Some(true) => continue,
            };
            complaints.push(table.complain(what));
        }
    }
    complaints
}

/// Rows of tables, without their heads.
fn rows(table: &File) -> impl Iterator<Item = (usize, &str)> {
    table.lines().filter(|(_, line)| is_row(line))
}

fn is_row(line: &str) -> bool {
    line.starts_with("| ") && !line.starts_with("| it says |")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    const TEST: (&str, &str) = (
        "crates/tickwire-dialects/tests/lwar/client/playing.rs",
        "#[test]\nfn it_plays() {\nfn somebody() {",
    );

    /// A table with a row in every section; the one of lwar's first section names `test`.
    fn table(test: &str) -> String {
        let mut text = String::new();
        for (document, headings) in DOCUMENTS {
            text += &format!("## {document}\n");
            for heading in *headings {
                text += &format!("### {heading}\n| it says | where | shown by |\n|---|---|---|\n");
                text += &format!("| a | `b` | `{test}` |\n");
            }
        }
        text
    }

    #[test]
    fn a_table_of_everything_is_fine() {
        for test in [
            "it_plays",
            "playing::it_plays",
            "lwar::client::playing::it_plays",
        ] {
            check(complaints, &[TEST, (TABLE, &table(test))], &[]);
        }
    }

    #[test]
    fn a_test_that_does_not_exist_is_named() {
        for test in ["it_playes", "leaving::it_plays", "somebody"] {
            let text = table("it_plays").replacen("`it_plays`", &format!("`{test}`"), 1);
            let complaint = format!(
                "docs/COVERAGE.md:5: there is no test `{test}`; name the one that shows this"
            );
            check(complaints, &[TEST, (TABLE, &text)], &[&complaint]);
        }
    }

    #[test]
    fn a_row_without_a_test_is_a_promise() {
        let text = table("it_plays").replacen("`it_plays`", "somebody", 1);
        let complaint = "docs/COVERAGE.md:5: name the test that shows this";
        check(complaints, &[TEST, (TABLE, &text)], &[complaint]);
    }

    #[test]
    fn sections_are_there_and_no_others() {
        let text = table("it_plays").replacen("### Packet Header\n", "### Packet Footer\n", 1);
        check(
            complaints,
            &[TEST, (TABLE, &text)],
            &[
                "docs/COVERAGE.md:10: lwar has no section `Packet Footer`",
                "docs/COVERAGE.md: add the section `Packet Header` of lwar",
            ],
        );
        let row = "| a | `b` | `it_plays` |\n";
        let text = table("it_plays").replacen(row, "", 1);
        let complaint =
            "docs/COVERAGE.md: say what shows the section `Message Delivery Guarantees` of lwar";
        check(complaints, &[TEST, (TABLE, &text)], &[complaint]);
        let missing =
            "docs/COVERAGE.md: is missing; it says which test shows what of each document";
        check(complaints, &[TEST], &[missing]);
    }
}
