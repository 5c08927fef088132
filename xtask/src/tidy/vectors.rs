//! Every golden vector is read by a test: a file that nothing reads promises what nobody keeps.
//!
//! Tests read a dialect's folder wholesale, so it is the folder that must be named: by a test as a
//! string, or anywhere as part of a path.

use super::Complaint;
use super::tree::{File, Tree};

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    tree.files()
        .filter_map(|vector| {
            let below = vector.path.strip_prefix("vectors/")?;
            // The folder, or the file itself if it lies in none.
            let name = below.split('/').next()?;
            if below.ends_with(".md") || is_read(tree, name) {
                return None;
            }
            Some(vector.complain(format!(
                "no test reads `vectors/{name}`; add one in `crates/*/tests`, or delete the file"
            )))
        })
        .collect()
}

fn is_read(tree: &Tree, name: &str) -> bool {
    let string = format!("\"{name}\"");
    let path = format!("vectors/{name}");
    let reads =
        |file: &File| file.text.contains(&path) || (file.is_test() && file.text.contains(&string));
    tree.ending(".rs")
        .filter(|file| file.path.starts_with("crates/"))
        .any(reads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    const VECTOR: (&str, &str) = ("vectors/echo/hello-empty.txt", "00");
    const TEST: &str = "crates/tickwire-dialects/tests/echo/vectors.rs";

    #[test]
    fn a_folder_that_a_test_names_is_read() {
        for text in [
            "check_folder(\"echo\");",
            "include_str!(\"../vectors/echo/x\")",
        ] {
            check(complaints, &[VECTOR, (TEST, text)], &[]);
        }
    }

    #[test]
    fn a_word_in_passing_reads_nothing() {
        let complaint = "vectors/echo/hello-empty.txt: no test reads `vectors/echo`; \
                         add one in `crates/*/tests`, or delete the file";
        for file in [
            (TEST, "use echo;"),
            ("crates/tickwire-cli/src/main.rs", "\"echo\""),
        ] {
            check(complaints, &[VECTOR, file], &[complaint]);
        }
    }

    #[test]
    fn explanations_need_no_test() {
        check(complaints, &[("vectors/README.md", "")], &[]);
    }
}
