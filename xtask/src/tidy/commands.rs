//! Commands in documents exist: every `tickwire` and `cargo xtask` command in a fenced block, and
//! every option it is given, is in that command's help.
//!
//! What a command does with them is for tests to say. The changelog and the decisions under
//! `docs/adr/` speak of the past, so they are not asked.

use anyhow::bail;
use clap::CommandFactory as _;

use super::Complaint;
use super::tree::{File, Tree};
use crate::cargo::Cargo;

/// The programs that documents name, and that can be asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Program {
    Tickwire,
    Xtask,
}

/// A command's help, or `None` if the program does not know it.
pub(super) fn ask(program: Program, command: &str) -> anyhow::Result<Option<String>> {
    match program {
        Program::Tickwire => ask_tickwire(command),
        Program::Xtask => Ok(crate::Args::command()
            .find_subcommand_mut(command)
            .map(|command| command.render_long_help().to_string())),
    }
}

fn ask_tickwire(command: &str) -> anyhow::Result<Option<String>> {
    let cargo = Cargo::new(&format!(
        "run --quiet --package tickwire-cli -- {command} --help"
    ));
    let answer = cargo.read()?;
    match answer.status.code() {
        Some(0) => Ok(Some(String::from_utf8_lossy(&answer.stdout).into_owned())),
        Some(CALLED_WRONGLY) => Ok(None),
        _ => bail!(
            "`{cargo}` failed:\n{}",
            String::from_utf8_lossy(&answer.stderr)
        ),
    }
}

/// The exit code of a program that was given arguments it does not know.
const CALLED_WRONGLY: i32 = 2;

pub(super) fn complaints(
    tree: &Tree,
    ask: &mut dyn FnMut(Program, &str) -> anyhow::Result<Option<String>>,
) -> anyhow::Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    for file in tree.ending(".md") {
        if file.path.ends_with("CHANGELOG.md") || file.path.starts_with("docs/adr/") {
            continue;
        }
        for (line, call) in calls(file) {
            let name = match call.program {
                Program::Tickwire => "tickwire",
                Program::Xtask => "cargo xtask",
            };
            let command = call.command;
            let Some(help) = ask(call.program, command)? else {
                complaints.push(file.complain_at(
                    line,
                    format!("`{name} {command}` is no command; see `{name} --help`"),
                ));
                continue;
            };
            for option in call.options {
                if !words(&help).any(|word| word == option) {
                    complaints.push(file.complain_at(
                        line,
                        format!(
                            "`{name} {command}` has no `{option}`; see `{name} {command} --help`"
                        ),
                    ));
                }
            }
        }
    }
    Ok(complaints)
}

/// Words of a help text, options with their hyphens.
fn words(help: &str) -> impl Iterator<Item = &str> {
    help.split(|c: char| !c.is_alphanumeric() && c != '-')
}

/// One command of one of our programs.
#[derive(Debug, Eq, PartialEq)]
struct Call<'a> {
    program: Program,
    command: &'a str,
    /// Long ones, without values.
    options: Vec<&'a str>,
}

impl<'a> Call<'a> {
    fn parse(words: &[&'a str]) -> Option<Self> {
        let variables = words.iter().take_while(|word| word.contains('=')).count();
        let (program, args) = match words.get(variables..)? {
            ["cargo", "xtask", args @ ..] => (Program::Xtask, args),
            ["cargo", "run", args @ ..] => (Program::Tickwire, arguments_of_run(args)?),
            [path, args @ ..] if path.rsplit('/').next() == Some("tickwire") => {
                (Program::Tickwire, args)
            }
            _ => return None,
        };
        let (command, args) = args.split_first()?;
        if command.starts_with('-') {
            return None;
        }
        let options = args.iter().filter(|arg| arg.starts_with("--"));
        let options = options.filter_map(|arg| arg.split('=').next());
        Some(Self {
            program,
            command,
            options: options.filter(|option| *option != "--").collect(),
        })
    }
}

/// What `cargo run` hands on, if it runs the `tickwire` command: the workspace's default.
fn arguments_of_run<'a, 'b>(args: &'b [&'a str]) -> Option<&'b [&'a str]> {
    let end = args.iter().position(|arg| *arg == "--")?;
    let (for_cargo, rest) = args.split_at(end);
    let other = for_cargo.windows(2).any(|pair| {
        matches!(
            pair,
            ["-p" | "--package", package] if *package != "tickwire-cli"
        ) || pair[0] == "--example"
    });
    if other { None } else { rest.get(1..) }
}

