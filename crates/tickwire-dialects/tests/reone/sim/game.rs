//! The game of the simulation: things wander, jump, break, come and go, and come back as something else.

use std::collections::BTreeMap;
use std::sync::Arc;

use tickwire_dialects::reone::message::{Answer, Ballistics, PlayAnimation, Speed, VisualEffect};
use tickwire_dialects::reone::{
    AnyStatus, ClientId, Command, CreatureStatus, GLOBAL, Item, Module, Object, ObjectId, Question,
    Reply, Seat, Server, ServerEvent, SnapshotSeq, SpatialStatus, Text, Vec2, Vec3,
};
use tickwire_session::{Events as _, Instant};
use tickwire_sim::Rng;

/// Objects that the module begins with.
const BASE: std::ops::RangeInclusive<u32> = 1..=40;
/// Objects that may be there.
const ALL: std::ops::RangeInclusive<u32> = 1..=70;
/// The first of the players' own creatures.
const OWN: u32 = 1_000;
/// Everything happens at most this far from the middle.
pub(super) const REACH: f32 = 150.0;

pub(super) type Objects = BTreeMap<ObjectId, AnyStatus>;

pub(super) struct Game {
    rng: Rng,
    pub(super) objects: Objects,
    /// Whose creature is which.
    pub(super) players: BTreeMap<ClientId, ObjectId>,
    creatures: u32,
    /// What each client's events said, in the order in which they came.
    pub(super) heard: BTreeMap<ClientId, Vec<u32>>,
    pub(super) issued: Vec<Issued>,
    pub(super) diary: Vec<(Instant, Entry)>,
    /// What belongs to the game and to the players' creatures.
    pub(super) scopes: BTreeMap<ObjectId, Belongings>,
}

/// What belongs to a scope, as the game keeps it: counts by slot, and values by name.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Belongings {
    pub(super) items: BTreeMap<u8, u16>,
    pub(super) variables: BTreeMap<String, i32>,
}

/// A command that was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issued {
    pub(super) at: SnapshotSeq,
    /// The player at whose own creature it happens, if it is sent snapshots.
    pub(super) player: Option<ClientId>,
}

/// What became of a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Entry {
    Joining(ClientId),
    Ready(ClientId),
    Removed(ClientId),
    Left(ClientId),
}

impl Game {
    pub(super) fn new(rng: Rng) -> Self {
        let mut game = Self {
            rng,
            objects: Objects::new(),
            players: BTreeMap::new(),
            creatures: 0,
            heard: BTreeMap::new(),
            issued: Vec::new(),
            diary: Vec::new(),
            scopes: BTreeMap::new(),
        };
        game.begin_again();
        game
    }

    /// What the server is to serve: the world as it is now, without the players.
    pub(super) fn module(&self, name: &str) -> Module {
        let base = self.objects.iter().filter(|(id, _)| id.0 < OWN);
        let base = base.map(|(&id, &status)| Object::new(id, status));
        let texture: Arc<[u8]> = vec![7; 20_000].into();
        Module {
            name: name.into(),
            base: base.collect(),
            variables: [("round".to_owned(), 1), ("kept".to_owned(), 7)].into(),
            resources: [("texture".to_owned(), texture)].into(),
        }
    }

    /// Another place, where nobody is yet.
    pub(super) fn begin_again(&mut self) {
        self.objects.clear();
        self.players.clear();
        let variables = [("round".to_owned(), 1), ("kept".to_owned(), 7)].into();
        let items = BTreeMap::new();
        self.scopes = [(GLOBAL, Belongings { items, variables })].into();
        for id in BASE {
            let status = self.draw_status();
            self.objects.insert(ObjectId(id), status);
        }
    }

    /// Does what a game does in a tick, up to the world that is published next.
    pub(super) fn play(&mut self, now: Instant, server: &mut Server) -> Result<(), String> {
        while let Some(event) = server.poll_event() {
            self.handle(now, server, event)?;
        }
        for id in ALL.map(ObjectId) {
            if self.rng.within(0..=2) == 0 {
                self.change(id);
            }
        }
        let id = ObjectId(u32::try_from(self.rng.within(1..=70)).expect("it is small"));
        if self.objects.remove(&id).is_none() {
            let status = self.draw_status();
            self.objects.insert(id, status);
        }
        self.change_scopes(server);
        Ok(())
    }

