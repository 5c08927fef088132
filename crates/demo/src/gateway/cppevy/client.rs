//! The client's half: a C++evy client's world as a view.

use std::collections::BTreeSet;
use std::time::Duration;

use tickwire_dialects::cppevy::{
    ActError, ActionId, Client, ClientConfig, ClientEvent, EndReason, EventId, Phase, StateId,
    SyncId,
};
use tickwire_session::{Addr, Events, Failure, Instant, Reason, Session};

use super::content::Content;
use super::helm::{Helm, LONGEST};
use super::shots::Shots;
use super::words::{self, ScoreLine, Shot};
use super::{
    ARCHETYPES, CHAT, CONTROLS, DESTROYED, EMBLEM, HEADING, HEALTH, POSITION, SAID, SCORE, SELECT,
    SHOT, SHOT_GONE, TELEPORT, VELOCITY, loadout_codes, registry,
};
use crate::flight::Flight;
use crate::gateway::{ArenaClient, ClientGateway, Ending, Notice, Status};
use crate::orbit::Body;
use crate::{Heading, Intent, Kind, Loadout, OwnerId, Score, Seen, SeenId, View};

/// Between two sendings of the controls: 30 a second.
const CONTROLS_PERIOD: Duration = Duration::from_millis(33);

/// Between two looks at what was missed, and how many states are asked for then: eight a second, of which a
/// server honours ten.
const MISSED_PERIOD: Duration = Duration::from_millis(250);
const MISSED_AT_ONCE: usize = 2;

/// A state that was not told for so long was missed: a server tells each once a second at least.
const MISSED_AFTER: Duration = Duration::from_millis(1_200);

/// Shots and entities are numbered apart; in a view they must not meet.
const SHOT_BIT: u32 = 1 << 16;

pub(super) struct Gateway {
    client: Client,
    name: String,
    loadout: Loadout,
    shots: Shots,
    /// By the number of the actor.
    scores: Vec<Option<ScoreLine>>,
    /// Those who came, and whose names are still to come.
    newcomers: BTreeSet<SyncId>,
    was_in: bool,
    /// Datagrams have come: if they stop, the player is still in, and waits for news.
    was_attached: bool,
    /// Why controls are not taken, as far as the player was told.
    refused: Option<Reason>,
    intent: Intent,
    next_controls: Instant,
    next_look: Instant,
    /// Somebody looks at a screen. A bot has many like it beside itself, and aims as well without what that
    /// takes.
    is_watched: bool,
    helm: Helm,
    content: Content,
    /// The planet that the own ship is nearest to.
    near: Option<String>,
}

impl Gateway {
    pub(super) fn new(now: Instant, server: Addr, name: &str, loadout: Loadout) -> Self {
        let config = ClientConfig {
            server,
            name: name.into(),
            registry: registry(),
        };
        Self {
            client: Client::new(now, config),
            name: name.into(),
            loadout,
            shots: Shots::default(),
            scores: Vec::new(),
            newcomers: BTreeSet::new(),
            was_in: false,
            was_attached: false,
            refused: None,
            intent: Intent::default(),
            next_controls: now,
            next_look: now,
            is_watched: false,
            helm: Helm::default(),
            content: Content::default(),
            near: None,
        }
    }

    fn name_of(&self, actor: SyncId) -> String {
        match self.scores.get(usize::from(actor.number())) {
            Some(Some(line)) => line.name.clone(),
            _ => actor.to_string(),
        }
    }

    fn set_score(&mut self, line: ScoreLine) {
        let number = usize::from(line.actor.number());
        if self.scores.len() <= number {
            self.scores.resize(number + 1, None);
        }
        self.scores[number] = Some(line);
    }

    fn remove_score(&mut self, actor: SyncId) {
        if let Some(line) = self.scores.get_mut(usize::from(actor.number())) {
            *line = None;
        }
    }

