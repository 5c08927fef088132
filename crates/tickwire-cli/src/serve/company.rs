//! The server's own bots: real clients of the protocols that are served, over memory links.
//!
//! They take turns, so that every protocol is at play and whoever watches sees people and bots meet by each
//! of them. A protocol with few places keeps more than half of them for people.

use tickwire_demo::gateway::{Protocol, Status};
use tickwire_demo::{Skill, bot_name};
use tickwire_net::{Driver, NodeId};
use tickwire_session::{Instant, Session};

use crate::bot_client::{self, BotClient, Character, Pattern};
use crate::misuse::Misuse;

/// Bots that are clients of this server.
#[derive(Default)]
pub(super) struct Company {
    bots: Vec<Box<dyn BotClient>>,
}

/// What the company shall be like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) count: usize,
    /// How many pilots there are without them; names go on from there.
    pub(super) pilots: usize,
    pub(super) seed: u64,
    pub(super) skill: Skill,
}

/// How many of so many bots each protocol gets, in their order, and how many are left over.
pub(super) fn share(count: usize, protocols: &[&Protocol]) -> (Vec<usize>, usize) {
    let places = |protocol: &&Protocol| protocol.places.map_or(usize::MAX, |places| places / 2);
    let places: Vec<_> = protocols.iter().map(places).collect();
    let mut shares = vec![0; protocols.len()];
    let mut left = count;
    while left > 0 && shares.iter().zip(&places).any(|(share, most)| share < most) {
        for (share, most) in shares.iter_mut().zip(&places) {
            if left > 0 && *share < *most {
                *share += 1;
                left -= 1;
            }
        }
    }
    (shares, left)
}

impl Company {
    /// Lets the bots connect to these protocols' nodes; each gets as many as its share. Their nodes follow
    /// those that are there.
    pub(super) fn connect(
        driver: &mut Driver,
        open: &[(&'static Protocol, NodeId)],
        wanted: Wanted,
    ) -> Result<Self, Misuse> {
        let protocols: Vec<_> = open.iter().map(|(protocol, _)| *protocol).collect();
        let (shares, _) = share(wanted.count, &protocols);
        let mut bots = Vec::new();
        for ((protocol, node), share) in open.iter().zip(shares) {
            for _ in 0..share {
                let number = wanted.pilots + bots.len();
                let character = Character {
                    name: bot_name(number),
                    seed: wanted.seed.wrapping_add(number as u64),
                    skill: wanted.skill,
                    pattern: Pattern::Fight,
                };
                let (_, server) = driver.link(*node);
                let now = driver.now();
                let bot = bot_client::connect(protocol, &character, (now, server), None);
                bots.push(bot.map_err(Misuse)?);
            }
        }
        Ok(Self { bots })
    }

    pub(super) fn count(&self) -> usize {
        self.bots.len()
    }

    /// Their sessions, in the order of their nodes.
    pub(super) fn sessions(&mut self) -> impl Iterator<Item = &mut dyn Session> {
        self.bots.iter_mut().map(|bot| bot.gateway_mut().session())
    }

    /// Lets everybody who plays act.
    pub(super) fn step(&mut self, now: Instant) {
        let mut heard = Vec::new();
        for bot in &mut self.bots {
            bot.gateway_mut().collect(now, &mut heard);
            if bot.gateway().status() == Status::Playing {
                bot.act(now);
            }
            // What there is to read, the server's own log has read.
            heard.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use tickwire_demo::gateway::PROTOCOLS;

    use super::*;

    #[test]
    fn bots_take_turns_and_few_places_stay_for_people() {
        let all: Vec<_> = PROTOCOLS.iter().collect();
        let (shares, left) = share(6, &all);
        assert_eq!((shares.iter().sum(), left), (6, 0));
        assert!(shares.iter().all(|share| *share >= 1), "{shares:?}");
        let lwar = Protocol::named("lwar").unwrap();
        assert_eq!(share(5, &[lwar]), (vec![3], 2));
        let reone = Protocol::named("reone").unwrap();
        assert_eq!(share(10, &[lwar, reone]), (vec![3, 7], 0));
        assert_eq!(share(0, &all).1, 0);
    }
}
