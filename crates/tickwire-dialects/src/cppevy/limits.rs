//! Every bound of the dialect, each with its reason.

use core::time::Duration;

/// Bytes of a payload's header.
pub const HEADER: usize = 5;

/// The largest half size that a header may announce. 254 and 255 would exceed the 512 bytes in which
/// the original receives.
pub const HALF_MAX: u8 = 253;

/// Bytes of a payload, header included.
pub const PAYLOAD_MAX: usize = HEADER + 2 * HALF_MAX as usize;

/// What fills a payload whose objects have an odd length.
pub const PADDING: u8 = 0xff;

/// Bytes of the data in an object: all that its size byte can say.
pub const DATA_MAX: usize = u8::MAX as usize;

/// The version that a Join must name.
pub const VERSION: u16 = 1;

/// Bytes of a name: what Join's data holds besides the version.
pub const NAME_MAX: usize = DATA_MAX - 2;

/// Bytes of an asset's name: what the data of the action holds besides the offset.
pub const ASSET_NAME_MAX: usize = DATA_MAX - 4;

/// Bytes of an asset in one event.
pub const PIECE_MAX: usize = 240;

/// Bytes of an asset that a client takes: more than anything a player waits for at this pace.
pub const ASSET_MAX: u32 = 64 * 1_024 * 1_024;

/// Bytes of the name of content that a client offers: what the data of the action holds besides size and
/// hash.
pub const UPLOAD_NAME_MAX: usize = DATA_MAX - 4 - 32;

/// Bytes of content that any server takes from a client, which decides how much memory that costs: a skin,
/// not a film.
pub const UPLOAD_MAX: u32 = 64 * 1_024;

/// Pieces of it that a client sends before the first is answered.
pub const UPLOAD_WINDOW: usize = 8;

/// How long all of them may take, from the server's consent on: a kilobyte a second, twice the time for the
/// slowest that still plays.
pub const UPLOAD_PATIENCE: Duration = Duration::from_secs(64);

/// Between two sendings of states: 20 a second.
pub const STATE_PERIOD: Duration = Duration::from_millis(50);

/// How much sooner than due a sending leaves if the game has just said what it shall tell.
///
/// A little more than a step at 60 a second: otherwise the states would leave between two steps, as
/// old as the last one left them, and cost a waking of their own. The next sending is due a period
/// after this one was, so the rate stays.
pub const AHEAD: Duration = Duration::from_millis(18);

/// How soon a state that did not change is sent again. The wait doubles up to [`REPEAT_LONGEST`],
/// so that a lost change is soon repaired and a still entity costs little.
pub const REPEAT_FIRST: Duration = Duration::from_millis(100);
/// See [`REPEAT_FIRST`]. With one period on top it stays below a second.
pub const REPEAT_LONGEST: Duration = Duration::from_millis(800);

/// Datagrams with states in one sending to one client: 320 KiB a second. What does not fit comes
/// first in the next sending.
pub const DATAGRAMS_A_SENDING: u32 = 32;

/// Age at which a state says nothing about the present any more.
pub const STATE_MAX_AGE: Duration = Duration::from_secs(3);

/// State requests that are honoured in any second.
pub const REQUESTS_A_SECOND: usize = 10;

/// Between two Attach actions while no answer comes.
pub const ATTACH_PERIOD: Duration = Duration::from_millis(100);

/// Without a datagram for this long, an attached client shows its token again: the address that the
/// server sees may have changed. Everything it was told by datagram is out of date by then.
pub const ATTACH_AGAIN: Duration = STATE_MAX_AGE;

/// How long nothing is sent by UDP before an empty payload is. It keeps the mapping of a router
/// alive, and tells a client that has no states to hear of that it is still attached.
pub const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// The same by TCP, where it only has to come before [`TIMEOUT`].
pub const STREAM_KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Silence on both paths after which a peer is gone.
pub const TIMEOUT: Duration = Duration::from_secs(15);

/// How long a freed sync id rests: longer than a datagram that names it can be on its way.
pub const SYNC_ID_REST: Duration = Duration::from_secs(5);

/// How long a client waits for the answer to an action, repetitions after Busy included.
pub const ACTION_PATIENCE: Duration = Duration::from_secs(10);

/// How long a game may leave an action unanswered: half of what the client waits. Afterwards it is
/// answered with Unavailable, because every action must be answered.
pub const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// Actions of a client that are under way at a time, those included whose answer came too late.
pub const ACTIONS_UNDER_WAY: usize = 64;

/// Actions that a client may send at once. What comes on top gets Busy.
pub const ACTIONS_AT_ONCE: u32 = 256;
/// See [`ACTIONS_AT_ONCE`]: 250 a second, several kinds of input at 60 a second.
pub const ACTION_REFILL: Duration = Duration::from_millis(4);

/// Actions of one client that wait for the game. What comes on top gets Busy.
pub const ACTIONS_WAITING: usize = 64;

/// Actions of one client by TCP that wait for an answer, those included that will get Busy when it
/// is their turn. A client that sends more has not read its answers and is removed.
pub const ANSWERS_OWED: usize = 1_024;

/// Bytes that wait for a stream. A peer that does not read is removed here.
pub const STREAM_WAITING: usize = 256 * 1_024;

/// Events and answers that wait for the next datagram to one client; on top of that the oldest is
/// lost, as the network might lose it. They wait for the end of a driver's turn only, so these are the
/// answers to as many datagrams as it takes in in one.
pub const DATAGRAM_WAITING: usize = 1_024;

/// Bytes of events for everybody that wait for the end of a driver's turn; on top of that the oldest are
/// lost. Two thousand shots of a busy game are as many.
pub const NEWS_WAITING: usize = 64 * 1_024;

/// Answers to addresses that are not attached that wait to be sent: one driver's turn of them.
pub const STRANGER_ANSWERS: usize = 1_024;

/// State requests of a client that wait for the next datagram.
pub const REQUESTS_WAITING: usize = 64;

/// Datagram paths whose room is remembered before a client attaches there: one driver's turn of them.
pub const NARROW_PATHS: usize = 1_024;

/// How long the last bytes of a connection may take. After Leave a client waits as long for the
/// answer.
pub const FAREWELL: Duration = Duration::from_secs(2);

/// Events that wait for the game. While they do, a server answers actions with Busy and a client
/// drops datagrams.
pub const EVENTS_WAITING: usize = 4_096;

/// How long the newest input of a kind holds when no other follows.
pub const INPUT_HOLD: Duration = Duration::from_millis(500);
