//! Every test that SECURITY.md calls a proof exists.
//!
//! In its tables the last column says what shows a row: names of tests, in backticks. A row without one shows
//! nothing.

use std::collections::BTreeMap;
use std::mem;

use super::Complaint;
use super::tree::{File, Tree};

const DOCUMENT: &str = "SECURITY.md";

/// How the last column of such a table is called.
const SHOWN_BY: &str = "shown by";

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let documents = tree.files().filter(|file| file.path == DOCUMENT);
    let tests = Tests::of(tree);
    documents
        .flat_map(|file| check_file(&tests, file))
        .collect()
}

fn check_file(tests: &Tests<'_>, file: &File) -> Vec<Complaint> {
    let mut is_proof = false;
    let mut found = Vec::new();
    for (number, line) in file.lines() {
        let Some(row) = line.trim().strip_prefix('|') else {
            is_proof = false;
            continue;
        };
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap_or("");
        if last.trim() == SHOWN_BY {
            is_proof = true;
            continue;
        }
        if !is_proof || last.chars().all(|letter| matches!(letter, '-' | ':')) {
            continue;
        }
        let names: Vec<_> = last.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            found.push(
                file.complain_at(number, "no test shows this row: name one, or drop the row"),
            );
        }
        for name in names.into_iter().filter(|name| !tests.has(name)) {
            let what = format!("there is no test `{name}`: name one that shows this row");
            found.push(file.complain_at(number, what));
        }
    }
    found
}

/// Where each test is: functions with the attribute, and those that a test macro is given (`… => name,`).
pub(super) struct Tests<'a>(BTreeMap<&'a str, Vec<&'a str>>);

impl<'a> Tests<'a> {
    pub(super) fn of(tree: &'a Tree) -> Self {
        let mut tests: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for file in tree.ending(".rs") {
            let mut is_attributed = false;
            for line in file.text.lines().map(str::trim) {
                let name = if let Some(rest) = line.strip_prefix("fn ") {
                    let name = rest.split(['(', '<']).next();
                    name.filter(|_| mem::take(&mut is_attributed))
                } else if file.is_test() {
                    let given = line.rsplit_once("=> ");
                    given.and_then(|(_, name)| name.strip_suffix(','))
                } else {
                    None
                };
                if let Some(name) = name {
                    tests.entry(name).or_default().push(file.path.as_str());
                }
                is_attributed = line == "#[test]" || (is_attributed && line.starts_with('#'));
            }
        }
        Self(tests)
    }

    /// Whether a test is called so, with as much of its path as `name` has: `client::playing::it_plays`.
    pub(super) fn has(&self, name: &str) -> bool {
        let (path, name) = name.rsplit_once("::").unwrap_or(("", name));
        let path = path.replace("::", "/");
        let files = self.0.get(name);
        files.is_some_and(|files| files.iter().any(|file| file.contains(&path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    const TEST: (&str, &str) = (
        "crates/a/tests/b.rs",
        "mod tests {\n    #[test]\n    #[should_panic]\n    fn it_holds() {}\n}\nfn helper() {}\non_every_link! {\n    ends: a => it_ends,\n}",
    );

    fn table(shown: &str) -> String {
        format!("| a | shown by |\n|---|---|\n| row | {shown} |\n\n| b | c |\n|---|---|\n| d | e |")
    }

    #[test]
    fn a_row_names_a_test_that_exists() {
        for shown in ["`it_holds` (a)", "`b::it_ends`"] {
            check(complaints, &[("SECURITY.md", &table(shown)), TEST], &[]);
        }
    }

    #[test]
    fn a_row_without_a_test_or_with_another_name_is_no_proof() {
        for (shown, complaint) in [
            (
                "the code",
                "no test shows this row: name one, or drop the row",
            ),
            (
                "`gone`",
                "there is no test `gone`: name one that shows this row",
            ),
            (
                "`helper`",
                "there is no test `helper`: name one that shows this row",
            ),
        ] {
            let text = table(shown);
            let complaint = format!("SECURITY.md:3: {complaint}");
            check(complaints, &[("SECURITY.md", &text), TEST], &[&complaint]);
        }
    }
}
