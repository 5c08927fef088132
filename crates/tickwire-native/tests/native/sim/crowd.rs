//! Sixteen clients and their server on one network, stepped together.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_native::{
    Client, ClientConfig, EntityId, Game as _, PlayerId, Role, Server, ServerConfig, ServerEvent,
    To,
};
use tickwire_replica::server::View;
use tickwire_replica::world::{Audience, Groups};
use tickwire_session::{Events as _, Session};
use tickwire_sim::{Bursts, Chance, Conditions, Network, NodeId, Rng, TraceHash, Way, addr};

use super::bugs::Bug;
use super::seat::{Looks, Seat};
use crate::sabotage::Saboteur;
use crate::things::{EXTENT, Rock, SIGHT, Sea, Secret, Ship, Stick, Word};
use crate::truth::{Truth, Watcher};

/// What goes wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Plan {
    /// Datagrams are lost, late, doubled and overtaken; nothing passes for a while.
    Datagrams,
    /// The same more rarely; streams break, and some paths take no datagrams.
    Streams,
}

/// As bad as a network gets here.
const WORST: Conditions = Conditions {
    latency: Duration::from_millis(150),
    jitter: Duration::from_millis(80),
    loss: Chance::percent(40),
    bursts: Some(Bursts {
        begin: Chance::percent(5),
        end: Chance::percent(20),
        loss: Chance::percent(90),
    }),
    duplication: Chance::percent(10),
    reordering: Chance::percent(10),
    reordering_delay: Duration::from_millis(60),
    ..Conditions::IDEAL
};

/// A network on which nothing is lost.
const GOOD: Conditions = Conditions {
    latency: Duration::from_millis(20),
    ..Conditions::IDEAL
};

const SEATS: usize = 16;
/// Those who are there from the beginning.
const EARLY: usize = 12;
/// Four seconds of trouble: more sends than a client remembers.
const TROUBLE: u32 = 80;
/// Within this time everybody agrees again.
const PATIENCE: u32 = 300;
/// For so long the last input is held, in ticks.
const HELD: u64 = 5;

/// A server, its world, its clients and their network.
pub(super) struct Crowd {
    rng: Rng,
    net: Network,
    plan: Plan,
    bug: Option<Bug>,
    server: Saboteur<Server<Sea>, Bug>,
    server_node: NodeId,
    seats: Vec<Seat>,
    truth: Truth,
    looks: Looks,
    players: BTreeMap<PlayerId, Player>,
    owners: BTreeMap<EntityId, PlayerId>,
    rocks: Vec<EntityId>,
    secrets: Vec<EntityId>,
    /// Events told so far.
    events: u32,
    ticks: u32,
    /// Nothing is told any more, so that everybody can have heard it.
    is_quiet: bool,
    /// The world does not change any more.
    is_still: bool,
}

/// What the server's game knows of a player.
#[derive(Default)]
struct Player {
    groups: Groups,
    ship: EntityId,
    secret: EntityId,
    heard: u32,
    /// The first event that it was told of.
    first_event: u32,
    view: Option<View>,
    /// What was taken for each tick.
    taken: BTreeMap<u64, Stick>,
}

impl Crowd {
    pub(super) fn new(seed: u64, plan: Plan, bug: Option<Bug>) -> Self {
        let mut net = crate::recorded::network(seed);
        net.set_conditions(GOOD);
        let server_node = net.add_node(addr::machine(1, 7_777));
        let server = Server::new(net.now(), [7; 32], ServerConfig::default());
        let mut crowd = Self {
            rng: Rng::new(seed),
            plan,
            bug,
            server: Saboteur {
                server,
                bug: bug.filter(|bug| *bug == Bug::StaleBaseline),
            },
            server_node,
            seats: Vec::new(),
            truth: Truth::default(),
            looks: Looks::new(),
            players: BTreeMap::new(),
            owners: BTreeMap::new(),
            rocks: Vec::new(),
            secrets: Vec::new(),
            events: 0,
            ticks: 0,
            is_quiet: false,
            is_still: false,
            net,
        };
        crowd.furnish();
        (0..EARLY).for_each(|_| crowd.join());
        crowd
    }

    fn furnish(&mut self) {
        for _ in 0..self.rng.within(5..=40) {
            let rock = self.rock();
            let id = self.game().spawn(rock).expect("a rock fits");
            self.rocks.push(id);
        }
        for group in [1, 2] {
            let audience = Audience::Groups(Groups(group));
            let secret = self.game().spawn_for(audience, Secret::default());
            self.secrets.push(secret.expect("a secret fits"));
        }
    }

