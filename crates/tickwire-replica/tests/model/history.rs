//! A random history: a world in which things happen, and clients that follow it over bad networks.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_replica::packet::{Form, Header};
use tickwire_replica::server::{ClientsConfig, Join, Room, View};
use tickwire_replica::world::{Audience, Groups, PlayerId, Spawn};
use tickwire_replica::{Clients, EntityId, World, WorldConfig};
use tickwire_sim::{Rng, TraceHash};

use crate::bugs::Bug;
use crate::follower::Follower;
use crate::packets::Codec;
use crate::things::{SIDE, Thing};
use crate::truth::{Truth, Watcher};

/// Sends in which things happen, in most histories and in those in which a client may sleep for longer
/// than anything is remembered.
const BUSY: [u64; 2] = [25, 100];

/// Sends after which everybody must have caught up: what a client may miss for 64 sends, the slow pace
/// for one who was silent, and a view's worth of blocks at the smallest budget.
const QUIET: u64 = 400;

struct History {
    rng: Rng,
    world: World<Thing>,
    owners: BTreeMap<EntityId, PlayerId>,
    clients: Clients,
    truth: Truth,
    followers: Vec<Follower>,
    codec: Codec,
    room: Room,
    trace: TraceHash,
    bug: Option<Bug>,
}

/// Runs the history of a seed, and says what was wrong in it.
pub(crate) fn run(seed: u64, bug: Option<Bug>) -> Result<TraceHash, String> {
    let mut history = History::new(seed, bug)?;
    let [short, long] = BUSY;
    for _ in 0..if seed.is_multiple_of(8) { long } else { short } {
        history.disturb()?;
        history.step(true)?;
    }
    for follower in &mut history.followers {
        follower.calm();
    }
    for _ in 0..QUIET {
        history.step(false)?;
        let now = history.world.send();
        let truth = &history.truth;
        let mut followers = history.followers.iter();
        if followers.all(|f| f.has_caught_up(truth, now) && history.clients.is_ready(f.id)) {
            return Ok(history.trace);
        }
    }
    let now = history.world.send();
    let behind = history.followers.iter().map(|f| {
        let should: usize = history
            .truth
            .at(now)
            .map_or(0, |w| w.entities(&f.watcher).len());
        format!("{:?} holds {} of {should}", f.id, f.held(now).len())
    });
    Err(format!(
        "somebody stays behind: {}",
        behind.collect::<Vec<_>>().join(", ")
    ))
}

impl History {
    fn new(seed: u64, bug: Option<Bug>) -> Result<Self, String> {
        let mut rng = Rng::new(seed);
        let world = World::<Thing>::new(WorldConfig {
            side: SIDE,
            ticks_per_send: 1,
            rewind: 0,
            ..WorldConfig::default()
        });
        let world = world.map_err(|error| error.to_string())?;
        let forms = [Form::Packed, Form::Packed, Form::Coded];
        let form = rng.within(0..=2);
        let clients = Clients::new(
            &world,
            ClientsConfig {
                send_interval: Duration::from_millis(50),
                form: forms[usize::try_from(form).unwrap_or(0)],
            },
        );
        let mut history = Self {
            world,
            owners: BTreeMap::new(),
            clients,
            truth: Truth::default(),
            followers: Vec::new(),
            codec: Codec::new(),
            room: Room {
                datagram: 1_200,
                path: usize::try_from(rng.within(1..=8)).unwrap_or(1) * 1_200,
            },
            trace: TraceHash::new(),
            bug,
            rng,
        };
        // Rarely more than a block holds, or a record.
        let is_crowded = seed % 64 == 1;
        for _ in 0..history.rng.within(3..=30) * if is_crowded { 20 } else { 1 } {
            history.spawn();
        }
        for player in 1..=history.rng.within(1..=2) {
            history.join(u32::try_from(player).unwrap_or(1));
        }
        Ok(history)
    }

