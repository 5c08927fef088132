//! The game of the simulation: things circle, teleport, come and go.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_dialects::opendrakan::limits::EXTRAPOLATION_MAX;
use tickwire_dialects::opendrakan::message::{ActionState, Lifecycle};
use tickwire_dialects::opendrakan::{
    AssetRef, Client, ClientConfig, ClientEvent, DatabaseId, ObjectId, PORT, Server, ServerEvent,
    State, To, Value,
};
use tickwire_session::{Events, Instant, Session};
use tickwire_sim::{Network, NodeId, Rng, addr};
use tickwire_state::{Quat, Tick, Vec3};

use super::sabotage::Bug;
use crate::sabotage::Saboteur;
use crate::script::{PROTOTYPE, config, loaded, registry};

/// Clients that watch.
const VIEWERS: usize = 3;
/// Objects of the level: enough that a full snapshot is one to repeat.
const OBJECTS: u32 = 60;
/// Objects that were created, at most.
const CLONES: usize = 24;
/// The object that teleports between two places, this far from the origin.
const TELEPORTER: ObjectId = ObjectId(OBJECTS);
const FAR: f32 = 1_000.0;
/// Objects 2 to this one circle.
const CIRCLING: std::ops::Range<u32> = 2..20;
const RADIUS: f64 = 100.0;
/// Radians a second.
const SPEED: f64 = 1.0;

pub(super) struct World {
    pub(super) rng: Rng,
    pub(super) net: Network,
    pub(super) server: Saboteur<Server, Bug>,
    pub(super) viewers: Vec<Viewer>,
    clones: Vec<ObjectId>,
    /// What the world was at every tick that was sent.
    digests: BTreeMap<Tick, u64>,
    /// Sounds played so far.
    sounds: u16,
    /// Nobody says anything any more; things still move.
    pub(super) is_silent: bool,
    /// Actions heard of each client, by code.
    heard: BTreeMap<u32, Vec<ActionState>>,
}

/// A client, and what its player saw.
pub(super) struct Viewer {
    pub(super) client: Client,
    node: NodeId,
    completed: BTreeSet<Tick>,
    sounds: Vec<u16>,
    acted: Vec<ActionState>,
}

impl World {
    pub(super) fn new(seed: u64, bug: Option<Bug>) -> Self {
        let mut net = crate::recorded::network(seed);
        let mut rng = Rng::new(seed).branch(1);
        net.add_node(addr::machine(1, PORT));
        let server = Server::new(config(OBJECTS), rng.secret()).expect("the level is good");
        let viewers = (0..VIEWERS)
            .map(|number| Viewer::connect(&mut net, number))
            .collect();
        Self {
            rng,
            net,
            server: Saboteur { server, bug },
            viewers,
            clones: Vec::new(),
            digests: BTreeMap::new(),
            sounds: 0,
            is_silent: false,
            heard: BTreeMap::new(),
        }
    }

    pub(super) fn run(&mut self, ticks: u32) -> Result<(), String> {
        (0..ticks).try_for_each(|_| self.tick())
    }

    pub(super) fn wait(
        &mut self,
        ticks: u32,
        what: &str,
        done: impl Fn(&Self) -> bool,
    ) -> Result<(), String> {
        for _ in 0..ticks {
            if done(self) {
                return Ok(());
            }
            self.tick()?;
        }
        Err(format!("not after {ticks} ticks: {what}"))
    }

    /// One tick of the game, then everybody looks.
    fn tick(&mut self) -> Result<(), String> {
        self.play();
        let next = self.server.server.tick().0 + 1;
        let until = Instant::from_micros(next * 1_000_000 / 60);
        self.run_network(until);
        let tick = self.server.server.commit(self.net.now());
        if tick.0.is_multiple_of(3) {
            self.digests
                .insert(tick, self.server.server.snapshot().digest());
        }
        self.run_network(until);
        while let Some(event) = self.server.server.poll_event() {
            match event {
                ServerEvent::Acted { code, state, .. } => {
                    self.heard.entry(code).or_default().push(state);
                }
                ServerEvent::Left { client, why } => return Err(format!("{client} {why}")),
                _ => {}
            }
        }
        let now = self.net.now();
        for (number, viewer) in self.viewers.iter_mut().enumerate() {
            viewer.look(now, &self.digests)?;
            if !self.is_silent {
                viewer.act(now, number)?;
            }
        }
        Ok(())
    }

