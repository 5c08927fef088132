//! What a capture or a recording comes to: bytes by message and by field, rates, what was sent again, what was lost,
//! and how large snapshots were.
//!
//! In: everything that is shown. Out: a table for people, or an object for programs. Names are the protocols' own, so
//! there are few of them; conversations are many, and beyond a number only counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tickwire_capture::Ends;
use tickwire_demo::gateway::Side;
use tickwire_wire::Place;

use super::chart::Chart;
use super::fields::{Entry, Fields};
use super::{Fault, Found, Specimen, side};
use crate::figures::{kbits, per_second};

/// Conversations that get a line of their own.
const ROWS_MAX: usize = 32;

/// Fields of one message that get a line of their own in the table.
const FIELDS_SHOWN: usize = 12;

/// Names of fields that are told apart; no protocol has as many.
const FIELDS_MAX: usize = 8_192;

#[derive(Debug, Default)]
pub(super) struct Summary {
    /// When the last thing happened.
    last: Duration,
    frames: Tally,
    /// Of clients, of servers, and of nobody that is known.
    sides: [Rate; 3],
    messages: BTreeMap<Name, Message>,
    fields: usize,
    snapshots: Chart,
    rows: Vec<Row>,
    conversations: u64,
    faults: Faults,
    /// Packets that the file says it does not have.
    pub(super) dropped: u64,
    /// Conversations that were not followed to their end.
    pub(super) forgotten: u64,
}

/// Protocol, sender and message.
type Name = (&'static str, &'static str, String);

/// How often, and how much.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    count: u64,
    bits: u64,
}

#[derive(Debug, Default)]
struct Message {
    all: Tally,
    fields: BTreeMap<String, Tally>,
}

#[derive(Debug, Default)]
struct Rate {
    all: Tally,
    /// The second that is counted, its bytes, and those of the busiest.
    second: u64,
    bytes: u64,
    busiest: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    broken: u64,
    unread_bytes: u64,
    missing: u64,
    resent: u64,
    lost: u64,
}

/// A conversation that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) ends: Ends,
    pub(super) protocol: Option<&'static str>,
    pub(super) span: Duration,
    /// Datagrams or pieces of a stream, of who opened it and of the other.
    pub(super) units: [u64; 2],
    pub(super) bytes: [u64; 2],
    /// Segments and datagrams that brought nothing new.
    pub(super) resent: u64,
    /// Bytes of the stream that are not in the capture.
    pub(super) missing: u64,
    /// Datagrams that the sender counted and that are not in the capture.
    pub(super) lost: u64,
}

impl Tally {
    fn add(&mut self, bits: u64) {
        self.count += 1;
        self.bits += bits;
    }

    const fn bytes(self) -> u64 {
        self.bits.div_ceil(8)
    }
}

impl Summary {
    /// A frame of a capture went by.
    pub(super) fn add_frame(&mut self, at: Duration, length: u32) {
        self.last = self.last.max(at);
        self.frames.add(8 * u64::from(length));
    }

    pub(super) fn add(&mut self, specimen: &Specimen<'_>) {
        let at = match specimen.found {
            Found::Alone | Found::Line(_) => Duration::ZERO,
            Found::Recorded(recorded) => Duration::from_micros(recorded.at.as_micros()),
            Found::Captured(captured) => captured.at,
            Found::Frame(_, at) => at,
        };
        self.last = self.last.max(at);
        let length = specimen.bytes.len() as u64;
        let rate = match specimen.from {
            Some(Side::Client) => 0,
            Some(Side::Server) => 1,
            None => 2,
        };
        self.sides[rate].add(at, length);
        match specimen.fault {
            None => {}
            Some(Fault::Wrong(_)) => self.faults.broken += 1,
            Some(Fault::Unread(_)) => self.faults.unread_bytes += length,
            Some(Fault::Gap(missing)) => self.faults.missing += missing,
        }
        let (Some(protocol), Some(from)) = (specimen.protocol, specimen.from) else {
            return;
        };
        let mut is_snapshot = protocol.inspect.snapshots.is_empty();
        for (name, entries) in messages(specimen.fields, protocol.inspect.words) {
            is_snapshot |= protocol.inspect.snapshots.contains(&name.as_str());
            self.add_message((protocol.name, side(from), name), entries);
        }
        if from == Side::Server && is_snapshot && length > 0 {
            self.snapshots.add(at, length);
        }
    }

