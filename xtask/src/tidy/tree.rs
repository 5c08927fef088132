//! The repository's files, read once, with paths from its root.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::Complaint;

/// All files, ordered by path.
#[derive(Debug)]
pub(super) struct Tree {
    files: Vec<File>,
}

impl Tree {
    /// Reads everything below `root` that belongs to the repository.
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        read_folder(root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    /// A repository of these paths and texts.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|&(path, text)| File {
            path: path.to_owned(),
            text: text.to_owned(),
        });
        Self {
            files: files.collect(),
        }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// Files whose name ends so: `.rs`, `/Cargo.toml`.
    pub(super) fn ending(&self, end: &str) -> impl Iterator<Item = &File> {
        self.files().filter(move |file| file.path.ends_with(end))
    }

    /// Whether there is a file or folder of this path; the root's is empty.
    pub(super) fn has(&self, path: &str) -> bool {
        path.is_empty()
            || self.files().any(|file| {
                file.path
                    .strip_prefix(path)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}

/// One file.
#[derive(Debug)]
pub(super) struct File {
    /// From the root, with `/` on every system.
    pub(super) path: String,
    /// Empty if it is not text.
    pub(super) text: String,
}

impl File {
    /// Lines with their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// Whether this holds nothing but tests.
    pub(super) fn is_test(&self) -> bool {
        self.path
            .split('/')
            .any(|part| part == "tests" || part == "tests.rs")
    }

    /// How many lines stand before the tests at the bottom.
    pub(super) fn lines_before_tests(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().collect();
        lines
            .windows(2)
            .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod "))
            .unwrap_or(lines.len())
    }

    pub(super) fn complain(&self, what: impl Into<String>) -> Complaint {
        Complaint {
            file: self.path.clone(),
            line: None,
            what: what.into(),
        }
    }

    pub(super) fn complain_at(&self, line: usize, what: impl Into<String>) -> Complaint {
        Complaint {
            line: Some(line),
            ..self.complain(what)
        }
    }
}

fn read_folder(folder: &Path, prefix: &str, files: &mut Vec<File>) -> anyhow::Result<()> {
    let reading = || format!("reading {}", folder.display());
    for entry in fs::read_dir(folder).with_context(reading)? {
        let entry = entry.with_context(reading)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().with_context(reading)?;
        if kind.is_dir() {
            if !is_foreign(&name) {
                read_folder(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).with_context(|| format!("reading {path}"))?;
            let text = String::from_utf8(bytes).unwrap_or_default();
            files.push(File { path, text });
        }
    }
    Ok(())
}

/// Folders that a build, git or an editor put there.
fn is_foreign(folder: &str) -> bool {
    let ours = [".cargo", ".ci", ".github"];
    folder == "target" || (folder.starts_with('.') && !ours.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_exist_if_something_is_in_them() {
        let tree = Tree::of(&[("docs/guide/start.md", "")]);
        for path in ["", "docs", "docs/guide", "docs/guide/start.md"] {
            assert!(tree.has(path), "{path}");
        }
        for path in ["doc", "docs/guide/start", "guide"] {
            assert!(!tree.has(path), "{path}");
        }
    }

    #[test]
    fn only_the_module_of_tests_ends_what_is_counted() {
        let text = "#[cfg(test)]\nextern crate std;\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n}\n";
        let tree = Tree::of(&[("a.rs", text), ("b.rs", "fn f() {}\n")]);
        let lines: Vec<usize> = tree.files().map(File::lines_before_tests).collect();
        assert_eq!(lines, [4, 1]);
    }

    #[test]
    fn this_repository_is_read_without_what_is_built() {
        let tree = Tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
        assert!(tree.has("xtask/src/tidy/tree.rs"));
        assert!(tree.has(".cargo/config.toml"));
        assert!(!tree.has("target"));
        assert!(!tree.has(".git"));
    }
}
