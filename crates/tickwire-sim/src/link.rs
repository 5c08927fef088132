//! One direction of a network, for anything that can be copied.
//!
//! In: items with their size in bytes, and when they were sent. Out: the same items, late, in another
//! order, twice or never, as the [`Conditions`] say. The link knows nothing of sessions, nodes or
//! sockets: a simulated network has one for each direction between two nodes, a lag proxy one for
//! each direction of a real one.
//!
//! ```text
//!  push ─▶ cut? ─▶ queue ▭▭▭▭▶ bottleneck ─▶ loss? ─▶ latency + jitter, pause?, late?, twice? ─▶ pop
//!           ✗         ✗ full                   ✗
//! ```

use alloc::collections::VecDeque;
use core::ops::AddAssign;
use core::time::Duration;

use tickwire_session::{Instant, counters};

use crate::schedule::Schedule;
use crate::{Bottleneck, Bursts, Chance, Conditions, Pauses, Rng};

/// Items on the way in one link; one on top is dropped as by a full queue.
///
/// Without a bottleneck nothing else bounds them. Full datagrams of this number are some 80 MB, and
/// no link with a bottleneck that games meet holds a hundredth of them.
pub const IN_FLIGHT: usize = 65_536;

/// The shortest latency. With none, two nodes that answer each other would stop the clock.
pub const SHORTEST: Duration = Duration::from_micros(1);

/// Items on their way.
///
/// What becomes of an item is decided when it is pushed; conditions that change, and cuts, concern
/// those pushed afterwards. Every push draws the same number of times from the generator, so that
/// changing one property does not change what the others draw: a failing run can be narrowed down
/// property by property.
#[derive(Clone, Debug)]
pub struct Link<T> {
    conditions: Conditions,
    rng: Rng,
    cut: bool,
    /// A burst of loss lasts (see [`Bursts`]).
    in_burst: bool,
    queue: Queue,
    clumps: PauseClock,
    stalls: PauseClock,
    in_flight: Schedule<InFlight<T>>,
    /// When the last item arrives that keeps the order.
    latest: Instant,
    /// Highest number popped, which tells who was overtaken.
    newest: u64,
    counters: LinkCounters,
}

#[derive(Clone, Debug)]
struct InFlight<T> {
    /// How many were pushed up to this one.
    number: u64,
    item: T,
}

counters! {
    /// What became of the items of a link.
    ///
    /// `pushed + duplicated` is always the sum of all others but `reordered`, and of those in flight.
    pub struct LinkCounters {
        /// Handed to the link.
        pushed,
        /// Popped from it, copies included.
        delivered,
        /// Lost on the way, singly or in a burst.
        lost,
        /// Copies made.
        duplicated,
        /// Popped after an item that was pushed later; copies that fell behind are among them.
        reordered,
        /// Dropped because the bottleneck's queue was full, or [`IN_FLIGHT`] reached.
        overflowed,
        /// Pushed while the link was cut.
        cut,
        /// Taken off the link by [`Link::clear`].
        cleared,
    }
}

/// What becomes of an item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It will arrive.
    Carried,
    /// It is lost on the way.
    Lost,
    /// It found the queue full.
    Overflowed,
    /// It found the link cut.
    Cut,
}

impl<T: Clone> Link<T> {
    /// A link with nothing on it, which draws from `rng`.
    pub const fn new(conditions: Conditions, rng: Rng) -> Self {
        Self {
            conditions,
            clumps: PauseClock::new(rng.branch(CLUMPS)),
            stalls: PauseClock::new(rng.branch(STALLS)),
            rng,
            cut: false,
            in_burst: false,
            queue: Queue::new(),
            in_flight: Schedule::new(),
            latest: Instant::ZERO,
            newest: 0,
            counters: LinkCounters {
                pushed: 0,
                delivered: 0,
                lost: 0,
                duplicated: 0,
                reordered: 0,
                overflowed: 0,
                cut: 0,
                cleared: 0,
            },
        }
    }

    /// Sends an item of `size` bytes. `now` never decreases from push to push.
    ///
    /// The fate is for whoever simulates retransmission; a real sender learns nothing of the kind.
    pub fn push(&mut self, now: Instant, item: T, size: usize) -> Fate {
        self.counters.pushed += 1;
        let fate = self.decide(now, item, size);
        match fate {
            Fate::Carried => {}
            Fate::Lost => self.counters.lost += 1,
            Fate::Overflowed => self.counters.overflowed += 1,
            Fate::Cut => self.counters.cut += 1,
        }
        fate
    }

