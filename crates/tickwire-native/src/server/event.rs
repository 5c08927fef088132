//! What a server tells its game, and counts.

use alloc::string::String;
use core::fmt;
use core::time::Duration;

use tickwire_replica::FieldError;
use tickwire_replica::world::PlayerId;

use crate::game::Game;
use crate::message::Role;
use crate::reason::EndReason;

/// What happened.
pub enum ServerEvent<G: Game> {
    /// Somebody takes part.
    Joined {
        /// Who.
        player: PlayerId,
        /// What it is called.
        name: String,
        /// Whether it plays or looks on.
        role: Role,
    },
    /// A player's connection broke. Its entities stay, and it may come back.
    Away(PlayerId),
    /// A player whose connection broke is there again.
    Back(PlayerId),
    /// A player is gone for good, and with it what was spawned as its own.
    Left {
        /// Who.
        player: PlayerId,
        /// Why.
        why: EndReason,
    },
    /// A player said something.
    Said {
        /// Who.
        player: PlayerId,
        /// What.
        message: G::ToServer,
    },
    /// A player said something of which only the newest counts.
    Latest {
        /// Who.
        player: PlayerId,
        /// On which channel.
        channel: u8,
        /// What.
        message: G::ToServer,
    },
    /// A player asks something; see [`Server::answer`](crate::Server::answer).
    Asked {
        /// Which question, and whose.
        question: Question,
        /// What.
        message: G::ToServer,
    },
    /// Ticks take longer than they may. Time was left out, so that the game does not fall behind further.
    Late {
        /// How much.
        dropped: Duration,
    },
}

/// What waits for the game.
pub(super) enum Waiting<G: Game> {
    Event(ServerEvent<G>),
    /// The newest of a player's channel, whatever that is when the game gets there.
    Latest(PlayerId, u8),
}

impl<G: Game> fmt::Debug for ServerEvent<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Messages need not be printable.
        match self {
            Self::Joined { player, name, role } => {
                write!(f, "Joined({}, {name:?}, {role:?})", player.0)
            }
            Self::Away(player) => write!(f, "Away({})", player.0),
            Self::Back(player) => write!(f, "Back({})", player.0),
            Self::Left { player, why } => write!(f, "Left({}, {why:?})", player.0),
            Self::Said { player, .. } => write!(f, "Said({})", player.0),
            Self::Latest {
                player, channel, ..
            } => write!(f, "Latest({}, {channel})", player.0),
            Self::Asked { question, .. } => write!(f, "Asked({question:?})"),
            Self::Late { dropped } => write!(f, "Late({dropped:?})"),
        }
    }
}

/// A question that waits for its answer.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Question {
    /// Who asks.
    pub player: PlayerId,
    pub(super) number: u32,
}

/// Who is told something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum To {
    /// Everybody.
    All,
    /// One player.
    Player(PlayerId),
    /// Everybody but one.
    AllBut(PlayerId),
}

impl To {
    pub(super) fn means(self, player: PlayerId) -> bool {
        match self {
            Self::All => true,
            Self::Player(one) => one == player,
            Self::AllBut(one) => one != player,
        }
    }
}

/// Why something cannot be said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SayError {
    /// A field does not take its value.
    Field(FieldError),
    /// The message is longer than [`MESSAGE_MAX`](crate::limits::MESSAGE_MAX), or by datagram than one holds.
    TooLong,
    /// There is no such channel: they are numbered below
    /// [`LATEST_CHANNELS`](crate::limits::LATEST_CHANNELS).
    NoSuchChannel,
    /// Too much waits for the other side.
    Full,
}

impl From<FieldError> for SayError {
    fn from(error: FieldError) -> Self {
        Self::Field(error)
    }
}

impl fmt::Display for SayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(error) => write!(f, "the message's {error}"),
            Self::TooLong => f.write_str("the message is too long: offer it as a resource"),
            Self::NoSuchChannel => f.write_str("channels are numbered from 0 to 15"),
            Self::Full => f.write_str("too much waits to be sent"),
        }
    }
}

impl core::error::Error for SayError {}

tickwire_session::counters! {
    /// What was refused, by cause.
    pub struct ServerCounters {
        /// Connections that had to go for newcomers.
        too_many_streams,
        /// Datagrams from addresses that belong to nobody.
        stranger,
        /// Tokens that nobody holds.
        bad_token,
        /// Datagrams that do not decode.
        undecodable,
        /// Inputs too far ahead of the clock.
        input_ahead,
        /// Inputs of those who look on.
        spectator_input,
        /// Messages of the game that its types do not allow.
        bad_message,
        /// Messages beyond the rate.
        too_many_messages,
        /// Questions beyond what may wait.
        too_many_questions,
        /// Requests for resources that do not exist.
        no_such_resource,
        /// Players who came back.
        resumed,
        /// Tickets that count no more.
        bad_ticket,
        /// Refused: another version, schema or name.
        refused,
        /// Clients that asked to be sent everything anew.
        forget,
        /// Messages that a client could not be told, because too much waited for it.
        overrun,
    }
}
