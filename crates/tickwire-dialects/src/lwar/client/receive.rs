//! What a datagram of the server makes the client do.

use core::time::Duration;

use tickwire_session::{Addr, Instant};
use tickwire_wire::Serial;

use super::world::TooMany;
use super::{Client, ClientEvent, EndReason, Phase, Shown};
use crate::lwar::limits::{EVENTS_WAITING, RECEIVE_MAX, SEND_PERIOD};
use crate::lwar::message::{BadText, Framed, Reliable, Unreliable};
use crate::lwar::packet::Header;
use crate::lwar::reliable::{Acked, Order};
use crate::lwar::{EntityId, PlayerId, Reader};

impl Client {
    pub(super) fn receive(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if matches!(self.phase, Phase::Ended(_)) {
            return;
        }
        if from != self.server {
            self.counters.stranger += 1;
            return;
        }
        if self.events.len() >= EVENTS_WAITING {
            self.counters.overrun += 1;
            return;
        }
        let mut r = Reader::new(bytes);
        let header = match Header::decode(&mut r) {
            Ok(header) if bytes.len() <= RECEIVE_MAX => header,
            _ => {
                self.counters.not_lwar += 1;
                return;
            }
        };
        self.traffic.received(bytes.len());
        self.last_heard = now;
        self.handle_ack(now, header.ack);
        self.handle_messages(now, header.timestamp, r);
    }

    fn handle_ack(&mut self, now: Instant, ack: u32) {
        match self.outbox.acknowledge(ack) {
            Acked::Nothing => {}
            Acked::NeverSent => self.counters.ack_never_sent += 1,
            // A Connect is answered at once, but one that was repeated may have waited for a server
            // that was not there. Whatever is said later waits for the server's next sending; the
            // scores tell the round trip better.
            Acked::Progress(sent) if self.phase == Phase::Connecting && !sent.repeated => {
                self.round_trip.add_sample(now.since(sent.first));
            }
            Acked::Progress(_) => {}
        }
    }

    fn handle_messages(&mut self, now: Instant, timestamp: u32, mut r: Reader<'_>) {
        let stale = self
            .newest
            .is_some_and(|newest| timestamp.is_older_than(newest));
        let (mut refused, mut gap) = (false, false);
        let mut updated = false;
        while !r.is_empty() {
            let framed = Framed::decode(&mut r);
            self.traffic.messages_in += u64::from(framed.is_ok());
            match framed {
                Ok(Framed::Reliable { seq, content }) => {
                    self.ack_due = true;
                    match self.inbox.order(seq) {
                        Order::Next => {
                            self.inbox.advance();
                            self.handle_reliable(now, content);
                        }
                        Order::Repeated | Order::Early if self.is_own_leave(content) => {
                            self.end(EndReason::Disconnected);
                        }
                        Order::Repeated => {}
                        Order::Early => gap = true,
                    }
                }
                Ok(Framed::Unreliable(Unreliable::Full)) => self.handle_full(),
                Ok(Framed::Unreliable(_)) if stale => refused = true,
                Ok(Framed::Unreliable(message)) => {
                    updated = true;
                    self.handle_unreliable(timestamp, &message);
                }
                Err(_) => {
                    self.counters.undecodable += 1;
                    break;
                }
            }
            if matches!(self.phase, Phase::Ended(_)) {
                return;
            }
        }
        if !stale {
            self.newest = Some(timestamp);
        }
        if updated {
            self.handle_sending(now, timestamp);
        }
        self.counters.stale += u64::from(refused);
        self.counters.sequence_gap += u64::from(gap);
    }

    /// Notes that updates of this moment arrived, and how many sendings before it did not.
    fn handle_sending(&mut self, now: Instant, timestamp: u32) {
        self.updates.add(now);
        self.clock.add_arrival(now, timestamp);
        let period = i64::try_from(SEND_PERIOD.as_millis()).unwrap_or(i64::MAX);
        let newest = self.newest_update;
        let steps = newest.map_or(period, |newest| timestamp.steps_since(newest));
        // Packets of one sending share their timestamp.
        if steps > 0 {
            self.newest_update = Some(timestamp);
            let sendings = (steps + period / 2) / period;
            self.loss
                .add_arrival(u32::try_from(sendings - 1).unwrap_or(0));
        }
    }

    /// A Leave of this client's own player ends a disconnecting client whatever its number: messages
    /// before it that got lost are not repeated any more.
    fn is_own_leave(&self, content: Result<Reliable<'_>, BadText>) -> bool {
        self.phase == Phase::Leaving
            && matches!(content, Ok(Reliable::Leave { player }) if Some(player) == self.player)
    }

    /// There is no place: an answer to Connect, and to nothing else.
    fn handle_full(&mut self) {
        if self.phase == Phase::Connecting {
            self.end(EndReason::Full);
        } else {
            self.counters.violations += 1;
        }
    }

    fn handle_reliable(&mut self, now: Instant, content: Result<Reliable<'_>, BadText>) {
        let Ok(message) = content else {
            self.counters.violations += 1;
            return;
        };
        if self.phase == Phase::Connecting {
            self.handle_first(now, &message);
            return;
        }
        match message {
            Reliable::Chat { player, text } if player == PlayerId::SERVER => {
                self.farewell = Some(text.into());
            }
            Reliable::Leave { player } if Some(player) == self.player => {}
            _ => self.farewell = None,
        }
        self.handle_told(now, message);
    }

