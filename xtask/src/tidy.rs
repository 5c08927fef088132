//! `cargo xtask tidy`: what drifts unseen, because no compiler looks at it.
//!
//! Each rule is a file: a function from the repository's files to complaints, with tests on small
//! repositories of its own. A complaint says where and what to do. Matters of taste are no rule
//! here; they belong to whoever reads the change.

mod arrows;
mod bounds;
mod commands;
mod coverage;
mod leftovers;
mod length;
mod links;
mod names;
mod purity;
mod shown;
mod skeleton;
mod tree;
mod vectors;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use tree::Tree;

/// What each rule promises, and the rule.
const RULES: &[(&str, Rule)] = &[
    (
        "crates depend only on what the table allows",
        arrows::complaints,
    ),
    ("pure crates say that they are pure", purity::complaints),
    ("every dialect has the same skeleton", skeleton::complaints),
    (
        "documents that list bounds list all of them",
        bounds::complaints,
    ),
    (
        "every section of the published documents is shown by tests that exist",
        coverage::complaints,
    ),
    ("links between documents lead somewhere", links::complaints),
    ("every golden vector is read by a test", vectors::complaints),
    (
        "what SECURITY.md calls shown is shown by a test",
        shown::complaints,
    ),
    ("a file is one idea, so it is short", length::complaints),
    ("files are named after what they hold", names::complaints),
    (
        "nothing of the workbench stays behind",
        leftovers::complaints,
    ),
];

type Rule = fn(&Tree) -> Vec<Complaint>;

/// One thing to put right.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Complaint {
    file: String,
    /// Counted from 1; `None` if the whole file is meant, or one that is missing.
    line: Option<usize>,
    /// What is wrong and what to do.
    what: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let tree = Tree::read(Path::new("."))?;
    let mut total = 0;
    for (promise, rule) in RULES {
        total += show(promise, &rule(&tree));
    }
    // Not in the table: it asks the built programs.
    total += show(
        "commands in documents exist",
        &commands::complaints(&tree, &mut commands::ask)?,
    );
    if total == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    println!("\n{total} to put right");
    Ok(ExitCode::FAILURE)
}

fn show(promise: &str, complaints: &[Complaint]) -> usize {
    let mark = if complaints.is_empty() { "ok " } else { "NOT" };
    println!("{mark}  {promise}");
    for complaint in complaints {
        println!("     {complaint}");
    }
    complaints.len()
}

/// Checks that `rule` says exactly `expected` about a repository of `files`.
#[cfg(test)]
#[track_caller]
fn check(rule: Rule, files: &[(&str, &str)], expected: &[&str]) {
    let got: Vec<String> = rule(&Tree::of(files))
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(got, expected);
}