    const fn game(&mut self) -> &mut Server<Sea> {
        &mut self.server.server
    }

    fn rock(&mut self) -> Rock {
        Rock {
            at: self.point(),
            size: 1,
        }
    }

    fn point(&mut self) -> [f32; 2] {
        [(); 2].map(|()| {
            let share = u16::try_from(self.rng.within(0..=200)).expect("small");
            (f32::from(share) / 100.0 - 1.0) * EXTENT
        })
    }

    fn join(&mut self) {
        let port = 5_000 + u16::try_from(self.seats.len()).expect("a few clients");
        let node = self.net.add_node(addr::machine(2, port));
        let config = ClientConfig {
            server: addr::machine(1, 7_777),
            name: "Ada".into(),
            role: Role::Player,
        };
        let is_client_bug = |bug: &Bug| matches!(bug, Bug::LostInput | Bug::EventTwice);
        let bug = self.bug.filter(is_client_bug);
        let client = Client::new(self.net.now(), config);
        self.seats.push(Seat::new(client, node, bug));
        if self.ticks > 0 {
            self.worsen(self.seats.len() - 1);
        }
    }

    /// Gives a client's path another weather.
    fn worsen(&mut self, seat: usize) {
        let worst = match self.plan {
            Plan::Datagrams => WORST,
            // Streams repeat what is lost, and would do little else.
            Plan::Streams => Conditions {
                loss: Chance::percent(10),
                bursts: None,
                ..WORST
            },
        };
        let conditions = Conditions::random(&mut self.rng, &worst);
        let (server, node) = (self.server_node, self.seats[seat].node);
        self.net.set_conditions_between(server, node, conditions);
    }

    fn set_largest(&mut self, seat: usize, largest: u16) {
        let (server, node) = (self.server_node, self.seats[seat].node);
        for (from, to) in [(server, node), (node, server)] {
            self.net.set_largest_datagram(Way { from, to }, largest);
        }
    }

    /// Everybody plays, and everything goes wrong.
    pub(super) fn trouble(&mut self) -> Result<(), String> {
        self.run(10)?;
        (0..self.seats.len()).for_each(|seat| self.worsen(seat));
        for _ in 0..TROUBLE {
            self.disturb();
            self.tick()?;
        }
        Ok(())
    }

    fn disturb(&mut self) {
        let seat = usize::try_from(self.rng.within(0..=SEATS as u64 - 1)).expect("small");
        let Some(it) = self.seats.get_mut(seat) else {
            return self.join();
        };
        let now = self.net.now();
        let (server, node, stream) = (self.server_node, it.node, it.diary().stream);
        match (self.rng.within(0..=11), self.plan) {
            (0 | 1, _) => it.say(),
            (2 | 3, _) => it.ask(now, self.ticks),
            // Whoever is not in yet would find that no server answers.
            (4, _) if it.player().is_some() => self.net.partition(server, node),
            (5 | 6, _) => self.net.heal(server, node),
            (7, Plan::Datagrams) => self.worsen(seat),
            (7 | 8, Plan::Streams) => {
                // Whoever has no ticket yet would end.
                if let Some(on) = stream.filter(|_| it.player().is_some()) {
                    self.net.reset_stream(node, on);
                }
            }
            (9, Plan::Streams) => self.set_largest(seat, 0),
            (10, Plan::Streams) => self.set_largest(seat, 1_200),
            (11, _) if seat % 8 == 7 && it.is_playing() => {
                it.has_left = true;
                it.client().leave(now);
            }
            _ => {}
        }
    }

