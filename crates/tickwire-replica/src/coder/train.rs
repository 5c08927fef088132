//! Fitting a prior to recorded motion.
//!
//! In: the runs that would have been coded. Out: the [`Prior`] that would have coded them in the fewest
//! bits, as far as a search of each model by itself finds it. Which bits a model is asked for does not
//! depend on where it begins, so the models are fitted one by one: for every candidate, the same
//! learning as in a run is repeated over all that the model saw.

use alloc::vec::Vec;

use tickwire_wire::DecodeError;

use crate::archetype::Schema;
use crate::block::BlockView;
use crate::coder::Known;
use crate::coder::coded::model::{EVIDENCE, Model, Start};
use crate::coder::coded::run::{Run, Storage};
use crate::coder::coded::side::Side;
use crate::coder::prior::{Prior, Shape};
use crate::coder::slots::Changes;

/// Collects runs, and fits a prior to them.
#[derive(Debug)]
pub struct Trainer {
    prior: Prior,
    storage: Storage<Seen>,
    runs: u32,
    /// Bits that no model is asked for: of large residuals, newcomers and texts.
    plain: u64,
}

/// What the runs tell of one field costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Of which archetype.
    pub archetype: usize,
    /// Of which field; of none, who came, went and changed.
    pub field: Option<&'static str>,
    /// In all runs.
    pub bits: f64,
}

/// A block as it is coded in a run: its archetype, what is known of it, and what it is.
pub type Coded<'a> = (usize, Known<'a>, BlockView<'a>);

impl Trainer {
    /// Fits a prior for this schema.
    pub fn new(schema: &Schema) -> Self {
        Self::fitting(Prior::general(schema))
    }

    /// Fits one in which all columns of a kind are one: that is how the general prior is made.
    pub fn by_kind(schema: &Schema) -> Self {
        Self::fitting(Prior::by_kind(schema))
    }

    fn fitting(prior: Prior) -> Self {
        Self {
            prior,
            storage: Storage::default(),
            runs: 0,
            plain: 0,
        }
    }

    /// Takes note of a run over these blocks.
    ///
    /// # Panics
    /// If an archetype is not of the schema.
    pub fn observe<'a>(&mut self, blocks: impl IntoIterator<Item = Coded<'a>>) {
        let side = Observer {
            run: self.runs,
            plain: &mut self.plain,
        };
        let mut run = Run::new(&self.prior, &mut self.storage, side);
        for (archetype, known, now) in blocks {
            let changes = Changes::between(&known, &now);
            let coded = run.block(archetype, &known, &changes, &now);
            coded.expect("the archetype is the schema's");
        }
        self.runs += 1;
    }

    /// The prior that fits best. Models that no run used begin as in the general one.
    pub fn fit(&self) -> Prior {
        let costs = Costs::new();
        let mut starts = self.prior.starts().to_vec();
        let seen = self.storage.sets().iter().flatten();
        for (start, seen) in starts.iter_mut().flatten().zip(seen) {
            *start = seen.fit(*start, &costs);
        }
        self.prior.clone().starting_at(starts)
    }

    /// What the runs cost if they begin with a prior of the same schema, field by field. Where columns share their
    /// models, the first of them bears the cost. [`plain`](Self::plain) comes on top.
    pub fn costs(&self, prior: &Prior) -> Vec<Cost> {
        let costs = Costs::new();
        let sets = self.storage.sets().iter().zip(prior.starts());
        let mut sets: Vec<u64> = sets
            .map(|(seen, starts)| {
                let models = seen.iter().zip(starts);
                models.map(|(seen, start)| seen.cost(*start, &costs)).sum()
            })
            .collect();
        let mut of = |set: u8| sets.get_mut(usize::from(set)).map_or(0, core::mem::take);
        let mut found = Vec::new();
        let plans = (0..).map_while(|archetype| Some((archetype, self.prior.plan(archetype)?)));
        for (archetype, plan) in plans {
            let mut add = |field, units: u64| {
                found.push(Cost {
                    archetype,
                    field,
                    bits: units as f64 / 65_536.0,
                });
            };
            add(None, of(plan.entity));
            for step in &plan.steps {
                let (first, count) = match step.shape {
                    Shape::Lanes { first, count, .. } => (first, count),
                    Shape::Rotation { first, .. } => (first, ROTATION_LANES),
                    Shape::Bytes { .. } => (0, 0),
                };
                let lanes = plan.lanes.iter().skip(first).take(count);
                add(Some(step.field), lanes.map(|set| of(*set)).sum());
            }
        }
        found
    }

    /// Bits that no model is asked for, and that cost the same with every prior: of large residuals, newcomers and
    /// texts.
    pub const fn plain(&self) -> u64 {
        self.plain
    }
}

/// Which component is the largest, and the three others.
const ROTATION_LANES: usize = 4;

/// A side that codes nothing and remembers every bit.
struct Observer<'a> {
    run: u32,
    plain: &'a mut u64,
}

