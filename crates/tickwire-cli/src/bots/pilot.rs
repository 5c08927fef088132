//! A bot that flies in the arena.

use tickwire_demo::gateway::{ArenaClient, ClientGateway};
use tickwire_demo::{Bot, Loadout};
use tickwire_session::Instant;

use super::Body;

pub(super) struct Pilot {
    bot: Bot,
    gateway: Box<dyn ArenaClient>,
}

impl Pilot {
    pub(super) fn new(seed: u64, connect: impl FnOnce(Loadout) -> Box<dyn ArenaClient>) -> Self {
        let bot = Bot::new(seed);
        let gateway = connect(bot.loadout());
        Self { bot, gateway }
    }
}

impl Body for Pilot {
    fn gateway(&self) -> &dyn ClientGateway {
        &*self.gateway
    }

    fn gateway_mut(&mut self) -> &mut dyn ClientGateway {
        &mut *self.gateway
    }

    fn act(&mut self, now: Instant) {
        let view = self.gateway.view(now);
        self.gateway.act(&self.bot.think(&view));
    }
}