    fn handle_event(
        &mut self,
        now: Instant,
        event: EventId,
        data: &[u8],
        notices: &mut Vec<Notice>,
    ) {
        match event {
            SHOT => self.shots.tell(now, data),
            SHOT_GONE => {
                if let Ok(number) = data.try_into() {
                    self.shots.remove(u16::from_le_bytes(number));
                }
            }
            SAID => {
                if let Some((actor, text)) = words::decode_said(data) {
                    let (name, text) = (self.name_of(actor), text.to_owned());
                    notices.push(Notice::Said { name, text });
                }
            }
            SCORE => {
                if let Some(line) = ScoreLine::decode(data) {
                    if self.newcomers.remove(&line.actor) {
                        let name = line.name.clone();
                        notices.push(Notice::Joined { name });
                    }
                    self.set_score(line);
                }
            }
            EMBLEM => {
                let actor = data.try_into().map(u16::from_le_bytes);
                if let Some(actor) = actor.ok().and_then(SyncId::new) {
                    self.content.handle_emblem(actor);
                }
            }
            DESTROYED => {
                if let Ok(by) = core::str::from_utf8(data) {
                    notices.push(Notice::Killed {
                        victim: self.name.clone(),
                        by: (!by.is_empty()).then(|| by.to_owned()),
                    });
                }
            }
            _ => {}
        }
    }

    /// An entity where it is now, moved on by its velocity.
    fn seen(&self, now: Instant, id: SyncId) -> Option<Seen> {
        let archetype = self.client.entity(id)?.archetype;
        let kind = ARCHETYPES
            .iter()
            .find(|(_, theirs)| *theirs == archetype)?
            .0;
        let state = |component| self.client.state(now, id, component);
        let position = state(POSITION).and_then(words::decode_vector)?;
        let velocity = state(VELOCITY)
            .and_then(words::decode_vector)
            .unwrap_or_default();
        let age = self.client.state_age(now, id, POSITION)?.min(LONGEST);
        let degrees = state(HEADING)
            .and_then(words::decode_number)
            .unwrap_or_default();
        let health = state(HEALTH).and_then(words::decode_health).unwrap_or(100);
        (kind != Kind::Ship || health > 0).then_some(Seen {
            id: SeenId(id.number().into()),
            kind,
            position: position + velocity * age.as_secs_f64(),
            heading: Heading::from_degrees(degrees),
            health,
            owner: (kind == Kind::Ship).then(|| owner(id)),
            own: false,
            reach: kind.usual_reach(),
        })
    }

    fn send_controls(&mut self, now: Instant) {
        if self.client.phase() == Phase::Playing && now >= self.next_controls {
            self.next_controls = now + CONTROLS_PERIOD;
            self.helm.note(now, &self.intent);
            // Playing, registered and short: it is taken.
            self.client
                .input(CONTROLS, &words::encode_intent(&self.intent))
                .ok();
        }
    }

    /// Asks for states that were not told for longer than a server may be silent about them.
    fn request_missed(&mut self, now: Instant) {
        if self.client.phase() != Phase::Playing || now < self.next_look {
            return;
        }
        self.next_look = now + MISSED_PERIOD;
        let entities = self.client.entities().map(|(entity, _)| entity);
        let states = entities.flat_map(|entity| {
            [POSITION, VELOCITY, HEALTH, HEADING].map(|component| StateId { entity, component })
        });
        let is_missed = |state: &StateId| {
            let age = self.client.state_age(now, state.entity, state.component);
            age.is_some_and(|age| age >= MISSED_AFTER)
        };
        let missed: Vec<_> = states.filter(is_missed).take(MISSED_AT_ONCE).collect();
        for state in missed {
            // If too many wait, they are asked for in the next look.
            self.client.request_state(state).ok();
        }
    }

