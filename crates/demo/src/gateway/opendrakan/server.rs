//! The server's half: OpenDrakan clients fly the arena's ships.
//!
//! In: who came and went, and what each pressed. Out: pilots and their intents for the arena. What the
//! arena is like after a step goes out in [`publish`].

mod publish;

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_dialects::opendrakan::message::{ActionState, Lifecycle};
use tickwire_dialects::opendrakan::{
    ClientId, Level, LevelObject, ObjectId, Server, ServerConfig, ServerEvent, State, To,
};
use tickwire_session::{Events, Instant, Session, TokenBucket};

use super::words::{PilotNumber, ScoreLine};
use super::{
    AIM, CLASS, DATABASES, ENTER, FAREWELL, LEVEL, PROTOTYPES, SCORE, YOU, button, choice, registry,
};
use crate::gateway::{LoadError, Notice, ServerGateway};
use crate::rules::STEPS_PER_SECOND;
use crate::{Arena, EntityId, Intent, Kind, Loadout, OwnerId, PilotId, Vec2, Worlds, limits};

/// Shots that are seen and heard to be fired at once, and how soon one more may be. Each costs every
/// client 46 bytes of stream.
const REPORTS_AT_ONCE: u32 = 40;
const REPORT_REFILL: Duration = Duration::from_millis(10);

/// Between two looks at the scores: only changes are told.
const SCORE_STEPS: u64 = 6;

pub(super) struct Gateway {
    pub(super) server: Server,
    clients: BTreeMap<ClientId, Player>,
    /// The objects of ships, from a pilot's first one to its leaving.
    ships: BTreeMap<PilotId, ShipObject>,
    /// The objects of everything else.
    pub(super) things: BTreeMap<EntityId, Thing>,
    bullets: usize,
    other_shots: usize,
    reports: TokenBucket,
    scores: BTreeMap<PilotId, ScoreLine>,
}

/// A client in the arena.
struct Player {
    pilot: PilotId,
    loadout: Loadout,
    /// Whether it did something, so that it is known to listen and has a ship.
    entered: bool,
    held: Intent,
    /// Buttons that were pressed since the last step, even if they were released again.
    pressed: Intent,
}

struct ShipObject {
    id: ObjectId,
    /// The ship of this life.
    entity: Option<EntityId>,
}

pub(super) struct Thing {
    /// A shot too many has no object.
    pub(super) id: Option<ObjectId>,
    pub(super) kind: Kind,
    /// Who fired it.
    pub(super) owner: Option<PilotId>,
}

impl Gateway {
    pub(super) fn new(now: Instant, secret: [u8; 32]) -> Self {
        let config = ServerConfig {
            level: level(),
            registry: registry(),
            clients: limits::PILOTS.into(),
            ..ServerConfig::default()
        };
        let server = Server::new(config, secret);
        Self {
            server: server.unwrap_or_else(|why| unreachable!("the arena's level is bad: {why}")),
            clients: BTreeMap::new(),
            ships: BTreeMap::new(),
            things: BTreeMap::new(),
            bullets: 0,
            other_shots: 0,
            reports: TokenBucket::new(now, REPORTS_AT_ONCE, REPORT_REFILL),
            scores: BTreeMap::new(),
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
            ServerEvent::Joined { client, .. } => {
                // The protocol has no place for a name.
                let name = format!("drakan-{}", client.0);
                match arena.join(&name) {
                    Ok(pilot) => {
                        self.clients.insert(client, Player::new(pilot));
                        notices.push(Notice::Joined { name });
                    }
                    Err(_) => self.server.kick(now, client),
                }
            }
            ServerEvent::Acted {
                client,
                at,
                code,
                state,
            } => {
                self.judge_by(at, client, arena);
                self.act(client, code, state, arena);
            }
            ServerEvent::Steered {
                client,
                at,
                code,
                x,
                y,
            } if code == AIM => {
                self.judge_by(at, client, arena);
                if let Some(player) = self.clients.get_mut(&client) {
                    player.held.aim = Vec2::new(x.into(), y.into());
                    self.enter(client, arena);
                }
            }
            ServerEvent::Left { client, why } => {
                if let Some(player) = self.clients.remove(&client) {
                    let pilot = arena.pilot(player.pilot);
                    notices.push(Notice::Left {
                        name: pilot.map_or_else(String::new, |pilot| pilot.name().to_owned()),
                        why: why.to_string(),
                    });
                    arena.leave(player.pilot);
                }
            }
            _ => {}
        }
    }

