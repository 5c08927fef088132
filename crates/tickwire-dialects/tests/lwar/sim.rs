//! Seven players and an eighth on a bad network.
//!
//! First faults: loss to 40 %, copies, reordering, jitter to 300 ms, while everybody chats, chooses
//! and renames and the game adds and removes entities. Then quiet: everybody must have heard
//! everything exactly once and in order, and see what the server has.

mod sabotage;

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_dialects::lwar::{
    Client, ClientConfig, ClientEvent, Departure, EndReason, EntityId, Kind, Phase, PlayerId,
    Server, ServerConfig, ServerEvent, Shape, Track,
};
use tickwire_session::{Addr, Events, Session};
use tickwire_sim::{Chance, Conditions, Network, Rng, TraceHash, addr};

use crate::sabotage::{Saboteur, assert_noticed};
use crate::seeds::{OneIn, check};
use crate::words::GUNS;
use sabotage::{Bug, Planted};

/// Players that fit.
const PLAYERS: usize = 7;
/// Between two moves of the game and its players.
const BEAT: Duration = Duration::from_millis(50);
/// Beats with faults and work.
const BUSY: u32 = 100;
/// Beats within which everything must have settled once the network is good: longer than any
/// backlog that the busy time can leave.
const SETTLING: u32 = 200;
/// Entities that the game has at a time.
const ENTITIES: usize = 60;

const WORST: Conditions = Conditions {
    latency: Duration::from_millis(150),
    jitter: Duration::from_millis(300),
    loss: Chance::percent(40),
    duplication: Chance::percent(20),
    reordering: Chance::percent(20),
    reordering_delay: Duration::from_millis(200),
    ..Conditions::IDEAL
};

/// A client and what its player saw.
struct Player {
    client: Client,
    chats: Vec<(PlayerId, String)>,
    said: u32,
}

/// A game that has no rules: things come, move and go.
struct World {
    rng: Rng,
    net: Network,
    server: Saboteur<Server, Planted>,
    players: Vec<Player>,
    entities: BTreeMap<EntityId, (Kind, PlayerId, Shape)>,
    /// What the server's game was told that players said.
    heard: BTreeMap<PlayerId, Vec<String>>,
}

#[test]
fn seven_players_and_an_eighth() {
    check("lwar::seven_players_and_an_eighth", OneIn(1), |seed| {
        run(seed, None)
    });
}

#[test]
fn a_forgotten_resend_is_noticed() {
    assert_noticed(Bug::ResendForgotten, 50, run);
}

#[test]
fn an_ack_off_by_one_is_noticed() {
    assert_noticed(Bug::AckOffByOne, 50, run);
}

fn run(seed: u64, bug: Option<Bug>) -> Result<TraceHash, String> {
    let mut world = World::new(seed, bug);
    world
        .net
        .set_conditions(Conditions::random(&mut world.rng, &WORST));
    world.wait(SETTLING * 2, "seven players", World::all_play)?;
    for _ in 0..BUSY {
        world.work();
        world.beat()?;
    }
    world.check_eighth()?;
    world.net.set_conditions(Conditions::IDEAL);
    world.wait(SETTLING, "agreement", World::is_agreed)?;
    world.check_chats()?;
    world.check_departures()?;
    Ok(world.net.trace_hash())
}

impl World {
    fn new(seed: u64, bug: Option<Bug>) -> Self {
        let mut net = crate::recorded::network(seed);
        let server_addr = addr::machine(1, 32_422);
        net.add_node(server_addr);
        let players = (0..PLAYERS)
            .map(|number| Player::connect(&mut net, server_addr, number))
            .collect();
        let server = Server::new(net.now(), ServerConfig::default(), [7; 32]);
        Self {
            rng: Rng::new(seed).branch(1),
            net,
            server: Saboteur {
                server,
                bug: bug.map(Planted::new),
            },
            players,
            entities: BTreeMap::new(),
            heard: BTreeMap::new(),
        }
    }

    /// Lets the network run for a beat, then the game and the players look at what came.
    fn beat(&mut self) -> Result<(), String> {
        let mut sessions: Vec<&mut dyn Session> = vec![&mut self.server];
        sessions.extend(
            self.players
                .iter_mut()
                .map(|player| &mut player.client as _),
        );
        self.net.run_for(BEAT, &mut sessions);
        while let Some(event) = self.server.server.poll_event() {
            match event {
                ServerEvent::Chatted { player, text } => {
                    self.heard.entry(player).or_default().push(text);
                }
                ServerEvent::Left { player, why } => {
                    self.entities.retain(|_, (_, owner, _)| *owner != player);
                    if self.bug().is_none() && why != Departure::Disconnected {
                        return Err(format!("{player:?} {why}"));
                    }
                }
                _ => {}
            }
        }
        self.players.iter_mut().for_each(Player::listen);
        let mut peers = 0;
        self.server.visit_peers(&mut |_| peers += 1);
        if peers > PLAYERS {
            return Err(format!("{peers} clients have a place"));
        }
        Ok(())
    }

