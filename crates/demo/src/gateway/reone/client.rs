//! The client's half: a reone client's world as a view, with the own ship where it will be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tickwire_dialects::reone::client_limits::BASELINES;
use tickwire_dialects::reone::message::{Call, Parameters, Refusal, Role, Speed};
use tickwire_dialects::reone::{
    AnyStatus, CallId, CallReply, Client, ClientConfig, ClientEvent, EndReason, Flight, GLOBAL,
    Mode, ObjectId, Phase, Pilot, ScopeState, ShotLives, Shown, SnapshotSeq, Text, Vec3,
};
use tickwire_session::bulk::Fetched;
use tickwire_session::{Addr, Events, Instant, Session};
use tickwire_wire::Serial;

use super::flashes::Flashes;
use super::scoreboard::Scoreboard;
use super::sights::{self, Waves};
use super::steering::{Helm, PREDICTION};
use super::{
    CELESTIAL, DESTROYED, LOADOUT, PLAYERS, ROUND, SHIP, SHOCKWAVE, TAUNT, TIME_LEFT, celestial,
    module, steps_at, words,
};
use crate::flight::narrow;
use crate::gateway::{ArenaClient, Carried, ClientGateway, Ending, Flash, Notice, Status};
use crate::limits::WEAPON_SLOTS;
use crate::{
    Heading, Intent, Kind, Loadout, OwnerId, STEP, Score, Seen, SeenId, Vec2, View, rules,
};

/// How far inputs may be behind the clock before those that were missed are left out.
const BEHIND_MAX: Duration = Duration::from_millis(250);

/// How long a server that is gone is tried again: as long as the other protocols wait for one that fell
/// silent.
const RETRY_FOR: Duration = Duration::from_secs(15);

/// Whatever moves faster jumped: twice the fastest ship.
const SPEED_MAX: f32 = 2.0 * narrow(rules::SHIP_MAX_SPEED);

pub(super) struct Gateway {
    pub(super) client: Client,
    pub(super) pilot: Pilot<Helm>,
    loadout: Loadout,
    wanted: Intent,
    /// When the next input is due.
    next_input: Instant,
    waves: Waves,
    flashes: Flashes,
    /// How long shots fly.
    lives: ShotLives,
    scoreboard: Scoreboard,
    /// The calls that ask what somebody carries, and who it is.
    curious: BTreeMap<CallId, String>,
    /// Whether the server ever knew this client.
    was_welcome: bool,
    /// Whether it was in the world before.
    has_played: bool,
    /// Whether the connection was lost, and there is none again.
    is_lost: bool,
    /// What the server last refused, and why.
    refusal: Option<String>,
    /// Whether it has no ship because every one was taken.
    looks_on: bool,
}

impl Gateway {
    pub(super) fn new(now: Instant, server: Addr, name: &str, loadout: Loadout) -> Self {
        // The arena cuts names in the same way.
        let name = crate::printable(name);
        let cut = name.floor_char_boundary(crate::limits::NAME_BYTES);
        let config = ClientConfig::new(server, &name[..cut]);
        let mut config = config.unwrap_or_else(|why| unreachable!("it was cut: {why}"));
        config.speed_max = SPEED_MAX;
        config.retry_for = RETRY_FOR;
        Self {
            client: Client::new(now, config),
            pilot: Pilot::new(Helm::default(), PREDICTION),
            loadout,
            wanted: Intent::default(),
            next_input: now,
            waves: Waves::default(),
            flashes: Flashes::default(),
            lives: ShotLives::default(),
            scoreboard: Scoreboard::new(now),
            curious: BTreeMap::new(),
            was_welcome: false,
            has_played: false,
            is_lost: false,
            refusal: None,
            looks_on: false,
        }
    }