    fn run_network(&mut self, until: Instant) {
        let mut sessions: Vec<&mut dyn Session> = vec![&mut self.server];
        let clients = self.viewers.iter_mut();
        sessions.extend(clients.map(|viewer| &mut viewer.client as _));
        self.net.run_until(until, &mut sessions);
    }

    /// What the game does in a tick.
    fn play(&mut self) {
        let server = &mut self.server.server;
        let tick = server.tick().next();
        for id in CIRCLING {
            let place = truth(ObjectId(id), tick.0 as f64 / 60.0);
            let turn = (tick.0 as f32 / 60.0 / 2.0).sin_cos();
            let turn = Quat {
                x: 0.0,
                y: 0.0,
                z: turn.0,
                w: turn.1,
            };
            for state in [State::Translation(place), State::Rotation(turn)] {
                server.set(ObjectId(id), state).expect("it is there");
            }
        }
        let rng = &mut self.rng;
        if rng.within(0..=39) == 0 {
            let side = if rng.within(0..=1) == 0 { FAR } else { -FAR };
            let place = State::Translation(Vec3 {
                x: side,
                ..Vec3::ZERO
            });
            server.jump(TELEPORTER, place).expect("it is there");
        }
        match rng.within(0..=9) {
            0 if self.clones.len() < CLONES => {
                let id = server.create(PROTOTYPE).expect("there is room");
                server
                    .set_lifecycle(id, Lifecycle::Running)
                    .expect("it is there");
                self.clones.push(id);
            }
            1 if !self.clones.is_empty() => {
                let pick = rng.within(0..=self.clones.len() as u64 - 1);
                let pick = usize::try_from(pick).expect("it is a place in the list");
                let id = self.clones.swap_remove(pick);
                server
                    .set_lifecycle(id, Lifecycle::Destroyed)
                    .expect("it is there");
            }
            2 if !self.is_silent => {
                self.sounds += 1;
                let sound = AssetRef {
                    database: DatabaseId(0),
                    asset: self.sounds,
                };
                server.play_sound(sound).expect("the database is there");
            }
            3 if !self.is_silent => server
                .send_global(To::All, 7, &tick.0.to_le_bytes())
                .expect("it is short"),
            _ => {}
        }
        for &id in &self.clones {
            if rng.within(0..=3) == 0 {
                let state = match rng.within(0..=3) {
                    0 => State::Extra(0, Value::U8(rng.next_u64().to_le_bytes()[0])),
                    1 => State::Extra(1, Value::U32(u32::from(rng.next_u64().to_le_bytes()[0]))),
                    2 => State::Extra(2, Value::Bool(rng.within(0..=1) == 0)),
                    _ => State::Visibility(rng.within(0..=1) == 0),
                };
                server.set(id, state).expect("it is there");
            }
        }
    }

    /// One client's router forgets its mapping.
    pub(super) fn move_somebody(&mut self) {
        let node = self.viewers[0].node;
        self.net.set_addr(node, addr::machine(10, 6_000));
    }

    /// Whether everything said on streams has arrived, in order, once.
    pub(super) fn is_all_heard(&self) -> bool {
        self.viewers.iter().enumerate().all(|(number, viewer)| {
            let code = u32::try_from(number).expect("few");
            let heard = self.heard.get(&code).map_or(&[][..], |heard| heard);
            // Sounds from before it had loaded were for others.
            let first = viewer.sounds.first().copied().unwrap_or(self.sounds);
            let sounds: Vec<_> = (first..=self.sounds).collect();
            heard == viewer.acted && (viewer.sounds == sounds || viewer.sounds.is_empty())
        })
    }
}

impl Viewer {
    fn connect(net: &mut Network, number: usize) -> Self {
        let number = u8::try_from(10 + number).expect("few");
        let node = net.add_node(addr::machine(number, 5_000));
        let config = ClientConfig::new(addr::machine(1, PORT), registry());
        Self {
            client: Client::new(net.now(), config),
            node,
            completed: BTreeSet::new(),
            sounds: Vec::new(),
            acted: Vec::new(),
        }
    }

