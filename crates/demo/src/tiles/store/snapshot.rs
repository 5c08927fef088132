//! All patches of a world in one file, which is replaced whole.
//!
//! The file: eight bytes that say what it is; format, seed, the last file of the journal that it replaces,
//! and how many patches follow, eight bytes each; the patches; eight bytes of checksum over all that. A
//! patch is its chunk (set, x, y), how many changes it has, and eight bytes a change: its place, the block
//! that was, the block that is. Numbers are little-endian.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{StoreError, journal};
use crate::tiles::digest::Digest;
use crate::tiles::edits::{Change, Patch, Patches, Place};
use crate::tiles::{Block, ChunkId, ChunkXy, SetId, limits};

/// What is written how, and onto which terrain: a change to either needs another number.
pub(super) const FORMAT: u64 = 2;

const MAGIC: &[u8; 8] = b"tiles\r\n\x1a";

/// Where a world is, and which it should be.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    seed: u64,
}

impl Folder {
    pub(super) fn new(path: &Path, seed: u64) -> Self {
        Self {
            path: path.to_owned(),
            seed,
        }
    }

    /// Reads the snapshot, or makes an empty one: all patches, and the last file of the journal that
    /// is in them.
    pub(super) fn open(&self) -> Result<(Patches, u64), StoreError> {
        let folder = self.path.clone();
        if self.path.join("tiles.redb").exists() {
            return Err(StoreError::OtherFormat { folder, stored: 1 });
        }
        let bytes = match fs::read(self.path.join(NAME)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.write(&Patches::new(), 0)?;
                return Ok((Patches::new(), 0));
            }
            Err(error) => return Err(self.io(error)),
        };
        let damaged = |what: &str| StoreError::damaged(&self.path, what);
        let header = Header::decode(&bytes).ok_or_else(|| damaged("it is no tile world"))?;
        // The format first: what else there is, and what it means, follows from it.
        if header.format != FORMAT {
            let stored = header.format;
            return Err(StoreError::OtherFormat { folder, stored });
        }
        let patches = decode(&bytes, header.patches)
            .ok_or_else(|| damaged("not all of it is as it was written"))?;
        if header.seed != self.seed {
            return Err(StoreError::OtherSeed {
                folder,
                stored: header.seed,
                asked: self.seed,
            });
        }
        Ok((patches, header.replaces))
    }

    /// Writes all patches, whole or not at all; they are on the disk when this returns, and the journal
    /// that they replace is gone.
    pub(super) fn write(&self, patches: &Patches, replaces: u64) -> Result<(), StoreError> {
        let written = || {
            let unfinished = self.path.join("tiles.new");
            let mut file = File::create(&unfinished)?;
            file.write_all(&self.encode(patches, replaces))?;
            file.sync_all()?;
            fs::rename(&unfinished, self.path.join(NAME))?;
            // The name is in the folder, which must reach the disk as well.
            sync_folder(&self.path)?;
            journal::remove(&self.path, replaces)
        };
        written().map_err(|error| self.io(error))
    }

    /// Waits until the disk has a file of the journal.
    pub(super) fn sync(&self, journal: &Path) -> Result<(), StoreError> {
        let synced = || {
            File::options().append(true).open(journal)?.sync_data()?;
            sync_folder(&self.path)
        };
        synced().map_err(|error| self.io(error))
    }

    fn encode(&self, patches: &Patches, replaces: u64) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [FORMAT, self.seed, replaces, patches.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        for (chunk, patch) in patches {
            bytes.extend(chunk.set.0.to_le_bytes());
            bytes.extend(chunk.at.x.to_le_bytes());
            bytes.extend(chunk.at.y.to_le_bytes());
            let count = u32::try_from(patch.changes().len()).expect("a chunk has fewer blocks");
            bytes.extend(count.to_le_bytes());
            for change in patch.changes() {
                bytes.extend(encode_change(change));
            }
        }
        let checksum = checksum_of(&bytes);
        bytes.extend(checksum);
        bytes
    }

    fn io(&self, error: io::Error) -> StoreError {
        StoreError::io(&self.path, error)
    }
}

struct Header {
    format: u64,
    seed: u64,
    replaces: u64,
    patches: u64,
}

impl Header {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes.strip_prefix(MAGIC)?;
        Some(Self {
            format: u64::from_le_bytes(take(rest)?),
            seed: u64::from_le_bytes(take(rest)?),
            replaces: u64::from_le_bytes(take(rest)?),
            patches: u64::from_le_bytes(take(rest)?),
        })
    }
}

/// The patches of a whole file; `None` if it is not as it was written.
fn decode(bytes: &[u8], count: u64) -> Option<Patches> {
    let (content, checksum) = bytes.split_last_chunk()?;
    if checksum_of(content) != *checksum {
        return None;
    }
    let rest = &mut content.get(MAGIC.len() + 4 * 8..)?;
    let mut patches = Patches::new();
    while !rest.is_empty() && patches.len() < limits::EDITED_CHUNKS {
        let (set, x, y) = (take(rest)?, take(rest)?, take(rest)?);
        let chunk = ChunkId {
            set: SetId(u16::from_le_bytes(set)),
            at: ChunkXy {
                x: i32::from_le_bytes(x),
                y: i32::from_le_bytes(y),
            },
        };
        let changes = (0..u32::from_le_bytes(take(rest)?)).map(|_| decode_change(take(rest)?));
        let patch = Patch::of_stored(changes.collect::<Option<_>>()?)?;
        patches.insert(chunk, Arc::new(patch));
    }
    (rest.is_empty() && patches.len() as u64 == count).then_some(patches)
}

/// A change, wherever its chunk is named.
pub(super) fn encode_change(change: &Change) -> [u8; 8] {
    let [low, high] = change.place.number().to_le_bytes();
    let ([a, b, c], [d, e, f]) = (change.was.to_bytes(), change.is.to_bytes());
    [low, high, a, b, c, d, e, f]
}

pub(super) fn decode_change([low, high, a, b, c, d, e, f]: [u8; 8]) -> Option<Change> {
    Some(Change {
        place: Place::of_number(u16::from_le_bytes([low, high]))?,
        was: Block::of_bytes([a, b, c]),
        is: Block::of_bytes([d, e, f]),
    })
}

/// Takes so many bytes from the front.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

fn checksum_of(bytes: &[u8]) -> [u8; 8] {
    let mut digest = Digest::default();
    digest.add_bytes(bytes);
    digest.0.to_le_bytes()
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Other systems do not open folders as files, and keep names in a journal of their own.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

const NAME: &str = "tiles";