    /// An action is about what its player saw, which was true at that moment of the server's clock: the
    /// pilot's shots are judged by a world as much older.
    fn judge_by(&self, seen: Duration, client: ClientId, arena: &mut Arena) {
        if let Some(player) = self.clients.get(&client) {
            let next = self.server.tick().next();
            let next = Duration::from_secs_f64(next.0 as f64 / f64::from(STEPS_PER_SECOND));
            arena.set_rewind(player.pilot, next.saturating_sub(seen));
        }
    }

    fn act(&mut self, client: ClientId, code: u32, state: ActionState, arena: &mut Arena) {
        let Some(player) = self.clients.get_mut(&client) else {
            return;
        };
        if let Some(place) = button(code) {
            let down = state != ActionState::End;
            *player.held.buttons()[place] = down;
            *player.pressed.buttons()[place] |= down;
            self.enter(client, arena);
        } else if let Some((slot, weapon)) = choice(code)
            && state == ActionState::Begin
        {
            player.loadout.0[slot] = weapon;
            // Whoever has no ship yet may choose again.
            if player.entered {
                arena.select(player.pilot, player.loadout);
            }
        } else if code == ENTER {
            self.enter(client, arena);
        }
    }

    /// Brings a client's ship, and tells it who is who, when it does something for the first time.
    fn enter(&mut self, client: ClientId, arena: &mut Arena) {
        let Some(player) = self.clients.get_mut(&client) else {
            return;
        };
        if core::mem::replace(&mut player.entered, true) {
            return;
        }
        arena.select(player.pilot, player.loadout);
        let you = number(player.pilot).encode();
        self.tell(To::One(client), YOU, &you);
        let lines: Vec<_> = self.scores.values().map(ScoreLine::encode).collect();
        for line in lines {
            self.tell(To::One(client), SCORE, &line);
        }
    }

    fn tell(&mut self, to: To, channel: u32, body: &[u8]) {
        let told = self.server.send_global(to, channel, body);
        debug_assert!(told.is_ok(), "names and numbers are short");
    }
}

impl Player {
    fn new(pilot: PilotId) -> Self {
        Self {
            pilot,
            loadout: Loadout::STANDARD,
            entered: false,
            held: Intent::default(),
            pressed: Intent::default(),
        }
    }

    /// What it holds, and what it pressed since the last call.
    fn take_intent(&mut self) -> Intent {
        let mut intent = self.held;
        let mut pressed = core::mem::take(&mut self.pressed);
        for (held, pressed) in intent.buttons().into_iter().zip(pressed.buttons()) {
            *held |= *pressed;
        }
        intent
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
        self.clients.values().any(|client| client.pilot == pilot)
    }

    fn collect(&mut self, now: Instant, worlds: &mut Worlds, notices: &mut Vec<Notice>) {
        let arena = &mut worlds.arena;
        while let Some(event) = self.server.poll_event() {
            self.apply(now, event, arena, notices);
        }
        for player in self.clients.values_mut() {
            arena.set_intent(player.pilot, player.take_intent());
        }
    }

    fn publish(&mut self, now: Instant, worlds: &Worlds) {
        let arena = &worlds.arena;
        // Hits name what this step may have removed.
        self.publish_hits(arena);
        self.publish_ships(arena);
        self.publish_things(arena);
        self.publish_events(now, arena);
        if arena.tick().0.is_multiple_of(SCORE_STEPS) {
            self.publish_scores(arena);
        }
        self.server.commit(now);
    }

    fn shut_down(&mut self, now: Instant) {
        self.tell(To::All, FAREWELL, &[]);
        self.server.shut_down(now);
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(self.server.save().encode())
    }

    fn load(&mut self, save: &[u8], worlds: &mut Worlds) -> Result<(), LoadError> {
        self.take_up(save, &mut worlds.arena)
    }
}

/// The arena as it is loaded: nothing but hidden prototypes.
pub(super) fn level() -> Level {
    let objects = PROTOTYPES.iter().map(|&(_, id)| LevelObject {
        id,
        class: CLASS,
        lifecycle: Lifecycle::Loaded,
        states: vec![State::Visibility(false)],
    });
    Level {
        path: LEVEL.into(),
        databases: DATABASES.map(Into::into).into(),
        objects: objects.collect(),
    }
}