    fn join(&mut self, player: u32) {
        let rng = &mut self.rng;
        let watcher = Watcher {
            player: PlayerId(player),
            groups: Groups(rng.within(0..=3)),
            view: Some(View {
                at: [0.0; 2],
                range: 20.0,
            }),
        };
        let join = Join {
            player: watcher.player,
            groups: watcher.groups,
        };
        let id = self.clients.join(&self.world, join).expect("there are few");
        let round_trip = Duration::from_millis(50 * rng.within(0..=8));
        self.clients.set_round_trip(id, round_trip);
        if rng.within(0..=1) == 0 {
            let budget = usize::try_from(rng.within(150..=1_500)).unwrap_or(150);
            self.clients.set_budget(id, budget);
        }
        let follower = Follower::new(id, watcher, rng, self.bug);
        self.followers.push(follower);
    }

    fn audience(&mut self) -> Audience {
        match self.rng.within(0..=5) {
            0 => Audience::Groups(Groups(self.rng.within(1..=3))),
            1 => Audience::Player(PlayerId(u32::try_from(self.rng.within(1..=3)).unwrap_or(1))),
            _ => Audience::Everyone,
        }
    }

    fn spawn(&mut self) {
        let thing = Thing::random(&mut self.rng);
        let audience = self.audience();
        let owner = (self.rng.within(0..=9) == 0).then_some(PlayerId(1));
        let spawn = Spawn {
            audience,
            owner,
            is_everywhere: self.rng.within(0..=20) == 0,
        };
        let id = self.world.spawn_with(&thing, spawn).expect("there is room");
        if let Some(owner) = owner {
            self.owners.insert(id, owner);
        }
    }

    /// Something happens to the world and to those who look at it.
    fn disturb(&mut self) -> Result<(), String> {
        let ids: Vec<_> = self.world.ids().collect();
        let busy = self.rng.within(0..=4);
        for id in ids.iter().copied() {
            if self.rng.within(0..=5) < busy {
                continue;
            }
            let other =
                ids[usize::try_from(self.rng.within(0..=ids.len() as u64 - 1)).unwrap_or(0)];
            let mut thing = self.world.get_any(id).ok_or("an entity is lost")?;
            thing.disturb(&mut self.rng, other);
            self.world.set_any(id, &thing).map_err(|e| e.to_string())?;
            match self.rng.within(0..=150) {
                0..3 => {
                    self.world.despawn(id).map_err(|e| e.to_string())?;
                    self.owners.remove(&id);
                }
                3 => {
                    let audience = self.audience();
                    self.world
                        .set_audience(id, audience)
                        .map_err(|e| e.to_string())?;
                }
                4..8 if ids.len() < 60 => self.spawn(),
                _ => {}
            }
        }
        if self.rng.within(0..=200) == 0 {
            self.world.clear();
            self.owners.clear();
        }
        if self.world.is_empty() {
            self.spawn();
        }
        let now = self.world.send().next().0;
        for follower in &mut self.followers {
            follower.disturb(&mut self.rng, now);
            if self.rng.within(0..=60) == 0 {
                follower.watcher.groups = Groups(self.rng.within(0..=3));
            }
        }
        Ok(())
    }

    /// One send: everybody is sent what is due, and what is under way arrives.
    fn step(&mut self, is_busy: bool) -> Result<(), String> {
        self.world.commit();
        self.truth.remember(&self.world, &self.owners);
        let now = self.world.send();
        for follower in &mut self.followers {
            let Watcher { view, groups, .. } = follower.watcher;
            self.clients.set_view(follower.id, view);
            self.clients.set_groups(follower.id, groups);
            loop {
                let mut packet = Vec::new();
                let polled =
                    self.clients
                        .poll_packet(&mut self.world, follower.id, self.room, &mut packet);
                let Some(number) = polled else { break };
                self.trace.write(&packet);
                let header = Header { number, send: now };
                follower.send(&mut self.rng, &mut self.codec, &self.truth, header, packet)?;
                // A path may be full.
                if is_busy && self.rng.within(0..=200) == 0 {
                    break;
                }
            }
            for number in follower.receive(&mut self.rng, &self.truth, now.0)? {
                self.clients.acknowledge(follower.id, number);
            }
        }
        Ok(())
    }
}
