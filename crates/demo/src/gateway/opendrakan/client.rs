//! The client's half: what an OpenDrakan client shows of its timeline, as a view.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_dialects::opendrakan::message::{ActionState, Lifecycle};
use tickwire_dialects::opendrakan::{
    self, AssetRef, Classes, Client, ClientConfig, ClientEvent, EndReason, LoadedLevel, Object,
    ObjectId, Phase, Shown, Value,
};
use tickwire_session::{Addr, Events, Instant, Session, TokenBucket};

use super::words::{Kill, PilotNumber, ScoreLine};
use super::{
    AIM, BUTTONS, CLASS, DATABASES, ENTER, FAREWELL, GONE, HEALTH, HIT, KILLED, OWNER, SCORE,
    SHIPS, SOUND_NAMES, SOUNDS, TRIGGERS, YOU, choice_codes, kind_of, registry,
};
use crate::flight::narrow;
use crate::gateway::{ArenaClient, ClientGateway, Ending, Notice, Status};
use crate::limits::{NAME_BYTES, PILOTS};
use crate::view::Effects;
use crate::{Effect, Heading, Intent, Loadout, OwnerId, Score, Seen, SeenId, Vec2, View};

/// Presses and releases at once, and how soon one more. With the aim this stays below the 200 a second
/// above which a server drops actions: a release that is dropped would leave a button held.
const PRESSES_AT_ONCE: u32 = 64;
const PRESS_REFILL: Duration = Duration::from_millis(8);

/// Between two reports that a trigger is still held: each says anew which moment its player sees.
const REPEAT_PERIOD: Duration = Duration::from_millis(250);

/// Shots that are kept until the next picture; a server reports fewer.
const FIRED_MAX: usize = 64;

/// Between two aims.
const AIM_PERIOD: Duration = Duration::from_millis(50);

pub(super) struct Gateway {
    client: Client,
    loadout: Loadout,
    /// Whether a snapshot was complete: a server that has no place closes the connection before.
    has_started: bool,
    /// Why the server's level cannot be played.
    misfit: Option<String>,
    /// Whether the server said that it ends.
    was_dismissed: bool,
    own: Option<PilotNumber>,
    scores: BTreeMap<PilotNumber, ScoreLine>,
    wanted: Intent,
    /// What the server was told.
    told: Intent,
    presses: TokenBucket,
    next_aim: Instant,
    next_repeat: Instant,
    /// The databases of this program; their places are its own numbers.
    databases: Vec<String>,
    /// Who fired, and is to be shown with the next picture.
    fired: Vec<ObjectId>,
    effects: Effects,
}

impl Gateway {
    pub(super) fn new(now: Instant, server: Addr, loadout: Loadout) -> Self {
        Self {
            client: Client::new(now, ClientConfig::new(server, registry())),
            loadout,
            has_started: false,
            misfit: None,
            was_dismissed: false,
            own: None,
            scores: BTreeMap::new(),
            wanted: Intent::default(),
            told: Intent::default(),
            presses: TokenBucket::new(now, PRESSES_AT_ONCE, PRESS_REFILL),
            next_aim: now,
            next_repeat: now,
            databases: DATABASES.map(Into::into).into(),
            fired: Vec::new(),
            effects: Effects::default(),
        }
    }

    /// The arena is loaded as soon as it is asked for: it is all in this program.
    fn load(&mut self) {
        let numbers = (0..).map(opendrakan::DatabaseId);
        let level = LoadedLevel {
            databases: self.databases.iter().cloned().zip(numbers).collect(),
            classes: Classes::Uniform(CLASS),
        };
        if let Err(why) = self.client.loaded(level) {
            self.misfit = Some(format!("this is not the arena: {why}"));
            self.client.disconnect();
        }
    }

    /// Chooses the weapons that are not the usual ones, and brings the ship.
    fn enter(&mut self, now: Instant) {
        self.has_started = true;
        let usual = choice_codes(Loadout::STANDARD);
        let chosen = choice_codes(self.loadout).zip(usual);
        let choices = chosen
            .filter(|(chosen, usual)| chosen != usual)
            .map(|(chosen, _)| chosen);
        for code in choices.chain([ENTER]) {
            // Five short messages on an open stream are taken.
            self.client.act(now, code, ActionState::Begin).ok();
        }
    }

