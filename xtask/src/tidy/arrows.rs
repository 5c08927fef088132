//! Who may depend on whom.
//!
//! A crate exists as a fence between dependencies; the two tables below are the fences. Only
//! `[dependencies]` count. Tests may use what they like, except that the tests of a pure crate stay
//! off the network.

use super::Complaint;
use super::purity::PURE;
use super::tree::{File, Tree};

/// Crates of this workspace, and which of them each may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("tickwire-wire", &[]),
    ("tickwire-session", &["tickwire-wire"]),
    ("tickwire-sim", &["tickwire-session"]),
    ("tickwire-state", &["tickwire-session", "tickwire-wire"]),
    (
        "tickwire-replica",
        &["tickwire-derive", "tickwire-state", "tickwire-wire"],
    ),
    ("tickwire-derive", &[]),
    (
        "tickwire-dialects",
        &["tickwire-session", "tickwire-state", "tickwire-wire"],
    ),
    (
        "tickwire-native",
        &[
            "tickwire-replica",
            "tickwire-session",
            "tickwire-state",
            "tickwire-wire",
        ],
    ),
    (
        "tickwire-rendezvous",
        &["tickwire-session", "tickwire-wire"],
    ),
    ("tickwire-capture", &["tickwire-session"]),
    ("tickwire-net", &["tickwire-rendezvous", "tickwire-session"]),
    (
        "tickwire",
        &[
            "tickwire-dialects",
            "tickwire-native",
            "tickwire-net",
            "tickwire-rendezvous",
            "tickwire-replica",
            "tickwire-session",
            "tickwire-sim",
            "tickwire-state",
            "tickwire-wire",
        ],
    ),
    (
        "tickwire-demo",
        &[
            "tickwire-dialects",
            "tickwire-native",
            "tickwire-replica",
            "tickwire-session",
            "tickwire-state",
            "tickwire-wire",
        ],
    ),
    (
        "tickwire-cli",
        &[
            "tickwire",
            "tickwire-capture",
            "tickwire-demo",
            "tickwire-dialects",
            "tickwire-net",
            "tickwire-rendezvous",
            "tickwire-session",
            "tickwire-sim",
            "tickwire-wire",
        ],
    ),
    (
        "tickwire-fuzz",
        &[
            "tickwire-capture",
            "tickwire-dialects",
            "tickwire-rendezvous",
            "tickwire-replica",
            "tickwire-session",
            "tickwire-wire",
        ],
    ),
    (
        "tickwire-bench",
        &[
            "tickwire-demo",
            "tickwire-dialects",
            "tickwire-native",
            "tickwire-net",
            "tickwire-rendezvous",
            "tickwire-replica",
            "tickwire-session",
            "tickwire-sim",
            "tickwire-wire",
        ],
    ),
    ("xtask", &["tickwire-replica"]),
];

/// Crates of others that stay where they are: each, and who may use it.
const FENCED: &[(&str, &[&str])] = &[
    ("anyhow", PROGRAMS),
    ("bytes", &["tickwire-net"]),
    ("clap", PROGRAMS),
    ("serde_json", PROGRAMS),
    ("etherparse", &["tickwire-capture"]),
    ("getrandom", &["tickwire-net"]),
    ("glam", &["tickwire-replica"]),
    ("hdrhistogram", &["tickwire-cli"]),
    ("libc", &["tickwire-bench", "tickwire-net"]),
    ("mio", &["tickwire-net"]),
    ("pcap-file", &["tickwire-capture"]),
    ("ratatui", &["tickwire-cli"]),
    ("rustix", &["tickwire-cli"]),
    ("redb", &["tickwire-demo"]),
    ("crossterm", &["tickwire-cli"]),
    ("proc-macro2", &["tickwire-derive"]),
    ("quinn-proto", &["tickwire-net"]),
    ("quote", &["tickwire-derive"]),
    ("rcgen", &["tickwire-net"]),
    ("ring", &["tickwire-bench", "tickwire-net"]),
    ("rustls", &["tickwire-net"]),
    ("socket2", &["tickwire-net"]),
    ("syn", &["tickwire-derive"]),
];

const PROGRAMS: &[&str] = &["tickwire-bench", "tickwire-cli", "tickwire-demo", "xtask"];

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    tree.ending("/Cargo.toml")
        .filter(|file| file.path.starts_with("crates/") || file.path.starts_with("xtask/"))
        .flat_map(manifest_complaints)
        .collect()
}

fn manifest_complaints(file: &File) -> Vec<Complaint> {
    let manifest = Manifest::parse(file);
    let name = manifest.name;
    let Some((_, may_use)) = ARROWS.iter().find(|(owner, _)| *owner == name) else {
        return vec![file.complain(format!(
            "`{name}` is not in ARROWS ({}); add it, with the crates it may use",
            file!()
        ))];
    };
    let mut complaints = Vec::new();
    for dependency in manifest.dependencies {
        let Dependency {
            line,
            name: used,
            for_tests,
        } = dependency;
        if for_tests {
            if used == "tickwire-net" && PURE.contains(&name) {
                complaints.push(file.complain_at(
                    line,
                    format!("`{name}` is pure, its tests too; use tickwire-sim, or move the test to tickwire-net"),
                ));
            }
        } else if ARROWS.iter().any(|(ours, _)| *ours == used) {
            if !may_use.contains(&used) {
                complaints.push(file.complain_at(
                    line,
                    format!("`{name}` may not use `{used}`; move what both need down, or what needs both up"),
                ));
            }
        } else if let Some((_, users)) = FENCED.iter().find(|(fenced, _)| *fenced == used)
            && !users.contains(&name)
        {
            complaints.push(file.complain_at(
                line,
                format!("only {} may use `{used}`; remove it here", users.join(", ")),
            ));
        }
    }
    complaints
}

