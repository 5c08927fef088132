//! Files are named after what they hold: nouns of the protocol.

use super::Complaint;
use super::tree::Tree;

/// Names under which anything could be found, and so nothing.
const EMPTY_NAMES: &[&str] = &[
    "common", "helper", "helpers", "misc", "types", "util", "utils",
];

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    tree.ending(".rs")
        .filter_map(|file| {
            if file.path.ends_with("/mod.rs") {
                return Some(file.complain("write `name.rs` beside `name/`, not `mod.rs` in it"));
            }
            let mut parts = file.path.trim_end_matches(".rs").split('/');
            let empty = parts.find(|part| EMPTY_NAMES.contains(part))?;
            Some(file.complain(format!(
                "`{empty}` says nothing; name it after what it holds, or move that to its users"
            )))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    #[test]
    fn nouns_are_fine() {
        check(
            complaints,
            &[("crates/a/src/ack.rs", ""), ("src/utility_belt.rs", "")],
            &[],
        );
    }

    #[test]
    fn empty_names_are_named() {
        check(
            complaints,
            &[
                ("crates/a/src/utils.rs", ""),
                ("crates/a/tests/common/echo.rs", ""),
                ("crates/a/src/ack/mod.rs", ""),
            ],
            &[
                "crates/a/src/utils.rs: `utils` says nothing; \
                 name it after what it holds, or move that to its users",
                "crates/a/tests/common/echo.rs: `common` says nothing; \
                 name it after what it holds, or move that to its users",
                "crates/a/src/ack/mod.rs: write `name.rs` beside `name/`, not `mod.rs` in it",
            ],
        );
    }
}
