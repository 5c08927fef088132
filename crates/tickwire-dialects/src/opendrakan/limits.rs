//! Every bound of the dialect, each with its reason.

use core::time::Duration;

use tickwire_session::Room;

/// Ticks a second.
pub const TICKS_PER_SECOND: u32 = 60;

/// A snapshot is sent of every tick that this divides: 20 a second.
pub const SEND_TICKS: u64 = 3;

/// Snapshots of those sent to a client, counted back from the newest, that a delta may refer to: 3.2
/// seconds of them, or more if its budget does not allow twenty a second.
pub const SNAPSHOTS_HELD: usize = 64;

/// A client that has acknowledged nothing for this long does not listen, or cannot: it is sent little.
pub const SILENT_AFTER: Duration = Duration::from_secs(3);

/// It is sent, in full, every tick that this divides: two a second.
pub const SILENT_TICKS: u64 = 30;

/// Bytes of a datagram sent: what crosses every network in use.
pub const DATAGRAM_MAX: u16 = Room::DATAGRAMS.largest;

/// Bytes of the smallest datagram path that snapshots are sent on: room for the largest bundle.
pub const DATAGRAM_MIN: u16 = 1_100;

/// Bytes of a datagram accepted: all that an Ethernet frame carries.
pub const RECEIVE_MAX: usize = 1_472;

/// Bytes of a client's largest datagram: its token and an acknowledgement.
pub const UPLINK_DATAGRAM: u16 = 22;

/// Bytes before each payload: type and length.
pub const HEADER: usize = 3;

/// Bytes of a payload: all that its length can say.
pub const PAYLOAD_MAX: u16 = u16::MAX;

/// Bytes of a bundle that has every state of its class. With its header and ids it fits
/// [`DATAGRAM_MIN`], so an object's states are never spread over datagrams.
pub const BUNDLE_MAX: usize = 1_024;

/// Bytes of a path.
pub const PATH_MAX: usize = 255;

/// Databases of a server. The table is sent whole to everybody who connects, and this is 256 KiB of it.
pub const DATABASES_MAX: u32 = 1_024;

/// Databases of a server that a client accepts: as many as the first 16-bit indices could name.
pub const DATABASES_ACCEPTED: usize = 65_536;

/// Objects at a time, on either side. A full snapshot of so many has some 12 MiB.
pub const OBJECTS_MAX: usize = 131_072;

/// Destroyed objects that a server remembers for clients who may still see them: 1.5 MiB. More of them
/// make the snapshots before the oldest useless as references.
pub const TOMBSTONES_MAX: usize = 65_536;

/// Bytes of a message that the game sends over a channel, in one payload with its other fields.
pub const BODY_MAX: usize = 60_000;

/// Clients at a time, unless configured otherwise.
pub const CLIENTS: usize = 64;

/// Datagram paths that are narrower than usual and remembered, sixteen for each of the usual
/// [`CLIENTS`]. One above that is taken to be as wide as usual.
pub const ROOMS_MAX: usize = 1_024;

/// Bytes a second for each client's datagrams, unless configured otherwise: a few hundred objects that
/// move, and room to repeat a full snapshot of them.
pub const BYTES_PER_SECOND: u32 = 512 * 1_024;

/// The part of a second's bytes that may go out at once after silence.
pub const BURST: Duration = Duration::from_millis(100);

/// A full snapshot of more datagrams than this is repeated until acknowledged: of so many, one is
/// usually lost.
pub const REPEAT_ABOVE: usize = 4;

/// A full snapshot that was not acknowledged after this time gives way to a newer one.
pub const REPEAT_FOR: Duration = Duration::from_secs(1);

/// Not before it was sent so many times, though: on a slow path once may take longer than that. Of a
/// thousand datagrams, one in five of them lost, so many times leave none missing.
pub const REPEAT_AT_LEAST: u32 = 8;

/// Silence of datagrams after which a client attaches again: its address may have changed.
pub const REATTACH_AFTER: Duration = Duration::from_secs(1);

/// Silence on both paths after which a client that has joined, or a server, is gone.
pub const TIMEOUT: Duration = Duration::from_secs(15);

/// How long a client that is sent away may take to read what was said before.
pub const FAREWELL: Duration = Duration::from_secs(2);

/// How far back an action may date itself. Whoever claims more wants to change the past.
pub const ACTION_AGE_MAX: Duration = Duration::from_millis(250);

/// Actions that a client may send at once; one more every [`ACTION_REFILL`]. Above that they are
/// dropped: no player acts so fast.
pub const ACTIONS_AT_ONCE: u32 = 256;
/// See [`ACTIONS_AT_ONCE`]: 200 a second.
pub const ACTION_REFILL: Duration = Duration::from_millis(5);

/// Bytes of a stream that wait for the peer to read. One that lets more pile up is cut off.
pub const STREAM_WAITING: usize = 1_024 * 1_024;

/// Events that wait for the game; what comes on top is dropped and counted.
pub const EVENTS_WAITING: usize = 16_384;

/// Snapshots under assembly at a time. The one not added to for longest gives way: it will hardly be
/// completed.
pub const ASSEMBLIES_MAX: usize = 32;

/// Objects under assembly at a time, over all snapshots: two full ones of the largest world.
pub const ASSEMBLED_OBJECTS_MAX: usize = 2 * OBJECTS_MAX;

/// Bytes of memory for extra-state bundles that wait until their objects' classes are known, over all
/// snapshots: a full one of the largest world, with two hundred bytes each.
pub const UNRESOLVED_MAX: usize = 32 * 1_024 * 1_024;

/// Ticks behind the newest complete snapshot after which an incomplete one is given up: nobody would be
/// shown it any more.
pub const ASSEMBLY_AGE_MAX: u64 = 60;

/// Animations and sounds that wait for their moment. On top of that the earliest comes early.
pub const TIMED_WAITING: usize = 4_096;

/// How late a client shows the world, unless configured otherwise: two snapshots, so that one may be
/// lost.
pub const DELAY: Duration = Duration::from_millis(100);

/// Longest time that a client moves objects on without a newer snapshot.
pub const EXTRAPOLATION_MAX: Duration = Duration::from_millis(250);

/// Snapshots on a client's timeline: more than a second of them.
pub const TIMELINE: usize = 32;

/// Snapshots that a client keeps to have deltas applied to: as many as a server may refer to.
pub const HISTORY: usize = 64;