    fn wait(
        &mut self,
        beats: u32,
        what: &str,
        done: impl Fn(&Self) -> Result<(), String>,
    ) -> Result<(), String> {
        for _ in 0..beats {
            if done(self).is_ok() {
                return Ok(());
            }
            self.beat()?;
        }
        done(self).map_err(|why| format!("no {what} after {beats} beats: {why}"))
    }

    /// One beat of everybody's work.
    fn work(&mut self) {
        self.move_entities();
        for index in 0..PLAYERS {
            let draw = self.rng.within(0..=99);
            let player = &mut self.players[index];
            match draw {
                0..=2 => player.say(index),
                3 => player.client.select(GUNS).expect("connected"),
                4 => player
                    .client
                    .rename(&format!("again-{index}"))
                    .expect("connected"),
                _ => {}
            }
        }
    }

    fn move_entities(&mut self) {
        let draw = self.rng.within(0..=9);
        if self.entities.len() < ENTITIES && draw < 6 {
            let owners: Vec<_> = self.server.server.players().map(|(id, _)| id).collect();
            let owner = match usize::try_from(self.rng.within(0..=8)) {
                Ok(pick) if pick < owners.len() => owners[pick],
                _ => PlayerId::SERVER,
            };
            let shape = self.shape();
            let kind = match shape {
                Shape::Body { .. } => Kind::SHIP,
                Shape::Place { .. } => Kind::BULLET,
                Shape::Ray { .. } => Kind::RAY,
                Shape::Circle { .. } => Kind::SHOCKWAVE,
            };
            let id = self
                .server
                .server
                .add(kind, owner, shape)
                .expect("the table is large");
            self.entities.insert(id, (kind, owner, shape));
        } else if draw == 9 {
            let count = self.entities.len() as u64;
            let pick = self.rng.within(0..=count.max(1) - 1);
            let id = usize::try_from(pick)
                .ok()
                .and_then(|pick| self.entities.keys().nth(pick))
                .copied();
            if let Some(id) = id {
                self.entities.remove(&id);
                self.server.server.remove(id);
            }
        }
        let ids: Vec<_> = self.entities.keys().copied().collect();
        for id in ids {
            let place = self.place();
            let entry = self.entities.get_mut(&id).expect("just listed");
            entry.2 = moved(entry.2, place);
            self.server.server.set(id, entry.2);
        }
    }

    fn place(&mut self) -> (i16, i16) {
        let mut coordinate = || i16::try_from(self.rng.within(0..=12_000)).expect("small") - 6_000;
        (coordinate(), coordinate())
    }

    fn shape(&mut self) -> Shape {
        let (x, y) = self.place();
        match self.rng.within(0..=3) {
            0 => Shape::Body {
                x,
                y,
                orientation: 90,
                health: 50,
            },
            1 => Shape::Place { x, y },
            2 => Shape::Ray {
                x,
                y,
                orientation: 359,
                length: 900,
            },
            _ => Shape::Circle { x, y, radius: 300 },
        }
    }

    fn bug(&self) -> Option<Bug> {
        self.server.bug.as_ref().map(|planted| planted.bug)
    }

    fn all_play(&self) -> Result<(), String> {
        match self
            .players
            .iter()
            .find(|player| player.client.phase() != Phase::Playing)
        {
            Some(player) => Err(format!("one is {:?}", player.client.phase())),
            None => Ok(()),
        }
    }

    /// An eighth client is told that there is no place, and disturbs nobody.
    fn check_eighth(&mut self) -> Result<(), String> {
        let server = addr::machine(1, 32_422);
        let eighth = Player::connect(&mut self.net, server, PLAYERS);
        self.players.push(eighth);
        self.wait(SETTLING, "answer to the eighth", |world| {
            match world.players[PLAYERS].client.phase() {
                Phase::Ended(EndReason::Full) => Ok(()),
                other => Err(format!("it is {other:?}")),
            }
        })
    }

    /// Everybody sees what the server has, and everything that was said has been heard.
    fn is_agreed(&self) -> Result<(), String> {
        for player in &self.players[..PLAYERS] {
            player.agrees(&self.entities)?;
            let own = player.client.player();
            let heard = own.and_then(|id| self.heard.get(&id)).map_or(0, Vec::len);
            if heard != player.said as usize {
                return Err(format!(
                    "{heard} of {} chats reached the server",
                    player.said
                ));
            }
            let said: u32 = self.players.iter().map(|player| player.said).sum();
            if player.chats.len() != said as usize {
                return Err(format!(
                    "{} of {said} chats reached a client",
                    player.chats.len()
                ));
            }
        }
        Ok(())
    }