    fn add_message(&mut self, name: Name, entries: &[Entry]) {
        let message = self.messages.entry(name).or_default();
        let mut bits = 0;
        let mut path: Vec<&str> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            path.truncate(entry.depth.saturating_sub(1));
            let Some((place, _)) = &entry.field else {
                if entry.depth > 0 {
                    path.push(entry.name);
                }
                continue;
            };
            let own = place.bits - covered(*place, &entries[at + 1..]);
            bits += u64::from(own);
            let name = match path.is_empty() {
                true => entry.name.to_owned(),
                false => format!("{}.{}", path.join("."), entry.name),
            };
            if self.fields < FIELDS_MAX || message.fields.contains_key(&name) {
                self.fields += usize::from(!message.fields.contains_key(&name));
                message.fields.entry(name).or_default().add(own.into());
            }
        }
        message.all.add(bits);
    }

    /// A conversation is over.
    pub(super) fn add_conversation(&mut self, row: Row) {
        self.conversations += 1;
        self.faults.resent += row.resent;
        self.faults.lost += row.lost;
        if self.rows.len() < ROWS_MAX {
            self.rows.push(row);
        }
    }

    /// Messages, those that take most first.
    fn sorted(&self) -> Vec<(&Name, &Message)> {
        let mut messages: Vec<_> = self.messages.iter().collect();
        messages.sort_by_key(|(_, message)| std::cmp::Reverse(message.all.bits));
        messages
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("a String takes everything");
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let span = self.last;
        write!(out, "summary: {:.3} s", span.as_secs_f64())?;
        if self.frames.count > 0 {
            write!(
                out,
                ", {} frames, {} bytes with headers",
                self.frames.count,
                self.frames.bytes()
            )?;
            write!(out, ", {} conversations", self.conversations)?;
        }
        writeln!(out)?;
        for (rate, name) in self.sides.iter().zip(["clients", "servers", "others"]) {
            if rate.all.count > 0 {
                writeln!(
                    out,
                    "  from {name:<8} {:>9} messages and datagrams {:>11} bytes {:>9.1}/s {:>9.1} kbit/s, at most {:.1}",
                    rate.all.count,
                    rate.all.bytes(),
                    per_second(rate.all.count, span),
                    kbits(rate.all.bytes(), span),
                    kbits(rate.busiest(), Duration::from_secs(1)),
                )?;
            }
        }
        self.write_faults(out)?;
        self.write_conversations(out)?;
        self.write_messages(out)?;
        if self.snapshots.count() > 0 {
            writeln!(
                out,
                "snapshots: {}, {:.1} bytes on average, at most {}; {:.2} s a column",
                self.snapshots.count(),
                self.snapshots.mean(),
                self.snapshots.largest(),
                self.snapshots.width().as_secs_f64(),
            )?;
            writeln!(out, "  {}", self.snapshots.bars())?;
        }
        Ok(())
    }

    fn write_faults(&self, out: &mut String) -> std::fmt::Result {
        let Faults {
            broken,
            unread_bytes,
            missing,
            resent,
            lost,
        } = self.faults;
        writeln!(
            out,
            "  broken {broken}, not read {unread_bytes} bytes, missing from streams {missing} bytes, repeated {resent}, \
             datagrams lost {lost}"
        )?;
        if self.dropped > 0 {
            writeln!(
                out,
                "  whoever captured it left out {} packets",
                self.dropped
            )?;
        }
        if self.forgotten > 0 {
            writeln!(
                out,
                "  {} conversations were too many to be followed to their end",
                self.forgotten
            )?;
        }
        Ok(())
    }

    fn write_conversations(&self, out: &mut String) -> std::fmt::Result {
        for row in &self.rows {
            writeln!(
                out,
                "  {:>4}  {} <-> {}  {} {}  {:.1} s  {} / {} packets  {} / {} bytes  repeated {}, missing {}, lost {}",
                row.ends.number,
                row.ends.opener,
                row.ends.other,
                row.protocol.unwrap_or("unknown"),
                if row.ends.is_stream { "TCP" } else { "UDP" },
                row.span.as_secs_f64(),
                row.units[0],
                row.units[1],
                row.bytes[0],
                row.bytes[1],
                row.resent,
                row.missing,
                row.lost,
            )?;
        }
        match self.conversations.saturating_sub(self.rows.len() as u64) {
            0 => Ok(()),
            more => writeln!(out, "        and {more} more"),
        }
    }

    fn write_messages(&self, out: &mut String) -> std::fmt::Result {
        let total: u64 = self.messages.values().map(|message| message.all.bits).sum();
        for ((protocol, from, name), message) in self.sorted() {
            writeln!(
                out,
                "{:<40} {:>9} × {:>9.1} bytes {:>6.1} %",
                format!("{protocol} {from} {name}"),
                message.all.count,
                share(message.all.bits, message.all.count) / 8.0,
                100.0 * share(message.all.bits, total),
            )?;
            let mut fields: Vec<_> = message.fields.iter().collect();
            fields.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.bits));
            for (name, tally) in fields.iter().take(FIELDS_SHOWN) {
                writeln!(
                    out,
                    "    {name:<36} {:>9} × {:>9.1} bits  {:>6.1} %",
                    tally.count,
                    share(tally.bits, tally.count),
                    100.0 * share(tally.bits, total),
                )?;
            }
            if fields.len() > FIELDS_SHOWN {
                writeln!(out, "    and {} fields more", fields.len() - FIELDS_SHOWN)?;
            }
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Json {
        let sides = self
            .sides
            .iter()
            .zip(["client", "server", "other"])
            .map(|(rate, name)| {
                json!({
                    "from": name,
                    "count": rate.all.count,
                    "bytes": rate.all.bytes(),
                    "busiest_second_bytes": rate.busiest(),
                })
            });
        let messages = self
            .sorted()
            .into_iter()
            .map(|((protocol, from, name), message)| {
                let fields = message.fields.iter().map(|(name, tally)| {
                json!({ "name": name, "count": tally.count, "bits": tally.bits })
            });
                json!({
                    "protocol": protocol,
                    "from": from,
                    "name": name,
                    "count": message.all.count,
                    "bits": message.all.bits,
                    "fields": fields.collect::<Vec<_>>(),
                })
            });
        let rows = self.rows.iter().map(|row| {
            json!({
                "number": row.ends.number,
                "opener": row.ends.opener.to_string(),
                "other": row.ends.other.to_string(),
                "carrier": if row.ends.is_stream { "stream" } else { "datagram" },
                "protocol": row.protocol,
                "seconds": row.span.as_secs_f64(),
                "packets": row.units,
                "bytes": row.bytes,
                "repeated": row.resent,
                "missing_bytes": row.missing,
                "lost": row.lost,
            })
        });
        json!({ "summary": {
            "seconds": self.last.as_secs_f64(),
            "frames": self.frames.count,
            "frame_bytes": self.frames.bytes(),
            "sides": sides.collect::<Vec<_>>(),
            "broken": self.faults.broken,
            "unread_bytes": self.faults.unread_bytes,
            "missing_bytes": self.faults.missing,
            "repeated": self.faults.resent,
            "lost": self.faults.lost,
            "dropped": self.dropped,
            "forgotten": self.forgotten,
            "conversation_count": self.conversations,
            "conversations": rows.collect::<Vec<_>>(),
            "messages": messages.collect::<Vec<_>>(),
            "snapshots": {
                "count": self.snapshots.count(),
                "mean_bytes": self.snapshots.mean(),
                "largest_bytes": self.snapshots.largest(),
                "column_seconds": self.snapshots.width().as_secs_f64(),
                "columns": self.snapshots.means().collect::<Vec<_>>(),
            },
        }})
    }
}

