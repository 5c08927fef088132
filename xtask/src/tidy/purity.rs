//! Pure crates know nothing of the operating system, and the compiler keeps that promise: as long as
//! two lines stand in their `lib.rs`, and nobody takes the standard library in by the back door.

use super::Complaint;
use super::tree::{File, Tree};

/// The pure crates: folder and package have the same name.
pub(super) const PURE: &[&str] = &[
    "tickwire-wire",
    "tickwire-session",
    "tickwire-state",
    "tickwire-replica",
    "tickwire-sim",
    "tickwire-dialects",
    "tickwire-rendezvous",
];

const PROMISES: &[&str] = &["#![no_std]", "#![forbid(unsafe_code)]"];

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for name in PURE {
        let source = format!("crates/{name}/src/");
        for file in tree.ending(".rs") {
            match file.path.strip_prefix(&source) {
                Some("lib.rs") => {
                    complaints.extend(missing_promises(name, file));
                    complaints.extend(back_doors(name, file));
                }
                Some(_) if !file.is_test() => complaints.extend(back_doors(name, file)),
                _ => {}
            }
        }
    }
    complaints
}

fn missing_promises(name: &str, file: &File) -> impl Iterator<Item = Complaint> {
    PROMISES
        .iter()
        .filter(|promise| !file.text.lines().any(|line| line == **promise))
        .map(move |promise| {
            file.complain(format!(
                "`{name}` is pure; write `{promise}` below the crate's documentation"
            ))
        })
}

fn back_doors(name: &str, file: &File) -> impl Iterator<Item = Complaint> {
    let above = std::iter::once("").chain(file.text.lines());
    file.lines()
        .zip(above)
        // An indented one is inside a module of tests.
        .filter(|((_, line), above)| {
            line.starts_with("extern crate std") && !above.starts_with("#[cfg(")
        })
        .map(move |((number, _), _)| {
            file.complain_at(
                number,
                format!("`{name}` is pure; take the standard library under `#[cfg(test)]` only"),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    const PROMISED: &str = "//! Docs.\n\n#![no_std]\n#![forbid(unsafe_code)]\n";

    #[track_caller]
    fn check_lib(text: &str, expected: &[&str]) {
        check(
            complaints,
            &[("crates/tickwire-wire/src/lib.rs", text)],
            expected,
        );
    }

    #[test]
    fn both_promises_are_asked_for() {
        check_lib(PROMISED, &[]);
        check_lib(
            "//! `#![no_std]` is only spoken of.\n#![forbid(unsafe_code)]\n",
            &["crates/tickwire-wire/src/lib.rs: `tickwire-wire` is pure; \
               write `#![no_std]` below the crate's documentation"],
        );
    }

    #[test]
    fn the_standard_library_is_for_tests() {
        check_lib(&format!("{PROMISED}#[cfg(test)]\nextern crate std;\n"), &[]);
        check_lib(
            &format!("{PROMISED}extern crate std;\n"),
            &[
                "crates/tickwire-wire/src/lib.rs:5: `tickwire-wire` is pure; \
               take the standard library under `#[cfg(test)]` only",
            ],
        );
    }

    #[test]
    fn other_crates_may_do_as_they_like() {
        check(complaints, &[("crates/tickwire-net/src/lib.rs", "")], &[]);
    }
}
