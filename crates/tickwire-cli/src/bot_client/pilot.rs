//! A bot that flies in the arena.

use tickwire_demo::gateway::{ArenaClient, ClientGateway};
use tickwire_demo::{Bot, Intent};
use tickwire_session::Instant;

use super::{BotClient, Pattern};

/// Between two thoughts: 20 a second, more than a person has. Looking at everything for each takes most of
/// what a bot takes.
const THOUGHT_STEPS: u64 = 3;

pub(super) struct Pilot {
    bot: Bot,
    pattern: Pattern,
    gateway: Box<dyn ArenaClient>,
    /// Steps until the next thought; not all bots think in the same one.
    rest: u64,
}

impl Pilot {
    pub(super) fn new(
        seed: u64,
        bot: Bot,
        pattern: Pattern,
        gateway: Box<dyn ArenaClient>,
    ) -> Self {
        let rest = seed % THOUGHT_STEPS;
        Self {
            bot,
            pattern,
            gateway,
            rest,
        }
    }
}

impl BotClient for Pilot {
    fn gateway(&self) -> &dyn ClientGateway {
        &*self.gateway
    }

    fn gateway_mut(&mut self) -> &mut dyn ClientGateway {
        &mut *self.gateway
    }

    fn act(&mut self, now: Instant) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        self.rest = THOUGHT_STEPS - 1;
        if self.pattern == Pattern::Idle {
            self.gateway.act(&Intent::default());
            return;
        }
        let view = self.gateway.view(now);
        let mut intent = self.bot.think(&view);
        if self.pattern == Pattern::Roam {
            intent.fire = Intent::default().fire;
        }
        self.gateway.act(&intent);
    }
}