    /// The faults end: everybody agrees again.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        self.is_quiet = true;
        self.net.set_conditions(GOOD);
        for seat in 0..self.seats.len() {
            let (server, node) = (self.server_node, self.seats[seat].node);
            self.net.heal(server, node);
            self.net.set_conditions_between(server, node, GOOD);
            self.set_largest(seat, 1_200);
        }
        for _ in 0..PATIENCE {
            self.tick()?;
            if self.unsettled().is_none() {
                return Ok(());
            }
        }
        Err(self.unsettled().unwrap_or_default())
    }

    /// What still keeps everybody from agreeing.
    fn unsettled(&self) -> Option<String> {
        let now = self.server.server.world().send();
        for (number, seat) in self.seats.iter().enumerate().filter(|(_, it)| !it.has_left) {
            let player = seat.player().and_then(|player| self.players.get(&player));
            let Some(player) = player.filter(|_| seat.is_playing()) else {
                return Some(format!("client {number} does not play"));
            };
            if player.heard != seat.said {
                return Some(format!(
                    "of {} words {} were heard",
                    seat.said, player.heard
                ));
            }
            if !seat.has_heard(self.events) {
                return Some(format!("client {number} has not heard everything"));
            }
            if seat
                .complete()
                .is_none_or(|complete| now.since(complete) > 3)
            {
                return Some(format!("client {number} does not see everything"));
            }
            let mut last = player.taken.iter().rev().take(20);
            if !last.all(|(tick, taken)| seat.diary().has(*tick, taken)) {
                let last: Vec<_> = player.taken.iter().rev().take(20).collect();
                return Some(format!("inputs of client {number} come too late: {last:?}"));
            }
        }
        None
    }

    /// On a good network each input counts, for its tick.
    pub(super) fn calm(&mut self) -> Result<(), String> {
        let first = self.server.server.world().tick().0 + 1;
        self.run(20)?;
        for (number, seat) in self.seats.iter().enumerate().filter(|(_, it)| !it.has_left) {
            let player = seat.player().and_then(|player| self.players.get(&player));
            let player = player.ok_or("a client that plays is nobody")?;
            for (tick, taken) in player.taken.range(first..) {
                if !seat.diary().has(*tick, taken) {
                    return Err(format!(
                        "client {number}: for {tick} another input was made, and {taken:?} was taken"
                    ));
                }
            }
        }
        Ok(())
    }

    /// When nothing changes, nothing is kept but what there is: memory does not grow.
    pub(super) fn rest(&mut self) -> Result<(), String> {
        let bytes = |crowd: &Self| crowd.seats.iter().map(Seat::bytes).collect::<Vec<_>>();
        let before = bytes(self);
        self.is_still = true;
        self.run(70)?;
        let rested = bytes(self);
        self.run(10)?;
        if bytes(self) != rested || rested.iter().zip(&before).any(|(now, then)| now > then) {
            return Err(format!(
                "held: {before:?}, then {rested:?}, then {:?}",
                bytes(self)
            ));
        }
        Ok(())
    }

    pub(super) const fn trace_hash(&self) -> TraceHash {
        self.net.trace_hash()
    }

    fn run(&mut self, ticks: u32) -> Result<(), String> {
        (0..ticks).try_for_each(|_| self.tick())
    }

    fn tick(&mut self) -> Result<(), String> {
        self.handle_events()?;
        if !self.is_still {
            self.step()?;
        }
        self.publish();
        for seat in &mut self.seats {
            let number = u16::try_from(self.ticks).expect("a short run");
            let [right, up] = [(); 2].map(|()| self.rng.within(0..=2));
            let direction = |n: u64| i8::try_from(n).expect("small") - 1;
            seat.client().set_input(Stick {
                right: direction(right),
                up: direction(up),
                number,
            });
        }
        let until = self.net.now() + Duration::from_secs(1) / u32::from(Sea::HZ);
        let mut sessions: Vec<&mut dyn Session> = vec![&mut self.server];
        let clients = self.seats.iter_mut().map(|seat| &mut seat.session);
        sessions.extend(clients.map(|it| it as &mut dyn Session));
        self.net.run_until(until, &mut sessions);
        self.ticks += 1;
        self.check()
    }

    /// What must be true at every step.
    fn check(&mut self) -> Result<(), String> {
        for (number, seat) in self.seats.iter_mut().enumerate() {
            seat.client().update(self.net.now());
            let player = seat.player().and_then(|player| self.players.get(&player));
            if let Some(player) = player {
                seat.next_event.get_or_insert(player.first_event);
            }
            let checked = seat.hear().and_then(|()| {
                // Versions are held for 64 sends, so that none is missed.
                if (number + self.ticks as usize).is_multiple_of(16) {
                    seat.check_versions(&self.truth, &self.looks)?;
                }
                seat.check_complete(&self.truth, &self.looks)
            });
            checked.map_err(|why| format!("client {number}: {why}"))?;
        }
        Ok(())
    }

    fn handle_events(&mut self) -> Result<(), String> {
        while let Some(event) = self.game().poll_event() {
            match event {
                ServerEvent::Joined { player, .. } => self.welcome(player),
                ServerEvent::Left { player, .. } => {
                    let left = self.players.remove(&player).ok_or("a stranger left")?;
                    self.owners.remove(&left.ship);
                    let despawned = self.game().despawn(left.secret);
                    despawned.map_err(|error| error.to_string())?;
                }
                ServerEvent::Said { player, message } => {
                    let it = self.players.get_mut(&player).ok_or("a stranger speaks")?;
                    if message.0 != it.heard {
                        return Err(format!("word {} follows word {}", message.0, it.heard));
                    }
                    it.heard += 1;
                }
                ServerEvent::Asked { question, message } => {
                    let answer = (message.0 % 2 == 0).then_some(message);
                    let answered = self.game().answer(question, answer.as_ref());
                    answered.map_err(|error| error.to_string())?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn welcome(&mut self, player: PlayerId) {
        let groups = Groups(1 << (player.0 % 2));
        let known = match self.bug {
            Some(Bug::InterestLeak) => Groups(3),
            _ => groups,
        };
        let at = self.point();
        let game = self.game();
        game.set_groups(player, known);
        let ship = game.spawn_own(player, Ship { at, heading: 0.0 });
        let ship = ship.expect("a ship fits");
        let secret = game.spawn_for(Audience::Player(player), Secret::default());
        let secret = secret.expect("a secret fits");
        self.owners.insert(ship, player);
        let joined = Player {
            groups,
            ship,
            secret,
            first_event: self.events,
            ..Player::default()
        };
        self.players.insert(player, joined);
    }

    /// One tick of the game.
    fn step(&mut self) -> Result<(), String> {
        let tick = self.server.server.world().tick().0 + 1;
        for (id, player) in &mut self.players {
            let taken = self.server.server.input(*id);
            let stepped = self.server.server.advance(*id, player.ship);
            stepped.map_err(|error| error.to_string())?;
            let seat = self.seats.iter().find(|seat| seat.player() == Some(*id));
            let may_be = seat.is_none_or(|seat| {
                let since = tick.saturating_sub(HELD);
                taken == Stick::default() || seat.diary().has_one(since..=tick, &taken)
            });
            if !may_be {
                return Err(format!(
                    "{taken:?} is taken for {tick}, and was never made for it"
                ));
            }
            player.taken.insert(tick, taken);
        }
        self.change();
        if !self.is_quiet && self.rng.within(0..=2) == 0 {
            let word = Word(self.events);
            self.events += 1;
            self.game()
                .happen(To::All, &word)
                .expect("a word can be said");
        }
        Ok(())
    }

    /// Rocks move, come and go; secrets change.
    fn change(&mut self) {
        for number in 0..self.rocks.len() {
            if self.rng.within(0..=9) == 0 {
                let (id, rock) = (self.rocks[number], self.rock());
                self.game().set(id, &rock).expect("a rock can be set");
            }
        }
        match self.rng.within(0..=9) {
            0 => {
                let rock = self.rock();
                let id = self.game().spawn(rock).expect("a rock fits");
                self.rocks.push(id);
            }
            1 if self.rocks.len() > 3 => {
                let id = self.rocks.swap_remove(0);
                self.game().despawn(id).expect("the rock is there");
            }
            number => {
                let own = self.players.values().map(|player| player.secret);
                let all: Vec<_> = self.secrets.iter().copied().chain(own).collect();
                let id = all[usize::try_from(number).expect("small") % all.len()];
                let word = u16::try_from(self.rng.within(0..=65_535)).expect("small");
                let name = format!("{number}");
                let set = self.game().set(id, &Secret { word, name });
                set.expect("a secret can be set");
            }
        }
    }

    /// Ends the tick, and remembers the world and who looked at it.
    fn publish(&mut self) {
        let now = self.net.now();
        let mut looks = BTreeMap::new();
        for (id, player) in &mut self.players {
            let at = self.server.server.world().position(player.ship);
            let range = f64::from(SIGHT);
            player.view = at.map(|at| View { at, range }).or(player.view);
            let watcher = Watcher {
                player: *id,
                groups: player.groups,
                view: player.view,
            };
            looks.insert(*id, watcher);
        }
        self.game().end_tick(now);
        let world = self.server.server.world();
        self.looks.insert(world.send(), looks);
        self.truth.remember(world, &self.owners);
    }
}