    pub(super) fn handle_event(
        &mut self,
        now: Instant,
        event: ClientEvent,
        notices: &mut Vec<Notice>,
    ) {
        if let ClientEvent::Snapshot(whole) = &event {
            self.pilot.change_steering(|helm| helm.tick = whole.tick);
        }
        self.pilot.handle_event(now, &event);
        let say = |text: String| Notice::Answered { text };
        match event {
            ClientEvent::Loading { name, .. } => {
                self.waves.clear();
                self.flashes.clear();
                self.scoreboard.clear();
                if self.has_played {
                    notices.push(say(format!("{name} begins")));
                }
            }
            ClientEvent::Fetched(fetched) if fetched.name == module::SKY => {
                if let Some(chart) = module::read_chart(&fetched.bytes) {
                    let chart = Arc::new(chart);
                    self.pilot
                        .change_steering(|helm| helm.chart = Arc::clone(&chart));
                }
            }
            ClientEvent::Fetched(Fetched { name, bytes, .. }) if !name.starts_with(module::OWN) => {
                let (name, size) = (crate::printable(&name), bytes.len());
                notices.push(say(format!("loaded {name}, {size} bytes")));
            }
            ClientEvent::Initialised(parameters) => self.handle_parameters(&parameters, notices),
            ClientEvent::Started => self.has_played = true,
            ClientEvent::Effect { id, at, resref } if resref == SHOCKWAVE => self.add_wave(id, at),
            ClientEvent::Effect { id, at, resref } => {
                self.add_flash(id, at, &resref, Speed::NORMAL)
            }
            ClientEvent::Animation {
                id, flags, resref, ..
            } if resref == DESTROYED => self.handle_destroyed(now, id, ObjectId(flags), notices),
            ClientEvent::Animation {
                id,
                at,
                speed,
                resref,
                ..
            } => self.add_flash(id, at, &resref, speed),
            ClientEvent::CallEnded { id, outcome } => self.handle_answer(id, outcome.ok(), notices),
            ClientEvent::Refused { reason, text } => self.handle_refusal(reason, &text, notices),
            ClientEvent::ResourceRefused { name, text, .. } => {
                let (name, text) = (crate::printable(&name), crate::printable(&text));
                notices.push(say(format!("the server does not give {name}: {text}")));
            }
            ClientEvent::Welcomed { .. } => {
                self.was_welcome = true;
                self.is_lost = false;
                self.refusal = None;
            }
            // Every attempt that fails says so.
            ClientEvent::Reconnecting { .. } if !core::mem::replace(&mut self.is_lost, true) => {
                notices.push(say("the connection was lost, and is tried again".into()));
            }
            _ => {}
        }
    }

    /// The server said what this client is, and at which pace snapshots come.
    fn handle_parameters(&mut self, parameters: &Parameters, notices: &mut Vec<Notice>) {
        self.lives = sights::shot_lives(steps_at(parameters.tick_rate));
        self.client.set_shot_lives(self.lives.clone());
        let text = match parameters.role {
            Role::Player => {
                let weapons = words::encode_loadout(self.loadout);
                // The first event of all finds room.
                self.client.send_event(LOADOUT, &weapons).ok();
                if !core::mem::take(&mut self.looks_on) {
                    return;
                }
                "a ship is free: it is yours"
            }
            Role::Spectator => {
                self.looks_on = true;
                "every ship is taken: you look on"
            }
        };
        notices.push(Notice::Answered { text: text.into() });
    }

    /// A ship was destroyed, by somebody unless that is 0.
    fn handle_destroyed(
        &mut self,
        now: Instant,
        victim: ObjectId,
        by: ObjectId,
        notices: &mut Vec<Notice>,
    ) {
        let by = (by != ObjectId(0)).then_some(by);
        if let Some(by) = by.filter(|_| self.client.own() == Some(victim)) {
            self.ask_inventory(now, by);
        }
        notices.push(Notice::Killed {
            victim: self.name_of(victim),
            by: by.map(|by| self.name_of(by)),
        });
    }

    fn handle_refusal(&mut self, reason: Refusal, text: &str, notices: &mut Vec<Notice>) {
        let refusal = match crate::printable(text).as_str() {
            "" => reason.name().to_owned(),
            text => format!("{}: {text}", reason.name()),
        };
        let text = refusal.clone();
        notices.push(Notice::Answered { text });
        self.refusal = Some(refusal);
    }

    fn handle_answer(&mut self, id: CallId, reply: Option<CallReply>, notices: &mut Vec<Notice>) {
        if self.scoreboard.handle_reply(id, reply.as_ref()) {
            return;
        }
        if let Some(name) = self.curious.remove(&id) {
            if let Some(CallReply::Inventory(items)) = reply {
                let text = format!("{name} carries {}", sights::list(&items));
                notices.push(Notice::Answered { text });
            }
            return;
        }
        let text = match reply {
            Some(_) => "your words are in the server's log",
            None => "the server does not log your words: slower, please",
        };
        notices.push(Notice::Answered { text: text.into() });
    }

