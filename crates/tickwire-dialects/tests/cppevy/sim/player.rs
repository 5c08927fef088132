//! A client, what it asked for, and what became of it.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_dialects::cppevy::limits::STATE_MAX_AGE;
use tickwire_dialects::cppevy::{Client, ClientConfig, ClientEvent, Reason, SyncId};
use tickwire_session::{ActionNumber, Addr, Events, Failure, Instant};
use tickwire_sim::{Chance, NodeId, Rng};

use super::game::{Game, HULL, hull};
use crate::words::{BUY, GONG, HEALTH, POSITION, STEER, WAVE, registry};

pub(super) struct Player {
    pub(super) client: Client,
    pub(super) node: NodeId,
    rng: Rng,
    /// What each action said, none the same, and what came of it.
    asked: BTreeMap<ActionNumber, (u32, Vec<End>)>,
    serial: u32,
    gongs: Vec<u32>,
    /// How many inputs were sent.
    steered: u32,
    fetching: u32,
}

/// What a player offers: several pieces, and nobody else's.
fn skin(node: NodeId) -> Vec<u8> {
    let number = u8::try_from(node.index()).expect("few players");
    vec![number; 700 + usize::from(number)]
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Succeeded,
    Late,
    Failed(Failure),
}

impl Player {
    pub(super) fn new(now: Instant, server: Addr, node: NodeId, rng: Rng) -> Self {
        let config = ClientConfig {
            server,
            name: format!("player {}", node.index()),
            registry: registry(),
        };
        Self {
            client: Client::new(now, config),
            node,
            rng,
            asked: BTreeMap::new(),
            serial: 0,
            gongs: Vec::new(),
            steered: 0,
            fetching: 0,
        }
    }

    pub(super) fn act(&mut self, now: Instant) {
        for (kind, chance) in [(BUY, 20), (WAVE, 20)] {
            if self.rng.happens(Chance::percent(chance))
                && let Ok(number) = self.client.act(now, kind, &self.serial.to_le_bytes())
            {
                self.asked.insert(number, (self.serial, Vec::new()));
                self.serial += 1;
            }
        }
        if self.rng.happens(Chance::percent(5)) && self.client.fetch(now, HULL).is_ok() {
            self.fetching += 1;
        }
        if self.rng.happens(Chance::percent(5))
            && self.client.offer(now, "skin", &skin(self.node)).is_ok()
        {
            self.fetching += 1;
        }
    }

    /// Sends its input, which is how many it sent.
    pub(super) fn steer(&mut self) {
        let count = self.steered.to_le_bytes();
        if self.client.input(STEER, &count).is_ok() {
            self.steered += 1;
        }
    }

    /// Takes what the client tells.
    pub(super) fn listen(&mut self) -> Result<(), String> {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Succeeded {
                    number,
                    message,
                    late,
                    ..
                } => {
                    let (serial, ends) = self.asked.entry(number).or_default();
                    if message != serial.to_le_bytes() {
                        return Err(format!("{number:?} has the answer to another"));
                    }
                    ends.push(if late { End::Late } else { End::Succeeded });
                }
                ClientEvent::Failed { number, why, .. } => {
                    let (_, ends) = self.asked.entry(number).or_default();
                    ends.push(End::Failed(why));
                    let shown = self.client.assumed().any(|(shown, ..)| shown == number);
                    if shown {
                        return Err(format!("{number:?} failed and is still shown"));
                    }
                }
                ClientEvent::Happened { event, data, .. } if event == GONG => {
                    let serial = data[..].try_into().expect("a serial");
                    self.gongs.push(u32::from_le_bytes(serial));
                }
                ClientEvent::AssetFetched { bytes, .. } => {
                    self.fetching -= 1;
                    if bytes != hull() {
                        return Err("another asset than was offered".into());
                    }
                }
                ClientEvent::AssetFailed { .. }
                | ClientEvent::Uploaded { .. }
                | ClientEvent::UploadFailed { .. } => self.fetching -= 1,
                ClientEvent::Ended(why) => return Err(format!("a client ended: {why}")),
                _ => {}
            }
        }
        Ok(())
    }

    /// Everything that it asked for, what came of it, and what it heard.
    pub(super) fn deeds(&self) -> String {
        format!("{:?} {:?} {}", self.asked, self.gongs, self.steered)
    }

    /// Nothing is shown that was true longer ago than the bound.
    pub(super) fn check_ages(&self, now: Instant, slack: Duration) -> Result<(), String> {
        for (id, _) in self.client.entities() {
            if let Some(moment) = self.client.state(now, id, POSITION) {
                let moment = u64::from_le_bytes(moment.try_into().expect("a moment"));
                let age = now.since(Instant::from_millis(moment));
                if age > STATE_MAX_AGE + slack {
                    return Err(format!("{id} is shown as it was {age:?} ago"));
                }
            }
        }
        Ok(())
    }

    /// Every action ended exactly once; only one that was put off may have succeeded besides.
    pub(super) fn check_ends(&self) -> Result<(), String> {
        const DELAYED: End = End::Failed(Failure::Refused(Reason::Delayed));
        for (number, (_, ends)) in &self.asked {
            let good = match ends[..] {
                [end] => end != End::Late,
                [DELAYED, End::Late] => true,
                _ => false,
            };
            if !good {
                return Err(format!("{number:?} ended as {ends:?}"));
            }
        }
        if self.client.assumed().count() > 0 || self.fetching > 0 {
            return Err("something never ended".into());
        }
        Ok(())
    }

    /// It knows and sees what is there, as it is.
    pub(super) fn check_world(&self, now: Instant, game: &Game) -> Result<(), String> {
        let mut known: Vec<_> = self.client.entities().map(|(id, _)| id).collect();
        let shown = |id: &SyncId| self.client.state(now, *id, HEALTH).is_some();
        let mut seen: Vec<_> = known.iter().copied().filter(shown).collect();
        let actors = game.server.actors().map(|(actor, _)| actor);
        let mut there: Vec<_> = game.rocks.iter().copied().chain(actors).collect();
        for ids in [&mut known, &mut seen, &mut there] {
            ids.sort_unstable();
        }
        if known != there {
            return Err(format!("knows {known:?} where {there:?} is"));
        }
        if seen != there {
            return Err(format!("sees {seen:?} where {there:?} is"));
        }
        let healthy = |id: &SyncId| self.client.state(now, *id, HEALTH) == Some(&[100][..]);
        if !there.iter().all(healthy) {
            return Err("a still state is out of date on a good network".into());
        }
        Ok(())
    }

    /// Every gong came once, in order.
    pub(super) fn check_gongs(&self, game: &Game) -> Result<(), String> {
        if !self.gongs.iter().copied().eq(0..game.gongs) {
            return Err(format!("{:?} of {} gongs", self.gongs, game.gongs));
        }
        Ok(())
    }

    /// Inputs never stalled: of all that were sent many came, and the newest is hardly older than
    /// the last that was sent.
    pub(super) fn check_inputs(&mut self, game: &Game) -> Result<(), String> {
        let actor = self.client.actor().ok_or("it plays no longer")?;
        let (last, came) = game.inputs.get(&actor).copied().unwrap_or_default();
        if came < self.steered / 4 || last + 3 < self.steered {
            return Err(format!(
                "{came} of {} inputs came, the last was {last}",
                self.steered
            ));
        }
        Ok(())
    }
}
