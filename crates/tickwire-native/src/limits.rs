//! Every bound of the protocol, each with its reason.

use core::time::Duration;

/// The version that a Hello must name.
pub const VERSION: u16 = 1;

/// Ticks a second. A client makes an input for each: a server could otherwise keep it busy with nothing else.
pub const HZ_MAX: u16 = 1_000;

/// Bytes of a frame's body.
///
/// A piece of a resource and its name fit, and the schema of a large game as text. Nobody has to hold
/// more than one frame that is not whole.
pub const FRAME_MAX: usize = 64 * 1_024;

/// Bytes of a player's name.
pub const NAME_MAX: usize = 32;

/// Bytes of the words that go with an end.
pub const WORDS_MAX: usize = 32 * 1_024;

/// Bytes of one message of the game, encoded. Larger content is a resource.
pub const MESSAGE_MAX: usize = 16 * 1_024;

/// Bytes of a datagram: what crosses every path that carries QUIC, less QUIC's own head.
pub const DATAGRAM_MAX: usize = 1_150;

/// Bytes of a piece of a resource. Whatever else is said waits behind at most one of them.
pub const PIECE_MAX: usize = 16 * 1_024;

/// Bytes that wait for a client that does not read. One more ends the connection: it is stuck.
pub const STREAM_WAITING: usize = 1 << 20;

/// Bytes that wait before a client's own stream takes them.
pub const CLIENT_WAITING: usize = 256 * 1_024;

/// Inputs in one datagram: the newest and those before it, so that loss costs none unless four datagrams
/// in a row are lost.
pub const INPUTS_A_DATAGRAM: usize = 4;

/// How far ahead of the server's tick an input may be, in seconds. A client's clock is never that wrong.
pub const INPUT_AHEAD: Duration = Duration::from_secs(1);

/// How long the last input of a client that is not heard goes on: a player who let go of the network keeps
/// flying this long, and then drifts.
pub const INPUT_HELD: Duration = Duration::from_millis(250);

/// How far back a shot is judged.
pub const REWIND_MAX: Duration = Duration::from_millis(250);

/// Messages and questions of one client that are taken in a second.
pub const MESSAGES_A_SECOND: u32 = 60;

/// As many may come at once.
pub const MESSAGES_AT_ONCE: u32 = 120;

/// Questions of one client that wait for the game's answer.
pub const ASKED_AT_ONCE: usize = 64;

/// A question is answered within this time or not at all.
pub const ANSWER_PATIENCE: Duration = Duration::from_secs(10);

/// Requests for resources that wait while another is sent.
pub const FETCHES_WAITING: usize = 16;

/// Channels of which only the latest message counts.
pub const LATEST_CHANNELS: u8 = 16;

/// How often a latest message is repeated while it is not acknowledged by a newer one: each is lost alone.
pub const LATEST_REPEATS: u8 = 3;

/// Events and messages that wait for the game. A client that makes more is ahead of every game.
pub const EVENTS_WAITING: usize = 4_096;

/// Events that wait for a client's game. One that slept finds all that was kept for it; one that never looks
/// ends.
pub const CLIENT_EVENTS_WAITING: usize = 1 << 16;

/// Timed events that wait for playback to reach them.
pub const TIMED_WAITING: usize = 1_024;

/// Silence after which the other side is gone.
pub const SILENCE: Duration = Duration::from_secs(15);

/// A player whose connection broke may come back so long.
pub const RESUME_PATIENCE: Duration = Duration::from_secs(60);

/// Players who are away and may come back. When there are more, whoever has been away for longest is gone.
pub const AWAY_MAX: usize = 1_024;

/// Who is banned. When there are more, the oldest ban is forgotten.
pub const BANNED_MAX: usize = 4_096;

/// How long a connection stays so that it hears why it ends.
pub const FAREWELL: Duration = Duration::from_secs(2);

/// How many narrow datagram paths are remembered before they belong to somebody.
pub const NARROW_PATHS: usize = 1_024;

/// An acknowledgement waits for the next input if that comes this soon: at 60 ticks a second, always.
pub const ACK_PATIENCE: Duration = Duration::from_millis(20);

/// Things that a client has spawned before its server did. What exceeds them is shown when the server has it.
pub const PROVISIONAL_MAX: usize = 64;

/// How long after its input's tick a provisional thing waits to be confirmed, in the server's time: a stream may have
/// to repeat the confirmation.
pub const PROVISIONAL_PATIENCE: Duration = Duration::from_secs(1);

/// Between two datagrams of a client that has no inputs to send.
pub const KEEP_ALIVE: Duration = Duration::from_millis(100);
