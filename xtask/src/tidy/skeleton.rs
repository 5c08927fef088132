//! Every dialect is laid out the same, so that whoever knows one finds their way in all.

use std::collections::BTreeSet;

use super::Complaint;
use super::tree::Tree;

const DIALECTS: &str = "crates/tickwire-dialects/src/";

/// What a dialect consists of, what is in it, and the paths that will do.
const PARTS: &[(&str, &[&str])] = &[
    ("the bytes of every message", &["WIRE.md"]),
    ("the states and what moves between them", &["STATES.md"]),
    ("the messages and their codec", &["message.rs", "message"]),
    ("the client's session", &["client.rs", "client"]),
    ("the server's session", &["server.rs", "server"]),
    ("every bound, with its reason", &["limits.rs"]),
];

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let dialects: BTreeSet<&str> = tree
        .files()
        .filter_map(|file| file.path.strip_prefix(DIALECTS)?.split_once('/'))
        .map(|(dialect, _)| dialect)
        .collect();
    let mut complaints = Vec::new();
    for dialect in dialects {
        for (purpose, paths) in PARTS {
            let path = |part: &&str| format!("{DIALECTS}{dialect}/{part}");
            if paths.iter().map(path).any(|path| tree.has(&path)) {
                continue;
            }
            complaints.push(Complaint {
                file: paths.first().map(path).unwrap_or_default(),
                line: None,
                what: format!(
                    "missing; it holds {purpose} (what is no dialect does not belong in this folder)"
                ),
            });
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    #[test]
    fn a_whole_dialect_is_fine() {
        let root = "crates/tickwire-dialects/src/echo";
        let parts = [
            "WIRE.md",
            "STATES.md",
            "message/hello.rs",
            "client.rs",
            "server.rs",
            "server/peer.rs",
            "limits.rs",
        ];
        let paths: Vec<String> = parts.iter().map(|part| format!("{root}/{part}")).collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        check(complaints, &files, &[]);
        // The limits are named once more in the crate's root, which is no dialect.
        check(
            complaints,
            &[&files[..6], &[("crates/tickwire-dialects/src/lib.rs", "")]].concat(),
            &[
                "crates/tickwire-dialects/src/echo/limits.rs: missing; it holds every bound, \
               with its reason (what is no dialect does not belong in this folder)",
            ],
        );
    }
}
