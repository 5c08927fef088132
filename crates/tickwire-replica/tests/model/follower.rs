//! One client: its path, its replica, and all that must be true of them at every step.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_replica::packet::Header;
use tickwire_replica::record::Held;
use tickwire_replica::replica::Event;
use tickwire_replica::server::{ClientId, View};
use tickwire_replica::{
    ApplyError, EntityId, Moment, PacketNumber, Replica, ReplicaConfig, SendIndex,
};
use tickwire_sim::Rng;

use crate::bugs::{Bug, Saboteur};
use crate::network::{Path, Weather};
use crate::packets::Codec;
use crate::things::{Rock, Score, Ship, Thing};
use crate::truth::{Truth, Watcher, is_equal, occupants};

/// A client.
pub(crate) struct Follower {
    pub(crate) id: ClientId,
    pub(crate) watcher: Watcher,
    replica: Replica<Thing>,
    down: Path<Vec<u8>>,
    up: Path<PacketNumber>,
    weather: Weather,
    /// Until which send nothing arrives in either direction.
    sleeps_until: u64,
    /// Sends that playback lies behind.
    lag: u64,
    saboteur: Option<Saboteur>,
    bug: Option<Bug>,
    /// Who it looked as at each send that it was sent.
    looks: BTreeMap<SendIndex, Watcher>,
    checked: Option<SendIndex>,
    shown: BTreeMap<EntityId, SendIndex>,
}

impl Follower {
    pub(crate) fn new(id: ClientId, watcher: Watcher, rng: &mut Rng, bug: Option<Bug>) -> Self {
        // Who has no patience takes every mover that is late for gone.
        let ticks_per_second = match bug {
            Some(Bug::MoverDropped) => 0,
            _ => u32::MAX,
        };
        let config = ReplicaConfig {
            ticks_per_send: 1,
            ticks_per_second,
            extrapolation_ticks: 2,
            near: SendIndex::NONE,
        };
        Self {
            id,
            watcher,
            replica: Replica::new(config),
            down: Path::new(),
            up: Path::new(),
            weather: Weather::random(rng),
            sleeps_until: 0,
            lag: rng.within(0..=6),
            saboteur: bug.map(Saboteur::new),
            bug,
            looks: BTreeMap::new(),
            checked: None,
            shown: BTreeMap::new(),
        }
    }

    /// Looks elsewhere, sleeps for a while, has better or worse weather.
    pub(crate) fn disturb(&mut self, rng: &mut Rng, now: u64) {
        match rng.within(0..=40) {
            0..4 => {
                // In steps by which a server surely notices that the view has moved.
                let mut step =
                    || i32::try_from(rng.within(0..=10)).map_or(0.0, f64::from) * 7.0 - 35.0;
                let at = [step(), step()];
                self.watcher.view = Some(View { at, range: 20.0 });
            }
            4 => self.watcher.view = None,
            5 => self.weather = Weather::random(rng),
            6 if rng.within(0..=4) == 0 => self.sleeps_until = now + rng.within(0..=90),
            _ => {}
        }
    }

    pub(crate) const fn calm(&mut self) {
        self.weather = Weather::FINE;
        self.sleeps_until = 0;
    }

    /// Takes what the server sends: it must be true, and nothing that this client may not see.
    pub(crate) fn send(
        &mut self,
        rng: &mut Rng,
        codec: &mut Codec,
        truth: &Truth,
        header: Header,
        packet: Vec<u8>,
    ) -> Result<(), String> {
        let Header { number, send } = header;
        self.looks.insert(send, self.watcher);
        let contents = codec.read(truth, header, &packet)?;
        if contents.header != header {
            return Err(format!("{header:?} says {:?}", contents.header));
        }
        let whole = truth.at(send).ok_or("no such send")?;
        for block in contents.records.iter().flat_map(|(_, blocks)| blocks) {
            let name = block.name;
            if !whole.sees(&self.watcher, name.place) {
                return Err(format!("leak: {name:?} is sent at {send}"));
            }
            let is = truth.block_at(name, send);
            let is_it = |(archetype, is)| {
                archetype == block.archetype && is_equal(is, block.contents.view())
            };
            if !is.is_some_and(is_it) {
                return Err(format!("{name:?} is encoded wrong at {send}"));
            }
        }
        let packet = match &mut self.saboteur {
            Some(saboteur) => saboteur.spoil(codec, truth, contents),
            None => packet,
        };
        if send.0 >= self.sleeps_until {
            let gone = self.bug == Some(Bug::AcknowledgedUnapplied) && rng.within(0..=9) == 0;
            if gone {
                self.up.send(rng, self.weather, send.0, number);
            } else {
                self.down.send(rng, self.weather, send.0, packet);
            }
        }
        Ok(())
    }

