//! Every bound, with the reason for its number.

use std::time::Duration;

/// Packets that wait for the disk: a second of a thousand players at 60 packets each.
pub const QUEUED_PACKETS: usize = 65_536;

/// Bytes of them. Above either, packets are left out of the file and counted.
pub const QUEUED_BYTES: usize = 32 * 1_024 * 1_024;

/// Longest time that a packet waits in memory for more of its kind before it is written.
pub const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// How long the end of a capture waits for a disk that is behind.
pub const FINISH_PATIENCE: Duration = Duration::from_secs(10);

/// Bytes of a made-up TCP segment. Every reader takes it, and a stream's piece is few of them.
pub const SEGMENT: usize = 16 * 1_024;

/// Streams of one session that have sequence numbers at a time: as many as a driver has connections.
pub const STREAMS: usize = 4_096;

/// Bytes of one block of a file: the largest packet that tcpdump captures is 256 KiB.
pub const BLOCK: usize = 4 * 1_024 * 1_024;

/// Interfaces of one section of a file: no machine has as many.
pub const INTERFACES: usize = 4_096;

/// Conversations that are followed at a time. A newcomer pushes out the one that was silent for longest.
pub const CONVERSATIONS: usize = 4_096;

/// Bytes of one direction of a TCP stream that wait for a piece in front of them; a receiver's window is seldom
/// larger. Above it, the piece is taken for missing.
pub const HELD: usize = 4 * 1_024 * 1_024;

/// The same for all streams together.
pub const HELD_IN_ALL: usize = 64 * 1_024 * 1_024;

/// Bytes of a comment; the format's own limit is 65,535.
pub const COMMENT: usize = 32 * 1_024;
