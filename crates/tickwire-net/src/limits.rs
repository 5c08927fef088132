//! Every bound of the driver, with its reason.
//!
//! What comes from outside (datagrams, connections, bytes) is bounded a turn, in number and in time, so
//! that a flood cannot hold up a step, and in total, so that it cannot exhaust memory.

use std::time::Duration;

/// Longest datagram that is handed in; a longer one is dropped and counted.
///
/// Protocols stay below 1,500 bytes, the frame of an Ethernet, because a datagram cut into fragments
/// is lost with any of them. This leaves a margin and still keeps a batch within the cache.
pub const DATAGRAM_LARGEST: usize = 2_048;

/// Datagrams that cross in one system call.
///
/// The call's own cost is spread over 64 already; twice as many would only take more cache.
pub const DATAGRAM_BATCH: usize = 64;

/// Datagrams read from one socket in one turn.
///
/// A thousand players at 60 inputs a second send 1,000 between two steps. The rest waits in the
/// kernel, which drops what does not fit.
pub const DATAGRAMS_A_TURN: usize = 1_024;

/// Failed datagrams of one client that are told in one turn.
///
/// A client sends to one server, mostly, and tells its session once for every datagram that it sent.
pub const FAILURES_A_TURN: usize = 64;

/// Time for handing in that a turn has even if its moment has come already.
///
/// What a datagram costs is the session's, so counting them does not bound a turn: beyond this, and
/// beyond the moment it was given, it leaves the other sockets to the next turn. A quarter of a step
/// at 60 a second, so that a game that is late still hears its players.
pub const HAND_IN: Duration = Duration::from_millis(4);

/// Time for draining sessions that a turn has, before its wait and after it.
///
/// What there is to send is the sessions', so it has to be bounded here: whoever is not drained by
/// then is first in the next turn, which does not wait. A quarter of a step at 60 a second, in which
/// some thousand datagrams go out.
pub const DRAIN: Duration = Duration::from_millis(4);

/// Bytes that travel as one message when the system takes several datagrams at once.
///
/// Below the longest datagram that there is, which is where the system refuses.
pub const SEGMENTED_BYTES: usize = 60_000;

/// Peers of a server that is bound to all addresses of its machine, for each of which it is
/// remembered which address they asked; twice as many for those that were heard of lately.
///
/// Four times the players of a full server. Anybody can pretend to be this many in a tenth of a
/// second: those who play send more often than that and stay in.
pub const PEERS_ASKING: usize = 16_384;

/// Datagram paths of one session that it is told the room of at a time; others are only counted.
///
/// Every player of a full server: they share a socket, and so it is full for all of them.
pub const PATHS_TOLD: usize = 4_096;

/// Size of a datagram socket's buffers that is asked for, in each direction; the kernel may give
/// less.
///
/// A second of a thousand players' input. The usual default of 208 KiB overflows when one step takes
/// long.
pub const DATAGRAM_SOCKET_BUFFER: usize = 4 * 1_024 * 1_024;

/// Datagrams that wait for one node on its memory links.
///
/// They are handed in every turn, so that this many bots can send one each.
pub const LINK_DATAGRAMS: usize = 4_096;

/// Turns in a row that hand in what links brought and do not ask the system about sockets, within
/// one [`run_until`](crate::Driver::run_until).
///
/// One exchange over a link: what the game published, the answer, and what the answer moves. Asking
/// costs as much as carrying a datagram over a link does; after this many turns it is done anyway,
/// so that nodes that never stop talking in memory do not silence the network.
pub const LINK_TURNS: usize = 3;

/// Bytes read from one stream in one turn.
///
/// What a turn costs is this times the streams that send; above it a peer waits for the next turn.
pub const STREAM_READ: usize = 64 * 1_024;

/// Bytes of one stream that the driver keeps because the carrier does not take them yet; the room
/// that a session is told is what is left of this.
///
/// Enough to fill 10 Mbit/s for 50 ms; more would be stale by the time it leaves.
pub const STREAM_PENDING: usize = 64 * 1_024;

/// Bytes not yet sent that the kernel keeps for one stream, where it can be told.
///
/// Without it Linux takes megabytes, which no later message can pass however urgent it is.
pub const STREAM_UNSENT: u32 = 32 * 1_024;

/// Connections that one listener accepts in one turn.
///
/// More than a server that just opened is dialled by at once; the backlog holds the others.
pub const ACCEPTS_A_TURN: usize = 64;

/// Connections that wait to be accepted; the kernel may hold fewer.
pub const ACCEPT_BACKLOG: i32 = 1_024;

