//! What the server's datagrams make the client do: snapshots, commands, and control.

use tickwire_session::{Addr, Instant};

use super::admission::{HeldUp, Recovery};
use super::assembly::{self, Part, Rejected};
use super::command::Dropped;
use super::event::Whole;
use super::packets::NeverSent;
use super::reception::{Completed, Unused};
use super::showing::Pace;
use super::snapshot::Spoilt;
use super::{Client, ClientEvent, Phase};
use crate::reone::limits::RECEIVE_MAX;
use crate::reone::message::{Down, DownElement, Invalid, Packet, Parameters};
use crate::reone::{EventId, Mode, SnapshotSeq};

impl Client {
    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if self.is_over() {
            return;
        }
        if from != self.connection.link.server() {
            self.counters.stranger += 1;
            return;
        }
        let compression = self.admission.compression();
        let mut scratch = core::mem::take(&mut self.scratch);
        let packet = match bytes.len() {
            ..=RECEIVE_MAX => assembly::decode(compression, bytes, &mut scratch).ok(),
            _ => None,
        };
        match packet {
            Some(packet) => {
                self.connection.link.traffic.received(bytes.len());
                self.connection.link.heard_datagram(now);
                self.admission.handle_datagram(now);
                self.handle_packet(now, bytes, &packet);
            }
            None => self.counters.undecodable += 1,
        }
        self.scratch = scratch;
    }

    fn handle_packet(&mut self, now: Instant, bytes: &[u8], packet: &Packet<'_, Down>) {
        let header = packet.header;
        let is_part = header.sequence != SnapshotSeq::NONE;
        if is_part {
            if !self.is_initialised() {
                self.reception.note_early(header.sequence);
                self.counters.not_ready += 1;
                return;
            }
            if self.reception.is_stuck(now) {
                self.give_up_snapshots(now);
            }
            if self.reception.is_before(&header) {
                self.counters.earlier_module += 1;
                return;
            }
            self.reception.note(now, header.sequence);
            self.counters.invalid_doubted += u64::from(self.admission.handle_snapshot());
        }
        let (mut last, mut answered) = (None, None);
        for element in packet.elements() {
            self.connection.link.traffic.messages_in += 1;
            match element {
                DownElement::Last { datagrams } => last = Some(datagrams),
                DownElement::Parameters(parameters) => {
                    self.handle_parameters(now, header.tick, &parameters);
                }
                DownElement::Invalid(why) => self.handle_invalid(now, why),
                DownElement::EventAck(id) => {
                    answered = answered.max(self.handle_event_ack(now, id))
                }
                _ => self.handle_command(&element),
            }
        }
        if is_part {
            let part = Part {
                header,
                bytes,
                last,
                answered,
            };
            self.handle_part(now, part);
        }
    }

    fn handle_parameters(&mut self, now: Instant, tick: u32, parameters: &Parameters) {
        if !self.is_initialised() && self.phase != Phase::Initialising {
            self.counters.not_ready += 1;
            return;
        }
        if self.module() != Some(parameters.module) {
            self.counters.other_module += 1;
            return;
        }
        let before = match self.admission.handle_parameters(now, tick, parameters) {
            Ok(before) => before,
            Err(HeldUp) => {
                self.counters.parameters_late += 1;
                return;
            }
        };
        if before.is_some_and(|before| !has_same_snapshots(&before, parameters)) {
            self.forget_snapshots(now);
        }
        if self.phase == Phase::Initialising || before.as_ref() != Some(parameters) {
            self.tell(ClientEvent::Initialised(*parameters));
        }
        if self.phase == Phase::Initialising {
            self.phase = Phase::Ready;
            self.reception.begin(now, tick);
        }
    }

    fn handle_invalid(&mut self, now: Instant, why: Invalid) {
        let is_past_loading = self.is_initialised() || self.phase == Phase::Initialising;
        if !is_past_loading {
            self.counters.not_ready += 1;
            return;
        }
        let last_part = self.reception.last_part();
        self.admission.handle_invalid(now, why, last_part);
        self.resolve_suspicion(now);
    }

    /// Does what an Invalid asks for, once it is to be believed.
    pub(super) fn resolve_suspicion(&mut self, now: Instant) {
        match self.admission.take_recovery(now) {
            Some(Recovery::Handshake) => self.shake_hands_again(now),
            Some(Recovery::Ping) if self.is_initialised() => {
                self.forget_snapshots(now);
                self.phase = Phase::Initialising;
                self.admission.initialise(now);
                self.tell(ClientEvent::Interrupted);
            }
            // It pings already.
            Some(Recovery::Ping) | None => {}
        }
    }

    /// Returns the event if it was ever sent.
    fn handle_event_ack(&mut self, now: Instant, id: EventId) -> Option<EventId> {
        match self.packets.acknowledge(id) {
            Ok(Some(sent)) => self.connection.link.round_trip.add_sample(now.since(sent)),
            Ok(None) => {}
            Err(NeverSent) => {
                self.counters.ack_never_sent += 1;
                return None;
            }
        }
        Some(id)
    }

    fn handle_command(&mut self, element: &DownElement<'_>) {
        if !self.is_initialised() {
            self.counters.not_ready += 1;
            return;
        }
        let newest = self.reception.newest();
        let told = match element {
            DownElement::Ballistics(shot) => self
                .commands
                .add_shot(newest, *shot)
                .map(|()| ClientEvent::Shot(*shot)),
            DownElement::PlayAnimation(animation) => {
                let added = self.commands.add_animation(newest, animation);
                added.map(|speed| ClientEvent::Animation {
                    id: animation.id,
                    at: animation.at,
                    flags: animation.flags,
                    speed,
                    resref: animation.resref.as_str().into(),
                })
            }
            DownElement::VisualEffect(effect) => {
                let added = self.commands.add_effect(newest, effect);
                added.map(|()| ClientEvent::Effect {
                    id: effect.id,
                    at: effect.at,
                    resref: effect.resref.as_str().into(),
                })
            }
            _ => return,
        };
        match told {
            Ok(event) => self.tell(event),
            Err(Dropped::Duplicate) => {}
            Err(Dropped::Late) => self.counters.command_late += 1,
        }
    }

    fn handle_part(&mut self, now: Instant, part: Part<'_>) {
        // Whoever has not heard them is not ready for snapshots.
        let Some(parameters) = self.admission.parameters() else {
            return;
        };
        let pace = Pace::new(parameters);
        match self.reception.add(now, parameters.compression, part) {
            Ok(None) => {}
            Ok(Some(completed)) => self.show(now, pace, &completed),
            Err(Unused::Unheard) => {
                self.packets.set_due();
                self.counters.settled += 1;
            }
            Err(Unused::Settled | Unused::Rejected(Rejected::TooOld)) => self.counters.settled += 1,
            Err(Unused::Rejected(Rejected::Duplicate)) => self.counters.duplicate += 1,
            Err(Unused::Rejected(Rejected::Contradiction)) => self.counters.contradiction += 1,
            Err(Unused::NoBaseline) => self.counters.baseline_missing += 1,
            Err(Unused::Spoilt(Spoilt::UnknownObject)) => self.counters.unknown_object += 1,
            Err(Unused::Spoilt(Spoilt::Twice)) => self.counters.object_twice += 1,
            Err(Unused::Spoilt(Spoilt::TooMuch)) => self.counters.too_much += 1,
        }
    }

    fn show(&mut self, now: Instant, pace: Pace, completed: &Completed) {
        let snapshot = &completed.snapshot;
        let is_newest = completed.is_newest;
        match completed.mode {
            Mode::Performant => self.counters.performant += 1,
            Mode::Fallback => self.counters.fallback += 1,
        }
        // Too late to be shown, but good to be a baseline.
        let shown = self.showing.add(now, pace, snapshot, is_newest);
        self.counters.late += u64::from(shown.is_err());
        if is_newest {
            self.loss.add_arrival(completed.missing);
            self.packets.set_due();
            self.connection.link.set_good();
            let newest = self.reception.newest();
            self.commands.drop_old_shots(pace, newest);
            if self.phase == Phase::Ready {
                self.phase = Phase::Playing;
                self.tell(ClientEvent::Started);
            }
        }
        let own = self.own().and_then(|own| snapshot.creature(own));
        self.tell(ClientEvent::Snapshot(Whole {
            sequence: snapshot.sequence,
            tick: snapshot.tick,
            answered: completed.answered,
            own: own.copied(),
            velocity: self.own().and_then(|own| snapshot.velocity(own)),
            is_newest,
        }));
        if is_newest {
            self.ask_resrefs(now, snapshot);
        }
    }

    /// No snapshot was whole for long, although parts of some come.
    fn give_up_snapshots(&mut self, now: Instant) {
        // No packet is delayed for so long: more likely the fence is wrong.
        self.reception.open_fence();
        self.admission.accept_any_tick();
        if self.reception.whole().is_some() {
            self.counters.hang += 1;
            self.forget_snapshots(now);
        }
    }

    /// What is held is of no use any more. The picture stays until there is another.
    fn forget_snapshots(&mut self, now: Instant) {
        self.reception.forget(now);
        self.showing.restart();
    }
}

/// Whether snapshots come at the same pace and in the same form.
fn has_same_snapshots(a: &Parameters, b: &Parameters) -> bool {
    (a.tick_rate, a.compression) == (b.tick_rate, b.compression)
}
