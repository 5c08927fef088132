//! The client's copy of the server's players and entities.

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::prediction::Track;
use crate::lwar::limits::{ENTITIES_MAX, PLAYERS_MAX};
use crate::lwar::message::{PlayerScore, Selection};
use crate::lwar::{EntityId, Kind, PlayerId};

/// A player as the server tells it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Player {
    /// Its name.
    pub name: String,
    /// Ship and weapons, once chosen.
    pub selection: Option<Selection>,
    /// Others destroyed.
    pub kills: u16,
    /// Times destroyed.
    pub deaths: u16,
    /// Its round trip to the server in milliseconds.
    pub ping: u16,
}

/// An entity as the server tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entity {
    /// What it is.
    pub kind: Kind,
    /// Whose it is.
    pub owner: PlayerId,
    /// Where it was last.
    pub track: Track,
}

impl Eq for Entity {}

#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) players: BTreeMap<PlayerId, Player>,
    pub(super) entities: BTreeMap<EntityId, Entity>,
}

/// There is more than a server can have.
pub(super) struct TooMany;

impl World {
    pub(super) fn join(&mut self, id: PlayerId, name: &str) -> Result<(), TooMany> {
        if self.players.len() > usize::from(PLAYERS_MAX) && !self.players.contains_key(&id) {
            return Err(TooMany);
        }
        self.players.entry(id).or_default().name = name.into();
        Ok(())
    }

    pub(super) fn add(&mut self, id: EntityId, kind: Kind, owner: PlayerId) -> Result<(), TooMany> {
        if self.entities.len() >= usize::from(ENTITIES_MAX) {
            return Err(TooMany);
        }
        self.entities.insert(
            id,
            Entity {
                kind,
                owner,
                track: Track::default(),
            },
        );
        Ok(())
    }

    pub(super) fn set_score(&mut self, score: &PlayerScore) {
        if let Some(player) = self.players.get_mut(&score.player) {
            (player.kills, player.deaths) = (score.kills, score.deaths);
            player.ping = score.ping;
        }
    }

    /// Whether every entity has had an update.
    pub(super) fn is_settled(&self) -> bool {
        self.entities.values().all(|entity| entity.track.is_known())
    }
}
