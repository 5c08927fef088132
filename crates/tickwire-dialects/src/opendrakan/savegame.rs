//! Savegames: what changed since the level was loaded, as bytes.
//!
//! The states are stored as the bundles that go over the network. A savegame is a header and one record
//! for each object that is not as the level has it; each is followed by a checksum, so that a damaged
//! file is refused with the place of the damage. All numbers are little-endian. Writing the bytes to a
//! file, and reading them, is the application's.
//!
//! | part | fields |
//! |---|---|
//! | header | magic `ODSAVE` · `u16` version 1 · `u64` tick, at most 2^53 · `u32` next object number · `u32` records · `u16` length, level path · `u32` CRC-32 of all these |
//! | record | `u32` object · `u8` what (0 changed, 1 created, 2 destroyed) · `u32` prototype, if created · `u32` class · `u8` lifecycle, 255 if unchanged · `u16` length, basic bundle · `u16` length, extra bundle · `u32` CRC-32 of these |
//!
//! Records ascend by object. A destroyed object's ends after *what*, with its checksum. Nothing follows the
//! last record.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use tickwire_state::Tick;
use tickwire_wire::{DecodeError, display_enum};

use super::bundle::{self, Change};
use super::limits::{BUNDLE_MAX, OBJECTS_MAX, PATH_MAX};
use super::message::Lifecycle;
use super::schema::BASIC;
use super::{ClassId, ObjectId, Reader, Registry, Writer, path};

/// First bytes of every savegame.
const MAGIC: &[u8; 6] = b"ODSAVE";
/// The version written, and the only one read.
const VERSION: u16 = 1;
/// The latest tick that a server goes on from: the times of later ones would not be exact.
const TICK_MAX: u64 = 1 << 53;
/// Stands for a lifecycle that is the level's.
const UNCHANGED: u8 = 0xff;

/// What a savegame holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Savegame {
    /// The tick at which it was saved.
    pub tick: Tick,
    /// The level.
    pub level: String,
    /// The number that the next created object gets: none is used twice, not even after loading.
    pub next_object: u32,
    /// The objects that are not as the level has them, by number.
    pub objects: Vec<SavedObject>,
}

/// An object that is not as the level has it.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedObject {
    /// Its number.
    pub object: ObjectId,
    /// What became of it.
    pub fate: Fate,
}

/// What became of an object since the level was loaded. `S` is how its states are held.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate<S = SavedStates> {
    /// The level has it, in other states.
    Changed(S),
    /// It was created.
    Created {
        /// What it is a clone of.
        prototype: ObjectId,
        /// All its states.
        states: S,
    },
    /// The level has it, but it is gone.
    Destroyed,
}

/// The states that are not as the level has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedStates {
    /// The object's class, which says how the extra states are read.
    pub class: ClassId,
    /// Its lifecycle, if that changed.
    pub lifecycle: Option<Lifecycle>,
    /// Basic states.
    pub basic: Vec<Change>,
    /// Extra states.
    pub extra: Vec<Change>,
}

display_enum! {
    /// Why bytes are not a savegame.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum SaveError: Error {
        /// They do not begin like one.
        NotASavegame => "this is not a savegame",
        /// Another version wrote it.
        Version {
            /// Which.
            found: u16,
        } => "version {found} of savegames is not {VERSION}",
        /// A part is not as it was written.
        Damaged {
            /// Which part.
            part: Part,
            /// Its first byte.
            at_byte: usize,
        } => "{part} is damaged (at byte {at_byte})",
        /// A part is as it was written, but makes no sense.
        Invalid {
            /// Which part.
            part: Part,
            /// What is wrong; places count from the first byte of the savegame.
            why: DecodeError,
        } => "{part}: {why}",
        /// A record's class has no schema.
        UnknownClass {
            /// Which.
            class: ClassId,
            /// Which record.
            part: Part,
        } => "{part}: class {} is not registered" (class.0),
    }
}