    /// A shockwave grows from where its ship was at that moment.
    fn add_wave(&mut self, id: ObjectId, at: SnapshotSeq) {
        if let (Some(place), Some(since)) = (self.place_of(id, at), self.client.time_of(at)) {
            self.waves.add(since, place, id);
        }
    }

    /// An animation or an effect is seen where its object was at that moment.
    fn add_flash(&mut self, id: ObjectId, at: SnapshotSeq, what: &str, speed: Speed) {
        if let (Some(place), Some(since)) = (self.place_of(id, at), self.client.time_of(at)) {
            self.flashes.add(since, place, what, speed);
        }
    }

    /// Where an object was, as far as that is known.
    fn place_of(&self, id: ObjectId, at: SnapshotSeq) -> Option<Vec2> {
        // One that ends is not in the snapshot of that moment any more, but in one just before.
        let mut before =
            (0..BASELINES).filter_map(|ago| at.0.checked_sub(u32::try_from(ago).ok()?));
        let then = before.find_map(|at| self.client.snapshot(SnapshotSeq(at))?.object(id));
        let object = then.or_else(|| self.client.newest()?.object(id))?;
        let Vec3 { x, y, .. } = object.pos();
        Some(Vec2::new(x.into(), y.into())).filter(|place| place.is_finite())
    }

    /// Asks what somebody carries, which only its own player's snapshots tell.
    fn ask_inventory(&mut self, now: Instant, id: ObjectId) {
        if let Ok(call) = self.client.ask(now, Call::Inventory(id)) {
            self.curious.insert(call, self.name_of(id));
        }
    }

    /// What belongs to the own ship, or to the game, in the newest snapshot.
    fn scope(&self, scope: ObjectId) -> Option<&ScopeState> {
        self.client.newest()?.scope(scope)
    }

    /// The round and what is left of it, and who is there.
    fn standing(&self) -> Option<String> {
        let game = self.scope(GLOBAL)?;
        let round = game.variable(ROUND);
        let left = match u32::try_from(game.variable(TIME_LEFT)) {
            Ok(left @ 1..) => format!(" {}:{:02} left", left / 60, left % 60),
            _ => String::new(),
        };
        let players = game.variable(PLAYERS);
        Some(format!("round {round}{left}, {players} here"))
    }

    fn name_of(&self, id: ObjectId) -> String {
        let resref = || self.client.resref(id)?.strip_prefix(SHIP);
        let name = self.scoreboard.name(id).or_else(resref);
        name.map_or_else(|| id.to_string(), str::to_owned)
    }

    /// Makes the inputs that are due, one a step.
    fn send_inputs(&mut self, now: Instant) {
        if self.next_input + BEHIND_MAX < now {
            self.next_input = now;
        }
        while self.next_input <= now {
            // Without a ship there is nothing to steer, and a server that is silent gets no more.
            let (at, input) = (self.next_input, self.wanted);
            self.pilot.act(at, &mut self.client, input).ok();
            self.next_input += STEP;
        }
    }

    /// Forgets the shots that are over, so that nobody looks at them again.
    fn forget_shots(&mut self, now: Instant) {
        let lives = &self.lives;
        let time = self.client.render_time(now);
        let interval = self.client.time_of(SnapshotSeq(1));
        if let (Some(time), Some(interval)) = (time, interval) {
            self.client
                .end_shots(|shot| interval * shot.at.0 + lives.of(shot.kind) < time);
        }
    }

    /// Everything that has an id, at the moment that is shown.
    fn seen_objects(&mut self, now: Instant) -> Option<(Duration, Vec<Seen>)> {
        let own = self.client.own();
        let view = self.client.sample(now)?;
        let objects = view.objects().filter(|(id, _)| Some(*id) != own);
        let mut seen: Vec<_> = objects.filter_map(|(id, shown)| see(id, &shown)).collect();
        // The own ship is shown as it will be when what the player does now has arrived. While that is
        // not known, it is not shown either: it just came, or just went.
        if let (Some(id), Some(state)) = (own, self.pilot.sample(now)) {
            let newest = view.object(id);
            seen.push(Seen {
                id: SeenId(id.0),
                kind: Kind::Ship,
                position: state.flight.position(),
                heading: state.flight.heading(),
                health: newest.map_or(100, |shown| health(shown.object)),
                owner: Some(OwnerId(id.0)),
                own: false,
                reach: rules::SHIP_RADIUS,
            });
        }
        Some((view.time(), seen))
    }

