//! The journal: what was built since the last snapshot.
//!
//! In: the changes of one action, before anybody is told of it. Out, when the world is opened again: all
//! of them, in order. A write that has returned survives the death of the process, because the system
//! has it; it survives a power cut only once the disk has it, which is for the writer.
//!
//! The journal is a row of numbered files. The writer removes those whose changes are in a snapshot. A frame
//! is the changes of one action, with a checksum: reading ends at the first that is not whole, which is
//! where the power went.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::snapshot::{decode_change, encode_change, take};
use crate::tiles::digest::Digest;
use crate::tiles::edits::Change;
use crate::tiles::{ChunkId, ChunkXy, SetId, limits};

/// A change and the chunk it is in.
pub(in crate::tiles) type Entry = (ChunkId, Change);

/// The file that is being written.
#[derive(Debug)]
pub(super) struct Journal {
    folder: PathBuf,
    number: u64,
    /// None before the first change.
    file: Option<File>,
    bytes: u64,
}

impl Journal {
    /// Reads what is there behind this file, and goes on behind it.
    pub(super) fn open(folder: &Path, replaced: u64) -> io::Result<(Self, Vec<Entry>)> {
        let mut numbers = numbers(folder)?;
        numbers.retain(|number| *number > replaced);
        numbers.sort_unstable();
        let mut entries = Vec::new();
        for &number in &numbers {
            let bytes = fs::read(path(folder, number))?;
            // Changes are missing behind an incomplete frame, and later files build on them.
            if !decode(number, &bytes, &mut entries) {
                break;
            }
        }
        let journal = Self {
            folder: folder.to_owned(),
            number: numbers.last().unwrap_or(&replaced) + 1,
            file: None,
            bytes: 0,
        };
        Ok((journal, entries))
    }

    /// Hands the changes of one action to the system.
    pub(super) fn append(&mut self, entries: &[Entry]) -> io::Result<()> {
        if self.bytes > limits::JOURNAL_BYTES {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let path = path(&self.folder, self.number);
                none.insert(File::options().create_new(true).append(true).open(path)?)
            }
        };
        let frame = encode(self.number, self.bytes, entries);
        let outcome = file.write_all(&frame);
        match outcome {
            Ok(()) => self.bytes += frame.len() as u64,
            // Reading stops at an incomplete frame, so nothing more is appended to this file.
            Err(_) => self.bytes = u64::MAX,
        }
        outcome
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The number of the file that is being written.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// Where that is.
    pub(super) fn path(&self) -> PathBuf {
        path(&self.folder, self.number)
    }

    /// Whether anything was written to it.
    pub(super) const fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Whether a snapshot of so many blocks is the better way to keep what it says.
    pub(super) fn is_long(&self, blocks: usize) -> bool {
        self.bytes > limits::JOURNAL_SHORT.max(8 * blocks as u64)
    }

    /// Goes on in another file.
    pub(super) fn turn(&mut self) {
        self.number += 1;
        self.file = None;
        self.bytes = 0;
    }
}

/// Removes what is in a snapshot, up to this file.
pub(super) fn remove(folder: &Path, up_to: u64) -> io::Result<()> {
    for number in numbers(folder)? {
        if number <= up_to {
            fs::remove_file(path(folder, number))?;
        }
    }
    Ok(())
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{PREFIX}{number}"))
}

fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    Ok(numbers)
}

/// How many changes, the changes, and a checksum of where this is and what it says.
fn encode(number: u64, at: u64, entries: &[Entry]) -> Vec<u8> {
    debug_assert!(!entries.is_empty(), "an action that changes nothing");
    let count = u8::try_from(entries.len()).expect("an action changes a few blocks");
    let mut frame = vec![count];
    for (chunk, change) in entries {
        frame.extend(chunk.set.0.to_le_bytes());
        frame.extend(chunk.at.x.to_le_bytes());
        frame.extend(chunk.at.y.to_le_bytes());
        frame.extend(encode_change(change));
    }
    frame.extend(checksum(number, at, &frame));
    frame
}

