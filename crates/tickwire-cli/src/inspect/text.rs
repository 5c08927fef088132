//! A datagram, or a stream, as a table for people: a row a field, and a pointer at what is wrong.
//!
//! ```text
//! lwar, from the client, 22 bytes
//!                                  header
//!      0  f2 70 87 c5                appId               4067461061
//!      …
//!     17  05                         len                 5
//!     18  72 75 73 74                name                cut off
//!         ^^^^^^^^^^^ here
//! wrong: input ends inside name (at byte 18)
//! ```

use std::fmt::Write as _;
use std::io::{self, Write};

use tickwire_demo::gateway::Paths;
use tickwire_wire::{DecodeError, Place};

use super::fields::Entry;
use super::{Direction, Fault, Found, PathKind, Specimen, side};

/// Writes what `specimen` says.
pub(super) fn show(specimen: &Specimen<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", heading(specimen))?;
    let entries = specimen.fields.entries();
    let mut table = Table::default();
    for entry in entries {
        table.push_entry(specimen.bytes, entry);
    }
    match specimen.fault {
        Some(Fault::Wrong(error)) => table.push_fault(specimen.bytes, entries, error),
        _ if entries.is_empty() && !specimen.bytes.is_empty() => table.push_raw(specimen.bytes),
        _ => {}
    }
    out.write_all(table.render().as_bytes())?;
    match specimen.fault {
        None => Ok(()),
        Some(Fault::Wrong(error)) => writeln!(out, "wrong: {error}"),
        Some(Fault::Unread(why)) => writeln!(out, "not read: {why}"),
        Some(Fault::Gap(missing)) => writeln!(out, "gap: {missing} bytes are missing"),
    }
}

fn heading(specimen: &Specimen<'_>) -> String {
    let mut heading = match specimen.found {
        Found::Alone => String::new(),
        Found::Line(number) => format!("line {number}: "),
        Found::Recorded(recorded) => {
            let arrow = match recorded.direction {
                Direction::In => "<-",
                Direction::Out => "->",
            };
            format!("{} {arrow} {}: ", recorded.at, recorded.peer)
        }
        Found::Captured(captured) => format!(
            "frame {} {:.6}s {} -> {}: ",
            captured.frame,
            captured.at.as_secs_f64(),
            captured.from,
            captured.to,
        ),
        Found::Frame(frame, at) => format!("frame {frame} {:.6}s: ", at.as_secs_f64()),
    };
    heading += specimen
        .protocol
        .map_or("unknown", |protocol| protocol.name);
    if let Some(from) = specimen.from {
        heading += &format!(", from the {}", side(from));
    }
    // Where there is a choice, it is said what was chosen.
    let paths = specimen.protocol.map(|protocol| protocol.paths);
    match (paths, specimen.on) {
        (Some(Paths::Both) | None, PathKind::Stream) => heading += " by stream",
        (_, PathKind::Other(what)) => heading += &format!(", {what}"),
        _ => {}
    }
    let length = specimen.bytes.len();
    let plural = if length == 1 { "" } else { "s" };
    write!(heading, ", {length} byte{plural}").expect("a String takes everything");
    heading
}

/// The rows of a specimen, before their columns have widths.
#[derive(Debug, Default)]
struct Table {
    rows: Vec<Row>,
}

#[derive(Debug, Default)]
struct Row {
    /// The bit at which the row's bytes begin; `None` for a line that opens a group.
    at_bit: Option<u32>,
    bytes: String,
    name: String,
    value: String,
    /// Whether this is what is wrong.
    is_fault: bool,
}

impl Table {
    fn push_entry(&mut self, bytes: &[u8], entry: &Entry) {
        let name = format!("{}{}", "  ".repeat(entry.depth), entry.name);
        let mut row = Row {
            name,
            ..Row::default()
        };
        if let Some((place, value)) = &entry.field {
            row.at_bit = Some(place.at_bit);
            row.bytes = quote(covered(bytes, *place));
            row.value = value.value().to_string();
            if !entry.meaning.is_empty() {
                row.value += &format!("  {}", entry.meaning);
            }
        }
        self.rows.push(row);
    }

