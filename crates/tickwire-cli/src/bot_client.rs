//! A computer player that is a client, whichever the protocol and its game.
//!
//! In: a protocol, a character and a server. Out: a session to be driven, and a player that acts once a step.
//! Whose network it is, and what becomes of the player, is its owner's business.

mod pilot;
mod walker;

use tickwire_demo::Skill;
use tickwire_demo::gateway::{ClientGateway, Connect, Protocol};
use tickwire_session::{Addr, Instant};

use pilot::Pilot;
use walker::Walker;

/// A bot and its client, whichever the game.
pub(crate) trait BotClient {
    fn gateway(&self) -> &dyn ClientGateway;

    fn gateway_mut(&mut self) -> &mut dyn ClientGateway;

    /// Looks at the world and does something in it. Called every [`STEP`](tickwire_demo::STEP) while it
    /// plays.
    fn act(&mut self, now: Instant);
}

/// What a bot is like.
#[derive(Clone, Debug)]
pub(crate) struct Character {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) skill: Skill,
}

/// A bot that begins to connect. An error says what is wrong with its name.
pub(crate) fn connect(
    protocol: &Protocol,
    character: &Character,
    now: Instant,
    server: Addr,
) -> Result<Box<dyn BotClient>, String> {
    let Character { name, seed, skill } = character;
    Ok(match protocol.connect {
        Connect::Arena(connect) => Box::new(Pilot::new(*seed, *skill, |loadout| {
            connect(now, server, name, loadout)
        })),
        Connect::Tiles(connect) => {
            Box::new(Walker::new(*seed, |look| connect(now, server, name, look))?)
        }
    })
}