impl Rate {
    fn add(&mut self, at: Duration, bytes: u64) {
        self.all.add(8 * bytes);
        if at.as_secs() != self.second {
            self.busiest = self.busiest.max(self.bytes);
            (self.second, self.bytes) = (at.as_secs(), 0);
        }
        self.bytes += bytes;
    }

    fn busiest(&self) -> u64 {
        self.busiest.max(self.bytes)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn share(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

/// Bits of a field that are shown again as fields of their own, which follow it.
fn covered(place: Place, behind: &[Entry]) -> u32 {
    let end = place.at_bit + place.bits;
    let mut cursor = place.at_bit;
    let mut covered = 0;
    let fields = behind.iter().filter_map(|entry| entry.field.as_ref());
    for (inner, _) in fields.take_while(|(inner, _)| (place.at_bit..end).contains(&inner.at_bit)) {
        let inner_end = (inner.at_bit + inner.bits).min(end);
        covered += inner_end.saturating_sub(cursor.max(inner.at_bit));
        cursor = cursor.max(inner_end);
    }
    covered
}

/// The messages of a specimen: what stands in one outermost group, with what follows it outside of any. It is called
/// by the protocol's words for its first fields that have such words, so many at most, else as the group is.
fn messages(fields: &Fields, words_max: usize) -> impl Iterator<Item = (String, &[Entry])> {
    let entries = fields.entries();
    let is_begin = |entry: &Entry| entry.depth == 0 && entry.field.is_none();
    let begins = entries.iter().enumerate();
    let begins = begins.filter(move |(at, entry)| *at == 0 || is_begin(entry));
    begins.map(move |(begin, _)| {
        let rest = &entries[begin..];
        let length = 1 + rest
            .iter()
            .skip(1)
            .take_while(|entry| !is_begin(entry))
            .count();
        let message = &rest[..length];
        let words = message.iter().skip_while(|entry| entry.meaning.is_empty());
        let words = words.take_while(|entry| !entry.meaning.is_empty());
        let words: Vec<_> = words.map(|entry| entry.meaning).take(words_max).collect();
        let name = match words.is_empty() {
            true => message[0].name.to_owned(),
            false => words.join(" "),
        };
        (name, message)
    })
}

#[cfg(test)]
mod tests {
    use tickwire_wire::{Trace, Value};

    use super::*;

    #[test]
    fn a_message_is_called_by_the_words_of_its_protocol_and_every_bit_counts_once() {
        let mut fields = Fields::default();
        let at = |at_bit, bits| Place { at_bit, bits };
        fields.open("header");
        fields.field("id", at(0, 8), Value::Unsigned(1));
        fields.close();
        fields.open("message");
        fields.field("kind", at(8, 8), Value::Unsigned(2));
        fields.meaning("State");
        fields.field("packet", at(16, 32), Value::Bytes(&[1, 2, 3, 4]));
        fields.open("head");
        fields.field("number", at(24, 8), Value::Unsigned(2));
        fields.close();
        fields.close();
        fields.field("tail", at(48, 8), Value::Unsigned(2));
        let mut summary = Summary::default();
        for (name, entries) in messages(&fields, 1) {
            summary.add_message(("p", "server", name), entries);
        }
        let names: Vec<_> = summary
            .messages
            .keys()
            .map(|name| name.2.as_str())
            .collect();
        assert_eq!(names, ["State", "header"]);
        let state = &summary.messages[&("p", "server", "State".to_owned())];
        let bits: Vec<_> = state
            .fields
            .iter()
            .map(|(name, tally)| (name.as_str(), tally.bits))
            .collect();
        assert_eq!(
            bits,
            [("head.number", 8), ("kind", 8), ("packet", 24), ("tail", 8)]
        );
    }
}