    fn handle_global(&mut self, channel: u32, body: &[u8], notices: &mut Vec<Notice>) {
        match channel {
            YOU => self.own = PilotNumber::decode(body).or(self.own),
            SCORE => {
                let line = ScoreLine::decode(body);
                // An arena has no more pilots, and no longer names.
                if let Some(line) = line.filter(|line| line.name.len() <= NAME_BYTES)
                    && (self.scores.len() < PILOTS.into() || self.scores.contains_key(&line.pilot))
                {
                    self.scores.insert(line.pilot, line);
                }
            }
            GONE => {
                if let Some(line) =
                    PilotNumber::decode(body).and_then(|pilot| self.scores.remove(&pilot))
                {
                    notices.push(Notice::Left {
                        name: line.name,
                        why: "left".into(),
                    });
                }
            }
            KILLED => {
                if let Some(Kill { victim, by }) = Kill::decode(body) {
                    notices.push(Notice::Killed {
                        victim: self.name_of(victim),
                        by: by.somebody().map(|by| self.name_of(by)),
                    });
                }
            }
            FAREWELL => self.was_dismissed = true,
            _ => {}
        }
    }

    /// Whether an asset is from the server's database of this number.
    fn is_from(&self, asset: AssetRef, database: opendrakan::DatabaseId) -> bool {
        let path =
            |paths: &[String], number: u32| paths.get(usize::try_from(number).ok()?).cloned();
        let theirs = DATABASES.map(String::from);
        path(&self.databases, asset.database.0) == path(&theirs, database.0)
    }

    fn handle_sound(&mut self, sound: AssetRef) {
        let mut names = SOUND_NAMES.iter();
        let named = names.find(|(number, _)| *number == sound.asset);
        if let Some(&(_, what)) = named.filter(|_| self.is_from(sound, SOUNDS)) {
            self.effects.push(Effect::Heard { what });
        }
    }

    /// One ship says to another that it has hit it.
    fn handle_hit(&mut self, sender: ObjectId) {
        let newest = self.client.newest();
        let by = newest.and_then(|newest| owner_of(newest.object(sender)?));
        if let Some(by) = by.map(|by| self.name_of(by)) {
            self.effects.push(Effect::Hit { by });
        }
    }

    fn name_of(&self, pilot: PilotNumber) -> String {
        let line = self.scores.get(&pilot);
        line.map_or_else(|| format!("pilot {}", pilot.0), |line| line.name.clone())
    }

    /// Tells the server what is wanted otherwise than it was told.
    fn send_controls(&mut self, now: Instant) {
        if self.client.phase() != Phase::Playing {
            return;
        }
        let wanted = self.wanted.buttons().into_iter();
        let told = self.told.buttons().into_iter();
        for (code, (wanted, told)) in (BUTTONS..).zip(wanted.zip(told)) {
            if wanted == told {
                continue;
            }
            let state = if *wanted {
                ActionState::Begin
            } else {
                ActionState::End
            };
            // What is not sent now differs the next time too.
            if self.presses.take(now).is_none() || self.client.act(now, code, state).is_err() {
                return;
            }
            *told = *wanted;
        }
        self.repeat_triggers(now);
        let aim = self.wanted.aim;
        if aim != self.told.aim && now >= self.next_aim {
            let place = opendrakan::Vec2 {
                x: narrow(aim.x),
                y: narrow(aim.y),
            };
            if self.client.steer(now, AIM, place).is_ok() {
                self.told.aim = aim;
                self.next_aim = now + AIM_PERIOD;
            }
        }
    }
}