/// Connections that one server of a driver has: its share, whatever the others have. One that is
/// accepted on top is closed at once.
///
/// More than any protocol has places for, so that it is the session that decides who stays. Each may
/// hold [`STREAM_PENDING`] here, 256 MiB in total.
pub const CONNECTIONS: usize = 4_096;

/// Files that the process is allowed to have open, where it may raise that number itself: eight
/// servers with all their connections.
///
/// Many systems begin at 1,024, which the silent connections of one host use up. Where this cannot be
/// had, servers share what there is.
pub const FILES: usize = 32_768;

/// Files that connections leave to everything else: sockets that are dialled, logs, worlds, savegames.
pub const FILES_RESERVED: usize = 256;

/// How long a listener rests after the machine refused to accept (out of file descriptors, mostly).
///
/// The connection stays in the backlog, so that trying again at once would fail the same way.
pub const ACCEPT_REST: Duration = Duration::from_millis(100);

/// How long a finished stream is kept until its last bytes are out and the peer has closed, too.
///
/// Ample for [`STREAM_PENDING`] over the slowest link on which a game is played.
pub const CLOSING_PATIENCE: Duration = Duration::from_secs(10);

/// Bytes that a peer may still send on a stream that is finished here. They are read and dropped;
/// above this the connection is cut.
pub const CLOSING_DISCARD: usize = 1_024 * 1_024;

/// How often a pair of ports is sought when the system is to choose one for datagrams and streams.
///
/// It chooses for the one; that the other is taken happens once in hundreds of times.
pub const PORT_ATTEMPTS: usize = 16;

/// Readiness reports taken from the system in one turn; others follow in the next.
pub const EVENTS_A_TURN: usize = 1_024;

/// QUIC connections of one server.
///
/// More than any protocol has places for. Idle ones keep some 50 KB each, with both of their ends; see [`LINK_RECEIVE_WINDOW`]
/// for what one that is busy may keep.
pub const LINKS: usize = 4_096;

/// Streams that a peer may have open at once over one link.
///
/// A protocol has one, or one for each of its bulk transfers.
pub const LINK_STREAMS: u32 = 16;

/// Bytes of one stream over a link that are received before the session has read those before them.
///
/// The driver reads at once, so this is what loss may hold up: 10 Mbit/s over a round trip of 100 ms.
pub const LINK_STREAM_WINDOW: u32 = 128 * 1_024;

/// The same for all streams of a link. With [`LINK_SEND_WINDOW`] and the queues of datagrams it is the
/// most that a peer can make the driver keep: some 900 KB with two streams, as the allocator counts.
pub const LINK_RECEIVE_WINDOW: u32 = 256 * 1_024;

/// Bytes on a link's streams that were sent and are not acknowledged.
pub const LINK_SEND_WINDOW: u32 = 256 * 1_024;

/// Bytes that are received of a peer on streams before its ticket was checked: the ticket, and the
/// first message of an honest client that does not wait for the answer.
pub const UNPROVED_WINDOW: u32 = 16 * 1_024;

/// Bytes of datagrams that wait to leave over a link: two of the largest, with what `quinn-proto` counts
/// for each. The newest push out the oldest.
pub const LINK_DATAGRAMS_QUEUED: usize =
    2 * (LINK_MTU_LARGEST as usize + size_of::<quinn_proto::Datagram>());

/// Bytes of datagrams that were received over a link and not handed in; the oldest are dropped.
///
/// They are handed in within the turn that received them.
pub const LINK_DATAGRAMS_RECEIVED: usize = 64 * 1_024;

/// Datagrams of a peer whose ticket was not checked yet: an honest client's first inputs. The newest stay.
pub const LINK_DATAGRAMS_EARLY: usize = 8;

/// Packets of a link that begins: with it a datagram of 1,200 bytes fits.
///
/// An IPv4 packet of 1,280 bytes. Where that does not pass, a link falls back to 1,200.
pub const LINK_MTU: u16 = 1_252;

/// Largest packet that is tried on a link: an Ethernet frame without the headers of IPv6 and UDP.
pub const LINK_MTU_LARGEST: u16 = 1_452;

/// What one more attempt at larger packets has to gain: half of what there is, so that a link makes two.
///
/// An attempt is a packet of padding, which `quinn-proto` reads byte by byte: it costs as much as several snapshots.
pub const LINK_MTU_STEP: u16 = (LINK_MTU_LARGEST - LINK_MTU) / 2;

/// Silence after which a link is over.
pub const LINK_IDLE: Duration = Duration::from_secs(60);

