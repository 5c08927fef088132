//! The tick for which the player acts now: as far ahead of the server as inputs need to arrive in time.
//!
//! In: the server's tick and the round trip when the client joins, then how early the server says that
//! inputs came, and where the clock stood when they were made. Out: a tick for every moment.
//!
//! A margin and the clock's own place at that input give the place that the input would have needed, however long
//! the margin took and whatever the clock did since: nothing is corrected twice. The clock follows the most that was
//! needed lately, a few percent faster or slower than real time, and never runs backwards. It is set anew only
//! when several margins in a row are far off: one alone is a stall of the network, which no clock makes good.

use core::time::Duration;

use tickwire_session::Instant;
use tickwire_state::Tick;

/// How early inputs should come, in ticks: late enough that acting feels immediate, early enough for a step
/// that is not exactly on time.
const WANTED: f32 = 1.0;

/// How much faster or slower than the real clock it runs while it adapts, in percent. Nobody sees it.
const ADAPTING: i64 = 5;

/// What was needed is forgotten by this part with every margin that needs less: by half in a second.
const FORGETTING: i64 = 32;

/// A margin that needs the clock this far off is no drift.
const SET: Duration = Duration::from_millis(400);

/// So many margins in a row are far off before the clock is set.
const FAR_OFF: u8 = 4;

/// How much earlier than needed inputs begin: the first margins come only after a round trip.
const HEAD_START: i64 = 2;

/// Where the clock stands: microseconds of the tick count minus ours.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Offset(i64);

/// The clock of a player's inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputClock {
    micros_a_tick: i64,
    offset: i64,
    /// The most that was needed, fading.
    needed: i64,
    /// Margins in a row that were far off.
    far_off: u8,
    updated: Instant,
}

impl InputClock {
    /// The server was at `tick` when it wrote what arrives now, half a round trip later. A round trip in which
    /// something was repeated says nothing: beyond half of [`SET`] it is left to margins, which then are within
    /// what the clock adapts to without being set.
    pub(super) fn new(now: Instant, hz: u16, tick: Tick, round_trip: Duration) -> Self {
        let micros_a_tick = 1_000_000 / i64::from(hz.max(1));
        let there = i64::try_from(tick.0).unwrap_or(i64::MAX / micros_a_tick) * micros_a_tick;
        let ahead = signed(round_trip.min(SET / 2)) + HEAD_START * micros_a_tick;
        let offset = there + ahead - here(now);
        Self {
            micros_a_tick,
            offset,
            needed: offset,
            far_off: 0,
            updated: now,
        }
    }

    /// The server says how early an input came, in ticks, that was made when the clock stood at `made`.
    pub(super) fn handle_margin(&mut self, now: Instant, made: Offset, margin: f32) {
        self.advance(now);
        #[expect(clippy::cast_possible_truncation, reason = "a margin is a few ticks")]
        let short = ((WANTED - margin) * self.micros_a_tick as f32) as i64;
        let needed = made.0.saturating_add(short);
        if (needed - self.offset).abs() > signed(SET) {
            self.far_off += 1;
            if self.far_off >= FAR_OFF {
                // Backwards as well: the ticks in between are left without a new input.
                self.offset = needed;
                self.needed = needed;
                self.far_off = 0;
            }
            return;
        }
        self.far_off = 0;
        let less = self.needed - needed;
        self.needed = needed.max(self.needed - less / FORGETTING);
    }

    /// Where the clock stands.
    pub(super) const fn offset(&self) -> Offset {
        Offset(self.offset)
    }

    /// The tick for which the player acts at this moment, and the share of it that has passed.
    pub(super) fn tick_at(&mut self, now: Instant) -> (Tick, f32) {
        self.advance(now);
        let micros = (here(now) + self.offset).max(0);
        let tick = Tick(u64::try_from(micros / self.micros_a_tick).unwrap_or(0));
        let share = (micros % self.micros_a_tick) as f32 / self.micros_a_tick as f32;
        (tick, share)
    }

    /// When the next tick begins.
    pub(super) fn next_tick(&self, now: Instant) -> Instant {
        let micros = (here(now) + self.offset).max(0);
        let left = self.micros_a_tick - micros % self.micros_a_tick;
        now + Duration::from_micros(u64::try_from(left).unwrap_or(0))
    }