    /// The next item that has arrived by `now`.
    pub fn pop(&mut self, now: Instant) -> Option<T> {
        let InFlight { number, item } = self.in_flight.pop(now)?;
        self.counters.delivered += 1;
        if number < self.newest {
            self.counters.reordered += 1;
        }
        self.newest = self.newest.max(number);
        Some(item)
    }

    /// When the next item arrives.
    pub fn next_moment(&self) -> Option<Instant> {
        self.in_flight.next_moment()
    }

    /// What the link does from now on.
    pub const fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Changes what the link does to items pushed from now on.
    pub const fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
    }

    /// Bytes that the queue of the bottleneck still takes; `None` without a bottleneck.
    pub fn room(&mut self, now: Instant) -> Option<u32> {
        let bottleneck = self.conditions.bottleneck?;
        Some(self.queue.room(now, bottleneck))
    }

    /// When the queue of the bottleneck will be half empty, if nothing more is pushed; `None` if it is,
    /// or there is no bottleneck.
    pub fn half_empty_at(&self) -> Option<Instant> {
        let bottleneck = self.conditions.bottleneck?;
        self.queue.half_empty_at(bottleneck)
    }

    /// Lets nothing more in. What is on the way arrives.
    pub const fn cut(&mut self) {
        self.cut = true;
    }

    /// Undoes [`cut`](Self::cut).
    pub const fn heal(&mut self) {
        self.cut = false;
    }

    /// Drops everything on the way.
    pub fn clear(&mut self) {
        self.counters.cleared += self.in_flight.len() as u64;
        self.in_flight.clear();
    }

    /// How many items are on the way, copies included.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// What became of all items so far.
    pub const fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    fn decide(&mut self, now: Instant, item: T, size: usize) -> Fate {
        let draws = self.draw();
        if self.cut {
            return Fate::Cut;
        }
        // One place is for a copy.
        if self.in_flight.len() + 1 >= IN_FLIGHT {
            return Fate::Overflowed;
        }
        let Some(departs) = self.queue.push(now, size, self.conditions.bottleneck) else {
            return Fate::Overflowed;
        };
        if draws.lost {
            return Fate::Lost;
        }
        let earliest = departs + self.conditions.latency.max(SHORTEST);
        // Jitter keeps the order; only items that are held back, and copies, are overtaken.
        let arrives = self.latest.max(earliest + draws.jitter);
        let arrives = self.clumps.after_pause(arrives, self.conditions.clumps);
        let arrives = self.stalls.after_pause(arrives, self.conditions.stalls);
        if let Some(jitter) = draws.copy_jitter {
            self.counters.duplicated += 1;
            self.send_off(arrives + jitter, item.clone());
        }
        if let Some(held_back) = draws.held_back {
            self.send_off(arrives + held_back, item);
        } else {
            self.latest = arrives;
            self.send_off(arrives, item);
        }
        Fate::Carried
    }

    fn send_off(&mut self, arrives: Instant, item: T) {
        let number = self.counters.pushed;
        self.in_flight.push(arrives, InFlight { number, item });
    }

    /// Everything that chance decides about one item: always the same number of draws.
    fn draw(&mut self) -> Draws {
        let conditions = &self.conditions;
        let bursts = conditions.bursts.unwrap_or(NO_BURSTS);
        let turn = if self.in_burst {
            bursts.end
        } else {
            bursts.begin
        };
        self.in_burst ^= self.rng.happens(turn);
        let lost_in_burst = self.rng.happens(bursts.loss) && self.in_burst;
        let lost_alone = self.rng.happens(conditions.loss);
        let twice = self.rng.happens(conditions.duplication);
        let late = self.rng.happens(conditions.reordering);
        let jitter = self.rng.span(conditions.jitter);
        let copy_jitter = self.rng.span(conditions.jitter);
        let held_back = self.rng.span(conditions.reordering_delay);
        Draws {
            lost: lost_alone || lost_in_burst,
            jitter,
            held_back: late.then_some(held_back),
            copy_jitter: twice.then_some(copy_jitter),
        }
    }
}

/// What chance decided about one item.
#[derive(Clone, Copy, Debug)]
struct Draws {
    lost: bool,
    jitter: Duration,
    held_back: Option<Duration>,
    /// The jitter of its copy, if it has one.
    copy_jitter: Option<Duration>,
}

/// No bursts: one that is going on ends with the next item.
const NO_BURSTS: Bursts = Bursts {
    begin: Chance::NEVER,
    end: Chance::ALWAYS,
    loss: Chance::NEVER,
};

