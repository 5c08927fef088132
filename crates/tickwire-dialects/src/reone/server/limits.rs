//! Every bound of a server, each with its reason. Those of the wire are in [`limits`](crate::reone::limits).

use core::num::NonZeroU16;
use core::time::Duration;

use tickwire_session::bulk::RESOURCES_MAX;
use tickwire_state::SightRange;

use crate::reone::limits::{HEADER, LIST_HEADER, STRING_MAX};

/// Snapshots, counted back from the newest, that one may be made against: a second and a half of them.
/// So many without an acknowledgement are one of the two signs that a client is gone.
pub const HISTORY: u32 = 32;

/// Silence that is the other sign: longer than any interruption that a player would sit through.
pub const SILENCE: Duration = Duration::from_secs(60);

/// Snapshots a second, unless configured otherwise.
pub const TICK_RATE: NonZeroU16 = NonZeroU16::new(20).unwrap();

/// How long clients blend from one snapshot to the next, unless configured otherwise: one may be lost.
pub const LERP: Duration = Duration::from_millis(100);

/// How far clients see, unless configured otherwise: everything.
pub const SIGHT: SightRange = SightRange {
    radius: f32::INFINITY,
    margin: 0.0,
};

/// Clients at a time, unless configured otherwise.
pub const CLIENTS: usize = 64;

/// Objects in the world at a time. A base of full states holds fewer.
pub const OBJECTS_MAX: usize = 65_536;

/// Objects that one client sees at a time. To name each of them as unchanged takes 32 KiB, of which the
/// datagrams can still be counted in a byte.
pub const SEEN_MAX: usize = 8_192;

/// Bytes of changes in one client's snapshot, unless configured otherwise: three hundred creatures that
/// move and turn, or 120 KB a second.
pub const SNAPSHOT_BYTES: usize = 6_000;

/// Bytes of changes in one client's snapshot, whatever is configured. With everything else that can be
/// in a snapshot, its datagrams can still be counted in a byte, also where each has [`DATAGRAM_MIN`] bytes
/// and one long name fills it.
pub const SNAPSHOT_BYTES_MAX: usize = 30 * 1_024;

/// Variables and inventories take at most one of so many parts of those bytes, so that what moves is told in
/// the same snapshot; but one element is always told, however long.
pub const SCOPE_SHARE: usize = 4;

/// Bytes of an element that tells of a creature or another object: an id and every field.
pub const STATUS_MAX: usize = 64;

/// Bytes of an element that is a command: an animation with the longest name.
pub const COMMAND_MAX: usize = 16 + STRING_MAX + 1;

/// Bytes of the list that ends a snapshot.
pub const LAST: usize = LIST_HEADER + 1;

/// Bytes of the smallest datagram path that snapshots are sent on: the longest element fits.
pub const DATAGRAM_MIN: usize = 400;

/// Bytes of a datagram that says Invalid. What is shorter is not answered, or the answer would be the
/// longer of the two.
pub const INVALID: usize = HEADER + LIST_HEADER + 1;

/// Between two Parameters, until the client is ready.
pub const PARAMETERS_PERIOD: Duration = Duration::from_millis(100);

/// From a change of seat, how long a Ready may come that answers the Parameters before it: longer than a
/// packet and its answer are under way on any network in use. Until a later one comes, Parameters go out.
pub const READY_UNDER_WAY: Duration = Duration::from_secs(3);

/// Snapshots that carry an acknowledgement after an event came: so many are hardly ever lost together.
pub const EVENT_ACKS: u8 = 5;

/// Events of one client that wait to be processed. One above that is taken when it comes again: nobody
/// acts so fast.
pub const EVENTS_AHEAD: u32 = 256;

/// Events without a number that a client may send at once; one more every [`LOOSE_EVENT_REFILL`].
pub const LOOSE_EVENTS_AT_ONCE: u32 = 256;
/// See [`LOOSE_EVENTS_AT_ONCE`]: 200 a second.
pub const LOOSE_EVENT_REFILL: Duration = Duration::from_millis(5);

/// Events of all clients that wait for the game.
pub const EVENTS_WAITING: usize = 65_536;

/// Snapshots after which a command is too old: clients would not play it any more.
pub const COMMAND_AGE_MAX: u32 = 30;

/// Commands that wait to be acknowledged by everybody; the oldest gives way. A thousand shots in a second
/// and a half.
pub const COMMANDS_WAITING: usize = 1_024;

/// Commands in one client's snapshot. Others ride when these are acknowledged.
pub const COMMANDS_RIDING: usize = 64;

/// Calls of one client that wait for the game. A client that comes to a crowded place asks what everybody
/// is made of.
pub const CALLS_WAITING: usize = 128;

/// Bytes of answers to calls that a client may be sent at once: four of the longest. One more every
/// [`ANSWER_BYTE_REFILL`]. Above that, calls are refused: a few bytes must not be worth a few thousand for
/// ever.
pub const ANSWER_BYTES_AT_ONCE: u32 = 256 * 1_024;
/// See [`ANSWER_BYTES_AT_ONCE`]: 66 KB a second, six times what a scoreboard of 500 that is asked for every
/// second takes.
pub const ANSWER_BYTE_REFILL: Duration = Duration::from_micros(15);

/// Fetches of one client that wait: everything there is, asked for at once.
pub const FETCHES_WAITING: usize = RESOURCES_MAX + 1;

/// How long a client that loads may take for a frame, be it one of its own or a piece that it was sent: 64
/// KiB come through the thinnest line in that time. Whoever has loaded has as long to ping.
pub const LOADING_PATIENCE: Duration = Duration::from_secs(30);

/// How long a peer may take to read why its stream ends.
pub const GOODBYE_PATIENCE: Duration = Duration::from_secs(3);

/// Addresses that wait to be told that they are unknown. More than that are not told.
pub const STRANGERS_WAITING: usize = 256;

/// Tokens of ended streams that are remembered, so that their holders can be told to begin again.
pub const ENDED_TOKENS: usize = 4_096;

/// Datagram paths that are narrower than usual and remembered, 64 for each of the usual [`CLIENTS`]. One
/// above that is taken to be as wide as usual.
pub const ROOMS_MAX: usize = 4_096;
