//! What a client tells its game, and counts.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use tickwire_replica::EntityId;
use tickwire_replica::world::PlayerId;

use super::provisional::ProvisionalId;
use crate::game::Game;
use crate::reason::EndReason;

/// What happened.
pub enum ClientEvent<G: Game> {
    /// The server lets the player take part.
    Joined {
        /// Who it is there.
        player: PlayerId,
    },
    /// An entity is in view from now on.
    Spawned {
        /// Which.
        id: EntityId,
        /// What it is: its place among the game's things.
        archetype: usize,
    },
    /// An entity is in view no more.
    Despawned {
        /// Which.
        id: EntityId,
        /// What it was.
        archetype: usize,
    },
    /// What this client spawned ahead of the server is the server's entity from now on, which was
    /// [`Spawned`](Self::Spawned) just before.
    Replaced {
        /// What it was.
        provisional: ProvisionalId,
        /// What it is.
        by: EntityId,
    },
    /// Which entity is the player's own from now on.
    Owned(Option<EntityId>),
    /// The server says something.
    Said(G::ToClient),
    /// Something happened at the tick that is shown now.
    Happened(G::ToClient),
    /// The server says something of which only the newest counts.
    Latest {
        /// On which channel.
        channel: u8,
        /// What.
        message: G::ToClient,
    },
    /// A question came to its end.
    Answered {
        /// Which.
        asked: Asked,
        /// The answer; nothing if it was refused, or none came.
        answer: Option<G::ToClient>,
    },
    /// A resource is complete, and is what the server's list says.
    Fetched {
        /// Its name.
        name: String,
        /// What it holds.
        bytes: Vec<u8>,
    },
    /// There is no such resource, or it was not what the server's list says.
    NotFetched {
        /// Its name.
        name: String,
    },
    /// The connection broke. It is tried to come back; what is shown stands still.
    Interrupted,
    /// The connection is there again, and the player the same.
    Resumed,
    /// It is over.
    Ended {
        /// Why.
        why: EndReason,
        /// What the server says to it.
        words: String,
    },
}

impl<G: Game> fmt::Debug for ClientEvent<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Messages need not be printable.
        match self {
            Self::Joined { player } => write!(f, "Joined({})", player.0),
            Self::Spawned { id, archetype } => write!(f, "Spawned({id}, {archetype})"),
            Self::Despawned { id, archetype } => write!(f, "Despawned({id}, {archetype})"),
            Self::Replaced { provisional, by } => write!(f, "Replaced({provisional:?}, {by})"),
            Self::Owned(own) => write!(f, "Owned({own:?})"),
            Self::Said(_) => f.write_str("Said"),
            Self::Happened(_) => f.write_str("Happened"),
            Self::Latest { channel, .. } => write!(f, "Latest({channel})"),
            Self::Answered { asked, answer } => {
                write!(f, "Answered({}, {})", asked.0, answer.is_some())
            }
            Self::Fetched { name, bytes } => write!(f, "Fetched({name:?}, {} bytes)", bytes.len()),
            Self::NotFetched { name } => write!(f, "NotFetched({name:?})"),
            Self::Interrupted => f.write_str("Interrupted"),
            Self::Resumed => f.write_str("Resumed"),
            Self::Ended { why, words } => write!(f, "Ended({why:?}, {words:?})"),
        }
    }
}

/// A question under way.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Asked(pub(super) u32);

tickwire_session::counters! {
    /// What was refused, by cause.
    pub struct ClientCounters {
        /// Datagrams that do not decode, and packets among them.
        undecodable,
        /// Packets that were too old, or of what was left since.
        overtaken,
        /// Packets relative to something that is not held.
        lacking,
        /// Datagrams of others than the server.
        stranger,
        /// Messages of the game that its types do not allow.
        bad_message,
        /// Answers to nothing.
        unasked,
        /// Connections that were made up for.
        resumed,
        /// Events that came too late for the tick that they happened at.
        late_event,
        /// Steps of the own entity that its fields do not take.
        bad_step,
    }
}
