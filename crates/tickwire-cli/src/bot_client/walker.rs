//! A bot that walks and builds in the tile world.

use tickwire_demo::Random;
use tickwire_demo::gateway::{ClientGateway, TileClient};
use tickwire_demo::tiles::{Bot, Direction, Look, STEP};
use tickwire_session::Instant;

use super::{BotClient, Pattern};

pub(super) struct Walker {
    bot: Bot,
    pattern: Pattern,
    random: Random,
    gateway: Box<dyn TileClient>,
    /// A walker thinks less often than a pilot.
    next_thought: Instant,
}

impl Walker {
    pub(super) fn new(seed: u64, pattern: Pattern, gateway: Box<dyn TileClient>) -> Self {
        Self {
            bot: Bot::new(seed),
            pattern,
            random: Random::new(seed),
            gateway,
            next_thought: Instant::ZERO,
        }
    }
}

impl Walker {
    fn roam(&mut self, now: Instant) {
        let [a, b] = [0.5; 2].map(|even| self.random.chance(even));
        let way = match (a, b) {
            (true, true) => Direction::North,
            (true, false) => Direction::East,
            (false, true) => Direction::South,
            (false, false) => Direction::West,
        };
        self.gateway.walk(now, way).ok();
    }
}

/// What a bot looks like.
pub(super) fn look(seed: u64) -> Look {
    Look {
        chr: u16::from(b'@'),
        // Any ink but black.
        col: 9 + u16::try_from(seed % 6).unwrap_or_default(),
    }
}

impl BotClient for Walker {
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
        // What cannot be done now is not worth doing later.
        match self.pattern {
            Pattern::Idle => {}
            Pattern::Roam => self.roam(now),
            Pattern::Fight | Pattern::Churn => {
                self.gateway.follow(now, &mut self.bot).ok();
            }
        }
    }
}