    fn advance(&mut self, now: Instant) {
        let reach = signed(now.since(self.updated)) * ADAPTING / 100;
        // What is shorter than a step of the rate is left for later, instead of being lost to rounding.
        if reach == 0 {
            return;
        }
        self.updated = now;
        self.offset += (self.needed - self.offset).clamp(-reach, reach);
    }
}

fn here(now: Instant) -> i64 {
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}

fn signed(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HZ: u16 = 50;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn it_begins_a_round_trip_and_a_little_ahead() {
        let mut clock = InputClock::new(at(1_000), HZ, Tick(500), Duration::from_millis(100));
        assert_eq!(clock.tick_at(at(1_000)), (Tick(507), 0.0));
        assert_eq!(clock.tick_at(at(1_030)), (Tick(508), 0.5));
        assert_eq!(clock.next_tick(at(1_030)), at(1_040));
    }

    #[test]
    fn it_runs_faster_until_inputs_come_early_enough_and_never_backwards() {
        let mut clock = InputClock::new(at(0), HZ, Tick(500), Duration::ZERO);
        // Three ticks too late: 60 ms to make up for, and one tick of margin.
        clock.handle_margin(at(0), clock.offset(), -3.0);
        let (before, _) = clock.tick_at(at(1_000));
        assert_eq!(before, Tick(500 + 2 + 50 + 2));
        let (after, _) = clock.tick_at(at(2_000));
        assert_eq!(after, Tick(500 + 2 + 100 + 4));
        let mut last = after;
        for millis in 2_000..6_000 {
            if millis % 50 == 0 {
                clock.handle_margin(at(millis), clock.offset(), 9.0);
            }
            let (tick, _) = clock.tick_at(at(millis));
            assert!(tick >= last, "back from {last} to {tick}");
            last = tick;
        }
        assert!(last < Tick(500 + 2 + 300), "{last}: it ran slower");
    }

    #[test]
    fn a_margin_that_took_long_is_not_made_up_for_twice() {
        let mut clock = InputClock::new(at(0), HZ, Tick(500), Duration::ZERO);
        let made = clock.offset();
        // The same lack, told for two seconds, of inputs that were all made at the beginning.
        for millis in (0..2_000).step_by(50) {
            clock.handle_margin(at(millis), made, -1.0);
        }
        assert_eq!(clock.tick_at(at(4_000)), (Tick(500 + 2 + 200 + 2), 0.0));
    }

    #[test]
    fn jitter_is_led_by_the_latest_and_forgotten_in_time() {
        let mut clock = InputClock::new(at(0), HZ, Tick(500), Duration::ZERO);
        let begun = clock.offset();
        for millis in (0..4_000).step_by(50) {
            // Every fourth input is three ticks later than the others.
            let late = if millis % 200 == 0 { 3.0 } else { 0.0 };
            let moved = (clock.offset().0 - begun.0) as f32 / 20_000.0;
            clock.handle_margin(at(millis), clock.offset(), 1.0 - late + moved);
        }
        let led = clock.offset().0 - begun.0;
        assert!((50_000..=60_000).contains(&led), "{led} µs");
        for millis in (4_000..14_000).step_by(50) {
            let moved = (clock.offset().0 - begun.0) as f32 / 20_000.0;
            clock.handle_margin(at(millis), clock.offset(), 1.0 + moved);
        }
        let led = clock.offset().0 - begun.0;
        assert!(led < 5_000, "{led} µs");
    }

    #[test]
    fn one_stall_is_passed_over_and_what_stays_far_off_is_set() {
        let mut clock = InputClock::new(at(0), HZ, Tick(500), Duration::ZERO);
        clock.handle_margin(at(0), clock.offset(), -30.0);
        clock.handle_margin(at(0), clock.offset(), 1.0);
        assert_eq!(clock.tick_at(at(1_000)), (Tick(552), 0.0));
        let made = clock.offset();
        for _ in 0..FAR_OFF {
            clock.handle_margin(at(1_000), made, -30.0);
        }
        assert_eq!(clock.tick_at(at(1_000)), (Tick(552 + 31), 0.0));
        // What is still told of before is what the clock was set to.
        clock.handle_margin(at(1_100), made, -30.0);
        assert_eq!(clock.tick_at(at(1_100)), (Tick(552 + 31 + 5), 0.0));
    }
}