    /// The moment of the server's clock that the own ship is shown at, which is still to come.
    fn present(&self, now: Instant) -> Option<Duration> {
        let newest = self.client.newest()?;
        let ahead = self.pilot.current()?.tick.steps_since(newest.tick);
        let ahead = u32::try_from(ahead).unwrap_or_default();
        let reached = self.client.time_of(newest.sequence)? + STEP * ahead;
        // It is shown on its way through the step of the last input.
        Some(reached.saturating_sub(self.next_input.since(now)))
    }

    fn add_shots(&mut self, now: Instant, seen: &mut Vec<Seen>) {
        let own = self.client.own();
        let present = self.present(now);
        let owner = own.map(|own| OwnerId(own.0));
        let own_ship = seen.iter().find(|it| own.is_some() && it.owner == owner);
        let own_ship = own_ship.copied();
        let is_own = |flight: &Flight| Some(flight.shot.owner) == own;
        let mut stopped = Vec::new();
        let mut shots = Vec::new();
        for flight in self.client.shots(now) {
            let Some(mut shot) = sights::seen_shot(&flight) else {
                continue;
            };
            if sights::is_stopped(&shot, seen) {
                stopped.push(flight.shot);
                continue;
            }
            if shot.kind == Kind::Ray {
                shot.reach = sights::ray_length(&shot, seen);
            }
            match (shot.kind, own_ship) {
                // It comes below, where it is by then.
                (Kind::Bullet, _) if is_own(&flight) && present.is_some() => continue,
                // The own ray stays at the own ship, which is shown earlier than the rest.
                (Kind::Ray, Some(ship)) if is_own(&flight) => {
                    shot.position = ship.position + shot.heading.unit() * rules::SHIP_RADIUS;
                }
                _ => {}
            }
            shots.push(shot);
        }
        // Own bullets fly with the own ship, not with what it left behind. What they hit is shown when the
        // others get there.
        let own_flights = present.into_iter().flat_map(|at| self.client.shots_at(at));
        for flight in own_flights.filter(is_own) {
            if stopped.contains(&flight.shot) {
                continue;
            }
            let shot = sights::seen_shot(&flight);
            shots.extend(shot.filter(|shot| shot.kind == Kind::Bullet));
        }
        if !stopped.is_empty() {
            self.client.end_shots(|shot| stopped.contains(shot));
        }
        seen.append(&mut shots);
    }
}

impl ClientGateway for Gateway {
    fn session(&mut self) -> &mut dyn Session {
        &mut self.client
    }

    fn figures(&self) -> &dyn Session {
        &self.client
    }

    fn collect(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        while let Some(event) = self.client.poll_event() {
            self.handle_event(now, event, notices);
        }
        self.send_inputs(now);
        self.scoreboard.ask(now, &mut self.client);
        self.forget_shots(now);
    }

    fn status(&self) -> Status {
        match self.client.phase() {
            Phase::Loading => match self.client.loading() {
                Some(overall) => Status::Loading {
                    have: overall.have,
                    of: overall.of,
                },
                None => Status::Connecting,
            },
            Phase::Connecting
            | Phase::Handshaking
            | Phase::Initialising
            | Phase::Ready
            | Phase::Reconnecting => Status::Connecting,
            Phase::Playing => Status::Playing,
            Phase::Ended(why) => Status::Ended(match why {
                EndReason::Refused(Refusal::FULL) => Ending::Full,
                EndReason::Refused(_) if !self.was_welcome => Ending::Refused,
                EndReason::Refused(_) => Ending::Removed,
                EndReason::Undecodable => Ending::garbled(self.was_welcome),
                EndReason::Load(_) => Ending::Broken,
                EndReason::Disconnected => Ending::Left,
                // It said that it ends, and did not come back.
                _ if self.refusal.is_some() => Ending::Removed,
                _ => Ending::broken_off(self.was_welcome),
            }),
        }
    }

    fn prediction_error(&self) -> Option<f32> {
        self.client.own().map(|_| self.pilot.error())
    }

