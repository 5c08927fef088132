//! What the server's datagrams make the client do: snapshots, commands, and control.

use alloc::sync::Arc;

use tickwire_session::{Addr, Instant};
use tickwire_state::RemoteClock;
use tickwire_wire::Serial;

use super::super::limits::RECEIVE_MAX;
use super::super::message::{Compression, Down, DownElement, DownHeader, Packet, Parameters};
use super::super::{EventId, Mode, SnapshotSeq};
use super::assembly::{self, Assembly, Part, Rejected};
use super::command::Dropped;
use super::event::Whole;
use super::limits::{EXTRAPOLATION_MAX, HANG, PING_PERIOD};
use super::snapshot::{Snapshot, Spoilt};
use super::uplink::NeverSent;
use super::{Client, ClientEvent, Phase, tick};

impl Client {
    pub(super) fn receive_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        if self.is_over() {
            return;
        }
        if from != self.connection.server() {
            self.counters.stranger += 1;
            return;
        }
        // Before the parameters came, nothing that could be coded is taken anyway.
        let compression = match self.parameters {
            Some(parameters) if self.is_initialised() => parameters.compression,
            _ => Compression::None,
        };
        let mut scratch = core::mem::take(&mut self.scratch);
        let packet = match bytes.len() {
            ..=RECEIVE_MAX => assembly::decode(compression, bytes, &mut scratch).ok(),
            _ => None,
        };
        match packet {
            Some(packet) => {
                self.traffic.received(bytes.len());
                self.connection.hear(now);
                self.last_datagram = Some(now);
                self.hear_packet(now, bytes, &packet);
            }
            None => self.counters.undecodable += 1,
        }
        self.scratch = scratch;
    }

    fn hear_packet(&mut self, now: Instant, bytes: &[u8], packet: &Packet<'_, Down>) {
        let header = packet.header;
        let is_part = header.sequence != SnapshotSeq::NONE;
        if is_part {
            if !self.is_initialised() {
                self.border.hear_early(header.sequence);
                self.counters.not_ready += 1;
                return;
            }
            if now.since(self.last_whole) >= HANG {
                self.give_up_snapshots(now);
            }
            if self.border.is_before(&header) {
                self.counters.earlier_module += 1;
                return;
            }
            self.last_part = Some(now);
            self.pings = 0;
            self.dispel_doubt();
            self.newest = self.newest.max(header.sequence);
            self.border.hear(header.sequence);
        }
        let (mut last, mut answered) = (None, None);
        for element in packet.elements() {
            self.traffic.messages_in += 1;
            match element {
                DownElement::Last { datagrams } => last = Some(datagrams),
                DownElement::Parameters(parameters) => {
                    self.hear_parameters(now, header.tick, &parameters);
                }
                DownElement::Invalid(why) => self.hear_invalid(now, why),
                DownElement::EventAck(id) => answered = answered.max(self.hear_event_ack(now, id)),
                _ => self.hear_command(&element),
            }
        }
        if is_part {
            let part = Part {
                header,
                bytes,
                last,
                answered,
            };
            self.hear_part(now, part);
        }
    }

    fn hear_parameters(&mut self, now: Instant, tick: u32, parameters: &Parameters) {
        if !self.is_initialised() && self.phase != Phase::Initialising {
            self.counters.not_ready += 1;
            return;
        }
        if self.module() != Some(parameters.module) {
            self.counters.other_module += 1;
            return;
        }
        // Those of one tick cannot be told apart. The later arrival counts: if that is the wrong one, the
        // server says the right one again at a later tick.
        if self
            .parameters_tick
            .is_some_and(|newest| tick.is_older_than(newest))
        {
            self.counters.parameters_late += 1;
            return;
        }
        self.parameters_tick = Some(tick);
        let before = self.parameters.replace(*parameters);
        if before.is_some_and(|before| !has_same_snapshots(&before, parameters)) {
            self.forget_snapshots(now);
        }
        if self.phase == Phase::Initialising || before.as_ref() != Some(parameters) {
            self.tell(ClientEvent::Initialised(*parameters));
        }
        if self.phase == Phase::Initialising {
            self.phase = Phase::Ready;
            self.last_whole = now;
            self.border.begin_module(tick);
        }
        // Whoever says its parameters has not heard Ready.
        self.owes_ready = true;
        self.next_ping = now + PING_PERIOD;
        self.pings = 0;
        self.doubt = None;
    }

    /// Returns the event if it was ever sent.
    fn hear_event_ack(&mut self, now: Instant, id: EventId) -> Option<EventId> {
        match self.uplink.acknowledge(id) {
            Ok(Some(sent)) => self.round_trip.add_sample(now.since(sent)),
            Ok(None) => {}
            Err(NeverSent) => {
                self.counters.ack_never_sent += 1;
                return None;
            }
        }
        Some(id)
    }

    fn hear_command(&mut self, element: &DownElement<'_>) {
        if !self.is_initialised() {
            self.counters.not_ready += 1;
            return;
        }
        let newest = self.newest;
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

    fn hear_part(&mut self, now: Instant, part: Part<'_>) {
        let sequence = part.header.sequence;
        let whole = self.whole.as_ref().map(|whole| whole.sequence);
        if self.baselines.get(tick(sequence)).is_some() || whole == Some(sequence) {
            // The server repeats it because the acknowledgement was lost.
            if whole == Some(sequence) {
                self.uplink.set_due();
            }
            self.counters.settled += 1;
            return;
        }
        match self.assemblies.add(part) {
            Ok(None) => {}
            Ok(Some(assembly)) => self.build(now, &assembly),
            Err(Rejected::Duplicate) => self.counters.duplicate += 1,
            Err(Rejected::TooOld) => self.counters.settled += 1,
            Err(Rejected::Contradiction) => self.counters.contradiction += 1,
        }
    }

    /// Builds the snapshot whose datagrams are all here.
    fn build(&mut self, now: Instant, assembly: &Assembly) {
        let DownHeader { acknowledged, .. } = assembly.header;
        let baseline = match acknowledged {
            SnapshotSeq::NONE => self.base.clone(),
            sequence => self.baselines.get(tick(sequence)).cloned(),
        };
        let (Some(baseline), Some(parameters)) = (baseline, self.parameters) else {
            self.counters.baseline_missing += 1;
            return;
        };
        match assembly.build(parameters.compression, &baseline) {
            Ok(snapshot) => {
                self.complete(now, acknowledged, assembly.answered, Arc::new(snapshot));
            }
            Err(Spoilt::UnknownObject) => self.counters.unknown_object += 1,
            Err(Spoilt::Twice) => self.counters.object_twice += 1,
        }
    }

    fn complete(
        &mut self,
        now: Instant,
        baseline: SnapshotSeq,
        answered: Option<EventId>,
        snapshot: Arc<Snapshot>,
    ) {
        let sequence = snapshot.sequence;
        let before = self.whole.as_ref().map(|whole| whole.sequence);
        let is_newest = before.is_none_or(|before| before < sequence);
        self.baselines.insert(tick(sequence), snapshot.clone());
        if core::mem::take(&mut self.is_new_timeline) {
            self.timeline.clear();
            self.clock = RemoteClock::new();
        }
        let time = self.time_of(sequence).unwrap_or_default();
        // Too late to be shown, but good to be a baseline.
        let shown = self.timeline.insert(time, snapshot.clone());
        self.counters.late += u64::from(shown.is_err());
        let mode = match baseline {
            SnapshotSeq::NONE => Mode::Fallback,
            _ => Mode::Performant,
        };
        self.counters.performant += u64::from(mode == Mode::Performant);
        self.counters.fallback += u64::from(mode == Mode::Fallback);
        let own = self.own().and_then(|own| snapshot.creature(own)).copied();
        if is_newest {
            self.clock.add_arrival(now, time);
            let missing = before.map_or(0, |before| sequence.since(before) - 1);
            self.loss.add_arrival(missing);
            // An acknowledgement holds for later snapshots too.
            self.answered = self.answered.max(answered.unwrap_or_default());
            self.mode = Some(mode);
            self.whole = Some(snapshot.clone());
            self.last_whole = now;
            self.uplink.set_due();
            // The server refers to what it knows to be here, and that only moves on.
            self.baselines.drop_older(tick(baseline));
            self.assemblies.drop_older(baseline);
            self.connection.set_good();
            self.drop_old_shots();
            if self.phase == Phase::Ready {
                self.phase = Phase::Playing;
                self.tell(ClientEvent::Started);
            }
        }
        // What a newer one answers may be more than this one shows.
        let at_least = match is_newest {
            true => self.answered,
            false => EventId::default(),
        };
        self.tell(ClientEvent::Snapshot(Whole {
            sequence,
            tick: snapshot.tick,
            answered: answered.unwrap_or(at_least),
            own,
            is_newest,
        }));
        if is_newest {
            self.ask_resrefs(now);
        }
    }

    /// Forgets the shots that will not be shown again, however late the picture is.
    fn drop_old_shots(&mut self) {
        let Some(parameters) = self.parameters else {
            return;
        };
        let lerp = core::time::Duration::from_millis(parameters.lerp_ms.into());
        let (newest, interval) = (self.newest, self.interval().unwrap_or_default());
        let lives = &self.shot_lives;
        self.commands.drop_shots(|shot| {
            let age = interval.saturating_mul(newest.since(shot.at));
            age > lives.of(shot.kind) + lerp + EXTRAPOLATION_MAX
        });
    }

    /// No snapshot was whole for long, although parts of some come.
    fn give_up_snapshots(&mut self, now: Instant) {
        // Nothing is held up for so long. Rather is the border where it should not be.
        self.border.clear();
        self.parameters_tick = None;
        if self.whole.is_some() {
            self.counters.hang += 1;
            self.forget_snapshots(now);
        }
    }

    /// What is held is of no use any more. The picture stays until there is another.
    pub(super) fn forget_snapshots(&mut self, now: Instant) {
        self.assemblies.clear();
        self.baselines.clear();
        self.newest = SnapshotSeq::NONE;
        self.whole = None;
        self.mode = None;
        self.last_part = None;
        self.last_whole = now;
        self.is_new_timeline = true;
    }
}

/// Whether snapshots come at the same pace and in the same form.
fn has_same_snapshots(a: &Parameters, b: &Parameters) -> bool {
    (a.tick_rate, a.compression) == (b.tick_rate, b.compression)
}