impl Gateway {
    /// Says which triggers are still held.
    fn repeat_triggers(&mut self, now: Instant) {
        if now < self.next_repeat {
            return;
        }
        self.next_repeat = now + REPEAT_PERIOD;
        for (code, held) in (TRIGGERS..).zip(self.told.fire) {
            if held && self.presses.take(now).is_some() {
                // A report that is not sent is the next one's.
                self.client.act(now, code, ActionState::Repeat).ok();
            }
        }
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
            match event {
                ClientEvent::Load { .. } => self.load(),
                ClientEvent::Started => self.enter(now),
                ClientEvent::GlobalMessage { channel, body, .. } => {
                    self.handle_global(channel, &body, notices);
                }
                ClientEvent::ObjectMessage {
                    channel: HIT,
                    sender,
                    ..
                } => self.handle_hit(sender),
                ClientEvent::Sound { sound, .. } => self.handle_sound(sound),
                ClientEvent::Animation {
                    object, animation, ..
                } if self.is_from(animation, SHIPS) && self.fired.len() < FIRED_MAX => {
                    self.fired.push(object);
                }
                _ => {}
            }
        }
        self.send_controls(now);
    }

    fn status(&self) -> Status {
        match self.client.phase() {
            Phase::Connecting | Phase::Handshaking | Phase::Loading | Phase::Waiting => {
                Status::Connecting
            }
            Phase::Playing => Status::Playing,
            Phase::Ended(why) => Status::Ended(match why {
                EndReason::Unreachable => Ending::Unreachable,
                EndReason::Disconnected if self.misfit.is_some() => Ending::Broken,
                EndReason::Disconnected => Ending::Left,
                EndReason::Undecodable => Ending::garbled(self.has_started),
                EndReason::TooManyDatabases => Ending::Broken,
                _ if self.was_dismissed => Ending::Removed,
                _ => Ending::broken_off(self.has_started),
            }),
        }
    }

    fn last_words(&self) -> Option<String> {
        self.misfit.clone()
    }

    fn given_name(&self) -> Option<&str> {
        let line = self.own.and_then(|own| self.scores.get(&own));
        line.map(|line| line.name.as_str())
    }

    fn chat(&mut self, _now: Instant, _text: &str) -> Result<(), String> {
        Err("this protocol has no words for players".into())
    }

    fn disconnect(&mut self, _now: Instant) {
        self.client.disconnect();
    }
}

impl ArenaClient for Gateway {
    fn view(&mut self, now: Instant) -> View {
        let Some(shown) = self.client.sample(now) else {
            return View::default();
        };
        let objects = shown.objects();
        let mut view = View {
            time: shown.time(),
            seen: objects.filter_map(|(id, shown)| seen(id, &shown)).collect(),
            own_ship: None,
        };
        for ship in self.fired.drain(..) {
            if let Some(&Seen {
                position: at,
                heading,
                ..
            }) = view.find(SeenId(ship.0))
            {
                self.effects.push(Effect::Muzzle { at, heading });
            }
        }
        view.set_viewer(self.own.map(owner));
        view
    }

    fn scores(&self) -> Vec<Score> {
        self.scores.values().map(score).collect()
    }

    fn act(&mut self, intent: &Intent) {
        self.wanted = *intent;
    }

    fn take_effects(&mut self) -> Vec<Effect> {
        self.effects.take()
    }

    fn select(&mut self, now: Instant, loadout: Loadout) -> Result<(), String> {
        for code in choice_codes(loadout) {
            let told = self.client.act(now, code, ActionState::Begin);
            told.map_err(|why| why.to_string())?;
        }
        Ok(())
    }

    fn set_databases(&mut self, paths: &[String]) -> Result<(), String> {
        self.databases = paths.to_vec();
        Ok(())
    }
}

/// An object, unless it is hidden, waits for its next life, or is a prototype.
fn seen(id: ObjectId, shown: &Shown<'_>) -> Option<Seen> {
    let Shown { pose, object } = shown;
    let is_there = object.visible && object.lifecycle == Lifecycle::Running;
    let kind = kind_of(object.prototype?).filter(|_| is_there)?;
    let turn = libm::atan2(pose.rotation.z.into(), pose.rotation.w.into());
    Some(Seen {
        id: SeenId(id.0),
        kind,
        position: Vec2::new(pose.translation.x.into(), pose.translation.y.into()),
        heading: Heading::from_radians(2.0 * turn),
        health: match object.extra.get(HEALTH) {
            Some(Value::U8(percent)) => *percent,
            _ => 100,
        },
        owner: owner_of(object).map(owner),
        own: false,
        reach: pose.scale.x.into(),
    })
}

fn owner_of(object: &Object) -> Option<PilotNumber> {
    match object.extra.get(OWNER) {
        Some(Value::U32(number)) => PilotNumber(*number).somebody(),
        _ => None,
    }
}

fn score(line: &ScoreLine) -> Score {
    Score {
        owner: owner(line.pilot),
        name: line.name.clone(),
        kills: line.kills,
        deaths: line.deaths,
        ping: None,
    }
}

const fn owner(pilot: PilotNumber) -> OwnerId {
    OwnerId(pilot.0)
}
