//! The client's half: a C++evy client's world as a view.

use std::collections::BTreeSet;
use std::time::Duration;

use tickwire_dialects::cppevy::{
    ActError, ActionId, Client, ClientConfig, ClientEvent, EndReason, EventId, Phase, SyncId,
};
use tickwire_session::{Addr, Events, Failure, Instant, Reason, Session};

use super::super::{ArenaClient, ClientGateway, Ending, Notice, Status};
use super::shots::Shots;
use super::words::{self, ScoreLine, Shot};
use super::{
    ARCHETYPES, CHAT, CONTROLS, DESTROYED, HEADING, HEALTH, POSITION, SAID, SCORE, SELECT, SHOT,
    SHOT_GONE, TELEPORT, VELOCITY, loadout_codes, registry,
};
use crate::{Heading, Intent, Kind, Loadout, OwnerId, Score, Seen, SeenId, View};

/// Between two sendings of the controls: 30 a second.
const CONTROLS_PERIOD: Duration = Duration::from_millis(33);

/// How far a ship is moved on without news of it.
const PREDICTION_MAX: Duration = Duration::from_millis(250);

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
    /// Why controls are not taken, as far as the player was told.
    refused: Option<Reason>,
    intent: Intent,
    next_controls: Instant,
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
            refused: None,
            intent: Intent::default(),
            next_controls: now,
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

    fn hear(&mut self, now: Instant, event: EventId, data: &[u8], notices: &mut Vec<Notice>) {
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
        let age = self
            .client
            .state_age(now, id, POSITION)?
            .min(PREDICTION_MAX);
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
            // Playing, registered and short: it is taken.
            self.client
                .input(CONTROLS, &words::encode_intent(&self.intent))
                .ok();
        }
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

    fn collect(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Joined { .. } => {
                    self.was_in = true;
                    self.ask(now, SELECT, &loadout_codes(self.loadout)).ok();
                }
                ClientEvent::ActorJoined(actor) => {
                    self.newcomers.insert(actor);
                }
                ClientEvent::ActorLeft(actor) => {
                    self.newcomers.remove(&actor);
                    let name = self.name_of(actor);
                    self.remove_score(actor);
                    notices.push(Notice::Left {
                        name,
                        why: "left".into(),
                    });
                }
                ClientEvent::Happened { event, data, .. } => {
                    self.hear(now, event, &data, notices);
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
                    let text = format!("your controls are not taken: {reason}");
                    notices.push(Notice::Answered { text });
                }
                ClientEvent::Dismissed(entity, _) => {
                    self.remove_score(entity);
                }
                _ => {}
            }
        }
        self.send_controls(now);
    }

    fn status(&self) -> Status {
        match self.client.phase() {
            Phase::Dialling | Phase::Joining | Phase::Attaching => Status::Connecting,
            Phase::Playing | Phase::Leaving => Status::Playing,
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

    fn update_age(&self, now: Instant) -> Option<Duration> {
        let ages = self
            .client
            .entities()
            .filter_map(|(id, _)| self.client.state_age(now, id, POSITION));
        ages.min()
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
        view
    }

    fn scores(&self) -> Vec<Score> {
        self.scores.iter().flatten().map(score).collect()
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

fn score(line: &ScoreLine) -> Score {
    Score {
        owner: owner(line.actor),
        name: line.name.clone(),
        kills: line.kills,
        deaths: line.deaths,
        ping: None,
    }
}

fn owner(actor: SyncId) -> OwnerId {
    OwnerId(actor.number().into())
}

#[cfg(test)]
mod tests {
    use tickwire_dialects::cppevy::limits::ACTION_PATIENCE;
    use tickwire_dialects::cppevy::message::{Data, Object, PayloadWriter};
    use tickwire_session::{Path, Room, StreamId};
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
}
