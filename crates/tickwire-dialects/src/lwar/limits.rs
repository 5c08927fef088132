//! Every bound of the dialect, each with its reason.

use core::time::Duration;

/// First field of every packet; tells lwar from other traffic.
pub const APP_ID: u32 = 0xf270_87c5;

/// Bytes of a packet sent, header included.
pub const PACKET_MAX: usize = 512;

/// Bytes of a packet accepted. The original server was seen to send 526; 1,472 is what an Ethernet
/// frame carries, and nobody has a reason to send more.
pub const RECEIVE_MAX: usize = 1_472;

/// Bytes of the packet header.
pub const HEADER: usize = 12;

/// Bytes of a player's name.
pub const NAME_MAX: u8 = 32;

/// Bytes of a chat message: all that its length byte can say.
pub const CHAT_MAX: u8 = 255;

/// Players besides the server, which takes the first of the 8 places.
pub const PLAYERS_MAX: u8 = 7;

/// Entities at a time. Eight times what a full arena has; at 14 bytes each, telling a new client
/// about all of them takes 8 seconds.
pub const ENTITIES_MAX: u16 = 4_096;

/// Between two packets to a client, and between two resends of a client: 15 a second.
pub const SEND_PERIOD: Duration = Duration::from_micros(66_667);

/// How much sooner than due a packet leaves if the game has just said what it shall tell.
///
/// A little more than a step at 60 a second: otherwise the packet would leave between two steps, with
/// what the last one left behind, and cost a waking of its own. The next one is due a period after
/// this one was, so the rate stays.
pub const AHEAD: Duration = Duration::from_millis(18);

/// Between two Stats messages: scores need not be fresh.
pub const STATS_PERIOD: Duration = Duration::from_millis(500);

/// Between two Input messages: 30 a second, and not a microsecond less than half a
/// [`SEND_PERIOD`], so that every second one carries reliable messages.
pub const INPUT_PERIOD: Duration = Duration::from_micros(33_334);

/// Between two Connects while no answer comes.
pub const RETRY_PERIOD: Duration = Duration::from_millis(200);

/// Silence after which a peer is gone.
pub const TIMEOUT: Duration = Duration::from_secs(15);

/// How long a client waits after Synced for Updates of all entities before it plays.
pub const SETTLE: Duration = Duration::from_secs(1);

/// How long the newest Input holds when no other follows.
pub const INPUT_HOLD: Duration = Duration::from_millis(500);

/// How long a Leave is repeated, or answered to Disconnects, and a client's Disconnect is repeated.
pub const LEAVE_PERIOD: Duration = Duration::from_secs(1);

/// How long a client may take to name its player id, which proves that its address receives. Its place is
/// free again after that.
pub const PROOF_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client that has proved nothing keeps its place after its last packet, if a client of
/// another host wants it. Long enough for the answer of a client 400 ms away; forged Connects can fill
/// the free places, and this is when they empty again.
pub const JOIN_HOLD: Duration = Duration::from_secs(1);

/// Packets of the synchronisation that an address gets before it has proved that it receives, one for
/// each packet that comes from there. They hold 840 entities; a client that needs more has to name its
/// player id before it is told of all.
pub const UNPROVED_ANSWERS: u8 = 24;

/// Reliable messages to a client that have numbers at once: four packets of the smallest, about what a
/// client 300 ms away takes in a round trip. What waits behind them can still be replaced or cancelled.
pub const NUMBERED_MAX: usize = 128;

/// Reliable messages that are kept for a client, its synchronisation not counted. Whoever misses more
/// than this cannot be following the game, and is removed.
pub const QUEUE_MAX: usize = 1_024;

/// Name changes of a player at once. More are acknowledged and have no effect.
pub const RENAMES_AT_ONCE: u32 = 5;
/// How soon one more is allowed: two a second.
pub const RENAME_REFILL: Duration = Duration::from_millis(500);

/// Violations that a player may commit, and how soon one is forgiven.
pub const VIOLATIONS_MAX: u32 = 10;
/// See [`VIOLATIONS_MAX`].
pub const VIOLATION_FORGIVEN: Duration = Duration::from_secs(10);

/// Reliable messages waiting for somebody, from which on chats, renamings and selections are rationed:
/// each is repeated to everybody, and whoever is behind must not be buried. Beyond its ration a
/// player's message stays unacknowledged, so that its client repeats it until its turn comes.
pub const BROADCAST_BACKLOG: usize = 64;
/// The ration at once. Six players that all use it up leave the seventh far below [`QUEUE_MAX`].
pub const BROADCASTS_AT_ONCE: u32 = 8;
/// How soon the ration grows by one. A chat of full length fills a packet, which a client 300 ms away
/// takes less than three times a second; six players get two of those.
pub const BROADCAST_REFILL: Duration = Duration::from_secs(3);

/// Collisions that wait for the next packet; on top of that the oldest is left out.
pub const COLLISIONS_WAITING: usize = 64;

/// Answers (Join, packets of the synchronisation, Full, Leave) that wait to be sent: one driver's turn of Connects.
pub const ANSWERS_WAITING: usize = 1_024;

/// Clients that left and are still told so. More at once: the oldest is told no longer.
pub const DEPARTED_MAX: usize = 64;

/// Events that wait for the game. While they do, datagrams are dropped, as if the network had lost
/// them: nothing reliable is lost by that.
pub const EVENTS_WAITING: usize = 4_096;

/// Reliable messages that a client's own side may queue before the server takes any.
pub const CLIENT_QUEUE: usize = 64;

/// Longest time that a client moves an entity on without news of it.
pub const PREDICTION_MAX: Duration = Duration::from_millis(250);
