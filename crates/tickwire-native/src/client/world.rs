//! What a client has once it takes part: the replica, its clocks, its own entity.

use alloc::collections::VecDeque;
use core::fmt;
use core::time::Duration;

use tickwire_replica::world::PlayerId;
use tickwire_replica::{
    Applied, ApplyError, Archetype, Archetypes as _, EntityId, Event, Moment, PacketNumber,
    Quantised, Replica, ReplicaConfig, Schema, SendIndex,
};
use tickwire_session::{Instant, Loss, RoundTrip, Updates};
use tickwire_state::{InputNumber, Prediction, PredictionFigures, Predictor, Tick};

use super::event::ClientEvent;
use super::input_clock::{InputClock, Offset};
use super::own::{Rounded, Rules};
use super::playback::Playback;
use super::provisional::{Ahead, Provisional, ProvisionalId};
use crate::game::Game;
use crate::limits::{ACK_PATIENCE, INPUT_AHEAD, TIMED_WAITING};
use crate::message::{Acks, Margin, Role, Welcome};

/// Inputs that are kept, to be applied again to what the server says.
const INPUTS_KEPT: usize = tickwire_state::INPUTS_WAITING;

/// An input that was made.
struct Made<I> {
    /// The tick that it is for.
    tick: Tick,
    input: Quantised<I>,
    /// Where the clock stood.
    offset: Offset,
}

/// What a client has once it takes part.
pub(super) struct Joined<G: Game> {
    pub(super) player: PlayerId,
    schema: Schema,
    replica: Replica<G::Things>,
    playback: Playback,
    input_clock: InputClock,
    tick: Duration,
    ticks_a_send: u64,
    /// The newest inputs, oldest first, for consecutive ticks unless the clock was set.
    inputs: VecDeque<Made<G::Input>>,
    own: Option<EntityId>,
    predictor: Option<Predictor<Rules<G>>>,
    /// The send of what the predictor was told last.
    answered: SendIndex,
    shown_own: Option<G::Things>,
    /// What came of inputs and is shown ahead of the server, as the own entity is.
    provisional: Provisional<G>,
    /// Whether inputs are sent, with which acknowledgements may travel.
    is_player: bool,
    pub(super) acks: Option<Acks>,
    /// Something is to be said by datagram.
    pub(super) is_due: bool,
    /// The game wants everything anew.
    asks_anew: bool,
    /// Events that wait for playback, by tick.
    timed: VecDeque<(Tick, G::ToClient)>,
    near: Tick,
    /// The packets that were applied.
    pub(super) updates: Updates,
    /// The newest packet that was applied.
    newest: Option<PacketNumber>,
    pub(super) loss: Loss,
}

impl<G: Game> Joined<G> {
    pub(super) fn new(
        now: Instant,
        welcome: &Welcome,
        (schema, role): (Schema, Role),
        way: &RoundTrip,
    ) -> Self {
        let tick = Tick(welcome.tick.into());
        let ticks_a_send = u64::from(welcome.ticks_a_send);
        let config = ReplicaConfig {
            ticks_per_send: welcome.ticks_a_send.into(),
            ticks_per_second: welcome.hz.into(),
            near: SendIndex(tick.0 / ticks_a_send),
            ..ReplicaConfig::DEFAULT
        };
        let replica = Replica::with_prior(config, crate::game::prior::<G>());
        Self {
            player: PlayerId(welcome.player),
            schema,
            replica,
            playback: Playback::new(welcome.hz, welcome.ticks_a_send),
            input_clock: InputClock::new(now, welcome.hz, tick, way.mean().unwrap_or_default()),
            tick: Duration::from_secs(1) / u32::from(welcome.hz),
            ticks_a_send,
            inputs: VecDeque::new(),
            own: None,
            predictor: None,
            answered: SendIndex::NONE,
            shown_own: None,
            provisional: Provisional::new(welcome.hz),
            is_player: role == Role::Player,
            acks: None,
            is_due: true,
            asks_anew: false,
            timed: VecDeque::new(),
            near: tick,
            updates: Updates::NONE,
            newest: None,
            loss: Loss::new(),
        }
    }