/// Reads a file; whether all of it could be.
fn decode(number: u64, bytes: &[u8], entries: &mut Vec<Entry>) -> bool {
    let mut rest = bytes;
    while let Some(&count) = rest.first() {
        let at = (bytes.len() - rest.len()) as u64;
        let length = 1 + usize::from(count) * ENTRY;
        let Some((frame, behind)) = rest.split_at_checked(length) else {
            return false;
        };
        let Some((found, behind)) = behind.split_at_checked(CHECKSUM) else {
            return false;
        };
        let (changes, _) = frame[1..].as_chunks::<ENTRY>();
        let changes: Option<Vec<_>> = changes.iter().map(decode_entry).collect();
        match changes {
            Some(changes) if found == checksum(number, at, frame) && count > 0 => {
                entries.extend(changes);
            }
            _ => return false,
        }
        rest = behind;
    }
    true
}

fn decode_entry(bytes: &[u8; ENTRY]) -> Option<Entry> {
    let rest = &mut &bytes[..];
    let (set, x, y) = (take(rest)?, take(rest)?, take(rest)?);
    let chunk = ChunkId {
        set: SetId(u16::from_le_bytes(set)),
        at: ChunkXy {
            x: i32::from_le_bytes(x),
            y: i32::from_le_bytes(y),
        },
    };
    let change = decode_change(take(rest)?)?;
    chunk.at.exists().then_some((chunk, change))
}

fn checksum(number: u64, at: u64, frame: &[u8]) -> [u8; CHECKSUM] {
    let mut digest = Digest::default();
    digest.add(number);
    digest.add(at);
    digest.add_bytes(frame);
    digest.0.to_le_bytes()
}

const PREFIX: &str = "journal-";
const ENTRY: usize = 18;
const CHECKSUM: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiles::Sublayer;
    use crate::tiles::edits::Place;
    use crate::tiles::{Block, Spot};

    fn entry(x: i32) -> Entry {
        let at = ChunkXy { x, y: -x };
        let place = Place {
            sublayer: Sublayer::Solid,
            spot: Spot::new(5, 63),
        };
        let change = Change {
            place,
            was: Block::EMPTY,
            is: Block::fixed(3, b'#'),
        };
        let set = SetId::ROOT;
        (ChunkId { set, at }, change)
    }

    fn entries_in(folder: &Path) -> Vec<Entry> {
        Journal::open(folder, 0).unwrap().1
    }

    #[test]
    fn what_was_appended_comes_back_in_order_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, none) = Journal::open(folder.path(), 0).unwrap();
        assert!(none.is_empty());
        journal.append(&[entry(1)]).unwrap();
        journal.append(&[entry(2), entry(3)]).unwrap();
        journal.turn();
        journal.append(&[entry(4)]).unwrap();
        assert_eq!(entries_in(folder.path()), [1, 2, 3, 4].map(entry));
        remove(folder.path(), journal.number() - 1).unwrap();
        assert_eq!(entries_in(folder.path()), [entry(4)]);
        // One that is opened anew goes on behind what is there.
        let (mut again, _) = Journal::open(folder.path(), 0).unwrap();
        again.append(&[entry(5)]).unwrap();
        assert_eq!(entries_in(folder.path()), [4, 5].map(entry));
    }

    #[test]
    fn reading_ends_where_a_frame_is_not_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::open(folder.path(), 0).unwrap();
        journal.append(&[entry(1)]).unwrap();
        let first = usize::try_from(journal.bytes).unwrap();
        journal.append(&[entry(2), entry(3)]).unwrap();
        journal.turn();
        journal.append(&[entry(4)]).unwrap();
        let file = path(folder.path(), 1);
        let whole = fs::read(&file).unwrap();
        for cut in first + 1..whole.len() {
            fs::write(&file, &whole[..cut]).unwrap();
            assert_eq!(entries_in(folder.path()), [entry(1)], "cut at {cut}");
        }
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&file, damaged).unwrap();
            let left = usize::from(bit / 8 >= first);
            assert_eq!(entries_in(folder.path()).len(), left, "bit {bit}");
        }
        // Pages that never reached the disk are zeros.
        fs::write(&file, vec![0; whole.len()]).unwrap();
        assert_eq!(entries_in(folder.path()), []);
    }
}
