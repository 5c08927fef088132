//! Every bound of the dialect, each with its reason.

use core::time::Duration;

/// Cells of a chunk's side.
pub const CHUNK_SIDE: u8 = 64;

/// Cells of a chunk.
pub const CHUNK_CELLS: usize = CHUNK_SIDE as usize * CHUNK_SIDE as usize;

/// Bytes of a chunk before compression: a header of 6, then 3 for each cell of both sublayers.
pub const TILES_BYTES: usize = 6 + 2 * 3 * CHUNK_CELLS;

/// Bytes of a chunk after compression. Deflate never needs 1 % more than its input, and a gzip
/// header with a file name in it stays far below the rest.
pub const LAYER_MAX: usize = 32 * 1_024;

/// Bytes of a `layer_data` piece.
pub const PIECE_MAX: u16 = 512;

/// Bytes of a player's name.
pub const NAME_MAX: usize = 32;

/// Bytes of a chat message or a kick's reason: all that a length byte can say.
pub const TEXT_MAX: usize = 255;

/// The furthest chunk that has a layer, in each direction: beyond it, cells leave 32 bits.
pub const CHUNK_EDGE: i32 = (1 << 25) - 1;

/// Chunks a client holds. One more, and the furthest is released.
pub const CHUNKS_HELD: usize = 25;

/// How far from its player a client may ask for a chunk, in chunks.
pub const REQUEST_REACH: u32 = 16;

/// How far a player may walk from a chunk it holds, in chunks, before the chunk is released.
///
/// The low 16 bits of a cell are unambiguous up to 512 chunks away. Half of that leaves room for
/// whatever is under way while both sides move.
pub const HOLD_REACH: u32 = 256;

/// How long a connection has to log in.
pub const LOGIN_PATIENCE: Duration = Duration::from_secs(5);

/// Silence after which a peer is pinged, and between two pings.
pub const PING_PERIOD: Duration = Duration::from_secs(5);

/// Between two pings with which a client measures the round trip while it is not silent: a handful
/// of bytes a minute, and soon enough after login for whoever watches.
pub const MEASURE_PERIOD: Duration = Duration::from_secs(2);

/// Silence after which a peer is gone.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// How long a peer that was told to go has to take what it is told.
pub const LINGER: Duration = Duration::from_secs(2);

/// Bytes that a client is still sent before its kick. When more waits it is dropped, so that the kick
/// arrives.
pub const FAREWELL_MAX: usize = 64 * 1_024;

/// Steps a player may take at once. What is refused costs nothing.
pub const MOVES_AT_ONCE: u32 = 20;
/// See [`MOVES_AT_ONCE`]: 20 a second.
pub const MOVE_REFILL: Duration = Duration::from_millis(50);

/// How much closer together than they were sent a client's packets may arrive before its server finds
/// them too many: its own spans are longer by this. More than the jitter of a usable path.
pub const JITTER_ALLOWED: Duration = Duration::from_millis(200);

/// Steps a client takes at once: what its server allows, less those for which the tokens come within
/// [`JITTER_ALLOWED`].
pub const STEPS_AT_ONCE: u32 = 16;
/// See [`STEPS_AT_ONCE`]. Slower than [`MOVE_REFILL`] by more than two clocks ever differ, so that a
/// long walk does not use up what is allowed for jitter.
pub const STEP_REFILL: Duration = Duration::from_millis(51);

/// Positions told in any second to a client that moves too fast or nowhere.
pub const CORRECTIONS_A_SECOND: usize = 4;

/// Block changes of a client in any second.
pub const EDITS_A_SECOND: usize = 20;

/// Layer requests of a client in any second: twice what it can hold.
pub const REQUESTS_A_SECOND: usize = 50;

/// Chats of a client in any [`CHAT_SPAN`].
pub const CHATS_A_SPAN: usize = 8;
/// See [`CHATS_A_SPAN`].
pub const CHAT_SPAN: Duration = Duration::from_secs(10);

/// Bytes that wait for a client that does not read; on top of that it is cut off. A client leaves a
/// server for the same, which can only be one that pings and does not read the answers.
///
/// Counted as if no mask spared any. A full set of chunks that do not compress takes 600 KiB.
pub const WAITING_MAX: usize = 1 << 20;

/// Bytes of a client that wait until the game has answered its last question. A client within its
/// rates sends less in ten seconds.
pub const HELD_BACK_MAX: usize = 64 * 1_024;

/// Bytes handed to a stream at once, so that one client's layers do not delay the others.
pub const WRITE_MAX: usize = 16 * 1_024;

/// Messages about blocks and entities that a client is told in one turn. If more has changed, blocks get at
/// most half of them; of the rest, half are about the nearest entities and half about others by turns.
///
/// What fits a screen is within the first half; a TCP segment holds all of them.
pub const NEWS_A_TURN: usize = 64;

/// Time that the server has for telling one message to one client, so that a crowd in which everybody
/// sees everybody is told less often instead of taking all time there is: at most half a million
/// messages a second, to all clients together.
pub const NEWS_COST: Duration = Duration::from_micros(2);

/// Entities that can be compared with what a client knows of them in the time of one message.
pub const NEWS_COMPARED: usize = 32;

/// Telling that may be done at once before the budget of [`NEWS_COST`] makes it wait: half a step of a
/// game with sixty a second.
pub const NEWS_AT_ONCE: Duration = Duration::from_millis(8);

/// Bytes that may wait for a client when its turn comes. If more waits, it misses the turn, and is told
/// what is true when it has read.
pub const NEWS_WAITING_MAX: usize = 16 * 1_024;

/// The last steps of an entity that are kept, to be told one by one to whoever is nearly up to date: as
/// many as a player can take at once. Of an entity that took more since, only the position is told.
pub const TRAIL_STEPS: usize = MOVES_AT_ONCE as usize;

/// Lines for everybody that are kept for clients whose turn has not come.
pub const LINES_KEPT: usize = 64;

/// Lines about who came and went, at once. When more come or go, they share a line.
pub const ANNOUNCEMENTS_AT_ONCE: u32 = 16;
/// See [`ANNOUNCEMENTS_AT_ONCE`]: two a second, as many as can be read.
pub const ANNOUNCEMENT_REFILL: Duration = Duration::from_millis(500);

/// Names that such a line shows; of the others it says how many. With the longest names it still fits
/// [`TEXT_MAX`].
pub const NAMES_A_LINE: usize = 6;

/// Entities at a time, players included. Identifiers are 16 bits; with so few in use, one that
/// became free rests for thousands of others before it is given again.
pub const ENTITIES_MAX: usize = 4_096;

/// Movable layer sets at a time: every client of version 2 is told of all of them when it logs in. A
/// client does not believe in more.
pub const SETS_MAX: usize = 256;

/// Packets behind one that the encoder considers at least, if there are as many, before it decides
/// how to write it.
///
/// A mask pays off within a few packets or not at all.
pub const LOOK_AHEAD: usize = 8;

/// Packets for which the encoder decides at once. The last [`LOOK_AHEAD`] of them are decided again
/// with those behind them, so a quarter of the work is done twice.
pub const LOOK_THROUGH: usize = 32;

/// Messages that a client keeps waiting for a server that does not read, pongs apart.
pub const CLIENT_QUEUE: usize = 256;

/// Events that wait for a client's application; on top of that the oldest is lost. What they tell of
/// can still be seen in the client's copy of the world.
pub const EVENTS_WAITING: usize = 8_192;
