//! A `WIRE.md` lists every bound of its dialect, with its value.
//!
//! Each `limits.rs` of a dialect has a table with this head; the text before the table names the file, as
//! seen from the document: `limits.rs`, `server/limits.rs`. Names have to be the same on both sides. Values
//! are compared where both are plain numbers or times; one that follows from other constants is left to
//! the reader.

use std::collections::BTreeMap;

use super::Complaint;
use super::tree::Tree;

/// The head of a table of bounds.
const HEAD: &str = "| name | value | bounds |";

/// Constants by name, with their value as it is written.
type Bounds<'a> = BTreeMap<&'a str, &'a str>;

pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for document in tree.ending("/WIRE.md") {
        let folder = document.path.trim_end_matches("WIRE.md");
        let tables = tables(&document.text);
        if tables.is_empty() {
            continue;
        }
        let mut complain = |what| {
            complaints.push(Complaint {
                file: document.path.clone(),
                line: None,
                what,
            });
        };
        for source in tree.ending("/limits.rs") {
            let Some(name) = source.path.strip_prefix(folder) else {
                continue;
            };
            match tables.get(name) {
                Some(listed) => compare(name, listed, &constants(&source.text), &mut complain),
                None => complain(format!(
                    "no table lists the bounds of `{name}`: name that file, and then begin one \
                     with `{HEAD}`"
                )),
            }
        }
        for name in tables.keys() {
            let path = format!("{folder}{name}");
            if !tree.files().any(|file| file.path == path) {
                complain(format!(
                    "a table lists the bounds of `{name}`, which is not there"
                ));
            }
        }
    }
    complaints
}

fn compare(
    file: &str,
    listed: &Bounds<'_>,
    constants: &Bounds<'_>,
    complain: &mut impl FnMut(String),
) {
    for (name, code) in constants {
        let Some(value) = listed.get(name) else {
            complain(format!("the table of bounds lacks `{name}` of `{file}`"));
            continue;
        };
        let (Some(said), Some(is)) = (Quantity::of_document(value), Quantity::of_code(code)) else {
            continue;
        };
        if said != is {
            complain(format!("`{name}` is {value} here and `{code}` in `{file}`"));
        }
    }
    for name in listed.keys().filter(|name| !constants.contains_key(*name)) {
        complain(format!(
            "the table of bounds has `{name}`, which `{file}` lacks"
        ));
    }
}

/// The tables of bounds of a document, by the file that each is about.
fn tables(document: &str) -> BTreeMap<&str, Bounds<'_>> {
    let mut tables = BTreeMap::new();
    let mut file = "limits.rs";
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        let quoted = line.split('`').skip(1).step_by(2);
        file = quoted
            .filter(|word| word.ends_with("limits.rs"))
            .last()
            .unwrap_or(file);
        if line != HEAD {
            continue;
        }
        let table: &mut Bounds<'_> = tables.entry(file).or_default();
        while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
            let mut cells = row.split('|').skip(1).map(str::trim);
            // The second row only draws a line.
            if let (Some(name), Some(value)) = (cells.next(), cells.next())
                && let Some(name) = name.strip_prefix('`')
            {
                table.insert(name.trim_end_matches('`'), value);
            }
        }
    }
    tables
}

/// The public constants of a file.
fn constants(source: &str) -> Bounds<'_> {
    let mut constants = Bounds::new();
    for item in source.split("pub const ").skip(1) {
        // Not a constant: a function, or a sentence about one.
        let Some((name, rest)) = item.split_once(": ") else {
            continue;
        };
        let Some((value, _)) = rest.split_once(";\n") else {
            continue;
        };
        let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if name.chars().all(is_name)
            && let Some((_, value)) = value.split_once("= ")
        {
            constants.insert(name, value);
        }
    }
    constants
}

/// A value that can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Quantity {
    Number(u64),
    Micros(u64),
}

