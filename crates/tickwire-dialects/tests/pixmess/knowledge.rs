//! What a client knows after all that it has heard.

use std::collections::BTreeMap;

use tickwire_dialects::pixmess::message::BlockSet;
use tickwire_dialects::pixmess::{Block, Cell, Direction, EntityId, Sublayer};

use super::words::Heard;

/// What a client knows after it has heard all that. How it was told depends on when there was time for
/// it: steps may become a position, several changes of a block one, and what is urgent comes sooner when there is little room.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Knowledge {
    pub(crate) entities: BTreeMap<EntityId, Cell>,
    /// By the low bits of the cell, in the order of the wire.
    pub(crate) blocks: BTreeMap<(u16, u16, Sublayer), Block>,
    pub(crate) chats: Vec<Heard>,
    others: Vec<Heard>,
}

impl Knowledge {
    pub(crate) fn of(heard: &[Heard]) -> Self {
        let mut known = Self::default();
        known.add(heard);
        known
    }

    pub(crate) fn add(&mut self, heard: &[Heard]) {
        for &message in heard {
            match message {
                Heard::EntityCreation { entity, at, .. } | Heard::EntityPosition { entity, at } => {
                    self.entities.insert(entity, at);
                }
                Heard::Movement { entity, direction } => {
                    let at = self.entities.get_mut(&entity).expect("it was created");
                    let direction = Direction::of_code(direction).expect("a direction");
                    *at = at.step(direction).expect("within the world");
                }
                Heard::EntityDestruction { entity } => {
                    self.entities.remove(&entity).expect("it was created");
                }
                Heard::BlockSet(BlockSet {
                    sublayer,
                    cell,
                    block,
                }) => drop(self.blocks.insert((cell.x, cell.y, sublayer), block)),
                Heard::Chat { .. } => self.chats.push(message),
                Heard::Pong => {}
                _ => self.others.push(message),
            }
        }
    }
}
