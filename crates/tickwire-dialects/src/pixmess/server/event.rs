//! What a server tells its game, and what it counts.

use alloc::string::String;
use core::fmt;

use tickwire_session::counters;

use super::Departure;
#[cfg(doc)]
use super::Server;
use crate::pixmess::message::Look;
use crate::pixmess::{Block, BlockId, Cell, ChunkId, Direction, PlayerId};

/// What the game is told.
///
/// The events that end in `Asked` are questions, and each names the answers it takes. A question
/// whose player is gone in the meantime is not asked, and an answer to it does nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// Somebody wants to take part: [`Server::admit`] it or [`Server::kick`] it.
    LoginAsked {
        /// The number it will have.
        player: PlayerId,
        /// Its name, which nobody else has. A spectator's is empty.
        name: String,
        /// What it wants to look like.
        look: Look,
    },
    /// A player wants to take a step: [`Server::allow_move`] or [`Server::refuse_move`].
    MoveAsked {
        /// Who.
        player: PlayerId,
        /// Where to.
        direction: Direction,
        /// The cell that is there.
        to: Cell,
    },
    /// A player wants to change a block of a chunk that it holds: [`Server::allow_edit`], or
    /// [`Server::tell_block`] with what stays there.
    EditAsked {
        /// Who.
        player: PlayerId,
        /// Which one.
        id: BlockId,
        /// What it shall be. Clearing a solid block is always [`Block::EMPTY`].
        block: Block,
    },
    /// A player's change was refused, and it has to be put right: [`Server::tell_block`] with what is
    /// there.
    BlockAsked {
        /// Who.
        player: PlayerId,
        /// Which one.
        id: BlockId,
    },
    /// A client wants a chunk: [`Server::provide_chunk`] or [`Server::refuse_chunk`].
    ChunkAsked {
        /// Who.
        player: PlayerId,
        /// Which one.
        chunk: ChunkId,
    },
    /// A player said something; everybody heard it already.
    Chatted {
        /// Who.
        player: PlayerId,
        /// What.
        text: String,
    },
    /// Somebody who was admitted is gone, and its entity with it.
    Left {
        /// Who.
        player: PlayerId,
        /// Why.
        why: Departure,
    },
}

impl ServerEvent {
    /// Whether it is a question about this player.
    pub(super) fn asks_about(&self, who: PlayerId) -> bool {
        match self {
            Self::LoginAsked { player, .. }
            | Self::MoveAsked { player, .. }
            | Self::EditAsked { player, .. }
            | Self::BlockAsked { player, .. }
            | Self::ChunkAsked { player, .. } => *player == who,
            Self::Chatted { .. } | Self::Left { .. } => false,
        }
    }
}

/// A table is full.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooMany {
    /// Of what.
    pub(super) what: &'static str,
    pub(super) limit: usize,
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, limit } = self;
        write!(f, "there are {limit} {what} already: remove one first")
    }
}

impl core::error::Error for TooMany {}

counters! {
    /// What a server refused or noticed, by cause.
    pub struct ServerCounters {
        /// Connections that had not logged in and gave way to a newcomer.
        gave_way,
        /// Types that do not exist, and other bytes that do not decode.
        unknown_type,
        /// Types that only a server sends.
        server_only,
        /// Messages before login that may not come before it.
        not_logged_in,
        /// Logins of somebody who is logged in.
        second_login,
        /// Logins of another version.
        wrong_version,
        /// Logins with a name that is none.
        bad_name,
        /// Logins with a name that somebody has.
        name_taken,
        /// Logins when everybody was there.
        full,
        /// Logins when too many came at once, or the game was too slow.
        busy,
        /// Connections that did not log in.
        login_timeout,
        /// Connections that fell silent.
        ping_timeout,
        /// Connections that said too much while the game had not answered.
        too_much,
        /// Connections that did not read.
        never_read,
        /// Steps with a direction that does not exist, or over the edge of the world.
        bad_direction,
        /// Steps above the rate.
        too_fast,
        /// Block changes above the rate.
        too_many_edits,
        /// Block changes outside the chunks that a client holds.
        edits_outside,
        /// Layer requests too far away, or beyond the edge of the world.
        far_requests,
        /// Layer requests above the rate.
        too_many_requests,
        /// Chats above the rate.
        too_many_chats,
        /// Chats that are not UTF-8.
        bad_chat,
        /// Layer sets that do not exist.
        unknown_set,
        /// What a spectator may not do.
        spectator_acted,
    }
}
