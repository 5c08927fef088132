//! A file that one has to scroll through for long holds more than one idea.

use super::Complaint;
use super::tree::Tree;

/// Lines of a file without its tests.
const MOST: usize = 800;

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    tree.ending(".rs")
        .filter(|file| !file.is_test())
        .filter_map(|file| {
            let lines = file.lines_before_tests();
            (lines > MOST).then(|| {
                file.complain(format!(
                    "{lines} lines before its tests, where {MOST} is the most; split it by idea"
                ))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    #[test]
    fn tests_do_not_count() {
        let full = "\n".repeat(MOST);
        let tested = format!("{full}#[cfg(test)]\nmod tests {{\n{full}}}\n");
        check(
            complaints,
            &[("a.rs", &tested), ("a/tests.rs", &tested)],
            &[],
        );
    }

    #[test]
    fn one_line_too_many_is_too_many() {
        check(
            complaints,
            &[("a.rs", &"\n".repeat(MOST + 1))],
            &["a.rs: 801 lines before its tests, where 800 is the most; split it by idea"],
        );
    }
}
