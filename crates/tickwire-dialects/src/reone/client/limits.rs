//! Every bound of the client, each with its reason.

use core::time::Duration;

use crate::reone::limits::STREAM_WAITING;

/// How long a dialled stream may take to open, and the server to answer Hello.
pub const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(15);

/// Silence on both paths after which a connection is given up. Longer than the minute after which a
/// server removes a silent player: whoever was cut off for so long comes back on the same connection.
pub const SILENCE_MAX: Duration = Duration::from_secs(90);

/// Between two Pings, and between two Readys.
pub const PING_PERIOD: Duration = Duration::from_millis(100);

/// Silence of datagrams after which a client that plays pings again: its address may have changed.
pub const PING_AFTER: Duration = Duration::from_secs(1);

/// An Invalid counts only if no snapshot came for so long, some five of them: a datagram can be forged,
/// a snapshot that keeps coming cannot be.
pub const INVALID_PATIENCE: Duration = Duration::from_millis(250);

/// A client that nobody knows pings so often before it begins with the handshake: its address may only
/// have changed, and then its token is still good.
pub const UNKNOWN_PINGS: u32 = 3;

/// Without a whole snapshot for this long, what is held is forgotten: a server keeps 32 snapshots, 1.6
/// seconds of them, so none of ours can be a baseline any more.
pub const HANG: Duration = Duration::from_secs(2);

/// How long a client that has lost its server tries to come back, unless configured otherwise. Servers
/// restart in less.
pub const RETRY_FOR: Duration = Duration::from_secs(300);

/// Resources that are asked for before the first of them is whole, so that many small ones do not take
/// a round trip each.
pub const FETCHES_AHEAD: usize = 4;

/// Hashes of contents that the application is known to hold: sixteen of the largest modules. What is
/// more is fetched again.
pub const HELD_MAX: usize = 65_536;

/// Scopes that a snapshot may tell of: the game, the own creature, and room for a server that tells of a
/// whole party.
pub const SCOPES_MAX: usize = 16;

/// Snapshots under assembly at a time. The oldest gives way: it will hardly be completed.
pub const ASSEMBLIES_MAX: usize = 8;

/// Whole snapshots that a difference may be applied to: as many as a server keeps.
pub const BASELINES: usize = 32;

/// Snapshots between which the world is shown.
pub const TIMELINE: usize = 3;

/// Longest time that objects move on without a newer snapshot.
pub const EXTRAPOLATION_MAX: Duration = Duration::from_millis(250);

/// What moves faster than this, in the game's units a second, jumped, unless configured otherwise: ten
/// times the speed of somebody who runs, in metres.
pub const SPEED_MAX: f32 = 100.0;

/// Events that wait for their acknowledgement: four seconds of inputs at 60 a second.
pub const EVENTS_UNACKNOWLEDGED: usize = 256;

/// Events without acknowledgement that wait to be sent. They leave with the next drain, so this many is
/// a mistake in a loop.
pub const UNRELIABLE_WAITING: usize = 256;

/// Between two repetitions of unacknowledged events while no snapshot comes; each snapshot is answered
/// with one anyway.
pub const EVENT_REPEAT: Duration = Duration::from_millis(100);

/// Calls under way at a time, with those that the client makes by itself.
pub const CALLS_UNDER_WAY: usize = 256;

/// Bytes of calls that may wait for the server to read: half of what a stream holds back, so that
/// loading always finds room.
pub const CALLS_BYTES: usize = STREAM_WAITING / 2;

/// How long a call may take.
pub const CALL_PATIENCE: Duration = Duration::from_secs(10);

/// Creatures whose resref is asked for at a time. It leaves most calls to the application, and is what
/// a crowd of newcomers needs a few round trips for.
pub const RESREFS_ASKED: usize = 32;

/// After a refused or lost question for a resref, the pause before the next.
pub const RESREF_RETRY: Duration = Duration::from_secs(1);

/// Creatures whose resref is known. With more, those that are out of range are forgotten.
pub const RESREFS_KNOWN: usize = 16_384;

/// Snapshots that a command may be behind the newest. A server repeats it until it is 30 old; the rest
/// is the way. What is older could not be told from a duplicate.
pub const COMMAND_AGE_MAX: u32 = 64;

/// Commands that are remembered to know duplicates by: 64 of each of those snapshots. With more, the
/// oldest are forgotten.
pub const COMMANDS_REMEMBERED: usize = 4_096;

/// Shots in the air. With more, the oldest is forgotten.
pub const SHOTS_MAX: usize = 1_024;

/// How long a shot flies, unless the application says otherwise.
pub const SHOT_LIFE: Duration = Duration::from_secs(2);

/// The longest that a shot may fly.
pub const SHOT_LIFE_MAX: Duration = Duration::from_secs(30);

/// Events that wait for the application; what comes on top is dropped and counted, except what would
/// not come again.
pub const EVENTS_WAITING: usize = 16_384;