    /// Has the own ship move by the assumed controls.
    fn assume(&mut self, now: Instant, view: &mut View) {
        let bodies: Vec<_> = view.seen.iter().filter_map(body).collect();
        let own = view.own_ship;
        let ship = view.seen.iter_mut().find(|seen| Some(seen.id) == own);
        let (Some(ship), Some(told)) = (ship, self.own_flight(now)) else {
            return self.helm.reset();
        };
        let flight = self.helm.show(now, told, &bodies);
        ship.position = flight.position();
        ship.heading = flight.heading();
    }

    /// The own ship as last told, and up to when the controls that were sent are in it.
    fn own_flight(&self, now: Instant) -> Option<(Flight, Instant)> {
        let id = self.client.actor()?;
        let state = |component| self.client.state(now, id, component);
        let position = words::decode_vector(state(POSITION)?)?;
        let velocity = words::decode_vector(state(VELOCITY)?)?;
        let degrees = words::decode_number(state(HEADING)?)?;
        let flight = Flight::new(position, velocity, Heading::from_degrees(degrees));
        let age = self.client.state_age(now, id, POSITION)?;
        Some((flight, now.before(age + self.client.one_way())))
    }

    /// The planet that is nearest to the own ship.
    fn nearest_planet(&self, view: &View) -> Option<String> {
        let own = view.own_ship()?.position;
        let planets = view.seen.iter().filter(|seen| seen.kind == Kind::Planet);
        let away = |planet: &&Seen| (planet.position - own).length();
        let nearer = |a: &(usize, &Seen), b: &(usize, &Seen)| away(&a.1).total_cmp(&away(&b.1));
        let (number, _) = planets.enumerate().min_by(nearer)?;
        self.content
            .planet(number)
            .map(|name| format!("near {name}"))
    }

    fn ask(&mut self, now: Instant, action: ActionId, data: &[u8]) -> Result<(), ActError> {
        self.client.act(now, action, data).map(|_| ())
    }
}

impl ClientGateway for Gateway {
    fn session(&mut self) -> &mut dyn Session {
        &mut self.client
    }

    fn figures(&self) -> &dyn Session {
        &self.client
    }

    fn prediction_error(&self) -> Option<f32> {
        #[expect(clippy::cast_possible_truncation, reason = "a figure for people")]
        self.helm.error().map(|units| units as f32)
    }