    /// Things are found and used up, and counted: now and then a few, and sometimes very many.
    fn change_scopes(&mut self, server: &mut Server) {
        let gone =
            |scope: &ObjectId| *scope != GLOBAL && !self.players.values().any(|it| it == scope);
        let gone: Vec<_> = self.scopes.keys().copied().filter(gone).collect();
        for scope in gone {
            self.scopes.remove(&scope);
            server.clear_scope(scope);
        }
        let players = self.players.values().copied();
        for scope in players.chain([GLOBAL]).collect::<Vec<_>>() {
            let changes = [0, 0, 1, 2, 30][usize::try_from(self.rng.within(0..=4)).expect("few")];
            for _ in 0..changes {
                self.change_scope(server, scope);
            }
        }
    }

    fn change_scope(&mut self, server: &mut Server, scope: ObjectId) {
        let [slot, count, variable, value, ..] = self.rng.next_u64().to_le_bytes();
        let belongings = self.scopes.entry(scope).or_default();
        let name = format!("v{}", variable % 40);
        let value = i32::from(value % 4);
        server.set_variable(scope, &name, value).expect("a few");
        match value {
            0 => belongings.variables.remove(&name),
            value => belongings.variables.insert(name, value),
        };
        if scope != GLOBAL {
            let (slot, count) = (slot % 20, u16::from(count % 3));
            let item = Item::new(count, &format!("i{slot}"));
            server.set_item(scope, slot, item).expect("a creature");
            match count {
                0 => belongings.items.remove(&slot),
                count => belongings.items.insert(slot, count),
            };
        }
    }

