//! Every bound of the engine, and where its number comes from.

/// Sends that a version of a block can be named for. A window of them is one machine word, and at 20
/// sends a second it is 3.2 s: longer than any round trip after which a game is still played.
pub const WINDOW: u64 = 64;

/// Entities that a world may be configured for. Ids have 21 bits for twice as many, because one that is
/// gone is remembered for as long as the past can be read.
pub const ENTITIES_MAX: u32 = 1 << 20;

/// Audiences that live at once. A place is found by cell and audience, and a client looks at each
/// audience of each cell in sight.
pub const AUDIENCES_MAX: usize = 256;

/// Bytes of a record's body. With the heads of packet and record it fits every path that carries QUIC,
/// and so a record is the same for every client, whatever its path.
pub const RECORD_MAX: usize = 1_100;

/// Archetypes of a schema: a record names one with a byte.
pub const ARCHETYPES_MAX: usize = 256;

/// Blocks of a place, which have numbers of 16 bits.
pub const BLOCKS_PER_PLACE_MAX: usize = 1 << 16;

/// Bytes of the smallest datagram that a packet is built for: one record of [`RECORD_MAX`], its head, the
/// packet's, and as much again for notices. QUIC's smallest datagram has room for it.
pub const ROOM_MIN: usize = RECORD_MAX + 48;

/// Budget that may accumulate while nothing uses it: two full blocks, so that whatever waits is sent in
/// the end however small the budget is, and a client that slept is not flooded.
pub const CREDIT_MAX: usize = 2 * RECORD_MAX;

/// Blocks in flight that a client has never held. At 1,100 bytes each it is what a path of 100 ms carries
/// at 1.4 Mbit/s: a slow one is not overrun by a new view, a fast one fills a view in a few round trips.
pub const ENTERING_MAX: usize = 16;

/// Packets that one send may consist of: a full view of some 60,000 bytes at once, and more later.
pub const PACKETS_PER_SEND_MAX: usize = 64;

/// Sends that receiving an entity from another block counts for in what waits: until it is told, a
/// replica has to guess whether that entity is gone.
pub const MOVER_WAIT: u64 = 8;

/// Clients of one world.
pub const CLIENTS_MAX: usize = 4_096;

/// Blocks that a replica holds: half a million entities if all are full.
pub const BLOCKS_HELD_MAX: usize = 8_192;

/// Bytes of versions that a replica holds: 65 of each of 1,000 blocks with 15 lanes.
pub const VERSION_BYTES_MAX: usize = 256 << 20;

/// Blocks of the first view that a client has to receive before it is ready: a replica holds no more.
pub const FIRST_VIEW_MAX: usize = BLOCKS_HELD_MAX;

/// Leaves and gones that a replica remembers. A client that crosses a hundred cells a second leaves some
/// 400 places within a [`WINDOW`], which is for how long they are remembered.
pub const LEFT_MAX: usize = 16_384;

/// Sends that playback may lie behind what arrives; beyond, it is moved on. What is shown must be held,
/// and a replica whose owner sleeps shall not hold ever more.
pub const PLAYBACK_LAG_MAX: u64 = 2 * WINDOW;

/// Sends between two wishes to be sent everything anew: more than a round trip, so that the first has had
/// its effect.
pub const FORGET_INTERVAL: u64 = 32;

/// How many times their last movement entities move on at most when nothing follows: two versions almost
/// at the same moment say little about speed.
pub const EXTRAPOLATION_SHARE_MAX: f32 = 16.0;
