//! The tick for which the player acts now: as far ahead of the server as inputs need to arrive in time.
//!
//! In: the server's tick and the round trip when the client joins, then how early the server says that
//! inputs come. Out: a tick for every moment. The clock never runs backwards. It runs a few percent faster or
//! slower until inputs come as early as they should, and is set anew only when it is far off.

use core::time::Duration;

use tickwire_session::Instant;
use tickwire_state::Tick;

/// How early the latest of some inputs should come, in ticks: late enough that acting feels immediate, early
/// enough for a step that is not exactly on time.
const WANTED: f32 = 1.0;

/// Margins within this of what is wanted are left alone: the clock would otherwise swing.
const TOLERANCE: f32 = 0.5;

/// How much faster or slower than the real clock it runs while it adapts, in percent. Nobody sees it.
const ADAPTING: i64 = 5;

/// A margin this far off, in ticks of a second, is no drift: the clock is set anew.
const SET: Duration = Duration::from_millis(400);

/// How long margins are passed over after the clock was set: they are of inputs that were made before, and would
/// set it again and again, to and fro.
const SETTLING: Duration = Duration::from_secs(1);

/// How much earlier than needed inputs begin: the first margins come only after a round trip.
const HEAD_START: i64 = 2;

/// The clock of a player's inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputClock {
    micros_a_tick: i64,
    /// Microseconds of the tick count minus ours.
    offset: i64,
    /// How much is still to be made up for; above 0, by running faster.
    owed: i64,
    updated: Instant,
    /// Margins that come before this moment are of before the clock was set.
    settled: Instant,
}

impl InputClock {
    /// The server was at `tick` when it wrote what arrives now, half a round trip later. A round trip in which
    /// something was repeated says nothing: beyond half of [`SET`] it is left to margins, which then are within
    /// what the clock adapts to without being set.
    pub(super) fn new(now: Instant, hz: u16, tick: Tick, round_trip: Duration) -> Self {
        let micros_a_tick = 1_000_000 / i64::from(hz.max(1));
        let there = i64::try_from(tick.0).unwrap_or(i64::MAX / micros_a_tick) * micros_a_tick;
        Self {
            micros_a_tick,
            offset: there + signed(round_trip.min(SET / 2)) + HEAD_START * micros_a_tick
                - here(now),
            owed: 0,
            updated: now,
            settled: now,
        }
    }

    /// The server says how early inputs come, in ticks.
    pub(super) fn handle_margin(&mut self, now: Instant, margin: f32) {
        self.advance(now);
        if now < self.settled {
            return;
        }
        let short = WANTED - margin;
        #[expect(clippy::cast_possible_truncation, reason = "a margin is a few ticks")]
        let short = (short * self.micros_a_tick as f32) as i64;
        if short.abs() > signed(SET) {
            // Backwards as well: the ticks in between are left without a new input.
            self.offset += short;
            self.owed = 0;
            self.settled = now + SETTLING;
        } else if (WANTED - margin).abs() > TOLERANCE {
            self.owed = short;
        }
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
        self.updated = now;
        let step = self.owed.clamp(-reach, reach);
        self.owed -= step;
        self.offset += step;
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
        clock.handle_margin(at(0), -3.0);
        let (before, _) = clock.tick_at(at(1_000));
        assert_eq!(before, Tick(500 + 2 + 50 + 2));
        let (after, _) = clock.tick_at(at(2_000));
        assert_eq!(after, Tick(500 + 2 + 100 + 4));
        let mut last = after;
        clock.handle_margin(at(2_000), 9.0);
        for millis in 2_000..4_000 {
            let (tick, _) = clock.tick_at(at(millis));
            assert!(tick >= last, "back from {last} to {tick}");
            last = tick;
        }
    }

    #[test]
    fn what_is_good_enough_is_left_alone_and_what_is_far_off_is_set() {
        let mut clock = InputClock::new(at(0), HZ, Tick(500), Duration::ZERO);
        clock.handle_margin(at(0), 1.4);
        assert_eq!(clock.tick_at(at(1_000)), (Tick(552), 0.0));
        clock.handle_margin(at(1_000), -30.0);
        assert_eq!(clock.tick_at(at(1_000)), (Tick(552 + 31), 0.0));
    }
}
