//! A bot that walks and builds in the tile world.

use tickwire_demo::gateway::{ClientGateway, TileClient};
use tickwire_demo::tiles::{Act, Bot, Cell, Look, Neighbour, STEP, TileView};
use tickwire_session::Instant;

use super::Body;

pub(super) struct Walker {
    bot: Bot,
    gateway: Box<dyn TileClient>,
    /// A walker thinks less often than a pilot.
    next_thought: Instant,
}

impl Walker {
    pub(super) fn new(seed: u64, connect: impl FnOnce(Look) -> Box<dyn TileClient>) -> Self {
        let look = Look {
            ch: u16::from(b'@'),
            // Any ink but black.
            col: 9 + u16::try_from(seed % 6).unwrap_or_default(),
        };
        Self {
            bot: Bot::new(seed),
            gateway: connect(look),
            next_thought: Instant::ZERO,
        }
    }

    fn think(&mut self, now: Instant, position: Cell) -> Option<Act> {
        let others = self.gateway.others();
        let others: Vec<_> = others
            .iter()
            .map(|other| Neighbour {
                name: other.name,
                position: other.position,
            })
            .collect();
        self.bot.think(&TileView {
            time: now.since(Instant::ZERO),
            position,
            sight: &|cell| self.gateway.tile(cell),
            others: &others,
        })
    }
}

impl Body for Walker {
    fn gateway(&self) -> &dyn ClientGateway {
        &*self.gateway
    }

    fn gateway_mut(&mut self) -> &mut dyn ClientGateway {
        &mut *self.gateway
    }

    fn act(&mut self, now: Instant) {
        if now < self.next_thought {
            return;
        }
        self.next_thought = now + STEP;
        let Some(position) = self.gateway.position() else {
            return;
        };
        // What cannot be said now is not worth saying later.
        match self.think(now, position) {
            Some(Act::Walk(direction)) => self.gateway.walk(now, direction).ok(),
            Some(Act::Build { at, block }) => self.gateway.build(at, block).ok(),
            Some(Act::Say(text)) => self.gateway.chat(now, &text).ok(),
            None => None,
        };
    }
}
