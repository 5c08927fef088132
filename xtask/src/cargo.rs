//! Running cargo, and counting the tests that it ran.
//!
//! A command is written as one would type it, and shown the same way, so that whoever reads the
//! output can run it alone. Its output goes straight to the terminal. Ctrl-C reaches it too: it is
//! in our process group.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Output, Stdio};

use anyhow::Context as _;

/// One cargo command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Cargo {
    args: Vec<String>,
    vars: Vec<(&'static str, String)>,
}

impl Cargo {
    /// `cargo` with the arguments in `line`, cut at spaces.
    pub(crate) fn new(line: &str) -> Self {
        Self {
            args: line.split_whitespace().map(String::from).collect(),
            vars: Vec::new(),
        }
    }

    /// The same, with further arguments.
    pub(crate) fn args(mut self, args: impl IntoIterator<Item = String>) -> Self {
        self.args.extend(args);
        self
    }

    /// The same, with an environment variable.
    pub(crate) fn var(mut self, name: &'static str, value: impl ToString) -> Self {
        self.vars.push((name, value.to_string()));
        self
    }

    /// Runs it.
    pub(crate) fn run(&self) -> anyhow::Result<ExitStatus> {
        self.command().status().with_context(|| self.not_started())
    }

    /// Runs it, passes its output through and counts the tests in it.
    pub(crate) fn run_tests(&self) -> anyhow::Result<(ExitStatus, Tally)> {
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| self.not_started())?;
        let output = child.stdout.take().expect("stdout is piped, just above");
        let tally = pass_through(output, &mut std::io::stdout())?;
        Ok((child.wait()?, tally))
    }

    /// Runs it without a word.
    pub(crate) fn read(&self) -> anyhow::Result<Output> {
        self.command().output().with_context(|| self.not_started())
    }

    fn command(&self) -> Command {
        // Cargo tells what it runs where it is: the toolchain that built this program.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(&self.args);
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command
    }

    fn not_started(&self) -> String {
        format!("starting `{self}`")
    }
}

impl fmt::Display for Cargo {
    /// What to type into a shell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.vars {
            if value.contains(' ') {
                write!(f, "{name}=\"{value}\" ")?;
            } else {
                write!(f, "{name}={value} ")?;
            }
        }
        f.write_str("cargo")?;
        for arg in &self.args {
            write!(f, " {arg}")?;
        }
        Ok(())
    }
}

/// How many tests passed and failed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tally {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
}

impl Tally {
    /// Whether not a single test ran, which cargo calls a success.
    pub(crate) const fn is_empty(self) -> bool {
        self.passed == 0 && self.failed == 0
    }

    /// Adds what one line of a test's output says:
    /// `test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; …`.
    fn add_line(&mut self, line: &str) {
        let Some((_, counts)) = line
            .strip_prefix("test result: ")
            .and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            match count.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

fn pass_through(from: impl Read, to: &mut dyn Write) -> anyhow::Result<Tally> {
    let mut from = BufReader::new(from);
    let mut tally = Tally::default();
    // Bytes, not strings: a test may print anything.
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        tally.add_line(&String::from_utf8_lossy(&line));
        line.clear();
    }
    to.flush()?;
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &[u8], passed: u32, failed: u32) {
        let mut shown = Vec::new();
        let tally = pass_through(output, &mut shown).unwrap();
        assert_eq!(tally, Tally { passed, failed });
        assert_eq!(shown, output);
    }

    #[test]
    fn results_of_several_binaries_are_summed() {
        check(
            b"running 2 tests\n..\n\
              test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n\n\
              running 4 tests\n\
              test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n",
            5,
            1,
        );
    }

    #[test]
    fn what_tests_print_is_not_counted() {
        check(
            b"7 passed; 1 failed\n the test result: ok. 9 passed\n",
            0,
            0,
        );
    }

    #[test]
    fn output_that_is_no_text_passes_through() {
        check(
            b"\xff\xfe\ntest result: ok. 1 passed; 0 failed\nno end",
            1,
            0,
        );
    }

    #[test]
    fn a_command_is_shown_as_one_types_it() {
        let doc = Cargo::new("doc  --no-deps").var("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            doc.to_string(),
            "RUSTDOCFLAGS=\"-D warnings\" cargo doc --no-deps"
        );
        let sim = Cargo::new("test").var("TICKWIRE_SIM_SEEDS", 20);
        assert_eq!(sim.to_string(), "TICKWIRE_SIM_SEEDS=20 cargo test");
    }
}
