//! Token buckets: one, and one for each host.

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::{Host, Instant};

/// A bucket that holds up to `capacity` tokens and gains one every `refill`.
///
/// It starts full. What is refused costs nothing, so that a peer above its rate gets exactly its
/// rate, not less.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TokenBucket {
    capacity: u32,
    refill: Duration,
    tokens: u32,
    /// When the tokens were last counted; parts of a token since then are not lost.
    counted: Instant,
}

impl TokenBucket {
    /// A full bucket.
    ///
    /// # Panics
    /// If `refill` is below a microsecond: rates are configuration, not input.
    pub const fn new(now: Instant, capacity: u32, refill: Duration) -> Self {
        assert!(
            refill.as_micros() > 0,
            "a token must take time to come back"
        );
        Self {
            capacity,
            refill,
            tokens: capacity,
            counted: now,
        }
    }

    /// Takes one token, if there is one.
    pub fn take(&mut self, now: Instant) -> Option<()> {
        self.take_many(now, 1)
    }

    /// Takes so many tokens, or none if there are fewer.
    pub fn take_many(&mut self, now: Instant, count: u32) -> Option<()> {
        self.count(now);
        self.tokens = self.tokens.checked_sub(count)?;
        Some(())
    }

    /// Returns a token that was taken and not used.
    pub const fn give_back(&mut self) {
        if self.tokens < self.capacity {
            self.tokens += 1;
        }
    }

    /// When the next token comes, if there is none now.
    pub fn wait(&mut self, now: Instant) -> Option<Instant> {
        self.count(now);
        (self.tokens == 0).then(|| self.counted + self.refill)
    }

    /// Whether it is full, and so can be forgotten.
    pub fn is_full(&mut self, now: Instant) -> bool {
        self.count(now);
        self.tokens == self.capacity
    }

    fn count(&mut self, now: Instant) {
        let refill = self.refill.as_micros();
        let gained = now.since(self.counted).as_micros() / refill;
        if gained >= u128::from(self.capacity - self.tokens) {
            self.tokens = self.capacity;
            self.counted = now;
            return;
        }
        // Below the capacity, so it fits both.
        let gained = u32::try_from(gained).unwrap_or(self.capacity);
        self.tokens += gained;
        self.counted += self.refill * gained;
    }
}

/// A token bucket for each host that took a token lately: never more of them than it was made for.
#[derive(Debug)]
pub struct HostBuckets {
    by_host: BTreeMap<Host, TokenBucket>,
    most: usize,
    capacity: u32,
    refill: Duration,
    /// Full buckets were last forgotten at this moment.
    swept: Option<Instant>,
}

impl HostBuckets {
    /// Every host has a full bucket of this capacity. At most `most` are remembered that are not.
    pub const fn new(most: usize, capacity: u32, refill: Duration) -> Self {
        Self {
            by_host: BTreeMap::new(),
            most,
            capacity,
            refill,
            swept: None,
        }
    }

    /// The bucket of a host; `None` while too many others are remembered.
    pub fn get(&mut self, now: Instant, host: Host) -> Option<&mut TokenBucket> {
        if self.by_host.len() >= self.most && !self.by_host.contains_key(&host) {
            // A scan for each datagram would let a flood of forged hosts use up the CPU.
            if self
                .swept
                .is_none_or(|swept| now.since(swept) >= SWEEP_PERIOD)
            {
                self.swept = Some(now);
                self.by_host.retain(|_, bucket| !bucket.is_full(now));
            }
            if self.by_host.len() >= self.most {
                return None;
            }
        }
        let full = TokenBucket::new(now, self.capacity, self.refill);
        Some(self.by_host.entry(host).or_insert(full))
    }

    /// How many are remembered.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.by_host.len()
    }
}

/// Between two searches for buckets that are full again.
const SWEEP_PERIOD: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(bucket: &mut TokenBucket, from_ms: u64, to_ms: u64) -> usize {
        (from_ms..to_ms)
            .filter(|&ms| bucket.take(Instant::from_millis(ms)).is_some())
            .count()
    }

    #[test]
    fn a_greedy_taker_gets_the_burst_and_then_the_rate() {
        let mut bucket = TokenBucket::new(Instant::ZERO, 20, Duration::from_millis(50));
        // One attempt a millisecond: 20 at once, then 20 a second. The first tokens come back
        // while the burst is being taken.
        assert_eq!(taken(&mut bucket, 0, 1_000), 39);
        assert_eq!(taken(&mut bucket, 1_000, 11_000), 200);
    }

    #[test]
    fn idling_fills_it_only_to_the_brim() {
        let mut bucket = TokenBucket::new(Instant::ZERO, 3, Duration::from_millis(10));
        assert_eq!(taken(&mut bucket, 0, 3), 3);
        let later = Instant::from_millis(1_000_000);
        let at_once = (0..10).filter(|_| bucket.take(later).is_some()).count();
        assert_eq!(at_once, 3);
    }

    #[test]
    fn many_are_taken_together_or_not_at_all() {
        let mut bucket = TokenBucket::new(Instant::ZERO, 10, Duration::from_millis(10));
        assert_eq!(bucket.take_many(Instant::ZERO, 7), Some(()));
        assert_eq!(bucket.take_many(Instant::ZERO, 4), None);
        assert_eq!(bucket.take_many(Instant::ZERO, 3), Some(()));
        assert_eq!(bucket.take_many(Instant::from_millis(40), 4), Some(()));
        assert_eq!(bucket.take_many(Instant::from_millis(40), 0), Some(()));
    }

    #[test]
    fn the_wait_is_exact() {
        let mut bucket = TokenBucket::new(Instant::ZERO, 1, Duration::from_millis(10));
        assert_eq!(bucket.wait(Instant::ZERO), None);
        bucket.take(Instant::ZERO).unwrap();
        let next = bucket.wait(Instant::from_millis(4)).unwrap();
        assert_eq!(next, Instant::from_millis(10));
        assert_eq!(bucket.take(Instant::from_micros(9_999)), None);
        assert_eq!(bucket.take(next), Some(()));
    }
}
