//! What a server can make a replica hold.

/// How many blocks a replica holds: half a million entities if all are full.
pub const BLOCKS: usize = 8_192;

/// How many bytes of versions a replica holds: a hundred of each of 1,000 blocks of ten lanes.
pub const VERSION_BYTES: usize = 256 << 20;

/// How many leaves and gones a replica remembers. A client that crosses a hundred cells a second
/// leaves some 400 places within the 64 sends for which they are remembered.
pub const LEFT: usize = 16_384;

/// For how many sends a replica holds every version, and remembers what was left. Ages have 6 bits.
pub const WINDOW: u64 = 64;

/// How many sends playback may lie behind what arrives; beyond, it is moved on. What it shows must be
/// held, and a replica whose owner sleeps shall not hold ever more.
pub const PLAYBACK_LAG: u64 = 2 * WINDOW;

/// How many sends lie between two wishes to be sent everything anew: more than a round trip, so that
/// the first has had its effect.
pub const FORGET_INTERVAL: u64 = 32;

/// How many times their last movement entities move on at most when nothing follows: two versions almost
/// at the same moment say little about speed.
pub const EXTRAPOLATION_SHARE: f32 = 16.0;
