//! How much of everything there can be in the tile world, each with its reason.

pub use tickwire_dialects::pixmess::limits::{CHUNK_CELLS, CHUNK_EDGE, CHUNK_SIDE};

/// Players at a time.
///
/// Four times what a load test asks of the world, and together with the critters no more entities
/// than 12 bits can tell apart.
pub const PLAYERS: u16 = 4_000;

/// Critters that wander about: a few near every place where people are wont to be.
pub const CRITTERS: u16 = 24;

/// Bytes of a name.
pub const NAME_BYTES: usize = 32;

/// Chunks that are kept ready in memory, 24 KiB each: 96 MiB.
///
/// A thousand walkers far from each other touch two thousand at once. A chunk beyond this number is
/// made again when somebody comes, from the terrain and its edits, which takes a tenth of a
/// millisecond.
pub const CHUNKS_READY: usize = 4_096;

/// Blocks that differ from the terrain, in the whole world; they stay in memory, at 8 bytes each, so
/// that nobody waits for a disk. One more is refused.
///
/// 32 MiB. One player who never does anything but build needs two and a half days.
pub const EDITED_BLOCKS: usize = 1 << 22;

/// Chunks that hold edited blocks. One edit costs little, one in every chunk costs an allocation each.
pub const EDITED_CHUNKS: usize = 1 << 16;

/// Events between the ends of two steps. What would add to more is refused until the next step.
///
/// Four thousand players who each take a step, push something and build, five times over. What a step
/// does by itself, and leaving, is always told: both are bounded by the number of entities.
pub const EVENTS: usize = 1 << 16;

/// Bytes of the journal up to which no snapshot is worth its while: two hours of one who never does anything
/// but build.
pub const JOURNAL_SHORT: u64 = 1 << 22;

/// Bytes of the journal while no snapshot can be written. What is built on top of that is kept in
/// memory alone, and the server says so.
///
/// Half an hour of a thousand who build without pause.
pub const JOURNAL_BYTES: u64 = 1 << 30;