    fn handle(
        &mut self,
        now: Instant,
        server: &mut Server,
        event: ServerEvent,
    ) -> Result<(), String> {
        match event {
            ServerEvent::Joining { client } => {
                self.diary.push((now, Entry::Joining(client)));
                let own = self.create_own(client);
                server.admit(now, client, Seat::Player(own));
            }
            ServerEvent::Ready { client } => self.diary.push((now, Entry::Ready(client))),
            ServerEvent::Removed { client } => {
                self.diary.push((now, Entry::Removed(client)));
                if let Some(own) = self.players.remove(&client) {
                    self.objects.remove(&own);
                }
            }
            ServerEvent::Left { client, .. } => self.diary.push((now, Entry::Left(client))),
            ServerEvent::Event {
                client,
                id,
                content,
                ..
            } => {
                let number = content.first_chunk().ok_or("an event without its number")?;
                self.act(client, u32::from_le_bytes(*number));
                server.processed(client, id);
            }
            ServerEvent::Called {
                client,
                call,
                question,
            } => {
                let answer = match &question {
                    Question::Resref(_) => Answer::Resref(Text::new("n_x").expect("a name")),
                    Question::Global(name) => Answer::Global(value(name)),
                    other => return Err(format!("nobody asked {other:?}")),
                };
                // Now and then a game forgets to answer.
                let is_forgotten =
                    matches!(question, Question::Global(_)) && self.rng.within(0..=9) == 0;
                if !is_forgotten {
                    let answered = server.answer(now, client, call, Reply::Answer(answer));
                    answered.map_err(|error| error.to_string())?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A player acts: its creature wanders, and wears the number of the act.
    fn act(&mut self, client: ClientId, number: u32) {
        self.heard.entry(client).or_default().push(number);
        let own = self.players.get(&client);
        if let Some(AnyStatus::Creature(own)) = own.and_then(|own| self.objects.get_mut(own)) {
            // Never so far that a shot from where it was is out of its range.
            own.pos.x = f32::from(worn(number) % 40);
            own.equipment1 = worn(number);
        }
    }

    /// Lets a player look on, from where its creature was.
    pub(super) fn stand_up(&mut self, now: Instant, server: &mut Server, client: ClientId) {
        let own = self.players.remove(&client);
        let own = own.and_then(|own| self.objects.remove(&own));
        let Vec3 { x, y, .. } = own.map_or(Vec3::ZERO, |own| own.pos());
        server.reseat(now, client, Seat::Spectator(Vec2 { x, y }));
    }

    /// Gives whoever looks on a creature.
    pub(super) fn sit_down(&mut self, now: Instant, server: &mut Server, client: ClientId) {
        let own = self.create_own(client);
        let is_there = server.reseat(now, client, Seat::Player(own));
        assert!(is_there, "it was waited for");
    }

    fn create_own(&mut self, client: ClientId) -> ObjectId {
        if let Some(&own) = self.players.get(&client) {
            return own;
        }
        let own = ObjectId(OWN + self.creatures);
        self.creatures += 1;
        let last = self.heard.get(&client).and_then(|heard| heard.last());
        let status = CreatureStatus {
            equipment1: worn(last.copied().unwrap_or(0)),
            ..CreatureStatus::default()
        };
        self.objects.insert(own, AnyStatus::Creature(status));
        self.players.insert(client, own);
        own
    }

    /// Gives a command or two, after the world was published.
    pub(super) fn command(&mut self, server: &mut Server) {
        if self.rng.within(0..=2) > 0 {
            return;
        }
        let number = self.issued.len();
        let nth = self.rng.within(0..=3);
        let player = self
            .players
            .iter()
            .nth(usize::try_from(nth).expect("it is small"));
        let (client, id) = match player {
            Some((&client, &own)) => (server.mode(client).map(|_| client), own),
            None => (None, ObjectId(7)),
        };
        self.issued.push(Issued {
            at: server.newest(),
            player: client,
        });
        let name = format!("{number}");
        let resref = Text::new(&name).expect("digits");
        // The server fills in the moment.
        let at = SnapshotSeq::NONE;
        server.command(match number % 3 {
            0 => Command::VisualEffect(VisualEffect { id, at, resref }),
            1 => Command::PlayAnimation(PlayAnimation {
                id,
                at,
                flags: 0,
                speed: Speed::NORMAL,
                resref,
            }),
            _ => Command::Ballistics(self.shoot(id, number)),
        });
    }

    fn shoot(&self, owner: ObjectId, number: usize) -> Ballistics {
        let place = self.objects.get(&owner).map_or(Vec3::ZERO, AnyStatus::pos);
        Ballistics {
            kind: 1,
            origin: Vec3 {
                z: f32::from(u16::try_from(number).expect("a few")),
                ..place
            },
            at: SnapshotSeq::NONE,
            owner,
            heading: 0.0,
        }
    }

    fn change(&mut self, id: ObjectId) {
        let (jump, step) = (self.rng.within(0..=30) == 0, self.draw_step());
        let byte = self.rng.next_u64().to_le_bytes()[0];
        match self.objects.get_mut(&id) {
            Some(AnyStatus::Creature(creature)) => {
                creature.pos.x = if jump {
                    -creature.pos.y
                } else {
                    creature.pos.x + step
                };
                creature.heading += step;
                if byte < 40 {
                    creature.anim = byte;
                    creature.equipment5 = u16::from(byte) << 8;
                }
            }
            Some(AnyStatus::Spatial(spatial)) => {
                spatial.hit_points = spatial.hit_points.saturating_sub(1);
                if jump {
                    spatial.y = -spatial.y;
                }
            }
            None => {}
        }
    }

    fn draw_status(&mut self) -> AnyStatus {
        let (x, y) = (self.draw_place(), self.draw_place());
        if self.rng.within(0..=3) == 0 {
            AnyStatus::Spatial(SpatialStatus {
                x,
                y,
                max_hit_points: 300,
                hit_points: 300,
                ..SpatialStatus::default()
            })
        } else {
            AnyStatus::Creature(CreatureStatus {
                pos: Vec3 { x, y, z: 0.0 },
                faction: 2,
                ..CreatureStatus::default()
            })
        }
    }

    fn draw_place(&mut self) -> f32 {
        let place = u16::try_from(self.rng.within(0..=300)).expect("it is small");
        f32::from(place) - REACH
    }

    fn draw_step(&mut self) -> f32 {
        let step = u8::try_from(self.rng.within(0..=4)).expect("it is small");
        f32::from(step) * 0.5 - 1.0
    }
}

/// How a creature wears the number of its player's last act.
pub(super) fn worn(number: u32) -> u16 {
    u16::try_from(number).expect("a few hundred")
}

/// How everything moves, as it is published with a tick.
pub(super) fn velocity(tick: u32) -> Vec2 {
    let tick = f32::from(u16::try_from(tick % 1_000).expect("it is small"));
    Vec2 { x: tick, y: -tick }
}

/// What a variable of the game is.
pub(super) fn value(name: &str) -> i32 {
    name.parse::<i32>().map_or(0, |number| number * 3)
}
