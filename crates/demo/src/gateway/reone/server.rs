//! The server's half: reone clients fly the arena's ships.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_dialects::reone::message::{Compression, Status};
use tickwire_dialects::reone::{
    AnyStatus, CallId, ClientId, EventId, GLOBAL, Item, Object, Question, Reply, Seat, Server,
    ServerConfig, ServerEvent, SnapshotSeq,
};
use tickwire_session::{Events, Instant, Session, TokenBucket};
use tickwire_state::SightRange;

use super::announcer::{Announcer, tell_animation};
use super::answers::{self, Asked, Asker};
use super::inputs::{Deed, Inputs};
use super::picture::Picture;
use super::{
    DEATHS, INPUT, KILLS, LOADOUT, PLAYERS, ROUND, SCORES, Settings, TAUNT, TAUNTING, TIME_LEFT,
    creature, module, words,
};
use crate::flight::narrow;
use crate::gateway::{Notice, Opening, ServerGateway};
use crate::limits::WEAPON_SLOTS;
use crate::orbit::Chart;
use crate::{Arena, Kind, PilotId, Tick, Vec2, Worlds, limits};

/// How far clients see: further than anything reaches, and less than the arena.
const SIGHT: SightRange = SightRange {
    radius: 3_500.0,
    margin: 0.1,
};

/// Clients that look on, besides those who fly.
const SPECTATORS: usize = 64;

/// Lines for the log that a client may write at once, and how soon one more.
const LINES_AT_ONCE: u32 = 5;
const LINE_REFILL: Duration = Duration::from_secs(1);

/// Taunts of a pilot that are shown at once, and how soon one more.
const TAUNTS_AT_ONCE: u32 = 3;
const TAUNT_REFILL: Duration = Duration::from_secs(1);

/// Letters of a line for the log that are shown.
const LINE_SHOWN: usize = 120;

pub(super) struct Gateway {
    server: Server,
    settings: Settings,
    guests: BTreeMap<ClientId, Guest>,
    announcer: Announcer,
    /// The newest snapshot, and its tick.
    newest: (SnapshotSeq, Tick),
    /// The sky that clients were told of.
    chart: Chart,
    round: u32,
    next_round: Option<Instant>,
}

/// A client.
struct Guest {
    name: String,
    /// Whoever has none looks on, or loads.
    pilot: Option<PilotId>,
    /// It looks on for want of a ship.
    waits: bool,
    inputs: Inputs,
    /// Lines that it may write to the log.
    lines: TokenBucket,
    /// Taunts that others may be told of.
    taunts: TokenBucket,
}

impl Gateway {
    pub(super) fn new(opening: &Opening<'_>) -> Self {
        let settings = opening.settings.reone.clone();
        let config = ServerConfig {
            module: module::module(1, &opening.worlds.arena, &settings),
            tick_rate: settings.tick_rate(),
            lerp: settings.lerp(),
            sight: SIGHT,
            clients: usize::from(limits::PILOTS) + SPECTATORS,
            compression: if settings.huffman {
                Compression::Huffman
            } else {
                Compression::None
            },
            ..ServerConfig::default()
        };
        let server = Server::new(config, opening.secret);
        let mut server = server.unwrap_or_else(|why| unreachable!("settings are checked: {why}"));
        let registered = server.register(SCORES);
        debug_assert!(registered.is_ok(), "one more method fits");
        Self {
            server,
            guests: BTreeMap::new(),
            announcer: Announcer::new(settings.snapshot_steps()),
            newest: (SnapshotSeq::NONE, Tick(0)),
            chart: opening.worlds.arena.chart(),
            round: 1,
            next_round: settings.round.map(|round| opening.now + round),
            settings,
        }
    }