impl AddAssign for LinkCounters {
    fn add_assign(&mut self, more: Self) {
        self.pushed += more.pushed;
        self.delivered += more.delivered;
        self.lost += more.lost;
        self.duplicated += more.duplicated;
        self.reordered += more.reordered;
        self.overflowed += more.overflowed;
        self.cut += more.cut;
        self.cleared += more.cleared;
    }
}

/// When a link pauses.
///
/// It draws from a generator of its own, because how often it draws depends on the time that passes.
#[derive(Clone, Debug)]
struct PauseClock {
    rng: Rng,
    /// The pause that is going on or comes next.
    begins: Instant,
    ends: Instant,
}

impl PauseClock {
    const fn new(rng: Rng) -> Self {
        Self {
            rng,
            begins: Instant::ZERO,
            ends: Instant::ZERO,
        }
    }

    /// When something arrives that would arrive at `at`. Moments do not decrease from call to call.
    fn after_pause(&mut self, at: Instant, pauses: Option<Pauses>) -> Instant {
        let Some(Pauses { every, longest }) = pauses else {
            return at;
        };
        // After a long silence the pauses in between concern nobody.
        let horizon = every.saturating_add(longest).saturating_mul(4);
        if at.since(self.ends) > horizon {
            self.ends = at;
        }
        while self.ends <= at {
            let gap = self.rng.span(every.saturating_mul(2)).max(SHORTEST);
            self.begins = self.ends + gap;
            self.ends = self.begins + self.rng.span(longest);
        }
        if self.begins <= at { self.ends } else { at }
    }
}

/// Branches of a link's generator.
const CLUMPS: u64 = 1;
const STALLS: u64 = 2;

/// Bytes that wait for a bottleneck.
///
/// The items themselves are already in flight with their time of arrival; here is only what is
/// needed to know when the next one departs, and whether it still finds a place.
#[derive(Clone, Debug)]
struct Queue {
    /// When each waiting item has passed, in nanoseconds, and its size. Nanoseconds, because a fast
    /// bottleneck passes a small item in less than a microsecond, and the error would add up.
    passing: VecDeque<(u128, usize)>,
    /// Sum of those sizes.
    bytes: usize,
}

impl Queue {
    const fn new() -> Self {
        Self {
            passing: VecDeque::new(),
            bytes: 0,
        }
    }

    /// When an item that joins now has passed the bottleneck; `None` if it finds the queue full.
    fn push(
        &mut self,
        now: Instant,
        size: usize,
        bottleneck: Option<Bottleneck>,
    ) -> Option<Instant> {
        let Some(bottleneck) = bottleneck else {
            return Some(now);
        };
        self.advance(now);
        let now = nanos(now);
        let limit = usize::try_from(bottleneck.queue_bytes).unwrap_or(usize::MAX);
        if self.bytes > 0 && self.bytes.saturating_add(size) > limit {
            return None;
        }
        let starts = self.passing.back().map_or(now, |(at, _)| *at);
        let rate = u128::from(bottleneck.bytes_per_second.max(1));
        let passed = starts + (size as u128 * NANOS_PER_SECOND).div_ceil(rate);
        self.passing.push_back((passed, size));
        self.bytes += size;
        Some(moment(passed))
    }

    /// Removes the items that have passed by now.
    fn advance(&mut self, now: Instant) {
        let now = nanos(now);
        while let Some((_, passed)) = self.passing.pop_front_if(|(at, _)| *at <= now) {
            self.bytes -= passed;
        }
    }

    fn room(&mut self, now: Instant, bottleneck: Bottleneck) -> u32 {
        self.advance(now);
        let waiting = u32::try_from(self.bytes).unwrap_or(u32::MAX);
        bottleneck.queue_bytes.saturating_sub(waiting)
    }

    fn half_empty_at(&self, bottleneck: Bottleneck) -> Option<Instant> {
        let half = usize::try_from(bottleneck.queue_bytes / 2).unwrap_or(usize::MAX);
        let mut left = self.bytes;
        if left <= half {
            return None;
        }
        let passes = |&&(_, size): &&(u128, usize)| {
            left -= size;
            left <= half
        };
        let (at, _) = self.passing.iter().find(passes)?;
        Some(moment(*at))
    }
}

fn nanos(now: Instant) -> u128 {
    u128::from(now.as_micros()) * NANOS_PER_MICRO
}

/// The first moment that is not earlier.
fn moment(nanos: u128) -> Instant {
    let micros = u64::try_from(nanos.div_ceil(NANOS_PER_MICRO)).unwrap_or(u64::MAX);
    Instant::from_micros(micros)
}

const NANOS_PER_MICRO: u128 = 1_000;
const NANOS_PER_SECOND: u128 = 1_000_000_000;

#[cfg(test)]
mod tests;
