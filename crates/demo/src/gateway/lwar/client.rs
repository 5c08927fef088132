//! The client's half: an lwar client's world as a view.

use std::time::Duration;

use tickwire_dialects::lwar::message::Collision;
use tickwire_dialects::lwar::{
    Button, Buttons, Client, ClientConfig, ClientEvent, Controls, EndReason, Entity, EntityId,
    Phase, PlayerId, Point,
};
use tickwire_session::{Addr, Events, Instant, Session};

use super::{kind_from_lwar, seen_number, selection, whole};
use crate::gateway::{ArenaClient, ClientGateway, Ending, Notice, Status};
use crate::view::Effects;
use crate::{Effect, Heading, Intent, Kind, Loadout, OwnerId, Score, Seen, SeenId, Vec2, View};

pub(super) struct Gateway {
    client: Client,
    loadout: Loadout,
    effects: Effects,
}

impl Gateway {
    pub(super) fn new(now: Instant, server: Addr, name: &str, loadout: Loadout) -> Self {
        let config = ClientConfig {
            server,
            name: name.into(),
        };
        Self {
            client: Client::new(now, config),
            loadout,
            effects: Effects::default(),
        }
    }

    fn name_of(&self, id: PlayerId) -> String {
        let player = self.client.players().find(|(other, _)| *other == id);
        player.map_or_else(|| id.0.to_string(), |(_, player)| player.name.clone())
    }

    fn seen(&self, now: Instant, id: EntityId, entity: &Entity) -> Option<Seen> {
        let kind = kind_from_lwar(entity.kind)?;
        let shown = self.client.shown(now, entity)?;
        let reach = match kind {
            Kind::Ray | Kind::Shockwave => shown.reach.into(),
            _ => kind.usual_reach(),
        };
        Some(Seen {
            id: SeenId(seen_number(id.0)),
            kind,
            position: Vec2::new(shown.x.into(), shown.y.into()),
            heading: Heading::from_degrees(shown.orientation.into()),
            health: shown.health,
            owner: owner(entity.owner),
            own: false,
            reach,
        })
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
        let own = self.client.player()?;
        let is_own = |entity: &Entity| {
            entity.owner == own && kind_from_lwar(entity.kind) == Some(Kind::Ship)
        };
        let mut entities = self.client.entities();
        let (_, ship) = entities.find(|(_, entity)| is_own(entity))?;
        let (x, y) = ship.track.error();
        Some(x.hypot(y))
    }

    fn collect(&mut self, _now: Instant, notices: &mut Vec<Notice>) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Connected { .. } => {
                    // The queue is empty and the connection is there: it cannot be refused.
                    self.client.select(selection(self.loadout)).ok();
                }
                // It was there before anybody, and nobody waits for it.
                ClientEvent::Joined(PlayerId::SERVER) => {}
                ClientEvent::Joined(player) => {
                    notices.push(Notice::Joined {
                        name: self.name_of(player),
                    });
                }
                ClientEvent::Left(_, name) => {
                    notices.push(Notice::Left {
                        name,
                        why: "left".into(),
                    });
                }
                ClientEvent::Renamed(player, from) => {
                    notices.push(Notice::Renamed {
                        from,
                        to: self.name_of(player),
                    });
                }
                ClientEvent::Chatted(player, text) => {
                    notices.push(Notice::Said {
                        name: self.name_of(player),
                        text,
                    });
                }
                ClientEvent::Collided(Collision { x, y, .. }) => {
                    let at = Vec2::new(x.into(), y.into());
                    self.effects.push(Effect::Impact { at });
                }
                _ => {}
            }
        }
    }

    fn status(&self) -> Status {
        match self.client.phase() {
            Phase::Connecting | Phase::Syncing | Phase::Settling => Status::Connecting,
            Phase::Playing | Phase::Leaving => Status::Playing,
            Phase::Ended(why) => Status::Ended(match why {
                EndReason::Full => Ending::Full,
                EndReason::Unreachable => Ending::Unreachable,
                EndReason::TimedOut => Ending::Lost,
                EndReason::Disconnected => Ending::Left,
                _ => Ending::Removed,
            }),
        }
    }

    fn last_words(&self) -> Option<String> {
        self.client.farewell().map(crate::printable)
    }

    fn chat(&mut self, _now: Instant, text: &str) -> Result<(), String> {
        self.client.chat(text).map_err(|error| error.to_string())
    }

    fn disconnect(&mut self, now: Instant) {
        self.client.disconnect(now);
    }
}

impl ArenaClient for Gateway {
    fn view(&mut self, now: Instant) -> View {
        let entities = self.client.entities();
        let mut view = View {
            time: now.since(Instant::ZERO),
            seen: entities
                .filter_map(|(id, entity)| self.seen(now, id, entity))
                .collect(),
            own_ship: None,
        };
        view.set_viewer(self.client.player().and_then(owner));
        view
    }

    fn scores(&self) -> Vec<Score> {
        let scores = self.client.players().map(|(id, player)| Score {
            owner: OwnerId(seen_number(id.0)),
            name: player.name.clone(),
            kills: player.kills,
            deaths: player.deaths,
            ping: (id != PlayerId::SERVER).then(|| Duration::from_millis(player.ping.into())),
        });
        scores.collect()
    }

    fn take_effects(&mut self) -> Vec<Effect> {
        self.effects.take()
    }

    fn rename(&mut self, name: &str) -> Result<(), String> {
        self.client.rename(name).map_err(|error| error.to_string())
    }

    fn select(&mut self, _now: Instant, loadout: Loadout) -> Result<(), String> {
        let selected = self.client.select(selection(loadout));
        selected.map_err(|error| error.to_string())
    }

    fn act(&mut self, intent: &Intent) {
        let pressed = [
            (Button::Forward, intent.forward),
            (Button::Backward, intent.backward),
            (Button::TurnLeft, intent.turn_left),
            (Button::TurnRight, intent.turn_right),
            (Button::StrafeLeft, intent.strafe_left),
            (Button::StrafeRight, intent.strafe_right),
        ];
        let fired = Button::FIRE.into_iter().zip(intent.fire);
        let buttons = pressed
            .into_iter()
            .chain(fired)
            .fold(Buttons::NONE, |buttons, (button, pressed)| {
                buttons.with(button, pressed)
            });
        let aim = Point {
            x: whole(intent.aim.x),
            y: whole(intent.aim.y),
        };
        self.client.steer(Controls { buttons, aim });
    }
}

/// What belongs to the server belongs to nobody.
fn owner(player: PlayerId) -> Option<OwnerId> {
    (player != PlayerId::SERVER).then(|| OwnerId(seen_number(player.0)))
}