/// Commands of our programs in the fenced `sh` and `console` blocks of a document.
fn calls(file: &File) -> Vec<(usize, Call<'_>)> {
    let mut calls = Vec::new();
    let mut fence = None;
    // Words of a command that goes on after a `\`.
    let mut begun: Vec<&str> = Vec::new();
    for (number, line) in file.lines() {
        let line = line.trim();
        if let Some(language) = line.strip_prefix("```") {
            fence = if fence.is_none() {
                Some(language)
            } else {
                None
            };
            continue;
        }
        let typed = match fence {
            Some("sh") => line,
            // The rest of a console block is what the command prints.
            Some("console") if !begun.is_empty() => line,
            Some("console") => match line.strip_prefix("$ ") {
                Some(typed) => typed,
                None => continue,
            },
            _ => continue,
        };
        begun.extend(
            typed
                .split_whitespace()
                .take_while(|word| !word.starts_with('#')),
        );
        if begun.last() == Some(&"\\") {
            begun.pop();
            continue;
        }
        let several = begun.split(|word| ["&&", "||", "|", "&", ";"].contains(word));
        calls.extend(several.filter_map(Call::parse).map(|call| (number, call)));
        begun.clear();
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows `serve` with `--port`.
    fn answer(program: Program, command: &str) -> anyhow::Result<Option<String>> {
        let known = (program, command) == (Program::Tickwire, "serve");
        Ok(known.then(|| "Options:\n      --port <PORT>  Where to listen".to_owned()))
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let tree = Tree::of(&[("README.md", text)]);
        let got: Vec<String> = complaints(&tree, &mut answer)
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn commands_that_exist_are_fine() {
        check(
            "```sh\ntickwire serve --port 7 # the server\nRUST_LOG=x cargo run --release -- serve --port=7 &\n\
             ./target/release/tickwire serve\ntickwire --help\n```\n",
            &[],
        );
    }

    #[test]
    fn unknown_commands_and_options_are_named() {
        check(
            "```sh\ncargo build && tickwire fly\ncargo run -- serve --por 7\ncargo xtask fly\n```\n",
            &[
                "README.md:2: `tickwire fly` is no command; see `tickwire --help`",
                "README.md:3: `tickwire serve` has no `--por`; see `tickwire serve --help`",
                "README.md:4: `cargo xtask fly` is no command; see `cargo xtask --help`",
            ],
        );
    }

    #[test]
    fn what_a_console_prints_is_no_command() {
        check(
            "```console\n$ tickwire serve \\\n    --por 7\ntickwire listens\n```\n",
            &["README.md:3: `tickwire serve` has no `--por`; see `tickwire serve --help`"],
        );
    }

    #[test]
    fn other_programs_and_other_blocks_are_not_asked() {
        check(
            "tickwire fly\n\n```text\ntickwire fly\n```\n\n```sh\ncargo run -p demo -- fly\n\
             cargo run --example x -- fly\ncat tickwire\n```\n",
            &[],
        );
    }

    #[test]
    fn our_own_help_answers() {
        let help = ask(Program::Xtask, "sim").unwrap().unwrap();
        assert!(words(&help).any(|word| word == "--seed"));
        assert!(ask(Program::Xtask, "fly").unwrap().is_none());
    }
}
