//! Links between documents lead somewhere.
//!
//! Only relative ones, in `*.md`: the web is not ours to check, and rustdoc checks its own.

use super::Complaint;
use super::tree::{File, Tree};

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in tree.ending(".md") {
        for (line, target) in relative_links(file) {
            let found = resolve(&file.path, target).is_some_and(|path| tree.has(&path));
            if !found {
                complaints.push(file.complain_at(
                    line,
                    format!("nothing is at `{target}`; correct the link or remove it"),
                ));
            }
        }
    }
    complaints
}

/// Paths that a document links to, without the heading behind `#`.
fn relative_links(file: &File) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut in_code = false;
    for (number, line) in file.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        // `](target)`; what stands between backticks is text, not a link.
        for text in line.split('`').step_by(2) {
            for rest in text.split("](").skip(1) {
                links.extend(rest.split(')').next().map(|target| (number, target)));
            }
        }
        // `[name]: target`, but not `[^note]: text`.
        if line.starts_with('[')
            && !line.starts_with("[^")
            && let Some((_, target)) = line.split_once("]: ")
        {
            links.push((number, target));
        }
    }
    links
        .into_iter()
        .filter_map(|(number, target)| {
            let target = target.split([' ', '#']).next()?;
            let target = target.trim_matches(['<', '>']);
            // `::` is a path of Rust, in a document that is part of a crate's documentation.
            let elsewhere = target.contains("://") || target.contains("::");
            let relative = !target.is_empty() && !elsewhere && !target.starts_with("mailto:");
            relative.then_some((number, target))
        })
        .collect()
}

/// Where `target` leads from the document at `from`; `None` if it leaves the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    #[track_caller]
    fn check_document(text: &str, expected: &[&str]) {
        let files = [("README.md", ""), ("docs/guide/start.md", text)];
        check(complaints, &files, expected);
    }

    #[test]
    fn links_that_exist_are_fine() {
        check_document(
            "[up](../../README.md), [folder](..), [part](../../README.md#use \"title\"),\n\
             [here](#below), [web](https://example.org/nothing), [mail](mailto:a@example.org)\n\
             and [`code`](start.md), [rust](crate::Reader).\n\n[ref]: ../guide/\n[^1]: nothing.md\n",
            &[],
        );
    }

    #[test]
    fn a_broken_link_is_named() {
        check_document(
            "One [good](start.md) and\none [bad](../start.md#top) and [worse](../../../x).\n\n[ref]: gone.md\n",
            &[
                "docs/guide/start.md:2: nothing is at `../start.md`; correct the link or remove it",
                "docs/guide/start.md:2: nothing is at `../../../x`; correct the link or remove it",
                "docs/guide/start.md:4: nothing is at `gone.md`; correct the link or remove it",
            ],
        );
    }

    #[test]
    fn code_holds_no_links() {
        check_document("`[a](b)`\n\n```rust\nlet [x](y);\n```\n", &[]);
    }
}
