//! A world of moving bodies and clients that follow it, all in memory.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Duration;

use tickwire_replica::packet::Form;
use tickwire_replica::server::{ClientId, Clients, ClientsConfig, Join, Room, Sharing};
use tickwire_replica::world::{Groups, PlayerId, Spawn, World, WorldConfig};
use tickwire_replica::{Archetypes, EntityId, PacketNumber, Replicate};

use crate::suite::clock::timed;

#[derive(Clone, Copy, Debug, Replicate)]
pub(super) struct Body {
    #[replicate(step = 0.01, position)]
    position: [f32; 3],
    #[replicate(quaternion, bits = 10)]
    rotation: [f32; 4],
    health: u8,
    flags: u8,
}

#[derive(Archetypes, Clone, Copy, Debug)]
pub(super) enum Thing {
    Body(Body),
}

/// What a world and its clients are like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workload {
    pub(super) entities: u32,
    pub(super) clients: u32,
    /// How many entities change each send.
    pub(super) changes: u32,
    /// Whether those that change lie side by side.
    pub(super) is_clustered: bool,
    /// Acknowledgements take 1 to this many sends.
    pub(super) lags: u32,
    pub(super) form: Form,
}

/// What is measured.
pub(super) struct Server {
    workload: Workload,
    world: World<Thing>,
    ids: Vec<EntityId>,
    clients: Clients,
    followers: Vec<Follower>,
    step: u32,
    out: Vec<u8>,
    /// Bytes sent so far.
    pub(super) bytes: usize,
}

struct Follower {
    id: ClientId,
    lag: u64,
    /// Packets on their way, and when they are acknowledged.
    flying: VecDeque<(u64, PacketNumber)>,
}

const ROOM: Room = Room {
    datagram: 1_200,
    path: 10_000_000,
};

impl Server {
    pub(super) fn new(workload: Workload) -> anyhow::Result<Self> {
        let config = WorldConfig {
            entities: workload.entities,
            ticks_per_send: 1,
            rewind: 5,
            ..WorldConfig::default()
        };
        let mut world = World::new(config)?;
        // All in one place: every client sees everything.
        let spawn = Spawn {
            is_everywhere: true,
            ..Spawn::default()
        };
        let spawned = (0..workload.entities).map(|at| {
            let body = Thing::Body(Body::at(at, 0));
            world.spawn_with(&body, spawn)
        });
        let ids = spawned.collect::<Result<_, _>>()?;
        let config = ClientsConfig {
            form: workload.form,
            ..ClientsConfig::default()
        };
        let mut clients = Clients::new(&world, config);
        let mut followers = Vec::new();
        for at in 0..workload.clients {
            let join = Join {
                player: PlayerId(at),
                groups: Groups::default(),
            };
            let id = clients.join(&world, join)?;
            clients.set_round_trip(id, Duration::from_millis(500));
            followers.push(Follower {
                id,
                lag: u64::from(at % workload.lags) + 1,
                flying: VecDeque::new(),
            });
        }
        let mut server = Self {
            workload,
            world,
            ids,
            clients,
            followers,
            step: 0,
            out: Vec::new(),
            bytes: 0,
        };
        server.settle();
        Ok(server)
    }

    /// Serves until every client holds everything, and everything is warm.
    fn settle(&mut self) {
        let is_ready = |server: &Self| {
            let mut followers = server.followers.iter();
            followers.all(|follower| server.clients.is_ready(follower.id))
        };
        while !is_ready(self) {
            self.world.commit();
            self.serve();
        }
        for _ in 0..WARM_UP {
            self.send();
        }
    }

    pub(super) fn sharing(&self) -> Sharing {
        self.clients.sharing()
    }

    /// One send, everything included that a server does for it but writing values. Returns its time.
    pub(super) fn send(&mut self) -> Duration {
        self.change();
        let (time, ()) = timed(|| {
            self.world.commit();
            self.serve();
        });
        time
    }

    /// Writes what changes at this send.
    fn change(&mut self) {
        self.step += 1;
        let Workload {
            entities,
            changes,
            is_clustered,
            ..
        } = self.workload;
        let stride = if is_clustered {
            1
        } else {
            entities / changes.max(1)
        };
        for (number, id) in (0..)
            .zip(&self.ids)
            .step_by(stride.max(1) as usize)
            .take(changes as usize)
        {
            let body = Body::at(number, self.step);
            self.world.set(*id, &body).expect("it is there and fits");
        }
    }