    fn apply(
        &mut self,
        now: Instant,
        event: ServerEvent,
        arena: &mut Arena,
        notices: &mut Vec<Notice>,
    ) {
        match event {
            ServerEvent::Connected { client, name, .. } => {
                let guest = Guest {
                    name,
                    pilot: None,
                    inputs: Inputs::new(),
                    waits: false,
                    lines: TokenBucket::new(now, LINES_AT_ONCE, LINE_REFILL),
                    taunts: TokenBucket::new(now, TAUNTS_AT_ONCE, TAUNT_REFILL),
                };
                self.guests.insert(client, guest);
            }
            ServerEvent::Joining { client } => self.seat(now, client, arena, notices),
            ServerEvent::Ready { client } => {
                if let Some(guest) = self.guests.get_mut(&client) {
                    guest.inputs.await_choice();
                }
            }
            ServerEvent::Event {
                client,
                id,
                kind,
                content,
                seen,
            } if id != EventId::UNACKNOWLEDGED => {
                let seen = self.picture(client).believe(seen);
                if let Some(guest) = self.guests.get_mut(&client) {
                    guest.inputs.push(id, deed(kind, &content, seen));
                }
            }
            ServerEvent::Event {
                client,
                kind: TAUNT,
                ..
            } => self.taunt(now, client),
            ServerEvent::Called {
                client,
                call,
                question,
            } => self.answer(now, client, call, question, arena, notices),
            ServerEvent::Removed { client } => {
                if let Some(guest) = self.guests.get_mut(&client) {
                    forget(&mut self.server, guest.pilot);
                    notices.extend(guest.stand_up(arena, "fell silent"));
                }
            }
            ServerEvent::Left { client, why } => {
                if let Some(mut guest) = self.guests.remove(&client) {
                    forget(&mut self.server, guest.pilot);
                    notices.extend(guest.stand_up(arena, &why.to_string()));
                }
            }
            _ => {}
        }
    }

    /// Shows everybody that a pilot mocks them, a few times at the most.
    fn taunt(&mut self, now: Instant, client: ClientId) {
        let Some(guest) = self.guests.get_mut(&client) else {
            return;
        };
        if let Some(pilot) = guest.pilot
            && guest.taunts.take(now).is_some()
        {
            tell_animation(&mut self.server, creature(pilot), 0, TAUNTING);
        }
    }

    /// Gives a client a ship, while there is one for which nobody waits, and else a place to look on from.
    fn seat(
        &mut self,
        now: Instant,
        client: ClientId,
        arena: &mut Arena,
        notices: &mut Vec<Notice>,
    ) {
        let is_first = !self.guests.values().any(|guest| guest.waits);
        let has_ship = is_first && self.has_ship();
        let Some(guest) = self.guests.get_mut(&client) else {
            return;
        };
        // Event numbers may begin again, and so does everything that was said by them.
        if let Some(event) = guest.drop_inputs() {
            self.server.processed(client, event);
        }
        guest.pilot = has_ship.then(|| arena.join(&guest.name).ok()).flatten();
        guest.waits = guest.pilot.is_none();
        let seat = match guest.pilot {
            Some(pilot) => {
                let name = guest.name.clone();
                notices.push(Notice::Joined { name });
                Seat::Player(creature(pilot))
            }
            None => Seat::Spectator(place(watched(arena))),
        };
        self.server.admit(now, client, seat);
    }

    /// Gives ships that became free to those who look on, in the order in which they came.
    fn seat_waiting(&mut self, now: Instant, arena: &mut Arena, notices: &mut Vec<Notice>) {
        while self.has_ship() {
            // One that has not heard that it is to look on does so first.
            let mut waiting = self.guests.iter_mut().filter(|(_, guest)| guest.waits);
            let first = waiting.find(|(client, _)| self.server.mode(**client).is_some());
            let Some((client, guest)) = first else { return };
            let Ok(pilot) = arena.join(&guest.name) else {
                return;
            };
            guest.waits = false;
            guest.pilot = Some(pilot);
            // What it did while it looked on is not for the ship.
            if let Some(event) = guest.drop_inputs() {
                self.server.processed(*client, event);
            }
            let seat = Seat::Player(creature(pilot));
            let is_there = self.server.reseat(now, *client, seat);
            debug_assert!(is_there, "it is sent snapshots");
            let name = guest.name.clone();
            notices.push(Notice::Joined { name });
        }
    }

    fn has_ship(&self) -> bool {
        let flying = self.guests.values().filter(|guest| guest.pilot.is_some());
        let ships = self.settings.ships;
        ships.is_none_or(|ships| flying.count() < ships)
    }

    /// What is known of what a client shows.
    fn picture(&self, client: ClientId) -> Picture {
        let (newest, tick) = self.newest;
        let has = self.server.acknowledged(client);
        let steps = self.settings.snapshot_steps();
        let since = u64::from(newest.since(has)) * u64::from(steps);
        Picture {
            has: (has != SnapshotSeq::NONE).then(|| Tick(tick.0.saturating_sub(since))),
            newest: tick,
            steps,
            lerp: self.settings.lerp(),
        }
    }