impl Quantity {
    /// `1,024`, `64 KiB`, `0xff`, `66.667 ms`.
    fn of_document(text: &str) -> Option<Self> {
        let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
        let number = number.replace(',', "");
        if let Some(digits) = number.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).ok().map(Self::Number);
        }
        let scale = match unit {
            "" => return number.parse().ok().map(Self::Number),
            "KiB" => return Some(Self::Number(number.parse::<u64>().ok()? << 10)),
            "MiB" => return Some(Self::Number(number.parse::<u64>().ok()? << 20)),
            "µs" => 1.0,
            "ms" => 1e3,
            "s" => 1e6,
            "min" => 60e6,
            _ => return None,
        };
        let micros = number.parse::<f64>().ok()? * scale;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "times of a few minutes"
        )]
        Some(Self::Micros(micros.round() as u64))
    }

    /// `1_024`, `64 * 1_024`, `Duration::from_millis(100)`.
    fn of_code(code: &str) -> Option<Self> {
        if let Some(time) = code.strip_prefix("Duration::from_") {
            let (unit, number) = time.strip_suffix(')')?.split_once('(')?;
            let scale = match unit {
                "secs" => 1_000_000,
                "millis" => 1_000,
                "micros" => 1,
                _ => return None,
            };
            return Some(Self::Micros(product(number)? * scale));
        }
        product(code).map(Self::Number)
    }
}

/// A product of numbers, or one alone.
fn product(code: &str) -> Option<u64> {
    let factors = code.split(" * ").map(|factor| {
        let digits = factor.replace('_', "");
        match digits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => digits.parse().ok(),
        }
    });
    factors.product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    const WIRE: &str =
        "| name | value | bounds |\n|---|---|---|\n| `A` | 1 KiB | `B` |\n\n| `C` | | |";

    #[track_caller]
    fn check_limits(limits: &str, expected: &[&str]) {
        let files = [("echo/WIRE.md", WIRE), ("echo/limits.rs", limits)];
        check(complaints, &files, expected);
    }

    #[test]
    fn the_table_and_the_file_have_the_same_names() {
        check_limits(
            "/// One.\npub const A: u16 = 1_024;\nconst OWN: u8 = 2;\n",
            &[],
        );
        check_limits(
            "pub const B: u8 = 1;\n",
            &[
                "echo/WIRE.md: the table of bounds lacks `B` of `limits.rs`",
                "echo/WIRE.md: the table of bounds has `A`, which `limits.rs` lacks",
            ],
        );
    }

    #[test]
    fn the_table_and_the_file_have_the_same_values() {
        check_limits("pub const A: u16 = 4 * 256;\n", &[]);
        check_limits("pub const A: u16 = OTHER + 1;\n", &[]);
        check_limits(
            "pub const A: u16 = 1_000;\n",
            &["echo/WIRE.md: `A` is 1 KiB here and `1_000` in `limits.rs`"],
        );
    }

    #[test]
    fn values_are_understood_on_both_sides() {
        for (document, code) in [
            ("1,472", "1_472"),
            ("0xff", "0xff"),
            ("2 MiB", "2 * 1_024 * 1_024"),
            ("66.667 ms", "Duration::from_micros(66_667)"),
            ("5 min", "Duration::from_secs(300)"),
            ("0.5 s", "Duration::from_millis(500)"),
        ] {
            let quantity = Quantity::of_document(document);
            assert!(quantity.is_some(), "{document}");
            assert_eq!(quantity, Quantity::of_code(code), "{document}");
        }
        assert_eq!(Quantity::of_document("as many as fit"), None);
        assert_eq!(Quantity::of_code("DATAGRAM_MAX - HEADER"), None);
    }

    #[test]
    fn every_file_of_bounds_has_its_table() {
        let limits = "pub const A: u16 = 1_024;\n";
        let two = format!("{WIRE}\n\nThose of `server/limits.rs`:\n\n{WIRE}");
        let files = [
            ("echo/WIRE.md", &*two),
            ("echo/limits.rs", limits),
            ("echo/server/limits.rs", limits),
        ];
        check(complaints, &files, &[]);
    }
}