    /// Takes acknowledgements and makes packets, for everyone.
    fn serve(&mut self) {
        let send = self.world.send().0;
        for follower in &mut self.followers {
            while let Some(&(due, packet)) = follower.flying.front()
                && due <= send
            {
                follower.flying.pop_front();
                self.clients.acknowledge(follower.id, packet);
            }
            self.out.clear();
            while let Some(packet) =
                self.clients
                    .poll_packet(&mut self.world, follower.id, ROOM, &mut self.out)
            {
                follower.flying.push_back((send + follower.lag, packet));
                self.bytes += self.out.len();
                black_box(&self.out);
                self.out.clear();
            }
        }
    }

    /// Writes every entity with the value that it has, and returns the time of one.
    pub(super) fn set_unchanged(&mut self) -> f64 {
        let values: Vec<Body> = self.values();
        let (time, ()) = timed(|| {
            for (id, body) in self.ids.iter().zip(&values) {
                self.world
                    .set(*id, black_box(body))
                    .expect("it is there and fits");
            }
        });
        time.as_nanos() as f64 / self.ids.len() as f64
    }

    /// Writes every entity after a commit, and returns the time of one.
    pub(super) fn set_changed(&mut self) -> f64 {
        self.step += 1;
        let values: Vec<Body> = (0..self.workload.entities)
            .map(|at| Body::at(at, self.step))
            .collect();
        let (time, ()) = timed(|| {
            for (id, body) in self.ids.iter().zip(&values) {
                self.world
                    .set(*id, black_box(body))
                    .expect("it is there and fits");
            }
        });
        self.world.commit();
        self.serve();
        time.as_nanos() as f64 / self.ids.len() as f64
    }

    /// Writes one entity a block after a commit, and returns the time of one.
    pub(super) fn set_first(&mut self) -> f64 {
        self.step += 1;
        let apart: Vec<_> = (0..)
            .zip(&self.ids)
            .step_by(64)
            .map(|(at, id)| (*id, Body::at(at, self.step)))
            .collect();
        let (time, ()) = timed(|| {
            for (id, body) in &apart {
                self.world
                    .set(*id, black_box(body))
                    .expect("it is there and fits");
            }
        });
        self.world.commit();
        self.serve();
        time.as_nanos() as f64 / apart.len() as f64
    }

    fn values(&self) -> Vec<Body> {
        let values = self.ids.iter().filter_map(|id| self.world.get(*id));
        values.collect()
    }
}

/// Sends before anything is measured: every buffer has had its largest size by then.
const WARM_UP: u32 = 150;

impl Body {
    /// A body that goes to and fro, pushed about a little at every step, and tumbles around an axis of
    /// its own. What is pushed cannot be predicted, so that records are as long as a game's.
    fn at(number: u32, step: u32) -> Self {
        let push = |axis| noise(number, step, axis) * 0.1;
        let (at, time) = (f64::from(number), f64::from(step));
        let speed = 0.05 + f64::from(number % 7) * 0.02;
        let along = |offset: f64, speed: f64| {
            // Within a hundred metres of where it began.
            let far = (speed * time) % 200.0;
            offset + if far > 100.0 { 200.0 - far } else { far }
        };
        let position = [
            along(at % 100.0, speed) + push(0),
            along((at / 100.0) % 100.0, speed * 0.7) + push(1),
            along(0.0, 0.01) + push(2),
        ];
        let axis = [3, 4, 5].map(|axis| noise(number, 0, axis));
        let length = axis.iter().map(|part| part * part).sum::<f64>().sqrt();
        let (sin, cos) = (0.02 * time + at + push(6)).sin_cos();
        let [x, y, z] = axis.map(|part| part / length * sin);
        #[expect(clippy::cast_possible_truncation, reason = "a game has f32")]
        Self {
            position: position.map(|part| part as f32),
            rotation: [x, y, z, cos].map(|part| part as f32),
            health: 100,
            flags: 3,
        }
    }
}

/// A number from -1 to 1 that is as good as random.
fn noise(number: u32, step: u32, axis: u32) -> f64 {
    let mut hash = number ^ step.rotate_left(11) ^ axis.rotate_left(27);
    for factor in [0x85eb_ca6b, 0xc2b2_ae35_u32] {
        hash = (hash ^ hash >> 15).wrapping_mul(factor);
    }
    f64::from(hash ^ hash >> 16) / f64::from(u32::MAX) * 2.0 - 1.0
}