    fn collect(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Joined { .. } => {
                    self.was_in = true;
                    self.ask(now, SELECT, &loadout_codes(self.loadout)).ok();
                }
                ClientEvent::Attached => self.was_attached = true,
                ClientEvent::ActorJoined(actor) => {
                    self.newcomers.insert(actor);
                }
                ClientEvent::ActorLeft(actor) => {
                    self.newcomers.remove(&actor);
                    self.content.forget(actor);
                    let name = self.name_of(actor);
                    self.remove_score(actor);
                    notices.push(Notice::Left {
                        name,
                        why: "left".into(),
                    });
                }
                ClientEvent::Happened { event, data, .. } => {
                    self.handle_event(now, event, &data, notices);
                }
                ClientEvent::Failed { action, why, .. } => {
                    let what = match action {
                        CHAT => "your words were not heard",
                        SELECT => "your choice of weapons",
                        TELEPORT => "you stay where you are",
                        _ => "what you asked for was not done",
                    };
                    notices.push(Notice::Answered {
                        text: format!("{what}: {why}"),
                    });
                }
                // It is refused many times a second, and told once.
                ClientEvent::InputRefused { reason, .. } if self.refused != Some(reason) => {
                    self.refused = Some(reason);
                    let text = match reason {
                        Reason::Unavailable => "your controls wait for your ship".into(),
                        reason => format!("your controls are not taken: {reason}"),
                    };
                    notices.push(Notice::Answered { text });
                }
                ClientEvent::Dismissed(entity, _) => {
                    self.remove_score(entity);
                }
                other => self.content.handle(other, notices),
            }
        }
        self.content.advance(now, &mut self.client, notices);
        if self.is_watched {
            self.request_missed(now);
        }
        self.send_controls(now);
    }

    fn status(&self) -> Status {
        match self.client.phase() {
            Phase::Attaching if !self.was_attached => Status::Connecting,
            Phase::Dialling | Phase::Joining => Status::Connecting,
            Phase::Leaving => Status::Playing,
            Phase::Attaching | Phase::Playing => match self.content.progress() {
                Some((have, of)) => Status::Loading { have, of },
                None => Status::Playing,
            },
            Phase::Ended(why) => Status::Ended(match why {
                EndReason::Unreachable => Ending::Unreachable,
                EndReason::Refused(Failure::Refused(Reason::Unavailable | Reason::Busy)) => {
                    Ending::Full
                }
                EndReason::Refused(Failure::Refused(_)) => Ending::Refused,
                EndReason::Garbled => Ending::garbled(self.was_in),
                EndReason::Left => Ending::Left,
                EndReason::Removed | EndReason::FellBehind => Ending::Removed,
                _ => Ending::broken_off(self.was_in),
            }),
        }
    }

    fn remark(&self) -> Option<String> {
        self.near.clone()
    }

    fn last_words(&self) -> Option<String> {
        let reason = match self.client.phase() {
            Phase::Ended(EndReason::Refused(Failure::Refused(reason))) => reason,
            Phase::Ended(why @ EndReason::FellBehind) => return Some(why.to_string()),
            _ => return None,
        };
        let advice = match reason {
            Reason::Error => "it may speak another version of the protocol, or not take this name",
            Reason::Disabled => "it lets nobody in; ask whoever runs it",
            Reason::Waiting | Reason::Delayed => "not so soon; try again in a moment",
            Reason::Unavailable | Reason::Busy => return None,
        };
        Some(advice.into())
    }

    fn chat(&mut self, now: Instant, text: &str) -> Result<(), String> {
        self.ask(now, CHAT, text.as_bytes())
            .map_err(|error| error.to_string())
    }

    fn disconnect(&mut self, now: Instant) {
        self.client.leave(now);
    }
}

impl ArenaClient for Gateway {
    fn view(&mut self, now: Instant) -> View {
        let entities = self
            .client
            .entities()
            .filter_map(|(id, _)| self.seen(now, id));
        let mut seen: Vec<_> = entities.collect();
        let shots = self.shots.iter(now);
        seen.extend(shots.map(|(heard, shot)| shown_shot(now, heard, &shot)));
        let mut view = View {
            time: now.since(Instant::ZERO),
            seen,
            own_ship: None,
        };
        view.set_viewer(self.client.actor().map(owner));
        if view.own_ship.is_some() {
            self.refused = None;
        }
        if self.is_watched {
            self.assume(now, &mut view);
            self.near = self.nearest_planet(&view);
        }
        view
    }

    fn scores(&self) -> Vec<Score> {
        let own = self.client.actor();
        let others_emblem = |line: &ScoreLine| {
            let emblem = self.content.emblem(line.actor);
            emblem.filter(|_| own != Some(line.actor))
        };
        let lines = self.scores.iter().flatten();
        lines.map(|line| score(line, others_emblem(line))).collect()
    }

    fn load_content(&mut self, emblem: Option<char>) -> Result<(), String> {
        self.is_watched = true;
        self.content.want(emblem);
        Ok(())
    }

    fn act(&mut self, intent: &Intent) {
        self.intent = *intent;
    }

    fn teleport(&mut self, now: Instant) -> Result<(), String> {
        self.ask(now, TELEPORT, &[])
            .map_err(|error| error.to_string())
    }
}

fn shown_shot(now: Instant, heard: Instant, shot: &Shot) -> Seen {
    let flown = now.since(heard).as_secs_f64();
    Seen {
        id: SeenId(SHOT_BIT | u32::from(shot.number)),
        kind: shot.kind,
        position: shot.position + shot.velocity * flown,
        heading: Heading::from_degrees(shot.degrees),
        health: 100,
        owner: shot.owner.map(owner),
        own: false,
        reach: shot.reach,
    }
}

