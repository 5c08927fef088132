//! What one player wants, tick by tick.
//!
//! In: inputs with the ticks that they are for, several times each, in any order. Out: one input for each
//! tick. Nobody can have two inputs taken for one tick, so nobody moves faster than the clock. When an input
//! is missing the last one is held for [`INPUT_HELD`], then the player does nothing. How early inputs come
//! is measured, for the client to adapt its clock by.

use alloc::collections::BTreeMap;

use tickwire_replica::{Quantised, Replicate};
use tickwire_session::{Instant, Loss};
use tickwire_state::Tick;

use crate::limits::{INPUT_AHEAD, INPUT_HELD};
use crate::message::{Inputs, Margin};

/// The inputs of one player.
pub(super) struct InputQueue<I> {
    hz: u16,
    /// Of ticks that have not come: at most as many as [`INPUT_AHEAD`] has ticks.
    waiting: BTreeMap<Tick, Wanted<I>>,
    last: Option<(Tick, Wanted<I>)>,
    /// The newest tick of which there was an input: one that is repeated tells nothing of how early it came.
    heard: Option<Tick>,
    /// A client says something for every tick: ticks without a packet of their own tell of lost ones.
    loss: Loss,
    /// The least margin since the last send, in quarters of a tick.
    margin: Option<i64>,
    /// The one before that, which the client is told.
    told: Margin,
}

/// One input.
#[derive(Clone)]
pub(super) struct Wanted<I> {
    pub(super) input: Quantised<I>,
    /// When the world was true that the player saw, in 256ths of a tick.
    pub(super) shown: u64,
}

impl<I> core::fmt::Debug for InputQueue<I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // Inputs need not be printable.
        f.debug_struct("InputQueue")
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

/// Where the server's clock is.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickClock {
    /// The last tick that was stepped.
    pub(super) tick: Tick,
    /// When that was.
    pub(super) at: Instant,
}

impl<I: Replicate> InputQueue<I> {
    pub(super) const fn new(hz: u16) -> Self {
        Self {
            hz,
            waiting: BTreeMap::new(),
            last: None,
            heard: None,
            loss: Loss::new(),
            margin: None,
            told: Margin::UNKNOWN,
        }
    }

    /// Inputs arrived. Those of ticks that are over, or too far ahead, are passed over; returns how many.
    pub(super) fn handle(
        &mut self,
        now: Instant,
        clock: TickClock,
        header: &Inputs<'_>,
        newest_first: impl IntoIterator<Item = Quantised<I>>,
    ) -> u64 {
        // A game need not take the inputs of a player who has nothing to move.
        self.pass(clock.tick);
        let newest = nearest(clock.tick, header.tick);
        let farthest = clock.tick.0 + self.ticks_in(INPUT_AHEAD);
        if self.heard.is_none_or(|heard| newest > heard) {
            self.measure(now, clock, newest);
            let ticks = self.heard.map_or(1, |heard| newest.0 - heard.0);
            let missing = u32::try_from(ticks - 1).unwrap_or(u32::MAX);
            self.loss.add_arrival(missing);
            self.heard = Some(newest).filter(|it| it.0 <= farthest).or(self.heard);
        }
        let mut unused = 0;
        for (age, input) in (0..).zip(newest_first) {
            let tick = newest.before(age);
            if tick <= clock.tick || tick.0 > farthest {
                unused += u64::from(tick.0 > farthest);
                continue;
            }
            let shown = (tick.0 * 256).saturating_sub(header.shown.into());
            // The first to arrive counts: nobody takes back what was said.
            self.waiting.entry(tick).or_insert(Wanted { input, shown });
        }
        unused
    }

    /// What the player wants for a tick that is stepped now; nothing if it has not been heard for too long.
    pub(super) fn take(&mut self, tick: Tick) -> Option<&Wanted<I>> {
        self.pass(tick);
        let held = self.ticks_in(INPUT_HELD);
        let (since, wanted) = self.last.as_ref()?;
        (tick.0 <= since.0 + held).then_some(wanted)
    }

    /// Nothing up to this tick waits any longer: the newest of it is the last input.
    fn pass(&mut self, tick: Tick) {
        while let Some(entry) = self.waiting.first_entry()
            && *entry.key() <= tick
        {
            self.last = Some(entry.remove_entry());
        }
    }

    /// The share of its packets that did not arrive.
    pub(super) const fn loss(&self) -> Option<f32> {
        self.loss.share()
    }

    /// A send begins.
    pub(super) fn begin_send(&mut self) {
        self.told = self.margin.take().map_or(Margin::UNKNOWN, Margin::quarters);
    }

    /// How early the latest of the inputs came that first arrived between the last two sends.
    pub(super) const fn margin(&self) -> Margin {
        self.told
    }

    fn measure(&mut self, now: Instant, clock: TickClock, newest: Tick) {
        let micros_a_tick = 1_000_000 / i64::from(self.hz);
        let ahead = i64::try_from(newest.0).unwrap_or(i64::MAX)
            - i64::try_from(clock.tick.0).unwrap_or(i64::MAX);
        let passed = i64::try_from(now.since(clock.at).as_micros()).unwrap_or(i64::MAX);
        let quarters = ahead
            .saturating_mul(4)
            .saturating_sub(passed.saturating_mul(4) / micros_a_tick);
        self.margin = Some(self.margin.map_or(quarters, |least| least.min(quarters)));
    }