    /// Applies a message to what this client knows.
    fn handle_told(&mut self, now: Instant, message: Reliable<'_>) {
        match message {
            Reliable::Join { player, name } => match self.world.join(player, name) {
                Ok(()) => self.events.push_back(ClientEvent::Joined(player)),
                Err(TooMany) => self.counters.too_many += 1,
            },
            Reliable::Leave { player } if Some(player) == self.player => {
                self.end(match self.phase {
                    Phase::Leaving => EndReason::Disconnected,
                    _ => EndReason::Removed,
                });
            }
            Reliable::Leave { player } => {
                if let Some(gone) = self.world.players.remove(&player) {
                    self.events.push_back(ClientEvent::Left(player, gone.name));
                }
            }
            // Nothing was said.
            Reliable::Chat { text: "", .. } => {}
            Reliable::Name { name: "", .. } => self.counters.violations += 1,
            Reliable::Chat { player, text } => {
                // Whoever said it may have left.
                if !self.world.players.contains_key(&player) {
                    self.counters.unknown_player += 1;
                    return;
                }
                let chat = ClientEvent::Chatted(player, text.into());
                self.events.push_back(chat);
            }
            Reliable::Add {
                entity,
                owner,
                kind,
            } => match self.world.add(entity, kind, owner) {
                Ok(()) => self.events.push_back(ClientEvent::Added(entity)),
                Err(TooMany) => self.counters.too_many += 1,
            },
            Reliable::Remove { entity } => match self.world.entities.remove(&entity) {
                Some(gone) => self.events.push_back(ClientEvent::Removed(entity, gone)),
                None => self.counters.unknown_entity += 1,
            },
            Reliable::Selection { player, selection } => {
                if let Some(known) = self.world.players.get_mut(&player) {
                    known.selection = Some(selection);
                    self.events
                        .push_back(ClientEvent::Selected(player, selection));
                }
            }
            Reliable::Name { player, name } => {
                if let Some(known) = self.world.players.get_mut(&player) {
                    let old = core::mem::replace(&mut known.name, name.into());
                    self.events.push_back(ClientEvent::Renamed(player, old));
                }
            }
            Reliable::Synced => {
                if self.phase == Phase::Syncing {
                    self.enter(now, Phase::Settling);
                    self.events.push_back(ClientEvent::Synced);
                }
            }
            Reliable::Connect { .. } | Reliable::Disconnect => self.counters.violations += 1,
        }
    }

    /// The first reliable message tells this client who it is.
    fn handle_first(&mut self, now: Instant, message: &Reliable<'_>) {
        let Reliable::Join { player, name } = *message else {
            self.counters.violations += 1;
            return;
        };
        self.player = Some(player);
        if self.world.join(player, name).is_err() {
            self.counters.too_many += 1;
        }
        self.enter(now, Phase::Syncing);
        (self.next_packet, self.next_repeat) = (now, now);
        self.events.push_back(ClientEvent::Connected { player });
    }

    fn handle_unreliable(&mut self, timestamp: u32, message: &Unreliable<'_>) {
        match message {
            Unreliable::Stats(scores) => scores.iter().for_each(|score| {
                self.world.set_score(&score);
                if Some(score.player) == self.player {
                    self.round_trip
                        .add_sample(Duration::from_millis(score.ping.into()));
                }
            }),
            Unreliable::Update(bodies) => bodies.iter().for_each(|body| {
                self.update(timestamp, body.entity, |last| Shown {
                    x: body.x.into(),
                    y: body.y.into(),
                    orientation: f32::from(body.orientation % 360),
                    health: body.health.min(100),
                    ..last
                });
            }),
            Unreliable::UpdatePos(places) => places.iter().for_each(|place| {
                self.update(timestamp, place.entity, |last| Shown {
                    x: place.x.into(),
                    y: place.y.into(),
                    ..last
                });
            }),
            Unreliable::UpdateRay(rays) => rays.iter().for_each(|ray| {
                self.update(timestamp, ray.entity, |last| Shown {
                    x: ray.x.into(),
                    y: ray.y.into(),
                    orientation: f32::from(ray.orientation % 360),
                    reach: ray.length.into(),
                    ..last
                });
            }),
            Unreliable::UpdateCircle(circles) => circles.iter().for_each(|circle| {
                self.update(timestamp, circle.entity, |last| Shown {
                    x: circle.x.into(),
                    y: circle.y.into(),
                    reach: circle.radius.into(),
                    ..last
                });
            }),
            Unreliable::Collision(collision) => {
                // Of an entity that is gone, or not yet there, nothing can be shown.
                let known = |id: &EntityId| self.world.entities.contains_key(id);
                if collision.entities.iter().all(known) {
                    self.events.push_back(ClientEvent::Collided(*collision));
                }
            }
            Unreliable::Full | Unreliable::Input(_) => self.counters.violations += 1,
        }
    }

    /// Takes an update, which changes what it speaks of and leaves the rest as it was.
    fn update(&mut self, timestamp: u32, id: EntityId, change: impl FnOnce(Shown) -> Shown) {
        let Some(entity) = self.world.entities.get_mut(&id) else {
            self.counters.unknown_entity += 1;
            return;
        };
        let unharmed = Shown {
            health: 100,
            ..Shown::default()
        };
        let last = entity.track.latest().unwrap_or(unharmed);
        entity.track.update(timestamp, change(last));
    }
}