fn score(line: &ScoreLine, emblem: Option<char>) -> Score {
    let name = match emblem {
        Some(emblem) => format!("{emblem} {}", line.name),
        None => line.name.clone(),
    };
    Score {
        owner: owner(line.actor),
        name,
        kills: line.kills,
        deaths: line.deaths,
        ping: None,
    }
}

/// What pulls at a ship, if this does.
fn body(seen: &Seen) -> Option<Body> {
    let is_sun = seen.kind == Kind::Sun;
    (is_sun || seen.kind == Kind::Planet).then_some(Body {
        position: seen.position,
        radius: seen.reach,
        is_sun,
    })
}

fn owner(actor: SyncId) -> OwnerId {
    OwnerId(actor.number().into())
}

#[cfg(test)]
mod tests {
    use tickwire_dialects::cppevy::limits::ACTION_PATIENCE;
    use tickwire_dialects::cppevy::message::{Data, Object, Payload, PayloadWriter, Sender};
    use tickwire_session::{Path, Room, StreamId, Transmit};
    use tickwire_sim::addr::loopback;

    use super::*;

    const NOW: Instant = Instant::from_millis(1_000);

    const ON: StreamId = StreamId::Dialled(0);

    /// A client that has asked to join.
    fn joining() -> Gateway {
        let server = loopback(1);
        let mut gateway = Gateway::new(NOW, server, "ann", Loadout::STANDARD);
        gateway.client.handle_opened(NOW, ON, server);
        send(&mut gateway);
        gateway
    }

    /// What it has to send is sent.
    fn send(gateway: &mut Gateway) {
        let room = Room {
            bytes: 1 << 16,
            ..Room::CLOSED
        };
        let client = &mut gateway.client;
        client.handle_room(NOW, Path::Stream(ON), room);
        while client.poll_transmit(NOW, &mut Vec::new()).is_some() {}
    }

    /// The server says this by TCP.
    fn tell(gateway: &mut Gateway, object: &Object<'_>) {
        let mut bytes = Vec::new();
        let mut payload = PayloadWriter::new(&mut bytes, 0);
        payload.push(object).unwrap();
        payload.finish();
        gateway.client.handle_stream(NOW, ON, &bytes);
    }

    /// What a player reads whose Join failed for this reason, besides how it ended.
    fn refused(reason: Reason) -> (Status, Option<String>) {
        let mut gateway = joining();
        let action = ActionId::JOIN;
        tell(&mut gateway, &Object::Failure { action, reason });
        (gateway.status(), gateway.last_words())
    }

    #[test]
    fn a_player_reads_why_an_action_failed() {
        for reason in [
            Reason::Unavailable,
            Reason::Disabled,
            Reason::Error,
            Reason::Waiting,
            Reason::Delayed,
            Reason::Busy,
        ] {
            let mut gateway = joining();
            let (action, message) = (ActionId::JOIN, Data::new(&[0; 10]).unwrap());
            tell(&mut gateway, &Object::Success { action, message });
            gateway.chat(NOW, "hello").unwrap();
            send(&mut gateway);
            let action = CHAT;
            tell(&mut gateway, &Object::Failure { action, reason });
            // What is busy is asked again until patience ends.
            gateway.client.handle_timeout(NOW + ACTION_PATIENCE);
            let mut notices = Vec::new();
            gateway.collect(NOW + ACTION_PATIENCE, &mut notices);
            let told = notices.iter().map(ToString::to_string);
            let told: Vec<_> = told.filter(|text| text.contains("not heard")).collect();
            assert_eq!(told.len(), 1, "{reason:?}: {notices:?}");
            assert!(told[0].contains(&reason.to_string()), "{told:?}");
        }
    }