impl Side for Observer<'_> {
    type Model = Seen;

    fn bit(&mut self, model: &mut Seen, bit: bool) -> bool {
        model.bits.push(self.run << 1 | u32::from(bit));
        bit
    }

    fn plain(&mut self, value: u32, bits: u32) -> u32 {
        *self.plain += u64::from(bits);
        value
    }

    fn check(&self, _: &'static str) -> Result<(), DecodeError> {
        Ok(())
    }

    fn at_bit(&self) -> u32 {
        0
    }
}

/// What one model was asked for.
#[derive(Clone, Debug, Default)]
pub(in crate::coder) struct Seen {
    /// Bits, in order; above each the number of its run.
    bits: Vec<u32>,
}

impl From<Start> for Seen {
    fn from(_: Start) -> Self {
        Self::default()
    }
}

/// A start is worth so many bits of its own: what was seen once proves little.
const DOUBT: u64 = 2;

impl Seen {
    fn fit(&self, unseen: Start, costs: &Costs) -> Start {
        if self.bits.is_empty() {
            return unseen;
        }
        let ones = self.bits.iter().filter(|&bit| bit & 1 == 1).count() as u64;
        let doubt = u64::from(Model::from(unseen).one()) * DOUBT;
        let mean = ((ones << 16) + doubt) / (self.bits.len() as u64 + DOUBT);
        let mut one = u16::try_from(mean).unwrap_or(u16::MAX);
        let mut best = Start::new(one, 0);
        let mut least = u64::MAX;
        let mut attempt = |start: Start| {
            let cost = self.cost(start, costs);
            if cost < least {
                (least, best) = (cost, start);
            }
            best
        };
        // Around the mean first, then around the best so far.
        for _ in 0..2 {
            let mut evidence = 0;
            for n in 0..EVIDENCE.len() {
                let n = u8::try_from(n).unwrap_or(0);
                evidence = attempt(Start::new(one, n)).evidence();
            }
            let steepness = (u64::from(one) * u64::from(u16::MAX - one)) >> 16;
            for part in [2, 4, 8] {
                let by = u16::try_from(steepness / part).unwrap_or(0);
                attempt(Start::new(one.saturating_sub(by), evidence));
                attempt(Start::new(one.saturating_add(by), evidence));
            }
            one = Model::from(attempt(Start::new(one, evidence))).one();
        }
        best
    }

    /// How much these bits cost if the model begins so in every run.
    fn cost(&self, start: Start, costs: &Costs) -> u64 {
        let mut model = Model::from(start);
        let (mut run, mut sum) = (u32::MAX, 0);
        for &seen in &self.bits {
            if seen >> 1 != run {
                run = seen >> 1;
                model = start.into();
            }
            let bit = seen & 1 == 1;
            let chance = if bit { model.one() } else { !model.one() };
            sum += costs.of(chance);
            model.learn(bit);
        }
        sum
    }
}

/// What a bit of some probability costs, in units of 1/65536 bit.
struct Costs(Vec<u32>);

impl Costs {
    fn new() -> Self {
        // The middle of each of 4,096 intervals of probability.
        Self((0..4096).map(|n| (13 << 16) - log2(2 * n + 1)).collect())
    }

    fn of(&self, chance: u16) -> u64 {
        let cost = self.0.get(usize::from(chance >> 4));
        cost.copied().unwrap_or_default().into()
    }
}

/// The binary logarithm of a number from 1 to 2^15, in units of 1/65536.
fn log2(number: u32) -> u32 {
    let whole = number.ilog2();
    let mut log = whole;
    // From 1 to 2, with 31 bits of fraction; squared once for each binary digit of the logarithm.
    let mut x = u64::from(number) << (31 - whole);
    for _ in 0..16 {
        x = (x * x) >> 31;
        log <<= 1;
        if x >= 1 << 32 {
            x >>= 1;
            log |= 1;
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_right() {
        assert_eq!(log2(1), 0);
        assert_eq!(log2(8), 3 << 16);
        assert_eq!(log2(3), 103_872);
    }

    #[test]
    fn a_fitted_start_tells_what_was_seen() {
        let seen = |pattern: fn(u32) -> bool| Seen {
            bits: (0..9_000)
                .map(|n| (n / 30) << 1 | u32::from(pattern(n)))
                .collect(),
        };
        let costs = Costs::new();
        // One bit in three, in every run alike: a firm belief.
        let steady = seen(|n| n % 3 == 0).fit(Start::UNKNOWN, &costs);
        let model = Model::from(steady);
        assert!((20_000..24_000).contains(&model.one()), "{steady:?}");
        assert!(steady.evidence() >= 10, "{steady:?}");
        // One run all ones, the next all zeros: a belief that the first bit overturns.
        let fickle = seen(|n| n / 30 % 2 == 0).fit(Start::UNKNOWN, &costs);
        assert!(fickle.evidence() <= 1, "{fickle:?}");
        assert_eq!(
            Seen::default().fit(Start::new(77, 3), &costs),
            Start::new(77, 3)
        );
    }
}