    fn look(&mut self, now: Instant, digests: &BTreeMap<Tick, u64>) -> Result<(), String> {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Load { .. } => self
                    .client
                    .loaded(loaded())
                    .map_err(|error| error.to_string())?,
                ClientEvent::Completed { tick } => {
                    self.completed.insert(tick);
                    let own = self.client.snapshot(tick).map(|own| own.digest());
                    // An older one may have been dropped again within this tick.
                    if own.is_some() && own.as_ref() != digests.get(&tick) {
                        return Err(format!("tick {tick} is not what it was"));
                    }
                }
                ClientEvent::Sound { sound, .. } => self.sounds.push(sound.asset),
                ClientEvent::Ended(why) => return Err(why.to_string()),
                _ => {}
            }
        }
        self.check_picture(now)
    }

    fn act(&mut self, now: Instant, number: usize) -> Result<(), String> {
        if self.completed.last().is_some_and(|tick| tick.0 % 30 == 0) {
            let state = [ActionState::Begin, ActionState::Repeat, ActionState::End];
            let state = state[self.acted.len() % 3];
            let code = u32::try_from(number).expect("few");
            self.client
                .act(now, code, state)
                .map_err(|error| error.to_string())?;
            self.acted.push(state);
        }
        Ok(())
    }

    /// What is shown is near the truth, or where it jumped.
    fn check_picture(&mut self, now: Instant) -> Result<(), String> {
        let Some(view) = self.client.sample(now) else {
            return Ok(());
        };
        let time = view.time().as_secs_f64();
        if let Some(shown) = view.object(TELEPORTER) {
            let x = shown.pose.translation.x;
            if x != 0.0 && x.abs() != FAR {
                return Err(format!("a jump is shown on its way, at {x}"));
            }
        }
        let bound = deviation(&self.completed, time);
        for id in CIRCLING.map(ObjectId) {
            let Some(shown) = view.object(id) else {
                continue;
            };
            let error = distance(shown.pose.translation, truth(id, time));
            if error > bound {
                return Err(format!("{id} is off by {error}, {bound} at most"));
            }
        }
        Ok(())
    }
}

/// Where a circling object is, at any moment.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float of 32 bits is what is sent"
)]
fn truth(object: ObjectId, seconds: f64) -> Vec3 {
    let (sin, cos) = (SPEED * seconds + f64::from(object.0)).sin_cos();
    Vec3 {
        x: (RADIUS * cos) as f32,
        y: (RADIUS * sin) as f32,
        z: 0.0,
    }
}

/// How far from the truth blending may be: the sagitta of the arc between two snapshots, or what a
/// straight line gains on the arc beyond the newest.
fn deviation(completed: &BTreeSet<Tick>, time: f64) -> f64 {
    let seconds = |tick: &Tick| tick.0 as f64 / 60.0;
    let before = completed.iter().map(seconds).rfind(|at| *at <= time + 1e-6);
    let after = completed.iter().map(seconds).find(|at| *at > time + 1e-6);
    let acceleration = RADIUS * SPEED * SPEED;
    // Floats of this size, and times that are rounded to nanoseconds.
    let rounding = 1e-3;
    match (before, after) {
        (Some(before), Some(after)) => acceleration * (after - before).powi(2) / 8.0 + rounding,
        (Some(before), None) => {
            let ahead = time - before;
            assert!(ahead <= EXTRAPOLATION_MAX.as_secs_f64() + 1e-6);
            // The speed is that of the last two snapshots, however far apart they were.
            let mut times = completed.iter().map(seconds).collect::<Vec<_>>();
            times.dedup();
            let gap = times.windows(2).map(|pair| pair[1] - pair[0]);
            let gap = gap.fold(0.05, f64::max);
            acceleration * ahead * (ahead + gap) + rounding
        }
        _ => f64::INFINITY,
    }
}

fn distance(a: Vec3, b: Vec3) -> f64 {
    let parts = [a.x - b.x, a.y - b.y, a.z - b.z].map(f64::from);
    parts.iter().map(|part| part * part).sum::<f64>().sqrt()
}