    /// Makes an input for every tick that began.
    pub(super) fn advance_inputs(&mut self, now: Instant, input: &G::Input) {
        let (tick, share) = self.input_clock.tick_at(now);
        self.take_back_inputs(now, tick);
        let last = self.inputs.back().map(|made| made.tick);
        let last = last.unwrap_or_else(|| tick.before(1));
        // Whoever slept has nothing to say about the ticks in between.
        let first = last.next().max(tick.before(INPUTS_KEPT as u64 / 2));
        let Ok(input) = Quantised::new(input) else {
            return;
        };
        for number in first.0..=tick.0 {
            let number = Tick(number);
            if self.inputs.len() >= INPUTS_KEPT {
                self.inputs.pop_front();
            }
            self.inputs.push_back(Made {
                tick: number,
                input: input.clone(),
                offset: self.input_clock.offset(),
            });
            let ago = self.tick.mul_f32(share) + self.tick * small(tick.0 - number.0);
            if let Some(predictor) = &mut self.predictor {
                // Refused only while the server has been silent for two seconds: then it stands still.
                predictor
                    .apply_input(now.before(ago), input_number(number), input.value())
                    .ok();
                let own = predictor.current().value();
                self.provisional.step(number, own, &input.value());
            }
            self.is_due |= self.is_player;
        }
    }

    /// The clock was set back: what was said for ticks that the server refuses as too far ahead is said anew.
    /// What it may have taken stands, because there the first input counts.
    fn take_back_inputs(&mut self, now: Instant, tick: Tick) {
        let count = self.inputs.len();
        let reach = INPUT_AHEAD.as_micros() / self.tick.as_micros().max(1);
        let farthest = Tick(tick.0 + u64::try_from(reach).unwrap_or(0));
        while self.inputs.back().is_some_and(|made| made.tick > farthest) {
            self.inputs.pop_back();
        }
        if self.inputs.len() < count {
            self.predictor = None;
            self.answered = SendIndex::NONE;
            self.correct(now);
        }
    }

    /// When the next input is due.
    pub(super) fn next_input(&self, now: Instant) -> Instant {
        self.input_clock.next_tick(now)
    }

    /// The newest inputs and the tick of the newest, and how much older what is shown is.
    pub(super) fn newest_inputs(
        &self,
    ) -> Option<(Tick, u16, impl Iterator<Item = &Quantised<G::Input>>)> {
        let newest = self.inputs.back()?.tick;
        let behind = Moment::of(newest).since(self.replica.now());
        let shown = u16::try_from(behind).unwrap_or(u16::MAX);
        // Those before a gap are for other ticks than they would seem to be.
        let rows = self.inputs.iter().rev().zip(0..);
        let in_row = rows.take_while(move |(made, age)| made.tick.0 + age == newest.0);
        Some((newest, shown, in_row.map(|(made, _)| &made.input)))
    }

    /// A packet of the world's state arrived.
    pub(super) fn apply(
        &mut self,
        now: Instant,
        margin: Margin,
        packet: &[u8],
    ) -> Result<Applied, ApplyError> {
        let applied = self.replica.apply(packet)?;
        self.acks = Some(Acks::with(self.acks, applied.packet));
        let next_input = self.input_clock.next_tick(now);
        self.is_due |= !self.is_player || next_input.since(now) > ACK_PATIENCE;
        self.updates.add(now);
        self.note_loss(applied.packet);
        let tick = applied.send.0 * self.ticks_a_send;
        if let Some(margin) = margin.ticks() {
            let made = self.offset_of(tick, margin);
            self.input_clock.handle_margin(now, made, margin);
        }
        self.near = self.near.max(Tick(tick));
        self.playback.handle_arrival(now, tick);
        self.correct(now);
        self.correct_provisional(tick);
        Ok(applied)
    }

    /// Packets are numbered without gaps: those between two that arrived did not, or came too late.
    fn note_loss(&mut self, packet: PacketNumber) {
        let newest = self.newest.unwrap_or(packet);
        if packet >= newest {
            let missing = (packet.0 - newest.0).saturating_sub(1);
            self.loss
                .add_arrival(u32::try_from(missing).unwrap_or(u32::MAX));
            self.newest = Some(packet);
        }
    }

