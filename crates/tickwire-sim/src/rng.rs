//! A deterministic random number generator.
//!
//! xoshiro256++ (Blackman and Vigna, 2019), its state filled by splitmix64 as its authors advise. In:
//! a seed. Out: the same numbers on every machine, for ever. Not for secrets outside a simulation:
//! whoever sees a few numbers knows the rest.

use core::ops::RangeInclusive;
use core::time::Duration;

/// A generator of numbers that depend on its seed alone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The generator of this seed.
    pub const fn new(seed: u64) -> Self {
        let mut at = seed;
        Self {
            state: [
                splitmix64(&mut at),
                splitmix64(&mut at),
                splitmix64(&mut at),
                splitmix64(&mut at),
            ],
        }
    }

    /// Another generator, which depends on where this one stands and on `number`.
    ///
    /// Things that draw from branches of their own do not disturb each other: one that draws more does
    /// not change what the others draw.
    #[must_use]
    pub const fn branch(&self, number: u64) -> Self {
        let [a, b, c, d] = self.state;
        let mut at = number;
        Self::new(splitmix64(&mut at) ^ a ^ b.rotate_left(16) ^ c.rotate_left(32) ^ d)
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A number of the range, all equally likely. Always takes one draw.
    pub fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (low, high) = range.into_inner();
        let width = u128::from(high.saturating_sub(low)) + 1;
        // The high half of a product spreads 64 bits over the width. What that favours is off by
        // less than width / 2^64, and unlike rejection it never draws twice.
        let offset = (u128::from(self.next_u64()) * width) >> 64;
        low + u64::try_from(offset).unwrap_or(0)
    }

    /// A span up to `longest`, in whole microseconds, all equally likely. Always takes one draw.
    pub fn span(&mut self, longest: Duration) -> Duration {
        let longest = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(self.within(0..=longest))
    }

    /// Whether something of this chance happens now. Always takes one draw.
    pub fn happens(&mut self, chance: Chance) -> bool {
        self.within(1..=u64::from(Chance::ALWAYS.per_million)) <= u64::from(chance.per_million)
    }

    /// The 32 secret bytes that a session is handed, in simulation.
    pub fn secret(&mut self) -> [u8; 32] {
        let mut secret = [0; 32];
        for piece in secret.as_chunks_mut::<8>().0 {
            *piece = self.next_u64().to_le_bytes();
        }
        secret
    }
}

/// How likely something is, in millionths: equal chances compare equal and print the same.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Chance {
    per_million: u32,
}

impl Chance {
    /// It does not happen.
    pub const NEVER: Self = Self::per_million(0);
    /// It happens each time.
    pub const ALWAYS: Self = Self::per_million(1_000_000);

    /// So many times in a hundred.
    ///
    /// # Panics
    /// Above 100.
    pub const fn percent(percent: u32) -> Self {
        assert!(percent <= 100, "a chance is at most 100 percent");
        Self::per_million(percent * 10_000)
    }

    /// So many times in a million.
    ///
    /// # Panics
    /// Above a million.
    pub const fn per_million(times: u32) -> Self {
        assert!(times <= 1_000_000, "a chance is at most a million of them");
        Self { per_million: times }
    }

    /// How many times in a million.
    pub const fn as_per_million(self) -> u32 {
        self.per_million
    }
}

/// Steele, Lea and Flood's generator, which turns any seed, zero too, into well mixed bits.
const fn splitmix64(at: &mut u64) -> u64 {
    *at = at.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *at;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_reference() {
        let mut rng = Rng {
            state: [1, 2, 3, 4],
        };
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
        ];
        assert_eq!(expected.map(|_| rng.next_u64()), expected);

        let mut at = 1_477_776_061_723_855_037;
        assert_eq!(splitmix64(&mut at), 1_985_237_415_132_408_290);
        assert_eq!(splitmix64(&mut at), 2_979_275_885_539_914_483);
    }

    #[test]
    fn both_ends_of_a_range_are_drawn() {
        let mut rng = Rng::new(1);
        let mut seen = [0; 4];
        for _ in 0..4_000 {
            seen[usize::try_from(rng.within(3..=6)).unwrap() - 3] += 1;
        }
        assert!(seen.iter().all(|n| (900..1_100).contains(n)), "{seen:?}");
        assert_eq!(rng.within(7..=7), 7);
        rng.within(0..=u64::MAX);
    }

    #[test]
    fn chances_are_kept() {
        let mut rng = Rng::new(2);
        let mut hits = |chance| (0..100_000).filter(|_| rng.happens(chance)).count();
        assert_eq!(hits(Chance::NEVER), 0);
        assert_eq!(hits(Chance::ALWAYS), 100_000);
        let third = hits(Chance::percent(33));
        assert!((32_500..33_500).contains(&third), "{third}");
    }

    #[test]
    fn branches_differ_and_repeat() {
        let root = Rng::new(3);
        assert_eq!(root.branch(1), root.branch(1));
        assert_ne!(root.branch(1), root.branch(2));
        assert_ne!(root.branch(1), Rng::new(4).branch(1));
    }
}