/// Silence after which a client says that it is there. Routers forget an address after 30 s.
pub const LINK_KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Packets of a congestion window at least: 60 of 300 bytes a second over a round trip of half a second.
pub const WINDOW_FLOOR: u64 = 10;

/// Packets that a peer may receive before it acknowledges one, if [`ACKED_WITHIN`] has not passed.
///
/// An acknowledgement then rides on what is sent anyway: a bare one costs as much as a snapshot.
pub const ACKED_PACKETS: u32 = 10;

/// How long a peer may wait until it acknowledges: two snapshots at 20 a second. `quinn-proto` makes it
/// no longer than a round trip.
pub const ACKED_WITHIN: Duration = Duration::from_millis(100);

/// Addresses that are banned one by one; beyond that some of the first are let in again.
pub const BANNED: usize = 65_536;

/// How long a link that its session did not end counts among those of its address.
///
/// Sessions keep a place for whoever may come back, for a minute at most.
pub const LINK_REST: Duration = Duration::from_secs(60);

/// Addresses of which it is remembered that links of theirs just ended; beyond that the first are forgotten.
pub const LINK_RESTING: usize = 4_096;

/// Between two answers to packets of connections that a server knows nothing of: it was restarted.
///
/// A thousand clients hear of it within a second or two. Such an answer is shorter than what asked for it.
pub const RESET_INTERVAL: Duration = Duration::from_millis(1);

/// Links whose reason of ending is remembered.
pub const LINK_FAILURES: usize = 64;

/// Time for strangers over QUIC that a turn has: for reading first packets, for handshakes, and for those who have
/// not shown their ticket.
///
/// A handshake takes a quarter of this, most of it for the signature. The others wait, see
/// [`HANDSHAKES_WAITING`]: a hundred who join at once must not hold up a step.
pub const HANDSHAKE_TIME: Duration = Duration::from_millis(1);

/// First packets that wait for their handshake; above this they are dropped, and honest clients send
/// theirs again.
pub const HANDSHAKES_WAITING: usize = 256;

/// First packets that wait before others are answered with a Retry: whoever cannot receive at the
/// address that it claims goes no further.
pub const HANDSHAKES_UNVALIDATED: usize = 128;

/// Connections whose handshake is not over, or whose ticket was not checked. One more pushes out the oldest of
/// the host with the most.
pub const HALF_OPEN: usize = 256;

/// How long a connection may be half open; as for every other proof.
pub const HANDSHAKE_PATIENCE: Duration = tickwire_session::PROOF_PATIENCE;

/// How long a client waits for a server's answer.
pub const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// First packets at once for which keys are derived, which costs some 10 µs. Further ones are dropped
/// unread.
pub const FIRST_PACKETS: u32 = 512;

/// See [`FIRST_PACKETS`]: 4,000 a second follow.
pub const FIRST_PACKET_REFILL: Duration = Duration::from_micros(250);

/// First packets that wait to be read; above this they are dropped, and honest clients send theirs again.
///
/// As many as may wait for a handshake: some 300 KiB.
pub const FIRST_PACKETS_WAITING: usize = HANDSHAKES_WAITING;

/// Handshakes of one host at once; two LAN parties behind one address.
pub const HANDSHAKES_A_HOST: u32 = 128;

/// See [`HANDSHAKES_A_HOST`]: 64 a second follow, as many as may join.
pub const HANDSHAKE_REFILL_A_HOST: Duration = tickwire_session::JOIN_REFILL_A_HOST;

/// Hosts whose handshakes are counted; above this every stranger is asked to prove its address.
pub const HANDSHAKE_HOSTS: usize = 4_096;

/// Answers at once to those who ask for a server's status, which takes no handshake.
pub const STATUS_ANSWERS: u32 = 64;

/// See [`STATUS_ANSWERS`]: 100 a second follow.
pub const STATUS_REFILL: Duration = Duration::from_millis(10);

/// Addresses whose packets go by another way than a socket: as many as a rendezvous server has streams for.
pub const DIVERTED_ADDRS: usize = 4_096;

/// Packets that wait to be taken there; beyond that the oldest are lost.
pub const DIVERTED_PACKETS: usize = 1_024;

/// Longest ticket.
pub const TICKET_LONGEST: usize = 512;

/// Tickets that were used and have not expired.
pub const TICKETS_USED: usize = 65_536;

/// Datagrams of one link that the system is given at once (GSO).
pub const LINK_SEGMENTS: usize = 10;

/// Such batches of one link in one turn; the rest follows in the next.
pub const LINK_BATCHES: usize = 16;