/// As much of a `Cargo.toml` as the rule needs.
#[derive(Default)]
struct Manifest<'a> {
    name: &'a str,
    dependencies: Vec<Dependency<'a>>,
}

struct Dependency<'a> {
    line: usize,
    name: &'a str,
    for_tests: bool,
}

impl<'a> Manifest<'a> {
    /// Reads the two forms that manifests here use: a line in a section (`mio.workspace = true`,
    /// `mio = { … }`) and a section of its own (`[dependencies.mio]`).
    fn parse(file: &'a File) -> Self {
        let mut manifest = Self::default();
        let mut section = "";
        for (line, text) in file.lines() {
            let text = text.trim();
            if let Some(header) = text.strip_prefix('[') {
                section = header.trim_start_matches('[').trim_end_matches(']');
                let (kind, name) = section.rsplit_once('.').unwrap_or(("", section));
                if let Some(for_tests) = dependency_section(kind) {
                    manifest.dependencies.push(Dependency {
                        line,
                        name,
                        for_tests,
                    });
                }
            } else if let Some((key, value)) = text.split_once('=') {
                let key = key.split('.').next().unwrap_or(key).trim();
                if section == "package" && key == "name" {
                    manifest.name = value.trim().trim_matches('"');
                }
                if let Some(for_tests) = dependency_section(section) {
                    let name = renamed(value).unwrap_or(key);
                    manifest.dependencies.push(Dependency {
                        line,
                        name,
                        for_tests,
                    });
                }
            }
        }
        manifest
    }
}

/// Whether a section lists dependencies and, if so, whether they are for tests only.
fn dependency_section(section: &str) -> Option<bool> {
    // `target.'cfg(…)'.dependencies` ends like the plain one.
    match section.rsplit('.').next()? {
        "dependencies" | "build-dependencies" => Some(false),
        "dev-dependencies" => Some(true),
        _ => None,
    }
}

/// The real name in `{ package = "name", … }`.
fn renamed(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("package")?;
    rest.trim_start()
        .strip_prefix('=')?
        .trim_start()
        .strip_prefix('"')?
        .split('"')
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    #[track_caller]
    fn check_manifest(text: &str, expected: &[&str]) {
        check(complaints, &[("crates/x/Cargo.toml", text)], expected);
    }

    #[test]
    fn arrows_of_the_table_are_fine() {
        check_manifest(
            "[package]\nname = \"tickwire-session\"\nversion.workspace = true\n\n\
             [dependencies]\ntickwire-wire.workspace = true\n\n\
             [dev-dependencies]\ntickwire-sim.workspace = true\n",
            &[],
        );
    }

    #[test]
    fn an_arrow_upwards_is_named() {
        check_manifest(
            "[package]\nname = \"tickwire-wire\"\n[dependencies]\ntickwire-session.workspace = true\n",
            &[
                "crates/x/Cargo.toml:4: `tickwire-wire` may not use `tickwire-session`; \
               move what both need down, or what needs both up",
            ],
        );
    }

    #[test]
    fn a_fenced_crate_is_found_in_every_form() {
        for form in [
            "[dependencies]\nmio.workspace = true\n",
            "[dependencies]\nmio = { workspace = true }\n",
            "[dependencies]\nevents = { package = \"mio\", version = \"1\" }\n",
            "[target.'cfg(target_os = \"linux\")'.dependencies]\nmio = \"1\"\n",
            "[build-dependencies]\nmio = \"1\"\n",
            "\n[dependencies.mio]\nversion = \"1\"\n",
        ] {
            check_manifest(
                &format!("[package]\nname = \"tickwire-sim\"\n{form}"),
                &["crates/x/Cargo.toml:4: only tickwire-net may use `mio`; remove it here"],
            );
        }
    }

    #[test]
    fn tests_of_pure_crates_stay_off_the_network() {
        let dev = "[dev-dependencies]\ntickwire-net.workspace = true\nlibc = \"0.2\"\n";
        check_manifest(&format!("[package]\nname = \"tickwire-demo\"\n{dev}"), &[]);
        check_manifest(
            &format!("[package]\nname = \"tickwire-dialects\"\n{dev}"),
            &[
                "crates/x/Cargo.toml:4: `tickwire-dialects` is pure, its tests too; \
               use tickwire-sim, or move the test to tickwire-net",
            ],
        );
    }

    #[test]
    fn a_new_crate_must_be_placed() {
        check_manifest(
            "[package]\nname = \"tickwire-new\"\n",
            &["crates/x/Cargo.toml: `tickwire-new` is not in ARROWS \
               (xtask/src/tidy/arrows.rs); add it, with the crates it may use"],
        );
    }

    #[test]
    fn the_table_has_no_circle() {
        // Every crate stands below those that use it, counting from the bottom.
        let mut placed: Vec<&str> = Vec::new();
        while placed.len() < ARROWS.len() {
            let next = ARROWS.iter().find(|(name, uses)| {
                !placed.contains(name) && uses.iter().all(|used| placed.contains(used))
            });
            placed.push(next.expect("what is left is a circle").0);
        }
    }
}