    fn answer(
        &mut self,
        now: Instant,
        client: ClientId,
        call: CallId,
        question: Question,
        arena: &Arena,
        notices: &mut Vec<Notice>,
    ) {
        let waiting = self.guests.range(..=client).filter(|(_, it)| it.waits);
        let place = waiting.count();
        let Some(guest) = self.guests.get_mut(&client) else {
            return;
        };
        let asker = match guest.pilot {
            Some(pilot) => Asker::Pilot(pilot),
            None if guest.waits => Asker::Spectator(place),
            None => Asker::Spectator(0),
        };
        if let Question::Log(line) = &question {
            if guest.lines.take(now).is_none() {
                let refused = Reply::Failed(Status::Refused);
                self.server.answer(now, client, call, refused).ok();
                return;
            }
            notices.push(Notice::Said {
                name: guest.name.clone(),
                text: line.chars().take(LINE_SHOWN).collect(),
            });
        }
        let asked = Asked {
            client,
            call,
            question,
        };
        answers::answer(now, &mut self.server, &asked, asker, arena);
    }

    /// Begins the next round when it is time.
    fn change_round(&mut self, now: Instant, arena: &mut Arena, notices: &mut Vec<Notice>) {
        let (Some(next), Some(length)) = (self.next_round, self.settings.round) else {
            return;
        };
        if now < next {
            return;
        }
        self.next_round = Some(now + length);
        self.round += 1;
        self.change_module(now, arena);
        notices.push(Notice::Answered {
            text: format!("round {} begins for those on reone", self.round),
        });
    }

    /// Makes the module anew: everybody loads it, and joins again.
    fn change_module(&mut self, now: Instant, arena: &mut Arena) {
        for guest in self.guests.values_mut() {
            guest.waits = false;
            if let Some(pilot) = guest.pilot.take() {
                arena.leave(pilot);
            }
        }
        self.chart = arena.chart();
        let module = module::module(self.round, arena, &self.settings);
        let changed = self.server.change_module(now, module);
        debug_assert!(changed.is_ok(), "it is as good as the first: {changed:?}");
    }

    /// What everybody wants in the next step.
    fn apply_inputs(&mut self, arena: &mut Arena) {
        for (client, guest) in &mut self.guests {
            let Some(pilot) = guest.pilot else { continue };
            let taken = guest.inputs.take_step();
            if let Some(loadout) = taken.chosen {
                arena.select(pilot, loadout);
            }
            arena.set_intent(pilot, taken.intent);
            arena.set_ping(pilot, self.server.round_trip(*client));
            if let Some(seen) = taken.seen {
                arena.set_rewind(pilot, arena.tick().after(1).time_since(seen));
            }
            if let Some(event) = taken.processed {
                self.server.processed(*client, event);
            }
        }
    }

    /// Sets what the next snapshot tells besides objects.
    fn set_scopes(&mut self, now: Instant, arena: &Arena) {
        let server = &mut self.server;
        let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        let left = self
            .next_round
            .map_or(Duration::ZERO, |next| next.since(now));
        // A second that has begun is still to come.
        let left = left.as_millis().div_ceil(1_000);
        let mut set = |scope, name, value| {
            let set = server.set_variable(scope, name, value);
            debug_assert!(set.is_ok(), "{name}: {set:?}");
        };
        set(GLOBAL, ROUND, number(self.round as usize));
        set(GLOBAL, TIME_LEFT, i32::try_from(left).unwrap_or(i32::MAX));
        set(GLOBAL, PLAYERS, number(arena.pilots().count()));
        for id in self.guests.values().filter_map(|guest| guest.pilot) {
            let Some(pilot) = arena.pilot(id) else {
                continue;
            };
            let own = creature(id);
            let mut set = |name, value: u16| server.set_variable(own, name, value.into());
            let scores = [set(KILLS, pilot.kills()), set(DEATHS, pilot.deaths())];
            debug_assert!(scores.iter().all(Result::is_ok), "{scores:?}");
            let ship = pilot.ship().and_then(|ship| arena.entity(ship));
            let items = ship.map_or([None; WEAPON_SLOTS], words::ship_items);
            for (slot, item) in (0..).zip(items) {
                let item = item.and_then(|(count, name)| Item::new(count, name));
                let set = server.set_item(own, slot, item);
                debug_assert!(set.is_ok(), "{set:?}");
            }
        }
    }

