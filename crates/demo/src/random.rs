//! Chance that can be repeated.

/// A source of numbers that all follow from its seed (SplitMix64).
///
/// It decides where ships appear and how bots differ. Nothing secret may come from it: whoever sees
/// one number knows the next.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts at `seed`; near seeds give unrelated numbers.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to but not including 1.
    pub fn fraction(&mut self) -> f64 {
        // 53 bits are what a double holds exactly.
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number between `from` and `to`.
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.fraction()
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.fraction() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_sequence_comes_out() {
        // From the author's C program, seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn fractions_fill_the_unit_evenly() {
        let mut random = Random::new(7);
        let mut buckets = [0; 10];
        for _ in 0..10_000 {
            let tenth = random.fraction() * 10.0;
            let bucket = (0..10).rfind(|&n| tenth >= f64::from(n)).unwrap();
            buckets[usize::try_from(bucket).unwrap()] += 1;
        }
        assert!(
            buckets.iter().all(|n| (850..1_150).contains(n)),
            "{buckets:?}"
        );
    }
}