    fn remark(&self) -> Option<String> {
        let mode = match self.client.mode()? {
            Mode::Performant => "performant",
            Mode::Fallback => "fallback",
        };
        let standing = self.standing().unwrap_or_default();
        // Of a narrow screen, only the beginning is seen.
        Some(match (self.client.own(), self.scoreboard.waiting()) {
            (Some(_), _) => format!("{standing}, {mode} ±{:.1}", self.pilot.error()),
            (None, Some(place)) => format!("looking on as number {place}, {mode}, {standing}"),
            (None, None) => format!("looking on, {mode}, {standing}"),
        })
    }

    fn last_words(&self) -> Option<String> {
        match self.status() {
            Status::Ended(Ending::Refused | Ending::Removed) => self.refusal.clone(),
            _ => None,
        }
    }

    fn chat(&mut self, now: Instant, text: &str) -> Result<(), String> {
        // The protocol has no chat among players; it has a log that whoever runs the server reads.
        let line = Text::new(text).map_err(|why| why.to_string())?;
        let asked = self.client.ask(now, Call::Log(line));
        asked.map(|_| ()).map_err(|why| why.to_string())
    }

    fn disconnect(&mut self, _now: Instant) {
        self.client.disconnect();
    }
}

impl ArenaClient for Gateway {
    fn view(&mut self, now: Instant) -> View {
        let Some((time, mut seen)) = self.seen_objects(now) else {
            return View::default();
        };
        self.add_shots(now, &mut seen);
        seen.extend(self.waves.seen(time));
        self.flashes.show(time);
        let mut view = View {
            time,
            seen,
            own_ship: None,
        };
        view.set_viewer(self.client.own().map(|own| OwnerId(own.0)));
        view
    }

    fn scores(&self) -> Vec<Score> {
        let own = self.client.own();
        self.scoreboard
            .scores(own.and_then(|own| Some((own, self.scope(own)?))))
    }

    fn act(&mut self, intent: &Intent) {
        let mut wanted = *intent;
        // What has run out is not fired: the server would not, and nobody waits for it. Of a server that tells
        // nothing, everything is believed to be there.
        let own = self.client.own().and_then(|own| self.scope(own));
        if let Some(own) = own.filter(|own| own.items().next().is_some()) {
            for (slot, fire) in (0..).zip(&mut wanted.fire) {
                *fire &= own.item(slot).is_some();
            }
        }
        self.wanted = wanted;
    }

    fn inventory(&self) -> Option<[Option<Carried>; WEAPON_SLOTS]> {
        let own = self.client.own().and_then(|own| self.scope(own))?;
        let mut slots = 0..;
        Some([(); WEAPON_SLOTS].map(|()| {
            let item = own.item(slots.next()?)?;
            Some(Carried {
                name: crate::printable(item.resref.as_str()),
                count: item.count.get(),
            })
        }))
    }

    fn flashes(&self) -> Vec<Flash> {
        self.flashes.shown().collect()
    }

    fn taunt(&mut self) -> Result<(), String> {
        // Whoever does not notice has missed nothing: it is not acknowledged, nor repeated.
        let sent = self.client.send_unreliable(TAUNT, &[]);
        sent.map_err(|why| why.to_string())
    }
}

/// An object as it is seen.
fn see(id: ObjectId, shown: &Shown<'_>) -> Option<Seen> {
    let (kind, owner, reach) = match shown.object {
        AnyStatus::Creature(_) => {
            let is_ship = shown.resref?.starts_with(SHIP);
            let owner = Some(OwnerId(id.0));
            is_ship.then_some((Kind::Ship, owner, rules::SHIP_RADIUS))?
        }
        AnyStatus::Spatial(body) if id.0 & CELESTIAL != 0 => {
            let kind = if id == celestial(0) {
                Kind::Sun
            } else {
                Kind::Planet
            };
            (kind, None, f64::from(body.max_hit_points))
        }
        AnyStatus::Spatial(_) => return None,
    };
    let position = Vec2::new(shown.pos.x.into(), shown.pos.y.into());
    position.is_finite().then_some(Seen {
        id: SeenId(id.0),
        kind,
        position,
        heading: Heading::from_radians(shown.heading.into()),
        health: health(shown.object),
        owner,
        own: false,
        reach,
    })
}

fn health(object: &AnyStatus) -> u8 {
    match object {
        AnyStatus::Creature(ship) => words::ship_health(ship),
        AnyStatus::Spatial(_) => 100,
    }
}