/// The number of a pilot, which is never that of nobody.
fn number(pilot: PilotId) -> PilotNumber {
    PilotNumber(OwnerId::from(pilot).0 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: ClientId = ClientId(3);

    /// A gateway whose client 3 has joined and done nothing.
    fn joined() -> (Gateway, Arena) {
        let mut gateway = Gateway::new(Instant::ZERO, [0; 32]);
        let mut arena = Arena::new(1);
        let joined = ServerEvent::Joined {
            client: CLIENT,
            addr: tickwire_sim::addr::loopback(1),
        };
        gateway.apply(Instant::ZERO, joined, &mut arena, &mut Vec::new());
        (gateway, arena)
    }

    fn ship(gateway: &Gateway, arena: &mut Arena) -> Option<EntityId> {
        arena.step();
        arena.pilot(gateway.clients[&CLIENT].pilot)?.ship()
    }

    #[test]
    fn the_first_action_brings_a_ship_with_what_was_chosen_before() {
        let (mut gateway, mut arena) = joined();
        let (pilots, name) = (arena.pilots().count(), "drakan-3");
        assert_eq!((pilots, arena.pilots().next().unwrap().1.name()), (1, name));
        assert_eq!(ship(&gateway, &mut arena), None);
        let no_gun = crate::gateway::opendrakan::CHOICES;
        gateway.act(CLIENT, no_gun, ActionState::Begin, &mut arena);
        assert_eq!(ship(&gateway, &mut arena), None);
        gateway.act(CLIENT, u32::MAX, ActionState::Begin, &mut arena);
        assert_eq!(ship(&gateway, &mut arena), None);
        gateway.act(CLIENT, ENTER, ActionState::Begin, &mut arena);
        assert!(ship(&gateway, &mut arena).is_some());
        let pilot = arena.pilot(gateway.clients[&CLIENT].pilot).unwrap();
        let [first, others @ ..] = pilot.loadout().unwrap().0;
        assert_eq!((first, &others[..]), (None, &Loadout::STANDARD.0[1..]));
    }

    #[test]
    fn what_begins_and_ends_between_two_steps_counts_for_one() {
        let (mut gateway, mut arena) = joined();
        gateway.act(CLIENT, 1, ActionState::Begin, &mut arena);
        gateway.act(CLIENT, 7, ActionState::Begin, &mut arena);
        gateway.act(CLIENT, 7, ActionState::End, &mut arena);
        let player = gateway.clients.get_mut(&CLIENT).unwrap();
        let (first, second) = (player.take_intent(), player.take_intent());
        assert_eq!((first.forward, first.fire[0]), (true, true));
        assert_eq!((second.forward, second.fire[0]), (true, false));
    }

    #[test]
    fn an_action_is_judged_by_the_moment_that_its_player_saw() {
        let (mut gateway, mut arena) = joined();
        for _ in 0..59 {
            gateway.server.commit(Instant::ZERO);
        }
        let pilot = gateway.clients[&CLIENT].pilot;
        let mut act = |state, millis| {
            let acted = ServerEvent::Acted {
                client: CLIENT,
                at: Duration::from_millis(millis),
                code: crate::gateway::opendrakan::TRIGGERS,
                state,
            };
            gateway.apply(Instant::ZERO, acted, &mut arena, &mut Vec::new());
            arena.pilot(pilot).unwrap().rewind
        };
        assert_eq!(act(ActionState::Begin, 900), Duration::from_millis(100));
        // One that is held is repeated, and its player sees something older by now.
        assert_eq!(act(ActionState::Repeat, 800), Duration::from_millis(200));
        assert_eq!(act(ActionState::End, 1_000), Duration::ZERO);
        let aimed = ServerEvent::Steered {
            client: CLIENT,
            at: Duration::from_millis(850),
            code: AIM,
            x: 1.0,
            y: 2.0,
        };
        gateway.apply(Instant::ZERO, aimed, &mut arena, &mut Vec::new());
        let rewind = arena.pilot(pilot).unwrap().rewind;
        assert_eq!(rewind, Duration::from_millis(150));
    }

    #[test]
    fn a_lost_ship_is_hidden_and_its_successor_is_the_same_object() {
        let (mut gateway, mut arena) = joined();
        gateway.act(CLIENT, ENTER, ActionState::Begin, &mut arena);
        arena.step();
        gateway.publish_ships(&arena);
        let pilot = gateway.clients[&CLIENT].pilot;
        let object = gateway.ships[&pilot].id;
        gateway.server.commit(Instant::ZERO);
        assert!(gateway.server.object(object).unwrap().visible);
        gateway.hide(object);
        gateway.server.commit(Instant::ZERO);
        let hidden = gateway.server.object(object).unwrap();
        assert!(!hidden.visible && !hidden.running);
        assert_eq!(hidden.lifecycle, Lifecycle::Spawned);
        gateway.ships.get_mut(&pilot).unwrap().entity = None;
        arena.step();
        gateway.publish_ships(&arena);
        gateway.server.commit(Instant::ZERO);
        let again = gateway.server.object(object).unwrap();
        assert!(again.visible && again.running);
        assert_eq!(again.lifecycle, Lifecycle::Running);

        arena.leave(pilot);
        gateway.publish_ships(&arena);
        assert_eq!(gateway.server.object(object), None);
    }
}