    /// Marks the row that `error` means, and adds what was not read.
    fn push_fault(&mut self, bytes: &[u8], entries: &[Entry], error: DecodeError) {
        let fields = entries.iter().filter_map(|entry| entry.field.as_ref());
        let end = fields.map(|(place, _)| place.at_bit + place.bits).max();
        let end = end.unwrap_or(0);
        let unread = bytes.get(end as usize / 8..).unwrap_or_default();
        let mut rest = Row {
            at_bit: Some(end),
            bytes: quote(&unread[..unread.len().min(ROW)]),
            ..Row::default()
        };
        match error {
            DecodeError::Truncated { field, .. } => {
                // As deep as the fields before it: in the group that was opened last.
                let depth = entries
                    .last()
                    .map_or(0, |last| last.depth + usize::from(last.field.is_none()));
                let missing = if unread.is_empty() {
                    "missing"
                } else {
                    "cut off"
                };
                rest.name = format!("{}{field}", "  ".repeat(depth));
                rest.value = missing.to_owned();
                rest.is_fault = true;
            }
            DecodeError::Trailing { .. } => {
                rest.name = "surplus".to_owned();
                rest.is_fault = true;
            }
            _ => {
                let at_bit = Some(error.at_bit());
                let mut rows = self.rows.iter_mut();
                if let Some(row) = rows.find(|row| row.at_bit == at_bit && row.bytes != NO_BYTES) {
                    row.is_fault = true;
                }
                if unread.is_empty() {
                    return;
                }
                rest.name = "not read".to_owned();
            }
        }
        self.rows.push(rest);
        self.push_further(end, unread);
    }

    /// Adds bytes of which nothing is known.
    fn push_raw(&mut self, bytes: &[u8]) {
        self.rows.push(Row {
            at_bit: Some(0),
            bytes: quote(&bytes[..bytes.len().min(ROW)]),
            ..Row::default()
        });
        self.push_further(0, bytes);
    }

    /// Adds what does not fit the first row of unread bytes.
    fn push_further(&mut self, at_bit: u32, unread: &[u8]) {
        let further = (1..).zip(unread.chunks(ROW).skip(1));
        for (row, chunk) in further.clone().take(REST_ROWS) {
            self.rows.push(Row {
                at_bit: Some(at_bit / 8 * 8 + row * 8 * 8),
                bytes: quote(chunk),
                ..Row::default()
            });
        }
        let left_out: usize = further.skip(REST_ROWS).map(|(_, chunk)| chunk.len()).sum();
        if left_out > 0 {
            self.rows.push(Row {
                name: format!("… and {left_out} bytes more"),
                ..Row::default()
            });
        }
    }

    fn render(&self) -> String {
        let names = self.rows.iter().map(|row| row.name.chars().count());
        let name_width = names.max().unwrap_or(0).max(NAMES_WIDTH);
        let mut text = String::new();
        for row in &self.rows {
            let at = row.at_bit.map_or_else(String::new, |bit| match bit % 8 {
                0 => (bit / 8).to_string(),
                inside => format!("{}.{inside}", bit / 8),
            });
            let line = format!(
                "{at:>6}  {:<BYTES_WIDTH$}  {:<name_width$}  {}",
                row.bytes, row.name, row.value
            );
            writeln!(text, "{}", line.trim_end()).expect("a String takes everything");
            if row.is_fault {
                let pointer = "^".repeat(row.bytes.chars().count());
                writeln!(text, "{:>6}  {pointer} here", "").expect("a String takes everything");
            }
        }
        text
    }
}

/// Bytes shown in a row.
const ROW: usize = 8;

/// Columns of their digits.
const BYTES_WIDTH: usize = 3 * ROW - 1;

/// Columns of the names at least, so that datagrams below each other line up.
const NAMES_WIDTH: usize = 22;

/// Rows of unread bytes that follow the first.
const REST_ROWS: usize = 3;

/// What stands for no bytes.
const NO_BYTES: &str = "--";

/// The bytes of which a field has at least a bit.
fn covered(bytes: &[u8], place: Place) -> &[u8] {
    let end = (place.at_bit + place.bits).div_ceil(8);
    let covered = bytes.get(place.at_bit as usize / 8..end as usize);
    covered.filter(|_| place.bits > 0).unwrap_or_default()
}

/// Digits of as many bytes as a row shows.
fn quote(bytes: &[u8]) -> String {
    let quoted = |bytes: &[u8]| {
        let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.join(" ")
    };
    match bytes {
        [] => NO_BYTES.to_owned(),
        _ if bytes.len() <= ROW => quoted(bytes),
        _ => format!("{} …", quoted(&bytes[..ROW - 1])),
    }
}
