//! A computer player that is a client, whichever the protocol and its game.
//!
//! In: a protocol, a character and a server. Out: a session to be driven, and a player that acts once a step.
//! Whose network it is, and what becomes of the player, is its owner's business.

mod pattern;
mod pilot;
mod walker;

use tickwire_demo::gateway::{ClientGateway, Protocol};
use tickwire_demo::recording::{self, Kit, Log, Player, Start};
use tickwire_demo::{Bot, Skill};
use tickwire_session::{Addr, Instant};

pub(crate) use pattern::Pattern;
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
    pub(crate) pattern: Pattern,
}

/// A bot that begins to connect, and is recorded if there is a log. An error says what is wrong with its name.
pub(crate) fn connect(
    protocol: &'static Protocol,
    character: &Character,
    (now, server): (Instant, Addr),
    log: Option<&Log>,
) -> Result<Box<dyn BotClient>, String> {
    let Character {
        name,
        seed,
        skill,
        pattern,
    } = character;
    let bot = Bot::with_skill(*seed, *skill);
    let start = Start {
        protocol,
        now,
        server,
        name: name.clone(),
        kit: Kit {
            loadout: bot.loadout(),
            look: walker::look(*seed),
        },
    };
    let player = start.connect()?;
    let player = match log {
        Some(log) => recording::record(log, &start, player),
        None => player,
    };
    Ok(match player {
        Player::Arena(client) => Box::new(Pilot::new(*seed, bot, *pattern, client)),
        Player::Tiles(client) => Box::new(Walker::new(*seed, *pattern, client)),
    })
}