    fn publish_world(&mut self, arena: &Arena) {
        let tick = arena.tick();
        let ships = arena.entities().filter_map(|(_, entity)| {
            let owner = entity.owner.filter(|_| entity.kind() == Kind::Ship)?;
            let intent = arena.pilot(owner).map(|pilot| pilot.intent);
            let status = words::ship_status(entity, &intent.unwrap_or_default(), tick);
            Some(Object {
                velocity: Some(words::ship_velocity(entity)),
                ..Object::new(creature(owner), AnyStatus::Creature(status))
            })
        });
        let sky = module::sky(arena);
        let sky = sky.map(|(id, entity)| Object::new(id, module::celestial_status(entity)));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the low half of a tick does for two years"
        )]
        let number = tick.0 as u32;
        let sequence = self.server.publish(number, ships.chain(sky));
        self.newest = (sequence, tick);
        let eye = place(watched(arena));
        let guests = self.guests.iter();
        for (client, _) in guests.filter(|(_, guest)| guest.pilot.is_none()) {
            self.server.move_eye(*client, eye);
        }
    }
}

impl Guest {
    /// Begins with an empty line of inputs. Returns the last that waited, which is as good as processed:
    /// who is not told so would never be handed those after a full line.
    fn drop_inputs(&mut self) -> Option<EventId> {
        let waited = self.inputs.newest();
        self.inputs = Inputs::new();
        waited
    }

    /// Takes its ship, if it has one.
    fn stand_up(&mut self, arena: &mut Arena, why: &str) -> Option<Notice> {
        self.waits = false;
        let pilot = self.pilot.take()?;
        arena.leave(pilot);
        Some(Notice::Left {
            name: self.name.clone(),
            why: why.to_owned(),
        })
    }
}

impl ServerGateway for Gateway {
    fn session(&mut self) -> &mut dyn Session {
        &mut self.server
    }

    fn figures(&self) -> &dyn Session {
        &self.server
    }

    fn has_pilot(&self, pilot: PilotId) -> bool {
        self.guests.values().any(|guest| guest.pilot == Some(pilot))
    }

    fn collect(&mut self, now: Instant, worlds: &mut Worlds, notices: &mut Vec<Notice>) {
        let arena = &mut worlds.arena;
        while let Some(event) = self.server.poll_event() {
            self.apply(now, event, arena, notices);
        }
        // Another sky comes with a savegame, which is loaded before the first step.
        if arena.tick() == Tick(0) && arena.chart() != self.chart {
            self.change_module(now, arena);
        }
        self.change_round(now, arena, notices);
        self.seat_waiting(now, arena, notices);
        self.apply_inputs(arena);
    }

    fn publish(&mut self, now: Instant, worlds: &Worlds) {
        let arena = &worlds.arena;
        let steps = self.settings.snapshot_steps();
        let is_snapshot = arena.tick().0.is_multiple_of(steps.into());
        if is_snapshot {
            self.set_scopes(now, arena);
            self.publish_world(arena);
        }
        self.announcer.tell_events(&mut self.server, arena);
        if is_snapshot {
            self.announcer.tell_flying(&mut self.server, arena);
        }
    }
}

/// Nothing belongs any more to the creature of a pilot who goes.
fn forget(server: &mut Server, pilot: Option<PilotId>) {
    if let Some(pilot) = pilot {
        server.clear_scope(creature(pilot));
    }
}

/// What an event means; nothing, if it does not decode.
fn deed(kind: u8, content: &[u8], seen: Tick) -> Deed {
    let deed = match kind {
        INPUT => words::decode_intent(content).map(|intent| Deed::Fly(intent, seen)),
        LOADOUT => words::decode_loadout(content).map(Deed::Choose),
        _ => None,
    };
    deed.unwrap_or(Deed::Nothing)
}

/// Where those who look on look: at the ship of whoever leads.
fn watched(arena: &Arena) -> Vec2 {
    let ships = arena.pilots().filter_map(|(_, pilot)| {
        let ship = arena.entity(pilot.ship()?)?;
        Some((pilot.kills(), ship.position))
    });
    let leader = ships.max_by_key(|(kills, _)| *kills);
    leader.map_or(Vec2::ZERO, |(_, position)| position)
}

const fn place(position: Vec2) -> tickwire_state::Vec2 {
    tickwire_state::Vec2 {
        x: narrow(position.x),
        y: narrow(position.y),
    }
}
