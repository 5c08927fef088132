//! The values of one entity, field by field.
//!
//! A lane is coded as its residual to where it is expected: where it was, or where it is if it moved on.
//! Lanes of one field, fields of one entity and entities that follow one another are surprising
//! together: that is what the contexts are made of.

use alloc::vec::Vec;

use tickwire_wire::DecodeError;

use crate::block::BlockView;
use crate::coder::Known;
use crate::coder::coded::residual::{Context, Set, Signs, at, code_residual, code_switch};
use crate::coder::coded::run::{BYTES_CHANGED, Trail};
use crate::coder::coded::side::{Side, Subject};
use crate::coder::lane::Lane;
use crate::coder::prior::{Plan, Shape};
use crate::coder::rotation::{self, reexpress, turn_on};

/// What both sides know of an entity's past.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Past {
    /// Nothing: it is new.
    None,
    /// Where it was.
    Still,
    /// Where it was at two sends.
    Moving,
}

/// Where a lane is expected.
#[derive(Clone, Copy, Debug)]
struct Expected {
    raw: u32,
    velocity: i32,
}

/// Codes the entities of a block.
pub(super) struct Entities<'b, S: Side, B> {
    pub(super) side: &'b mut S,
    sets: &'b mut [Set<S::Model>],
    plan: &'b Plan,
    pub(super) trail: &'b mut Trail,
    pub(super) subject: B,
    baseline: BlockView<'b>,
    previous: BlockView<'b>,
    reach: i64,
}

/// The speed of what is not known to move or to rest.
const UNKNOWN_SPEED: u32 = 16;

impl<'b, S: Side, B: Subject> Entities<'b, S, B> {
    pub(super) fn new(
        side: &'b mut S,
        sets: &'b mut [Set<S::Model>],
        plan: &'b Plan,
        trail: &'b mut Trail,
        known: &Known<'b>,
        subject: B,
    ) -> Self {
        let baseline = known.baseline.unwrap_or(BlockView::EMPTY);
        Self {
            side,
            sets,
            plan,
            trail,
            subject,
            baseline,
            previous: known.previous.unwrap_or(baseline),
            reach: known.ages.reach(),
        }
    }

    /// A bit that concerns a whole entity.
    pub(super) fn bit(&mut self, model: usize, bit: bool) -> bool {
        match self.sets.get_mut(usize::from(self.plan.entity)) {
            Some(set) => self.side.bit(at(set, model), bit),
            None => false,
        }
    }

    #[cold]
    pub(super) fn forbidden(&self, field: &'static str, value: u32) -> DecodeError {
        DecodeError::Forbidden {
            field,
            at_bit: self.side.at_bit(),
            value: value.into(),
        }
    }

    /// Codes all values of an entity.
    pub(super) fn code(&mut self, slot: u8, past: Past) -> Result<(), DecodeError> {
        let mut before = 0;
        for step in &self.plan.steps {
            before = match step.shape {
                Shape::Lanes {
                    lane,
                    first,
                    count,
                    moves,
                } => {
                    let mut speed = 0_u32;
                    if past == Past::Moving {
                        for number in first..first + count {
                            let moved = self.velocity(lane, number, slot);
                            speed = speed.saturating_add(moved.unsigned_abs());
                        }
                    }
                    let mut field = Field::new(step.field, lane, past, speed, before);
                    for number in first..first + count {
                        let expected = self.expect(lane, number, slot, past, moves);
                        self.lane(&mut field, number, slot, expected)?;
                    }
                    field.sum
                }
                Shape::Rotation { first, bits } => {
                    self.rotation(step.field, first, bits, slot, past, before)?
                }
                Shape::Bytes { column, max } => {
                    self.bytes(step.field, column, max, slot, past)?;
                    before
                }
            };
        }
        Ok(())
    }

    /// How far a lane moved between the two versions that are known.
    #[inline]
    fn velocity(&self, lane: Lane, number: usize, slot: u8) -> i32 {
        let [then, earlier] = [&self.baseline, &self.previous];
        lane.difference(then.lane(number, slot), earlier.lane(number, slot))
    }

    /// Where a lane is expected.
    #[inline]
    fn expect(&self, lane: Lane, number: usize, slot: u8, past: Past, moves: bool) -> Expected {
        let then = lane.raw(self.baseline.lane(number, slot));
        match past {
            Past::None => Expected {
                raw: self.trail.newcomer.get(number).copied().unwrap_or(0),
                velocity: 0,
            },
            Past::Still => Expected {
                raw: then,
                velocity: 0,
            },
            Past::Moving => {
                let earlier = lane.raw(self.previous.lane(number, slot));
                let raw = if moves {
                    lane.extrapolate(then, earlier, self.reach)
                } else {
                    then
                };
                Expected {
                    raw,
                    velocity: lane.difference(then, earlier),
                }
            }
        }
    }

    /// Codes one lane.
    #[inline]
    fn lane(
        &mut self,
        field: &mut Field,
        number: usize,
        slot: u8,
        expected: Expected,
    ) -> Result<(), DecodeError> {
        let lane = field.lane;
        let places = (
            self.plan.lanes.get(number),
            self.trail.sizes.get_mut(number),
        );
        let (Some(&set), Some(last)) = places else {
            return Ok(());
        };
        let Some(set) = self.sets.get_mut(usize::from(set)) else {
            return Ok(());
        };
        let context = field.context(expected.velocity, *last);
        let truth = lane.raw(self.subject.lane(number, slot));
        let residual = match lane.span() {
            0 => 0,
            1 => {
                let is_other = code_switch(self.side, set, context, truth != expected.raw);
                lane.difference(expected.raw ^ u32::from(is_other), expected.raw)
            }
            _ => {
                let residual = lane.difference(truth, expected.raw);
                code_residual(self.side, set, context, residual)
            }
        };
        self.side.check(field.name)?;
        *last = residual.unsigned_abs();
        field.note(*last);
        let Some(raw) = lane.displaced(expected.raw, residual) else {
            return Err(self.forbidden(field.name, residual.cast_unsigned()));
        };
        if field.is_new
            && let Some(place) = self.trail.newcomer.get_mut(number)
        {
            *place = raw;
        }
        self.subject.set_lane(number, slot, lane.lane(raw));
        Ok(())
    }

