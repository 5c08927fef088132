//! One bot and its client, and what it notices of its server.

use std::time::Duration;

use tickwire_demo::Random;
use tickwire_demo::gateway::{Ending, Notice, Status};
use tickwire_demo::recording::Log;
use tickwire_net::NodeId;
use tickwire_session::{Addr, Instant, PeerStats};

use super::{Args, Report};
use crate::bot_client::{self, BotClient, Character, Pattern};
use crate::misuse::Misuse;

/// How long a bot stays that comes and goes.
const STAY: (f64, f64) = (1.0, 4.0);

/// How long it waits to be let go.
const FAREWELL: Duration = Duration::from_secs(1);

/// A bot, its client, and what happened to it.
pub(super) struct Player {
    pub(super) body: Box<dyn BotClient>,
    pub(super) node: NodeId,
    /// What its session calls the server.
    pub(super) server: Addr,
    /// When it was let in.
    pub(super) joined: Option<Instant>,
    /// How long it stays, unless it stays to the end.
    stay: Option<Duration>,
    /// When it began to leave.
    left: Option<Instant>,
    /// States of the world that were counted.
    updates_seen: u64,
    last_update: Option<Instant>,
}

/// What is to become of a bot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    Stays,
    /// It left by itself, and its place is free.
    Gone,
}

impl Player {
    pub(super) fn new(
        args: &Args,
        number: u64,
        (now, node, server): (Instant, NodeId, Addr),
        log: Option<&Log>,
    ) -> anyhow::Result<Self> {
        let seed = args.seed.wrapping_add(number);
        let character = Character {
            name: format!("bot-{}", number + 1),
            seed,
            skill: args.difficulty.into(),
            pattern: args.pattern,
        };
        let body = bot_client::connect(args.protocol, &character, (now, server), log);
        let stay = Random::new(seed).between(STAY.0, STAY.1);
        Ok(Self {
            body: body.map_err(Misuse)?,
            node,
            server,
            joined: None,
            stay: (args.pattern == Pattern::Churn).then(|| Duration::from_secs_f64(stay)),
            left: None,
            updates_seen: 0,
            last_update: None,
        })
    }

    pub(super) fn step(&mut self, now: Instant, notices: &mut Vec<Notice>, report: &mut Report) {
        self.body.gateway_mut().collect(now, notices);
        if self.status() != Status::Playing || self.left.is_some() {
            return;
        }
        if self.joined.is_none() {
            report.connected += 1;
        }
        let joined = *self.joined.get_or_insert(now);
        self.note_updates(report);
        if self.stay.is_some_and(|stay| now.since(joined) >= stay) {
            report.add_stay(now.since(joined));
            self.body.gateway_mut().disconnect(now);
            self.left = Some(now);
        } else {
            self.body.act(now);
        }
    }

    /// Counts what arrived since the last look, and how far apart.
    fn note_updates(&mut self, report: &mut Report) {
        let Some(PeerStats { updates, .. }) = self.stats() else {
            return;
        };
        for at in updates.since(self.updates_seen) {
            report.add_update(self.last_update.map(|last| at.since(last)));
            self.last_update = Some(at);
        }
        self.updates_seen = updates.count();
    }

    /// How long the server has been silent, if the bot still waits for it.
    pub(super) fn silence(&self, now: Instant) -> Option<Duration> {
        let waits = self.status() == Status::Playing && self.left.is_none();
        self.last_update
            .filter(|_| waits)
            .map(|last| now.since(last))
    }

    pub(super) fn fate(&self, now: Instant) -> Fate {
        let is_over = self
            .left
            .is_some_and(|left| !self.is_there() || now.since(left) >= FAREWELL);
        match is_over {
            true => Fate::Gone,
            false => Fate::Stays,
        }
    }

    /// Whether it does what it was meant to: it plays, or left because it was time.
    pub(super) fn is_well(&self) -> bool {
        match self.status() {
            Status::Playing => true,
            // One that only came a moment ago, in the place of another.
            Status::Connecting | Status::Loading { .. } => self.stay.is_some(),
            Status::Ended(ending) => self.left.is_some() && ending == Ending::Left,
        }
    }

    pub(super) fn status(&self) -> Status {
        self.body.gateway().status()
    }

    pub(super) fn stats(&self) -> Option<PeerStats<'static>> {
        self.body.gateway().stats()
    }

    pub(super) fn is_there(&self) -> bool {
        !matches!(self.status(), Status::Ended(_))
    }
}