display_enum! {
    /// A part of a savegame.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum Part {
        /// The header.
        Header => "the header",
        /// The record of this number, counted from 0.
        Record(number: u32) => "record {number}",
        /// What stands behind the last record.
        End => "the end",
    }
}

impl Savegame {
    /// The bytes of a savegame.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        checked(&mut out, |w| {
            w.bytes(MAGIC);
            w.u16(VERSION);
            w.u64(self.tick.0);
            w.u32(self.next_object);
            w.u32(u32::try_from(self.objects.len()).unwrap_or(u32::MAX));
            write_bytes(w, self.level.as_bytes());
        });
        for object in &self.objects {
            checked(&mut out, |w| object.encode(w));
        }
        out
    }

    /// Reads a savegame; the extra states of each class must be registered as they were.
    pub fn decode(bytes: &[u8], registry: &Registry) -> Result<Self, SaveError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(SaveError::NotASavegame);
        };
        // Looked at before the checksum: another version may have another header.
        if let Some(found) = rest.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
            && found != VERSION
        {
            return Err(SaveError::Version { found });
        }
        let mut r = Reader::new(bytes);
        let (mut save, records) = read_part(bytes, &mut r, Part::Header, Self::decode_header)?;
        for number in 0..records {
            let part = Part::Record(number);
            let start = r.position();
            let record = read_part(bytes, &mut r, part, Record::decode)?;
            // Each object has one record, and they ascend.
            let last = save.objects.last();
            if last.is_some_and(|last| record.object <= last.object) {
                let why = DecodeError::Forbidden {
                    field: "object",
                    at_bit: u32::try_from(start.saturating_mul(8)).unwrap_or(u32::MAX),
                    value: record.object.0.into(),
                };
                return Err(SaveError::Invalid { part, why });
            }
            save.objects
                .push(record.into_object(bytes, registry, part)?);
        }
        if !r.is_empty() {
            return Err(SaveError::Damaged {
                part: Part::End,
                at_byte: r.position(),
            });
        }
        Ok(save)
    }

    /// Reads the header: a savegame without objects, and how many records follow.
    fn decode_header(r: &mut Reader<'_>) -> Result<(Self, u32), DecodeError> {
        r.bytes("magic", MAGIC.len())?;
        r.u16("version")?;
        let tick = Tick(r.u64("tick")?);
        r.limit("tick", tick.0, TICK_MAX)?;
        let next_object = r.u32("next object")?;
        let records = r.u32("records")?;
        // Twice: every object of a level may be destroyed and as many created.
        r.limit("records", records.into(), OBJECTS_MAX as u64 * 2)?;
        let length = r.u16("level length")?;
        r.limit("level length", length.into(), PATH_MAX as u64)?;
        let level = path::decode(r, "level", length.into())?.into();
        let save = Self {
            tick,
            level,
            next_object,
            objects: Vec::new(),
        };
        Ok((save, records))
    }
}

/// A record whose bundles are not read yet: how to depends on the class.
struct Record {
    object: ObjectId,
    fate: Fate<RawStates>,
}

/// The states of a record, and where in the savegame its bundles are.
struct RawStates {
    class: ClassId,
    lifecycle: Option<Lifecycle>,
    basic: Range<usize>,
    extra: Range<usize>,
}

impl Record {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let object = ObjectId(r.u32("object")?);
        let fate = match r.u8("what")? {
            0 => Fate::Changed(RawStates::decode(r)?),
            1 => Fate::Created {
                prototype: ObjectId(r.u32("prototype")?),
                states: RawStates::decode(r)?,
            },
            2 => Fate::Destroyed,
            other => return Err(r.refuse("what", other.into())),
        };
        Ok(Self { object, fate })
    }

    fn into_object(
        self,
        bytes: &[u8],
        registry: &Registry,
        part: Part,
    ) -> Result<SavedObject, SaveError> {
        let read = |states: RawStates| states.read(bytes, registry, part);
        let fate = match self.fate {
            Fate::Changed(states) => Fate::Changed(read(states)?),
            Fate::Created { prototype, states } => Fate::Created {
                prototype,
                states: read(states)?,
            },
            Fate::Destroyed => Fate::Destroyed,
        };
        let object = self.object;
        Ok(SavedObject { object, fate })
    }
}