    /// Each player's chats came to everybody once and in the order in which they were said.
    fn check_chats(&self) -> Result<(), String> {
        for (index, speaker) in self.players[..PLAYERS].iter().enumerate() {
            let id = speaker.client.player().ok_or("a player without id")?;
            let said: Vec<_> = (0..speaker.said).map(|n| chat(index, n)).collect();
            if self.heard.get(&id).map_or(&[][..], |heard| heard) != said {
                return Err(format!("the server heard {:?}", self.heard.get(&id)));
            }
            for listener in &self.players[..PLAYERS] {
                let from: Vec<_> = listener
                    .chats
                    .iter()
                    .filter(|(who, _)| *who == id)
                    .map(|(_, t)| t)
                    .collect();
                if from != said.iter().collect::<Vec<_>>() {
                    return Err(format!("a client heard {from:?} of {id:?}"));
                }
            }
        }
        Ok(())
    }

    /// Whoever leaves is gone for everybody, with all that was theirs.
    fn check_departures(&mut self) -> Result<(), String> {
        let now = self.net.now();
        let gone = self.players[0]
            .client
            .player()
            .ok_or("a player without id")?;
        self.players[0].client.disconnect(now);
        self.entities.retain(|_, (_, owner, _)| *owner != gone);
        self.wait(SETTLING, "departure", |world| {
            if world.players[0].client.phase() != Phase::Ended(EndReason::Disconnected) {
                return Err("the leaving client still waits".into());
            }
            for player in &world.players[1..PLAYERS] {
                player.agrees(&world.entities)?;
                if player.client.players().any(|(id, _)| id == gone) {
                    return Err("the player is still there".into());
                }
            }
            Ok(())
        })
    }
}

impl Player {
    fn connect(net: &mut Network, server: Addr, number: usize) -> Self {
        net.add_node(addr::machine(
            u8::try_from(10 + number).expect("few"),
            5_000,
        ));
        let config = ClientConfig {
            server,
            name: format!("player-{number}"),
        };
        Self {
            client: Client::new(net.now(), config),
            chats: Vec::new(),
            said: 0,
        }
    }

    fn say(&mut self, index: usize) {
        if self.client.chat(&chat(index, self.said)).is_ok() {
            self.said += 1;
        }
    }

    fn listen(&mut self) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Chatted(player, text) => self.chats.push((player, text)),
                // What names its player id also proves its address: on a bad network the sooner, the
                // better.
                ClientEvent::Connected { .. } => self.client.select(GUNS).expect("connected"),
                _ => {}
            }
        }
    }

    /// Whether this client's entities are exactly `entities`, each where it is.
    fn agrees(&self, entities: &BTreeMap<EntityId, (Kind, PlayerId, Shape)>) -> Result<(), String> {
        let seen: BTreeMap<_, _> = self
            .client
            .entities()
            .map(|(id, entity)| (id, (entity.kind, entity.owner, place_of(&entity.track))))
            .collect();
        let there: BTreeMap<_, _> = entities
            .iter()
            .map(|(&id, &(kind, owner, shape))| (id, (kind, owner, Some(place_in(shape)))))
            .collect();
        if seen == there {
            return Ok(());
        }
        let differing = there
            .iter()
            .find(|(id, entity)| seen.get(id) != Some(entity));
        Err(format!(
            "a client sees {} of {} entities; {differing:?}",
            seen.len(),
            there.len()
        ))
    }
}

fn chat(speaker: usize, number: u32) -> String {
    format!("{speaker}: {number}")
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "an update holds whole units"
)]
fn place_of(track: &Track) -> Option<(i16, i16)> {
    track.latest().map(|shown| (shown.x as i16, shown.y as i16))
}

fn place_in(shape: Shape) -> (i16, i16) {
    match shape {
        Shape::Body { x, y, .. }
        | Shape::Place { x, y }
        | Shape::Ray { x, y, .. }
        | Shape::Circle { x, y, .. } => (x, y),
    }
}

fn moved(shape: Shape, (x, y): (i16, i16)) -> Shape {
    match shape {
        Shape::Body {
            orientation,
            health,
            ..
        } => Shape::Body {
            x,
            y,
            orientation,
            health,
        },
        Shape::Place { .. } => Shape::Place { x, y },
        Shape::Ray {
            orientation,
            length,
            ..
        } => Shape::Ray {
            x,
            y,
            orientation,
            length,
        },
        Shape::Circle { radius, .. } => Shape::Circle { x, y, radius },
    }
}