    fn ticks_in(&self, span: core::time::Duration) -> u64 {
        let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        millis * u64::from(self.hz) / 1_000
    }
}

/// The tick nearest to `near` that has these lowest bits.
fn nearest(near: Tick, low: u16) -> Tick {
    let [near_low, near_high, ..] = near.0.to_le_bytes();
    let steps = tickwire_wire::Serial::steps_since(low, u16::from_le_bytes([near_low, near_high]));
    Tick(
        near.0
            .checked_add_signed(steps)
            .unwrap_or_else(|| low.into()),
    )
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const HZ: u16 = 50;

    fn clock(tick: u64) -> TickClock {
        TickClock {
            tick: Tick(tick),
            at: Instant::from_millis(tick * 20),
        }
    }

    fn quantised(value: u8) -> Quantised<u8> {
        Quantised::new(&value).unwrap()
    }

    /// Hands in inputs, newest first, that arrive right after the tick before `newest`.
    fn hand_in(queue: &mut InputQueue<u8>, at: u64, newest: u64, values: &[u8]) -> u64 {
        let header = Inputs {
            tick: u16::try_from(newest % 65_536).unwrap(),
            shown: 256 * 3,
            ..Inputs::NONE
        };
        let values = values.iter().copied().map(quantised);
        queue.handle(Instant::from_millis(at * 20), clock(at), &header, values)
    }

    fn taken(queue: &mut InputQueue<u8>, tick: u64) -> Option<u8> {
        queue.take(Tick(tick)).map(|wanted| wanted.input.value())
    }

    #[test]
    fn each_tick_gets_its_own_input_whatever_the_order() {
        let mut queue = InputQueue::new(HZ);
        hand_in(&mut queue, 100, 103, &[3, 2, 1]);
        hand_in(&mut queue, 100, 102, &[2, 1]);
        assert_eq!(
            [101, 102, 103].map(|tick| taken(&mut queue, tick)),
            [Some(1), Some(2), Some(3)]
        );
    }

    #[test]
    fn a_lost_input_is_replaced_by_the_last_and_let_go_in_time() {
        let mut queue = InputQueue::new(HZ);
        hand_in(&mut queue, 100, 101, &[7]);
        // A quarter of a second is twelve ticks.
        let heard: Vec<_> = (101..=113).map(|tick| taken(&mut queue, tick)).collect();
        assert!(heard.iter().all(|input| *input == Some(7)));
        assert_eq!(taken(&mut queue, 114), None);
    }

    #[test]
    fn what_was_said_first_counts_and_what_is_over_does_not() {
        let mut queue = InputQueue::new(HZ);
        hand_in(&mut queue, 100, 101, &[1]);
        hand_in(&mut queue, 100, 101, &[2]);
        assert_eq!(taken(&mut queue, 101), Some(1));
        hand_in(&mut queue, 101, 101, &[9]);
        assert_eq!(taken(&mut queue, 102), Some(1));
    }

    #[test]
    fn inputs_far_ahead_are_refused_so_that_what_waits_is_bounded() {
        let mut queue = InputQueue::new(HZ);
        assert_eq!(hand_in(&mut queue, 100, 151, &[9, 8]), 1);
        for newest in 101..400 {
            hand_in(&mut queue, 100, newest, &[0]);
        }
        assert_eq!(queue.waiting.len(), usize::from(HZ));
    }

    #[test]
    fn inputs_that_the_game_never_takes_do_not_pile_up() {
        let mut queue = InputQueue::new(HZ);
        for tick in 100..400 {
            hand_in(&mut queue, tick, tick + 2, &[9]);
        }
        assert_eq!(queue.waiting.len(), 2);
        assert_eq!(taken(&mut queue, 401), Some(9));
    }

    #[test]
    fn margins_tell_how_early_the_latest_came() {
        let mut queue = InputQueue::new(HZ);
        assert_eq!(queue.margin(), Margin::UNKNOWN);
        hand_in(&mut queue, 100, 102, &[1]);
        hand_in(&mut queue, 101, 105, &[1]);
        queue.begin_send();
        assert_eq!(queue.margin().ticks(), Some(2.0));
        hand_in(&mut queue, 107, 106, &[1]);
        queue.begin_send();
        assert_eq!(queue.margin().ticks(), Some(-1.0));
        // Repeated, or overtaken.
        hand_in(&mut queue, 108, 106, &[1]);
        queue.begin_send();
        assert_eq!(queue.margin(), Margin::UNKNOWN);
    }

    #[test]
    fn what_the_player_saw_belongs_to_the_input() {
        let mut queue = InputQueue::new(HZ);
        hand_in(&mut queue, 100, 102, &[2, 1]);
        assert_eq!(queue.take(Tick(101)).unwrap().shown, 98 * 256);
        assert_eq!(queue.take(Tick(102)).unwrap().shown, 99 * 256);
    }

    #[test]
    fn ticks_are_widened_across_the_wrap() {
        assert_eq!(nearest(Tick(65_534), 2), Tick(65_538));
        assert_eq!(nearest(Tick(65_538), 65_534), Tick(65_534));
        assert_eq!(
            nearest(Tick(3), 65_534),
            Tick(65_534),
            "nothing lies before the first"
        );
    }
}