impl RawStates {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let class = ClassId(r.u32("class")?);
        let lifecycle = match r.u8("lifecycle")? {
            UNCHANGED => None,
            number => match Lifecycle::of(number) {
                Some(lifecycle) if lifecycle != Lifecycle::Destroyed => Some(lifecycle),
                _ => return Err(r.refuse("lifecycle", number.into())),
            },
        };
        let mut bundle = |field| {
            let length = r.u16(field)?;
            r.limit(field, length.into(), BUNDLE_MAX as u64)?;
            let start = r.position();
            r.bytes(field, length.into())?;
            Ok(start..r.position())
        };
        Ok(Self {
            class,
            lifecycle,
            basic: bundle("basic states")?,
            extra: bundle("extra states")?,
        })
    }

    fn read(self, bytes: &[u8], registry: &Registry, part: Part) -> Result<SavedStates, SaveError> {
        let class = self.class;
        let schema = registry.schema(class);
        let schema = schema.ok_or(SaveError::UnknownClass { class, part })?;
        let invalid = |why| SaveError::Invalid { part, why };
        Ok(SavedStates {
            class,
            lifecycle: self.lifecycle,
            basic: read_bundle(bytes, self.basic, &BASIC).map_err(invalid)?,
            extra: read_bundle(bytes, self.extra, schema.fields()).map_err(invalid)?,
        })
    }
}

impl SavedObject {
    fn encode(&self, w: &mut Writer<'_>) {
        w.u32(self.object.0);
        let states = match &self.fate {
            Fate::Destroyed => {
                w.u8(2);
                return;
            }
            Fate::Changed(states) => {
                w.u8(0);
                states
            }
            Fate::Created { prototype, states } => {
                w.u8(1);
                w.u32(prototype.0);
                states
            }
        };
        w.u32(states.class.0);
        w.u8(states.lifecycle.map_or(UNCHANGED, Lifecycle::number));
        for changes in [&states.basic, &states.extra] {
            let mut bundle = Vec::new();
            bundle::encode(&mut Writer::new(&mut bundle, BUNDLE_MAX), changes);
            write_bytes(w, &bundle);
        }
    }
}

fn write_bytes(w: &mut Writer<'_>, bytes: &[u8]) {
    w.u16(u16::try_from(bytes.len()).unwrap_or(u16::MAX));
    w.bytes(bytes);
}

/// Appends what `write` writes, and its checksum.
fn checked(out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
    let start = out.len();
    write(&mut Writer::new(out, usize::MAX / 2));
    let crc = crc32fast::hash(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&crc.to_le_bytes());
}

/// Reads a part and compares its checksum. If the bytes are not what was written, that is the fault,
/// whatever they say.
fn read_part<'a, T>(
    bytes: &'a [u8],
    r: &mut Reader<'a>,
    part: Part,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<T, SaveError> {
    let start = r.position();
    let damaged = SaveError::Damaged {
        part,
        at_byte: start,
    };
    let read = read(r);
    let end = r.position();
    let written = r.u32("checksum").map_err(|_| damaged)?;
    let content = bytes.get(start..end).unwrap_or_default();
    match read {
        _ if crc32fast::hash(content) != written => Err(damaged),
        Ok(value) => Ok(value),
        Err(why) => Err(SaveError::Invalid { part, why }),
    }
}

fn read_bundle(
    bytes: &[u8],
    place: Range<usize>,
    fields: &[super::Field],
) -> Result<Vec<Change>, DecodeError> {
    // From the start of the bytes, so that an error names the place in the savegame.
    let mut r = Reader::new(bytes.get(..place.end).unwrap_or_default());
    r.bytes("before", place.start)?;
    let mut changes = Vec::new();
    bundle::decode(&mut r, fields, |change| changes.push(change))?;
    r.finish()?;
    Ok(changes)
}