    /// How long the way to the server and back was when it sent this packet, with what it says of the inputs' way.
    ///
    /// An input that leaves now is for the tick of the input clock and comes `margin` ticks before it; what arrives
    /// now left at the packet's tick. All that lies in between is the way up and down, to a tick.
    pub(super) fn round_trip(
        &mut self,
        now: Instant,
        margin: Margin,
        applied: &Applied,
    ) -> Option<Duration> {
        let (tick, share) = self.input_clock.tick_at(now);
        let left = applied.send.0 * self.ticks_a_send;
        let ahead = u16::try_from(tick.0.checked_sub(left)?).ok()?;
        let ticks = f32::from(ahead) + share - margin.ticks()?;
        (ticks >= 0.0).then(|| self.tick.mul_f32(ticks))
    }

    /// Whether an own entity is predicted.
    pub(super) const fn predicts(&self) -> bool {
        self.predictor.is_some()
    }

    /// Where the clock stood when an input was made of which the server, at `tick`, says how early it came.
    fn offset_of(&self, tick: u64, margin: f32) -> Offset {
        #[expect(clippy::cast_possible_truncation, reason = "a margin is a few ticks")]
        let ahead = margin as i64;
        let number = Tick(tick.saturating_add_signed(ahead));
        let at = self.inputs.partition_point(|made| made.tick < number);
        let made = self.inputs.get(at).or_else(|| self.inputs.back());
        made.map_or_else(|| self.input_clock.offset(), |made| made.offset)
    }

    /// Whether the server is to send everything anew.
    pub(super) fn poll_forget(&mut self) -> bool {
        self.replica.poll_forget() | core::mem::take(&mut self.asks_anew)
    }

    pub(super) const fn ask_anew(&mut self) {
        self.asks_anew = true;
        self.is_due = true;
    }

    /// The server says which entity is the player's.
    pub(super) fn set_own(&mut self, now: Instant, own: Option<EntityId>) {
        self.own = own;
        self.predictor = None;
        self.answered = SendIndex::NONE;
        self.shown_own = None;
        self.correct(now);
    }

    /// Tells the predictor what the server says of the own entity.
    fn correct(&mut self, now: Instant) {
        let Some((send, value)) = self.own.and_then(|own| self.replica.latest_any(own)) else {
            return;
        };
        if send <= self.answered {
            return;
        }
        let Some(state) = Rounded::new(&self.schema, &value) else {
            return;
        };
        self.answered = send;
        let tick = Tick(send.0 * self.ticks_a_send);
        if let Some(predictor) = &mut self.predictor {
            predictor.apply_answer(now, input_number(tick), state);
            return;
        }
        let shape = Prediction {
            step: self.tick,
            snap: f32::MAX,
        };
        let rules = Rules::new(self.schema.clone());
        let mut predictor = Predictor::new(rules, shape, now, input_number(tick), state);
        for made in self.inputs.iter().filter(|made| made.tick > tick) {
            predictor
                .apply_input(now, input_number(made.tick), made.input.value())
                .ok();
        }
        self.predictor = Some(predictor);
    }

    /// Says of what came of inputs what the server says, at this tick.
    fn correct_provisional(&mut self, tick: u64) {
        let Self {
            provisional,
            replica,
            ticks_a_send,
            ..
        } = self;
        provisional.correct(Tick(tick), |id| {
            let (send, value) = replica.latest_any(id)?;
            Some((Tick(send.0 * *ticks_a_send), value))
        });
    }

    /// An entity came of the input of a tick, of which the lowest bits are known.
    pub(super) fn confirm(&mut self, tick: u32, id: EntityId) {
        self.provisional.confirm(widened(self.near, tick), id);
    }

    /// Something happened at a tick, of which the lowest bits are known.
    pub(super) fn add_timed(&mut self, tick: u32, event: G::ToClient) -> Result<(), G::ToClient> {
        if self.timed.len() >= TIMED_WAITING {
            return Err(event);
        }
        let tick = widened(self.near, tick);
        let at = self.timed.partition_point(|(held, _)| *held <= tick);
        self.timed.insert(at, (tick, event));
        Ok(())
    }