    /// Applies what arrives; returns what the server hears acknowledged.
    pub(crate) fn receive(
        &mut self,
        rng: &mut Rng,
        truth: &Truth,
        now: u64,
    ) -> Result<Vec<PacketNumber>, String> {
        for packet in self.down.receive(rng, now) {
            match self.replica.apply(&packet) {
                Ok(applied) => {
                    self.check_versions(truth, applied.send)?;
                    self.up.send(rng, self.weather, now, applied.packet);
                }
                Err(ApplyError::TooOld | ApplyError::Overtaken | ApplyError::Lacking { .. }) => {}
                Err(error) => return Err(format!("not applied: {error}")),
            }
        }
        if self.replica.poll_forget() {
            return Err("a baseline is named that is not held".into());
        }
        self.check_complete(truth)?;
        self.play(rng, truth, now)?;
        Ok(self.up.receive(rng, now))
    }

    /// Every block that is held at a send equals the server's.
    fn check_versions(&self, truth: &Truth, send: SendIndex) -> Result<(), String> {
        for name in self.replica.blocks() {
            let version = self.replica.versions(name).find(|(at, _)| *at == send);
            let Some((_, Some((archetype, held)))) = version else {
                continue;
            };
            let is = truth.block_at(name, send);
            if is.is_none_or(|(of, is)| of != archetype || !is_equal(is, held)) {
                return Err(format!("{name:?} differs at {send}"));
            }
        }
        Ok(())
    }

    /// A complete send makes the whole view equal.
    fn check_complete(&mut self, truth: &Truth) -> Result<(), String> {
        let Some(send) = self.replica.newest_complete() else {
            return Ok(());
        };
        if self.checked.replace(send) == Some(send) {
            return Ok(());
        }
        let watcher = self.looks.get(&send).ok_or("a send was never sent")?;
        let whole = truth.at(send).ok_or("no such send")?;
        let mut expected = whole.seen(watcher);
        for name in self.replica.blocks() {
            let Some((_, held)) = self.replica.block_at(name, send) else {
                continue;
            };
            let is = expected.remove(&name);
            let Some(is) = is else {
                return Err(format!("complete at {send}, but {name:?} is held still"));
            };
            if !is_equal(is.view(), held) {
                return Err(format!("complete at {send}, but {name:?} differs"));
            }
        }
        match expected.keys().next() {
            Some(name) => Err(format!("complete at {send}, but {name:?} is missing")),
            None => Ok(()),
        }
    }

    /// Entities appear and go, each in its turn, and nobody goes who could be seen all the time.
    fn play(&mut self, rng: &mut Rng, truth: &Truth, now: u64) -> Result<(), String> {
        let reached = SendIndex(now.saturating_sub(self.lag));
        self.replica
            .play(Moment(reached.0 * 256 + rng.within(0..=255)));
        while let Some(event) = self.replica.poll_event() {
            match event {
                Event::Spawned { id, .. } => {
                    if self.shown.insert(id, reached).is_some() {
                        return Err(format!("{id} appears twice"));
                    }
                }
                Event::Despawned { id, .. } => {
                    let Some(since) = self.shown.remove(&id) else {
                        return Err(format!("{id} goes that was not there"));
                    };
                    // A second before it appeared it may have been known from a late version.
                    let sends = self.looks.range(since.before(64)..=reached);
                    let was_hidden = sends.rev().any(|(send, watcher)| {
                        let whole = truth.at(*send);
                        whole.is_none_or(|whole| !whole.entities(watcher).contains(&id))
                    });
                    if !was_hidden {
                        return Err(format!("{id} flickers at {reached}"));
                    }
                }
            }
        }
        let view: BTreeSet<_> = self.view().collect();
        if !view.iter().eq(self.shown.keys()) {
            return Err(format!("the view is not what events tell at {reached}"));
        }
        Ok(())
    }

    fn view(&self) -> impl Iterator<Item = EntityId> {
        let ships = self.replica.view::<Ship>().map(|(id, _)| id);
        let rocks = self.replica.view::<Rock>().map(|(id, _)| id);
        ships
            .chain(rocks)
            .chain(self.replica.view::<Score>().map(|(id, _)| id))
    }

    /// Whether it has all that it may see, and shows it.
    pub(crate) fn has_caught_up(&self, truth: &Truth, now: SendIndex) -> bool {
        let complete = self.replica.newest_complete();
        let Some(whole) = truth.at(now) else {
            return false;
        };
        complete.is_some_and(|complete| now.since(complete) <= 2)
            && self.view().collect::<BTreeSet<_>>() == whole.entities(&self.watcher)
    }

    /// The entities that are held at a send.
    pub(crate) fn held(&self, send: SendIndex) -> BTreeSet<EntityId> {
        let blocks = self.replica.blocks();
        let blocks = blocks.filter_map(|name| self.replica.block_at(name, send));
        blocks.flat_map(|(_, view)| occupants(view)).collect()
    }
}
