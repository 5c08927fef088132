//! Every test that SECURITY.md calls a proof exists.
//!
//! In its tables the last column says what shows a row: names of tests, in backticks. A row without one shows
//! nothing.

use super::Complaint;
use super::tree::{File, Tree};

const DOCUMENT: &str = "SECURITY.md";

/// How the last column of such a table is called.
const SHOWN_BY: &str = "shown by";

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let documents = tree.files().filter(|file| file.path == DOCUMENT);
    documents.flat_map(|file| check_file(tree, file)).collect()
}

fn check_file(tree: &Tree, file: &File) -> Vec<Complaint> {
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
        for name in names.into_iter().filter(|name| !is_test(tree, name)) {
            let what = format!("there is no test `{name}`: name one that shows this row");
            found.push(file.complain_at(number, what));
        }
    }
    found
}

/// A function with that attribute, or one that a test macro is given.
fn is_test(tree: &Tree, name: &str) -> bool {
    let function = format!("fn {name}(");
    let attributed = format!("#[test]\n{function}");
    let given = format!("=> {name},");
    tree.ending(".rs").any(|file| {
        let text = file.text.replace("    ", "");
        text.contains(&attributed)
            || (file.is_test() && (text.contains(&function) || text.contains(&given)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    const TEST: (&str, &str) = (
        "crates/a/src/b.rs",
        "mod tests {\n    #[test]\n    fn it_holds() {}\n}\nfn helper() {}",
    );

    fn table(shown: &str) -> String {
        format!("| a | shown by |\n|---|---|\n| row | {shown} |\n\n| b | c |\n|---|---|\n| d | e |")
    }

    #[test]
    fn a_row_names_a_test_that_exists() {
        let text = table("`it_holds` (a)");
        check(complaints, &[("SECURITY.md", &text), TEST], &[]);
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