    /// Goes on to the moment that is to be shown now.
    pub(super) fn play(&mut self, now: Instant, events: &mut VecDeque<ClientEvent<G>>) {
        let Some(moment) = self.playback.moment(now) else {
            return;
        };
        self.replica.play(moment);
        while let Some(event) = self.replica.poll_event() {
            match event {
                Event::Spawned { archetype, id } => {
                    events.push_back(ClientEvent::Spawned { id, archetype });
                    let replaced = self.provisional.replace(id);
                    events.extend(replaced.map(|provisional| ClientEvent::Replaced {
                        provisional,
                        by: id,
                    }));
                }
                Event::Despawned { archetype, id } => {
                    events.push_back(ClientEvent::Despawned { id, archetype });
                    self.provisional.forget(id);
                }
            }
        }
        self.provisional.show(self.input_clock.tick_at(now).1);
        while let Some((tick, _)) = self.timed.front()
            && Moment::of(*tick) <= moment
            && let Some((_, event)) = self.timed.pop_front()
        {
            events.push_back(ClientEvent::Happened(event));
        }
        let sample = self.predictor.as_ref().map(|it| it.sample(now));
        self.shown_own = sample.map(|state| copy::<G>(state.value()));
    }

    pub(super) fn view<T: Archetype<G::Things>>(&self) -> impl Iterator<Item = (EntityId, T)> {
        let own = self.own();
        self.replica.view().filter_map(move |(id, value)| {
            let shown = match (&own, self.provisional.of(id)) {
                (Some((own, predicted)), _) if *own == id => T::clone(predicted),
                (_, Some(Ahead::Gone)) => return None,
                (_, Some(Ahead::Shown(thing))) => T::of(copy::<G>(thing))?,
                (_, None) => value,
            };
            Some((id, shown))
        })
    }

    pub(super) fn provisional<T: Archetype<G::Things>>(
        &self,
    ) -> impl Iterator<Item = (ProvisionalId, T)> {
        let waiting = self.provisional.waiting();
        waiting.filter_map(|(id, thing)| Some((id, T::of(copy::<G>(thing))?)))
    }

    pub(super) fn get<T: Archetype<G::Things>>(&self, id: EntityId) -> Option<T> {
        match self.own() {
            Some((own, predicted)) if own == id => Some(predicted),
            _ => match self.provisional.of(id) {
                Some(Ahead::Gone) => None,
                Some(Ahead::Shown(thing)) => T::of(copy::<G>(thing)),
                None => self.replica.get(id),
            },
        }
    }

    pub(super) fn own<T: Archetype<G::Things>>(&self) -> Option<(EntityId, T)> {
        let shown = self.shown_own.as_ref()?;
        Some((self.own?, T::of(copy::<G>(shown))?))
    }

    pub(super) const fn replica(&self) -> &Replica<G::Things> {
        &self.replica
    }

    pub(super) fn delay(&self) -> Option<Duration> {
        self.playback.delay()
    }

    pub(super) fn figures(&self) -> PredictionFigures {
        let predictor = self.predictor.as_ref();
        predictor.map(Predictor::figures).unwrap_or_default()
    }
}

impl<G: Game> fmt::Debug for Joined<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined")
            .field("player", &self.player)
            .field("own", &self.own)
            .finish_non_exhaustive()
    }
}

/// A copy: nothing of the way from a value to itself.
pub(super) fn copy<G: Game>(value: &G::Things) -> G::Things {
    value.between(value, 0.0)
}

/// Inputs are numbered by their ticks. After two years at 60 a second the numbers end.
fn input_number(tick: Tick) -> InputNumber {
    InputNumber(u32::try_from(tick.0).unwrap_or(u32::MAX))
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The tick nearest to `near` that has these lowest bits.
fn widened(near: Tick, low: u32) -> Tick {
    let near_low = crate::server::low_half(near);
    let steps = tickwire_wire::Serial::steps_since(low, near_low);
    Tick(
        near.0
            .checked_add_signed(steps)
            .unwrap_or_else(|| low.into()),
    )
}
