//! Every bound, with the reason for its number.

use core::time::Duration;

/// Bytes of one control message behind its length. The longest is a list of sessions.
pub const FRAME_MAX: usize = 4_096;

/// Bytes of a session's name: what fits into a line of a list.
pub const NAME_MAX: usize = 48;

/// Bytes of the names of protocols, with commas: those that there are need less than half.
pub const PROTOCOL_MAX: usize = 96;

/// Addresses that a member says it may have: one of its own network and one of its router for each family
/// of addresses. Each costs the other member some datagrams, which may be aimed at a third party.
pub const CANDIDATES_MAX: usize = 4;

/// Addresses that a member tries for one pairing: those that it was told, those from which the other
/// member's probes came, and a relay.
pub const TRIES_MAX: usize = 8;

/// Sessions that one list names: what fits into a frame.
pub const LISTED_MAX: usize = 24;

/// Sessions that a server keeps.
pub const SESSIONS_MAX: usize = 16_384;

/// Sessions of one host address: a house with several players, or a hosting provider's machine.
pub const SESSIONS_A_HOST: usize = 16;

/// Control connections that a server keeps, hosts and joiners.
pub const CLIENTS_MAX: usize = 32_768;

/// Control connections of one host address.
pub const CLIENTS_A_HOST: usize = 64;

/// Pairings that a server remembers, for relays.
pub const PAIRINGS_MAX: usize = 32_768;

/// Pairings that a host takes part in at a time.
pub const PAIRINGS_A_MEMBER: usize = 256;

/// Wrong codes of one host address at once: a person who mistypes. With one in ten seconds after that, a
/// guesser needs 18 hours for one of ten thousand sessions.
pub const WRONG_CODES: u32 = 6;

/// See [`WRONG_CODES`].
pub const WRONG_CODE_REFILL: Duration = Duration::from_secs(10);

/// Host addresses whose wrong codes are counted; while there are more, others cannot join.
pub const WRONG_HOSTS_MAX: usize = 4_096;

/// Requests of one connection at once: one of each kind, and bots that join together.
pub const REQUESTS: u32 = 64;

/// See [`REQUESTS`]: four a second follow.
pub const REQUEST_REFILL: Duration = Duration::from_millis(250);

/// Bytes that wait for a control connection whose peer does not read; beyond that it is cut.
pub const WAITING_MAX: usize = 16 * 1_024;

/// A control connection that says nothing is cut, and its session removed.
pub const CONTROL_SILENCE: Duration = Duration::from_secs(45);

/// A member says something at least this often. Routers forget a UDP mapping after 30 s at the earliest
/// (RFC 4787 asks for two minutes, and few keep to it).
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// STUN answers that are longer than their question, in all: other programs' questions have 20 bytes and
/// no answer fits into that. At this rate nobody can be hurt with them.
pub const UNPADDED_ANSWERS: u32 = 64;

/// See [`UNPADDED_ANSWERS`]: 64 a second follow.
pub const UNPADDED_REFILL: Duration = Duration::from_micros(15_625);

/// STUN answers that wait to be sent.
pub const ANSWERS_WAITING: usize = 256;

/// Between the first probes of a pairing.
pub const PROBE_FIRST: Duration = Duration::from_millis(25);

/// Between probes while no path is known.
pub const PROBE_SLOWEST: Duration = Duration::from_millis(400);

/// How long the first probes go on before both members slow down to [`PATH_CHECK`].
pub const PUNCHING: Duration = Duration::from_secs(5);

/// Between probes of paths that are in use or may yet come to work.
pub const PATH_CHECK: Duration = Duration::from_secs(2);

/// A path that has not answered for so long is dead: three probes were lost.
pub const PATH_SILENCE: Duration = Duration::from_secs(7);

/// A relay is asked for if no direct path was found by then: a punched path takes one round trip between
/// the members, a local one a few milliseconds.
pub const RELAY_AFTER: Duration = Duration::from_millis(300);

/// A joiner gives up if no path was found by then.
pub const JOIN_PATIENCE: Duration = Duration::from_secs(12);

/// A relay is given back when a direct path has held for so long.
pub const RELAY_KEPT: Duration = Duration::from_secs(10);

/// A pairing of which nothing was heard for so long is forgotten.
pub const PAIRING_SILENCE: Duration = Duration::from_secs(60);

/// A relay that carried nothing for so long ends.
pub const RELAY_IDLE: Duration = Duration::from_secs(30);

/// Bytes that a relay carries at once, both directions together, before [`RELAY_RATE`] counts: a world
/// that is loaded.
pub const RELAY_BURST: u32 = 4 * 1_024 * 1_024;

/// Bytes a second that a relay carries: eight times what a client of the arena needs.
pub const RELAY_RATE: u32 = 256 * 1_024;

/// Bytes that a relay carries in all: ten hours at what a client of the arena needs.
pub const RELAY_BYTES: u64 = 1_024 * 1_024 * 1_024;

/// Datagrams that wait to be forwarded within one turn; beyond that they are dropped.
pub const RELAY_WAITING: usize = 512;

/// The largest datagram that a relay forwards: what an Ethernet carries.
pub const RELAY_LARGEST: usize = 1_472;

/// A member that has got no STUN answer for so long takes UDP to be blocked: ten questions were asked.
pub const UDP_PATIENCE: Duration = Duration::from_secs(2);

/// Streams of members whose network lets only TCP out.
pub const GATE_STREAMS: usize = 1_024;

/// The largest datagram that such a stream carries.
pub const CARRIED_LARGEST: usize = RELAY_LARGEST;

/// Bytes that wait for such a stream: a quarter of a second of [`RELAY_RATE`]. What is older is of no use to a
/// game.
pub const CARRIED_WAITING: usize = 64 * 1_024;

/// Datagrams that came on such streams and wait for whoever they are for; beyond that they are dropped.
pub const CARRIED_IN: usize = 1_024;

/// Events that an embedder has not taken; beyond that the oldest go.
pub const EVENTS_MAX: usize = 1_024;
