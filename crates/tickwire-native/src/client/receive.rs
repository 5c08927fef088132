//! What arrives: frames on the stream, datagrams.

use tickwire_replica::{ApplyError, EntityId};
use tickwire_session::{Addr, CallId, CallStatus, Instant};
use tickwire_wire::{DecodeError, Serial as _};

use super::world::Joined;
use super::{Client, ClientEvent, Phase};
use crate::game::Game;
use crate::message::{DatagramDown, Down, Latest, Status, Up, Welcome, value};
use crate::reason::EndReason;

/// Why no more of a stream is read.
enum Stop {
    Malformed,
    /// It is over, and that is dealt with.
    Over,
}

impl From<DecodeError> for Stop {
    fn from(_: DecodeError) -> Self {
        Self::Malformed
    }
}

impl<G: Game> Client<G> {
    pub(super) fn receive_stream(&mut self, now: Instant, bytes: &[u8]) {
        self.uplink.traffic.received(bytes.len());
        self.uplink.heard(now);
        let mut frames = core::mem::take(&mut self.frames);
        let read = frames.receive(bytes, |kind, body| {
            self.handle_frame(now, Down::decode(kind, body)?)
        });
        match read {
            Ok(()) => self.frames = frames,
            Err(Stop::Malformed) => self.end(EndReason::Malformed, ""),
            Err(Stop::Over) => {}
        }
    }

    fn handle_frame(&mut self, now: Instant, frame: Down<'_>) -> Result<(), Stop> {
        let is_welcome = matches!(frame, Down::Welcome(_) | Down::End { .. });
        let is_in = matches!(self.phase, Phase::Playing | Phase::Leaving);
        if !is_welcome && !is_in {
            return Err(Stop::Malformed);
        }
        if self.end_if_unread() {
            return Err(Stop::Over);
        }
        if frame.is_kept()
            && let Some(count) = self.counted.add()
        {
            self.outbox.push(|out| Up::Received(count).encode(out)).ok();
        }
        match frame {
            Down::Welcome(welcome) => return self.handle_welcome(now, &welcome),
            Down::End { reason, words } => {
                self.end(reason, words);
                return Err(Stop::Over);
            }
            Down::Say(body) => match value(body) {
                Ok(message) => self.events.push_back(ClientEvent::Said(message)),
                Err(_) => self.counters.bad_message += 1,
            },
            Down::Answer {
                number,
                status,
                body,
            } => {
                let status = match status {
                    Status::Done => CallStatus::Done,
                    Status::Refused => CallStatus::Refused,
                };
                let answered = self.calls.handle_result(CallId(number), status, body);
                self.counters.unasked += u64::from(answered.is_err());
                self.settle();
            }
            Down::Event { tick, body } => self.handle_timed(tick, body),
            Down::Owned(id) => {
                let own = Some(EntityId(id)).filter(|id| !id.is_none());
                if let Some(joined) = &mut self.joined {
                    joined.set_own(now, own);
                }
                self.events.push_back(ClientEvent::Owned(own));
            }
            Down::Keyed { tick, entity } => {
                if let Some(joined) = &mut self.joined {
                    joined.confirm(tick, EntityId(entity));
                }
            }
            Down::Piece { name, piece } => {
                self.download.handle_piece(name, piece);
                self.hand_out();
            }
            // Answers come in the order of asking.
            Down::NoSuch { .. } => {
                self.download.handle_no_such();
                self.hand_out();
            }
            Down::Received(count) => {
                self.outbox.confirm(count).map_err(|_| Stop::Malformed)?;
            }
            Down::Datagram(bytes) => self.handle_datagram_body(now, bytes),
        }
        Ok(())
    }

    fn handle_welcome(&mut self, now: Instant, welcome: &Welcome) -> Result<(), Stop> {
        if self.phase != Phase::Connecting && self.phase != Phase::Interrupted {
            return Err(Stop::Malformed);
        }
        // Only who was there comes back, and who shows a ticket comes back or is refused.
        if welcome.resumed.is_some() != self.joined.is_some() {
            return Err(Stop::Malformed);
        }
        self.uplink.set_token(now, welcome.token);
        self.uplink.set_good();
        self.ticket = Some(welcome.ticket);
        self.phase = Phase::Playing;
        if let Some(received) = welcome.resumed {
            // What waits on the server is sent again, and so is what it lacks of ours.
            self.outbox.resume(received).map_err(|_| Stop::Malformed)?;
            self.counters.resumed += 1;
            self.events.push_back(ClientEvent::Resumed);
            return Ok(());
        }
        let schema = self.schema.clone();
        let role = self.config.role;
        let joined = Joined::new(now, welcome, (schema, role), &self.uplink.round_trip);
        let player = joined.player;
        self.joined = Some(joined.into());
        self.events.push_back(ClientEvent::Joined { player });
        // What was said before the server answered goes out now.
        self.outbox.resume(0).map_err(|_| Stop::Malformed)
    }

    fn handle_timed(&mut self, tick: u32, body: &[u8]) {
        let Ok(event) = value(body) else {
            self.counters.bad_message += 1;
            return;
        };
        if let Some(joined) = &mut self.joined
            && let Err(event) = joined.add_timed(tick, event)
        {
            // Too many wait: better early than never.
            self.counters.late_event += 1;
            self.events.push_back(ClientEvent::Happened(event));
        }
    }

    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if from != self.config.server {
            self.counters.stranger += 1;
            return;
        }
        self.uplink.traffic.received(bytes.len());
        if self.phase != Phase::Playing {
            return;
        }
        self.uplink.heard_datagram(now);
        self.handle_datagram_body(now, bytes);
    }

    fn handle_datagram_body(&mut self, now: Instant, bytes: &[u8]) {
        let Some(joined) = &mut self.joined else {
            return;
        };
        match DatagramDown::decode(bytes) {
            Ok(DatagramDown::State { margin, packet }) => match joined.apply(now, margin, packet) {
                Ok(applied) => {
                    let way = joined.round_trip(now, margin, &applied);
                    way.into_iter()
                        .for_each(|way| self.uplink.round_trip.add_sample(way));
                }
                Err(ApplyError::Lacking { .. }) => self.counters.lacking += 1,
                Err(ApplyError::TooOld | ApplyError::Overtaken) => {
                    self.counters.overtaken += 1;
                }
                Err(ApplyError::Malformed(_) | ApplyError::Full) => {
                    self.counters.undecodable += 1;
                }
            },
            Ok(DatagramDown::Latest(latest)) => self.handle_latest(latest),
            Err(_) => self.counters.undecodable += 1,
        }
    }

    fn handle_latest(&mut self, latest: Latest<'_>) {
        let heard = self.latest_heard.get(&latest.channel);
        if heard.is_some_and(|heard| !latest.number.is_newer_than(*heard)) {
            return;
        }
        let Ok(message) = value(latest.body) else {
            self.counters.bad_message += 1;
            return;
        };
        let channel = latest.channel;
        self.latest_heard.insert(channel, latest.number);
        self.events.retain(
            |event| !matches!(event, ClientEvent::Latest { channel: it, .. } if *it == channel),
        );
        self.events
            .push_back(ClientEvent::Latest { channel, message });
    }
}