    /// Codes a quaternion: its largest component, and the others as if it had been the largest
    /// before.
    fn rotation(
        &mut self,
        name: &'static str,
        first: usize,
        bits: u8,
        slot: u8,
        past: Past,
        before: u32,
    ) -> Result<u32, DecodeError> {
        let lane = Lane::component(bits);
        let lanes = |view: &BlockView<'_>| [0, 1, 2, 3].map(|n| view.lane(first + n, slot));
        let then = lanes(&self.baseline);
        let [was, ..] = then;
        // Without a past that is known, it does not move.
        let (mut earlier, mut turned) = (then, then);
        if past == Past::Moving {
            earlier = reexpress(lanes(&self.previous), was, bits);
            turned = turn_on(then, earlier, self.reach, bits);
        }
        let largest = match past {
            Past::None => self.side.plain(self.subject.lane(first, slot), 2),
            Past::Still | Past::Moving => {
                self.largest(first, slot, was, rotation::largest(turned, bits))
            }
        };
        self.subject.set_lane(first, slot, largest);
        let expected: [Expected; 3] = if past == Past::None {
            [1, 2, 3].map(|n| self.expect(lane, first + n, slot, past, true))
        } else {
            let [[_, a, b, c], [_, d, e, f], [_, g, h, i]] =
                [then, earlier, turned].map(|lanes| reexpress(lanes, largest, bits));
            [(a, d, g), (b, e, h), (c, f, i)].map(|(then, earlier, raw)| Expected {
                raw,
                velocity: lane.difference(then, earlier),
            })
        };
        let speed = expected.iter().map(|lane| lane.velocity.unsigned_abs());
        let mut field = Field::new(name, lane, past, speed.sum(), before);
        for (number, expected) in (first + 1..).zip(expected) {
            self.lane(&mut field, number, slot, expected)?;
        }
        Ok(field.sum)
    }

    /// Codes which component is the largest, given which one was and which one is likely to be.
    fn largest(&mut self, first: usize, slot: u8, was: u32, likely: u32) -> u32 {
        let truth = self.subject.lane(first, slot);
        let set = self.plan.lanes.get(first);
        let Some(set) = set.and_then(|&set| self.sets.get_mut(usize::from(set))) else {
            return 0;
        };
        let is_likely = usize::from(likely != was);
        if !self.side.bit(at(set, is_likely), truth != was) {
            return was;
        }
        if likely != was && self.side.bit(at(set, 2), truth == likely) {
            return likely;
        }
        let upper = self.side.bit(at(set, 3), truth & 2 != 0);
        let lower = self
            .side
            .bit(at(set, 4 + usize::from(upper)), truth & 1 != 0);
        u32::from(upper) << 1 | u32::from(lower)
    }

    /// Codes bytes: a length, and the bytes as they are.
    fn bytes(
        &mut self,
        name: &'static str,
        column: usize,
        max: u16,
        slot: u8,
        past: Past,
    ) -> Result<(), DecodeError> {
        if past != Past::None {
            let differs = self.subject.bytes(column, slot) != self.baseline.bytes_at(column, slot);
            if !self.bit(BYTES_CHANGED, differs) {
                return Ok(());
            }
        }
        let truth = self.subject.bytes(column, slot);
        let length = u32::try_from(truth.len()).unwrap_or(u32::MAX);
        let length = self.side.plain(length, u16::BITS - max.leading_zeros());
        self.side.check(name)?;
        if length > u32::from(max) {
            return Err(DecodeError::TooLong {
                field: name,
                at_bit: self.side.at_bit(),
                length: length.into(),
                limit: max.into(),
            });
        }
        let mut value = Vec::new();
        for n in 0..length as usize {
            let byte = self.subject.bytes(column, slot).get(n).copied();
            let byte = self.side.plain(byte.unwrap_or(0).into(), 8);
            self.side.check(name)?;
            value.push(u8::try_from(byte).unwrap_or(u8::MAX));
        }
        self.subject.set_bytes(column, slot, value);
        Ok(())
    }
}

/// What was seen of a field so far.
struct Field {
    name: &'static str,
    lane: Lane,
    is_new: bool,
    signs: Signs,
    lanes: u32,
    sum: u32,
}

impl Field {
    fn new(name: &'static str, lane: Lane, past: Past, speed: u32, before: u32) -> Self {
        let speed = match past {
            Past::Moving => speed,
            Past::None | Past::Still => UNKNOWN_SPEED,
        };
        Self {
            name,
            lane,
            is_new: past == Past::None,
            signs: Signs {
                speed,
                before,
                ..Signs::default()
            },
            lanes: 0,
            sum: 0,
        }
    }

    #[inline]
    fn context(&self, velocity: i32, last: u32) -> Context {
        if self.is_new {
            return Context::NEW;
        }
        Context::of(Signs {
            velocity,
            last,
            ..self.signs
        })
    }

    /// Takes note of a residual's size.
    #[inline]
    fn note(&mut self, size: u32) {
        let near = self.signs.near;
        self.signs.near = if self.lanes == 0 {
            size
        } else {
            near.midpoint(size)
        };
        self.lanes += 1;
        self.sum = self.sum.saturating_add(size);
    }
}
