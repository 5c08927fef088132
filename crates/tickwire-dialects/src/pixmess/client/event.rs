//! How far a client has come, what it tells its application, and what it counts.

use alloc::string::String;

use tickwire_session::counters;
use tickwire_wire::display_enum;

use super::Entity;
use crate::pixmess::{Block, BlockId, Cell, ChunkId, EntityId, PlayerId, SetId};

/// How far the client has come (see `STATES.md`).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Phase {
    /// Opening the connection.
    Dialling,
    /// Has said who it is.
    LoggingIn,
    /// Takes part.
    Playing,
    /// Has said that it goes.
    Leaving,
    /// Over; nothing is sent any more.
    Ended(EndReason),
}

display_enum! {
    /// Why it is over.
    #[derive(Clone, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum EndReason {
        /// No server answered.
        Unreachable => "no server answered: check the address and that it runs",
        /// The server sent this client away, and said why.
        Kicked(why: String) => "the server sent you away: {why}",
        /// The server fell silent.
        TimedOut => "the server fell silent",
        /// The connection ended.
        Disconnected => "the connection ended",
        /// The server sent what is not pixmess.
        Broken => "the server does not speak this protocol",
        /// This client said that it goes.
        Quit => "you left",
    }
}

/// What the application is told.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server let this client in.
    LoggedIn(PlayerId),
    /// The server said again which number this client has.
    PlayerIdTold(PlayerId),
    /// A chunk that was asked for is there.
    ChunkLoaded(ChunkId),
    /// A chunk is gone, or was not to be had.
    ChunkReleased(ChunkId),
    /// A block is another.
    BlockChanged(BlockId, Block),
    /// An entity is there, this client's own included.
    EntityCreated(EntityId),
    /// An entity is elsewhere.
    EntityMoved(EntityId),
    /// This client's own entity is here, whatever it believed.
    Corrected(Cell),
    /// An entity is gone; this was its last state.
    EntityDestroyed(EntityId, Entity),
    /// A line of chat.
    Chatted(String),
    /// A movable layer set is there.
    SetCreated(SetId),
    /// It is elsewhere.
    SetMoved(SetId),
    /// It is gone.
    SetRemoved(SetId),
    /// It is over.
    Ended(EndReason),
}

display_enum! {
    /// Why something cannot be done.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum ActError: Error {
        /// This client takes no part yet, or no more; a spectator never does.
        NotPlaying => "this client takes no part",
        /// Faster than the server allows.
        TooFast => "faster than the server allows",
        /// It is empty, or longer than the protocol carries.
        Length {
            /// The most bytes allowed.
            limit: usize,
        } => "text must have 1 to {limit} bytes",
        /// Too far away for the server to know which cell is meant, or beyond the edge of the world.
        TooFar => "too far away",
        /// The set does not exist, or this client speaks version 1.
        UnknownSet => "there is no such layer set",
        /// The server has not taken what was said before.
        TooMuchWaiting => "the server has not taken what was said before",
    }
}

counters! {
    /// What a client refused or noticed, by cause.
    pub struct ClientCounters {
        /// What no server should send: directions that do not exist, sets to a client of version 1 or
        /// more of them than there may be.
        violations,
        /// Layers that nobody asked for, or that were released meanwhile.
        unwanted_layer,
        /// Block changes outside the chunks held, or in those released meanwhile.
        unknown_chunk,
        /// News of entities that are not known.
        unknown_entity,
        /// Events lost because too many were waiting.
        overrun,
    }
}
