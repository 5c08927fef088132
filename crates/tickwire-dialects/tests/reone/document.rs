//! The tables of the wire document say what the code does.

use tickwire_dialects::reone::message::{Direction, Down, Refusal, Up};

const DOCUMENT: &str = include_str!("../../src/reone/WIRE.md");

/// The rows of every table whose first cell is a number: the cells.
fn rows() -> impl Iterator<Item = (u8, Vec<&'static str>)> {
    DOCUMENT.lines().filter_map(|line| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let cells: Vec<&str> = cells.split(" | ").collect();
        Some((cells.first()?.parse().ok()?, cells))
    })
}

/// A row that says who sends: number, name, sender and the last cell.
type Sent = (u8, &'static str, &'static str, &'static str);

fn sent() -> Vec<Sent> {
    let row = |(number, cells): (u8, Vec<&'static str>)| match cells[..] {
        [_, name, sender @ ("client" | "server"), _, last] => Some((number, name, sender, last)),
        _ => None,
    };
    rows().filter_map(row).collect()
}

#[test]
fn every_number_names_its_list_or_its_frame_or_nothing() {
    let all = sent();
    // The lists come first in the document.
    let (lists, frames) = all.split_at(18);
    for number in 0..=u8::MAX {
        let down = Down::list(number).map(|list| (list.name, "server"));
        let up = Up::list(number).map(|list| (list.name, "client"));
        let row = lists.iter().find(|row| row.0 == number);
        assert_eq!(down.or(up), row.map(|row| (row.1, row.2)), "list {number}");
        let down = Down::frame(number).map(|kind| (kind, "server"));
        let up = Up::frame(number).map(|kind| (kind, "client"));
        let code = down
            .or(up)
            .map(|(kind, from)| (kind.name, from, kind.limit));
        let row = frames.iter().find(|row| row.0 == number);
        let row = row.map(|row| {
            let limit = row.3.replace(',', "");
            (row.1, row.2, limit.parse().expect("a number of bytes"))
        });
        assert_eq!(code, row, "frame {number}");
    }
}

#[test]
fn every_reason_of_a_refusal_is_in_the_document() {
    for number in 0..128 {
        let name = Refusal(number).name();
        let is_said = rows()
            .any(|(row, cells)| row == number && cells.len() == 3 && cells[1].starts_with(name));
        assert_eq!(is_said, name != "unknown", "{number} {name}");
    }
}
