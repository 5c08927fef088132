//! How probable a bit is: an estimate that learns from every bit, quickly at first.
//!
//! A [`Model`] is what a run keeps of one context. [`Start`] is where it begins, two bytes of a
//! [`Prior`](crate::coder::Prior): a probability, and how much evidence that probability is worth.

use tickwire_wire::range::Chance;

/// The probability that a bit of some context is set, as far as known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::coder) struct Model {
    one: Chance,
    /// How many bits the estimate rests on.
    evidence: u8,
}

impl Model {
    /// The probability that the next bit is set.
    #[inline]
    pub(in crate::coder) const fn one(self) -> Chance {
        self.one
    }

    /// Takes a bit into account.
    #[inline]
    pub(in crate::coder) fn learn(&mut self, bit: bool) {
        let weight = WEIGHTS.get(usize::from(self.evidence));
        let weight = i64::from(weight.copied().unwrap_or(0));
        // No branch: what the bit is cannot be foretold, or it would not be coded.
        let sure = if bit { 0xffff } else { 0 };
        let one = i64::from(self.one);
        let one = one + (((sure - one) * weight) >> 16);
        self.one = Chance::try_from(one).unwrap_or(Chance::MAX);
        self.evidence = self.evidence.saturating_add(1);
    }
}

/// What one more bit weighs against the evidence so far: 1 / (evidence + 1.5), in units of 1/65536.
const WEIGHTS: [u16; 256] = {
    let mut weights = [0; 256];
    let (mut evidence, mut rest) = (0_u32, weights.as_mut_slice());
    while let Some((weight, others)) = rest.split_first_mut() {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the largest is two thirds of 65536"
        )]
        let share = (2 * 65_536 / (2 * evidence + 3)) as u16;
        *weight = share;
        (evidence, rest) = (evidence + 1, others);
    }
    weights
};

/// Where a model begins: the probability in the upper 12 bits, the evidence for it in the lower 4.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::coder) struct Start(pub(crate) u16);

impl Start {
    /// As probable as not, and quick to learn better.
    pub(in crate::coder) const UNKNOWN: Self = Self(0x8000);

    /// The nearest that two bytes can say; `evidence` is an index of [`EVIDENCE`].
    pub(in crate::coder) const fn new(one: Chance, evidence: u8) -> Self {
        Self(one & 0xfff0 | (evidence & 0xf) as u16)
    }

    /// How much evidence the probability is worth, as an index of [`EVIDENCE`].
    pub(in crate::coder) const fn evidence(self) -> u8 {
        (self.0 & 0xf) as u8
    }
}

impl From<Start> for Model {
    fn from(start: Start) -> Self {
        let evidence = EVIDENCE.get(usize::from(start.0 & 0xf));
        Self {
            // The middle of all that is cut to the same 12 bits.
            one: start.0 & 0xfff0 | 8,
            evidence: evidence.copied().unwrap_or(0),
        }
    }
}

/// How many bits an estimate may rest on at the start.
pub(in crate::coder) const EVIDENCE: [u8; 16] =
    [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 160, 255];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_survives_its_two_bytes() {
        let model = Model::from(Start::new(0x1234, 9));
        assert_eq!(model.one(), 0x1238);
        assert_eq!(model.evidence, 24);
    }

    #[test]
    fn an_estimate_nears_what_it_sees() {
        let mut model = Model::from(Start::UNKNOWN);
        for n in 0..4_000 {
            model.learn(n % 4 == 0);
        }
        assert!((15_000..18_000).contains(&model.one()), "{model:?}");
    }

    #[test]
    fn little_evidence_gives_way_quickly() {
        let mut quick = Model::from(Start::new(0x8000, 0));
        let mut slow = Model::from(Start::new(0x8000, 15));
        quick.learn(true);
        slow.learn(true);
        assert!(quick.one() > 54_000, "{quick:?}");
        assert!(slow.one() < 33_000, "{slow:?}");
    }
}
