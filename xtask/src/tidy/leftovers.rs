//! Nothing of the workbench stays behind: promises to oneself, debugging, paths of one machine.
//!
//! What is looked for is spelled in two halves here, so that this file may be looked at too.

use super::Complaint;
use super::tree::Tree;

const PROMISES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];
const DEBUGGING: &str = concat!("dbg", "!(");
const HOMES: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
];

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in tree.files() {
        for (number, line) in file.lines() {
            complaints.extend(line_complaint(line).map(|what| file.complain_at(number, what)));
        }
    }
    complaints
}

fn line_complaint(line: &str) -> Option<String> {
    let mut words = line.split(|c: char| !c.is_alphanumeric());
    if let Some(promise) = words.find(|word| PROMISES.contains(word))
        && !line.contains("https://")
    {
        return Some(format!("link the issue behind this {promise}, or do it"));
    }
    if line.contains(DEBUGGING) {
        return Some("remove this debugging".to_owned());
    }
    let home = HOMES.iter().find(|home| names_path(line, home))?;
    Some(format!(
        "`{home}` exists on one machine; write the path from the root of the repository"
    ))
}

/// Whether `line` names something below `folder`, which begins at the root of the file system.
fn names_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        // Not in the middle of another path or of a web address.
        !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~})]>".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    #[track_caller]
    fn check_line(line: &str, expected: &str) {
        check(complaints, &[("a.rs", &format!("\n{line}\n"))], &[expected]);
    }

    #[test]
    fn a_promise_needs_an_issue() {
        let promise = PROMISES[0];
        check_line(
            &format!("// {promise}: later"),
            &format!("a.rs:2: link the issue behind this {promise}, or do it"),
        );
        let linked = format!("// {promise}(https://example.org/issues/1): later");
        check(complaints, &[("a.rs", &linked)], &[]);
    }

    #[test]
    fn debugging_is_found() {
        check_line(
            &format!("    {DEBUGGING}x);"),
            "a.rs:2: remove this debugging",
        );
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        for home in HOMES {
            let complaint = format!(
                "a.rs:2: `{home}` exists on one machine; \
                 write the path from the root of the repository"
            );
            check_line(&format!("cd {home}x"), &complaint);
            check_line(&format!("{home}x"), &complaint);
            check_line(&format!("\"file://{home}x\""), &complaint);
        }
    }

    #[test]
    fn paths_of_something_else_are_not() {
        for home in HOMES {
            let elsewhere = format!("https://example.org{home}x src{home}x ${{DIR}}{home}x\n");
            check(complaints, &[("a.rs", &elsewhere)], &[]);
        }
    }
}
