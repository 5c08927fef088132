//! A game without rules: things come and go, and actions are answered in every way there is.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_dialects::cppevy::{
    ActionToken, Answer, Audience, Reason, Server, ServerConfig, ServerEvent, SyncId,
};
use tickwire_session::{Events, Instant};
use tickwire_sim::{Chance, Rng};

use crate::words::{GONG, HEALTH, POSITION, ROCK, SHIP, SPARK, STEER, registry};

pub(super) struct Game {
    pub(super) server: Server,
    rng: Rng,
    pub(super) rocks: Vec<SyncId>,
    /// How many gongs there were.
    pub(super) gongs: u32,
    /// The last input of each client, and how many came.
    pub(super) inputs: BTreeMap<SyncId, (u32, u32)>,
    /// What was put off: until when, and what it said.
    delayed: Vec<(Instant, ActionToken, Vec<u8>)>,
}

/// Things that are there at a time.
const ROCKS: usize = 20;

/// The asset that everybody may fetch.
pub(super) const HULL: &str = "hull";

pub(super) fn hull() -> Vec<u8> {
    (0..=255).cycle().take(3_000).collect()
}

impl Game {
    pub(super) fn new(now: Instant, rng: Rng, secret: [u8; 32]) -> Self {
        let config = ServerConfig {
            registry: registry(),
            actor: SHIP,
            clients: None,
            uploads: 1_000,
        };
        let mut server = Server::new(now, secret, config);
        server.add_asset(HULL, &hull()).expect("a good asset");
        Self {
            server,
            rng,
            rocks: Vec::new(),
            gongs: 0,
            inputs: BTreeMap::new(),
            delayed: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, now: Instant, works: bool) -> Result<(), String> {
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Action {
                    actor,
                    action,
                    data,
                    token,
                } => {
                    if action == STEER {
                        let count = u32::from_le_bytes(data[..].try_into().expect("a count"));
                        let (last, came) = self.inputs.entry(actor).or_default();
                        (*last, *came) = (count.max(*last), *came + 1);
                        self.answer(now, token, Answer::Success(&[]));
                    } else {
                        self.decide(now, token, &data);
                    }
                }
                ServerEvent::Offered { token, .. } => {
                    let answer = match self.rng.within(0..=3) {
                        0 => Answer::Failure(Reason::Unavailable),
                        _ => Answer::Success(&[]),
                    };
                    self.answer(now, token, answer);
                }
                ServerEvent::Uploaded { bytes, .. } => {
                    let number = bytes.first().copied().unwrap_or_default();
                    if bytes != vec![number; 700 + usize::from(number)] {
                        return Err("other content than was offered".into());
                    }
                }
                ServerEvent::Left { actor, why } => return Err(format!("{actor} {why}")),
                _ => {}
            }
        }
        let due = self.delayed.extract_if(.., |(at, ..)| *at <= now);
        for (_, token, data) in due.collect::<Vec<_>>() {
            self.answer(now, token, Answer::Success(&data));
        }
        if works {
            self.change(now);
        }
        self.publish(now);
        Ok(())
    }

    /// Answers in one of the ways there are, or not at all. A success repeats what the action said.
    fn decide(&mut self, now: Instant, token: ActionToken, data: &[u8]) {
        let answer = match self.rng.within(0..=9) {
            0 => Answer::Failure(Reason::Unavailable),
            1 => Answer::Failure(Reason::Error),
            2 => Answer::Failure(Reason::Waiting),
            3 | 4 => Answer::Failure(Reason::Busy),
            5 => {
                let wait = self.rng.span(Duration::from_secs(2));
                self.delayed.push((now + wait, token, data.into()));
                Answer::Failure(Reason::Delayed)
            }
            6 if self.rng.happens(Chance::percent(20)) => return,
            _ => Answer::Success(data),
        };
        self.answer(now, token, answer);
    }

    fn answer(&mut self, now: Instant, token: ActionToken, answer: Answer<'_>) {
        self.server.answer(now, token, answer).expect("short");
    }

    fn change(&mut self, now: Instant) {
        if self.rocks.len() < ROCKS && self.rng.happens(Chance::percent(50)) {
            self.rocks.extend(self.server.summon(now, ROCK));
        }
        if !self.rocks.is_empty() && self.rng.happens(Chance::percent(30)) {
            let last = self.rocks.len() as u64 - 1;
            let index = usize::try_from(self.rng.within(0..=last)).expect("few");
            let gone = self.rocks.swap_remove(index);
            self.server.dismiss(now, gone);
        }
        if self.rng.happens(Chance::percent(40)) {
            let serial = self.gongs.to_le_bytes();
            self.gongs += 1;
            self.server
                .event(now, Audience::All, GONG, &serial)
                .expect("registered");
        }
        self.server
            .event(now, Audience::All, SPARK, &[1])
            .expect("registered");
    }

    /// Says of everything when it was true, so that players can tell how old what they see is.
    fn publish(&mut self, now: Instant) {
        let moment = now.as_millis().to_le_bytes();
        let actors: Vec<_> = self.server.actors().map(|(actor, _)| actor).collect();
        for entity in actors.iter().chain(&self.rocks) {
            self.server
                .set_state(*entity, POSITION, &moment)
                .expect("short");
            self.server
                .set_state(*entity, HEALTH, &[100])
                .expect("short");
        }
    }
}
