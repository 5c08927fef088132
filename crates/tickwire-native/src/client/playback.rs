//! Which moment of the server's world a client shows: behind it by as little as the network allows.
//!
//! In: when sends arrive, and which were lost. Out: a moment in ticks, which runs on evenly. It is behind by
//! one send and by what sends have lately been late by, and runs a few percent faster or slower until that is
//! so: nobody sees it.

use core::time::Duration;

use tickwire_replica::Moment;
use tickwire_session::Instant;
use tickwire_state::RemoteClock;

/// How much faster or slower than the real clock it runs while it adapts, in percent.
const ADAPTING: u32 = 5;

/// Further off than this it is set: the client slept, or the server's clock was set.
const SET: Duration = Duration::from_millis(500);

/// Lateness that was seen is forgotten by half in this time.
const FORGETTING: Duration = Duration::from_secs(3);

/// The longest delay. A network that needs more is shown with gaps.
const DELAY_MAX: Duration = Duration::from_millis(500);

/// What a frame of the client's own may add to lateness.
const SLACK: Duration = Duration::from_millis(5);

/// The clock of what is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Playback {
    tick: Duration,
    send: Duration,
    server: RemoteClock,
    /// The most that a send was late by, fading.
    late: Duration,
    newest: Option<Duration>,
    /// What was shown last, and when.
    shown: Option<(Instant, Duration)>,
}

impl Playback {
    /// Nothing has arrived.
    pub(super) fn new(hz: u16, ticks_a_send: u8) -> Self {
        let tick = Duration::from_secs(1) / u32::from(hz.max(1));
        Self {
            tick,
            send: tick * u32::from(ticks_a_send),
            server: RemoteClock::new(),
            late: Duration::ZERO,
            newest: None,
            shown: None,
        }
    }

    /// A packet arrived that shows the world at a tick.
    pub(super) fn handle_arrival(&mut self, now: Instant, tick: u64) {
        let shows = self.moment_of(tick);
        if self.newest.is_some_and(|newest| shows <= newest) {
            return;
        }
        self.server.add_arrival(now, shows);
        let reached = self.server.time_at(now).unwrap_or(shows);
        // What was lost on the way would have been shown from here on: it is as late as this one comes.
        let missed = self.newest.map_or(Duration::ZERO, |newest| {
            (shows - newest)
                .saturating_sub(self.send)
                .min(self.send * 2)
        });
        let late = reached.saturating_sub(shows) + missed;
        self.late = self.late.max(late).min(DELAY_MAX);
        self.newest = Some(shows);
    }

    /// The moment to show.
    pub(super) fn moment(&mut self, now: Instant) -> Option<Moment> {
        let target = self
            .server
            .time_at(now)?
            .saturating_sub(self.wanted_delay());
        let shown = match self.shown {
            Some((at, shown)) if shown.abs_diff(target) <= SET => {
                let passed = now.since(at);
                self.forget(passed);
                let reach = passed * ADAPTING / 100;
                let even = shown + passed;
                target.clamp(even.saturating_sub(reach), even + reach)
            }
            _ => target,
        };
        self.shown = Some((now, shown));
        let parts = shown.as_nanos() * 256 / self.tick.as_nanos();
        Some(Moment(u64::try_from(parts).unwrap_or(u64::MAX)))
    }

    /// How far behind the newest that arrived the world is shown.
    pub(super) fn delay(&self) -> Option<Duration> {
        let (at, shown) = self.shown?;
        Some(self.server.time_at(at)?.saturating_sub(shown))
    }

    fn wanted_delay(&self) -> Duration {
        (self.send + self.late + SLACK).min(DELAY_MAX)
    }

    fn moment_of(&self, tick: u64) -> Duration {
        let nanos = self.tick.as_nanos().saturating_mul(tick.into());
        Duration::from_nanos_u128(nanos.min(Duration::MAX.as_nanos()))
    }

    fn forget(&mut self, passed: Duration) {
        let share = passed.min(FORGETTING).div_duration_f32(FORGETTING);
        self.late = self.late.mul_f32(1.0 - share / 2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEND: u64 = 50;

    /// Sends every 50 ms, `late` ms on their way. Returns the delay at the end; what is shown never goes
    /// back, nor forward by much more than real time.
    fn delay_after(sends: u64, late: impl Fn(u64) -> Option<u64>) -> Duration {
        let mut playback = Playback::new(60, 3);
        let mut arrivals: alloc::vec::Vec<_> = (1..=sends)
            .filter_map(|send| Some((send * SEND + late(send)?, send * 3)))
            .collect();
        arrivals.sort_unstable();
        let mut arrivals = arrivals.into_iter().peekable();
        let mut last: Option<Moment> = None;
        for millis in 0..sends * SEND {
            let now = Instant::from_millis(millis);
            while let Some((_, tick)) = arrivals.next_if(|(at, _)| *at <= millis) {
                playback.handle_arrival(now, tick);
            }
            let Some(shown) = playback.moment(now) else {
                continue;
            };
            if let Some(last) = last.filter(|_| millis > 500) {
                // A millisecond is 15 parts of a tick, give or take five percent and a part.
                let passed = i128::from(shown.0) - i128::from(last.0);
                assert!((13..=18).contains(&passed), "{passed} at {millis}");
            }
            last = Some(shown);
        }
        playback.delay().unwrap()
    }

    #[test]
    fn a_good_network_costs_one_send() {
        let delay = delay_after(400, |_| Some(30));
        assert!(delay < Duration::from_millis(58), "{delay:?}");
    }

    #[test]
    fn jitter_is_waited_for() {
        let delay = delay_after(400, |send| Some(30 + send * 7_919 % 41));
        assert!(delay > Duration::from_millis(75), "{delay:?}");
        assert!(delay < Duration::from_millis(110), "{delay:?}");
    }

    #[test]
    fn a_lost_send_is_bridged() {
        let delay = delay_after(400, |send| (send % 10 != 0).then_some(30));
        assert!(delay > Duration::from_millis(90), "{delay:?}");
    }

    #[test]
    fn a_network_that_becomes_good_again_is_trusted_again() {
        let delay = delay_after(900, |send| {
            Some(if send < 200 { 30 + send % 5 * 40 } else { 30 })
        });
        assert!(delay < Duration::from_millis(60), "{delay:?}");
    }
}