    #[test]
    fn a_player_who_is_refused_reads_why() {
        for (reason, word) in [
            (Reason::Error, "version"),
            (Reason::Disabled, "nobody"),
            (Reason::Waiting, "soon"),
        ] {
            let (status, words) = refused(reason);
            assert_eq!(status, Status::Ended(Ending::Refused), "{reason:?}");
            assert!(words.unwrap().contains(word), "{reason:?}");
        }
        let (status, words) = refused(Reason::Unavailable);
        assert_eq!((status, words), (Status::Ended(Ending::Full), None));
    }

    /// A client that plays as actor 0, whose ship is at the origin.
    fn playing() -> Gateway {
        let mut gateway = joining();
        gateway.load_content(None).unwrap();
        let (action, message) = (ActionId::JOIN, Data::new(&[0; 10]).unwrap());
        tell(&mut gateway, &Object::Success { action, message });
        let (event, data) = (EventId::SUMMON, Data::new(&[0, 0, 1]).unwrap());
        tell(&mut gateway, &Object::Event { event, data });
        let (action, message) = (ActionId::ATTACH, Data::EMPTY);
        show(&mut gateway, NOW, &[Object::Success { action, message }]);
        let entity = SyncId::default();
        let states =
            [(POSITION, 8), (VELOCITY, 8), (HEALTH, 1), (HEADING, 4)].map(|(component, length)| {
                let value = if component == HEALTH {
                    &[100]
                } else {
                    &[0; 8][..length]
                };
                let state = StateId { entity, component };
                let value = Data::new(value).unwrap();
                Object::State { state, value }
            });
        show(&mut gateway, NOW, &states);
        gateway.collect(NOW, &mut Vec::new());
        gateway
    }

    /// The server says this by UDP, a millisecond after it began.
    fn show(gateway: &mut Gateway, now: Instant, objects: &[Object<'_>]) {
        let mut bytes = Vec::new();
        let mut payload = PayloadWriter::new(&mut bytes, 1);
        for object in objects {
            payload.push(object).unwrap();
        }
        payload.finish();
        gateway.client.handle_datagram(now, loopback(1), &bytes);
    }

    /// What it has to say by UDP now.
    fn cast(gateway: &mut Gateway, now: Instant) -> Vec<Vec<u8>> {
        let path = Path::Datagrams(loopback(1));
        gateway.client.handle_room(now, path, Room::DATAGRAMS);
        let (mut all, mut out) = (Vec::new(), Vec::new());
        while let Some(transmit) = gateway.client.poll_transmit(now, &mut out) {
            let bytes = core::mem::take(&mut out);
            if matches!(transmit, Transmit::Datagram { .. }) {
                all.push(bytes);
            }
        }
        all
    }

    #[test]
    fn the_own_ship_moves_before_the_server_has_answered() {
        let mut gateway = playing();
        let own = |gateway: &mut Gateway, now| gateway.view(now).own_ship().unwrap().position;
        let before = own(&mut gateway, NOW);
        gateway.act(&Intent {
            forward: true,
            ..Intent::default()
        });
        let soon = NOW + Duration::from_millis(40);
        gateway.collect(soon, &mut Vec::new());
        let shown = own(&mut gateway, soon + Duration::from_millis(60));
        assert!((shown - before).length() > 0.1, "{shown:?}");
    }

    #[test]
    fn what_was_missed_is_asked_for() {
        let mut gateway = playing();
        let asked = |gateway: &mut Gateway, now| {
            gateway.collect(now, &mut Vec::new());
            let mut asked = Vec::new();
            for bytes in cast(gateway, now) {
                let payload = Payload::decode(&bytes, Sender::Client).unwrap();
                asked.extend(payload.objects().filter_map(|object| match object {
                    Object::StateRequest { state } => Some(state.component),
                    _ => None,
                }));
            }
            asked
        };
        assert_eq!(asked(&mut gateway, NOW + Duration::from_millis(500)), []);
        let late = NOW + MISSED_AFTER + Duration::from_millis(50);
        assert_eq!(asked(&mut gateway, late), [POSITION, VELOCITY]);
        assert_eq!(asked(&mut gateway, late + Duration::from_millis(1)), []);
    }
}
