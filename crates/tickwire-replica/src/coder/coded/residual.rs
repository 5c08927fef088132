//! How far a value lies from where it is expected, as decisions of a lane's 64 models.
//!
//! A residual is: not 0? – negative? – how many bits? – its second-highest bit; the bits below that are
//! noise, and plain. What the models are told apart by is a [`Context`]: how large a residual is to be
//! expected here, in [`CLASSES`] classes.

use crate::coder::coded::side::Side;

/// The models of one column.
pub(in crate::coder) type Set<M> = [M; SET];

/// How many there are.
pub(in crate::coder) const SET: usize = 64;

/// What a residual is expected to be like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    /// Which model says whether it is 0.
    is_other: u8,
    /// Which one says whether it is negative.
    is_negative: u8,
    /// Which ones say how long it is.
    length: u8,
}

/// What a residual may be guessed from. Everything counts steps of the lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signs {
    /// How far this lane moved between the two versions that are known.
    pub(super) velocity: i32,
    /// How far all lanes of the field did, taken together.
    pub(super) speed: u32,
    /// About how large the residuals of the lanes before it in the field are.
    pub(super) near: u32,
    /// How large those of the field before are, taken together.
    pub(super) before: u32,
    /// How large that of the same lane was in the last entity.
    pub(super) last: u32,
}

/// Classes of expectation, without that of newcomers.
const CLASSES: u8 = 14;

/// Beyond this a part of the expectation makes no difference.
const LARGE: u32 = 1 << 12;

impl Context {
    /// Nothing is known of a newcomer.
    pub(super) const NEW: Self = Self {
        is_other: CLASSES + CLASSES / 2,
        is_negative: 3,
        length: CLASSES / 2,
    };

    #[inline]
    pub(super) fn of(signs: Signs) -> Self {
        let size = |part: u32| part.min(LARGE);
        // How much each part counts was found by trying, on recordings of two kinds; it matters little.
        let expected = 2 * size(signs.velocity.unsigned_abs())
            + size(signs.speed)
            + 5 * size(signs.near)
            + 2 * size(signs.last)
            + size(signs.before);
        let class = half_octave(expected / 2).min(CLASSES - 1);
        // A lane that rested may do so among others that move.
        let (is_other, is_negative) = match signs.velocity {
            ..0 => (class, 0),
            0 => (CLASSES + class / 2, 1),
            1.. => (class, 2),
        };
        Self {
            is_other,
            is_negative,
            length: class / 2,
        }
    }
}

/// 0, 1, 2, 3, 4 to 5, 6 to 7, 8 to 11, 12 to 15, …
#[inline]
fn half_octave(size: u32) -> u8 {
    let class = match size.checked_ilog2() {
        None | Some(0) => size,
        Some(octave) => 2 * octave + (size >> (octave - 1) & 1),
    };
    u8::try_from(class).unwrap_or(u8::MAX)
}

// Where the models lie in a set.
const IS_OTHER: usize = 0;
const IS_NEGATIVE: usize = 22;
const LENGTH: usize = 26;
const LONG: usize = 58;
const SECOND_BIT: usize = 61;

/// So many lengths have models of their own in every second class.
const LENGTHS: u32 = 4;

/// Codes whether a lane that can hold two values holds the other one.
#[inline]
pub(super) fn code_switch<S: Side>(
    side: &mut S,
    set: &mut Set<S::Model>,
    context: Context,
    is_other: bool,
) -> bool {
    side.bit(at(set, IS_OTHER + usize::from(context.is_other)), is_other)
}

/// Codes a residual.
#[inline]
pub(super) fn code_residual<S: Side>(
    side: &mut S,
    set: &mut Set<S::Model>,
    context: Context,
    residual: i32,
) -> i32 {
    if !code_switch(side, set, context, residual != 0) {
        return 0;
    }
    let sign = at(set, IS_NEGATIVE + usize::from(context.is_negative));
    let is_negative = side.bit(sign, residual < 0);
    let size = residual.unsigned_abs();
    let length = code_length(side, set, context, u32::BITS - size.leading_zeros());
    let size = code_size(side, set, length, size).cast_signed();
    if is_negative {
        size.wrapping_neg()
    } else {
        size
    }
}

/// Codes how many bits a size has, 1 to 32.
#[inline]
fn code_length<S: Side>(
    side: &mut S,
    set: &mut Set<S::Model>,
    context: Context,
    truth: u32,
) -> u32 {
    let own = LENGTH + usize::from(context.length) * LENGTHS as usize;
    let mut length = 1;
    while length < u32::BITS {
        let model = match length - 1 {
            short @ 0..LENGTHS => own + short as usize,
            long => LONG + (long - LENGTHS).min(2) as usize,
        };
        if !side.bit(at(set, model), length < truth) {
            break;
        }
        length += 1;
    }
    length
}

/// Codes a size of so many bits; the highest is set.
#[inline]
fn code_size<S: Side>(side: &mut S, set: &mut Set<S::Model>, length: u32, truth: u32) -> u32 {
    let Some(mut rest) = length.checked_sub(2) else {
        return 1;
    };
    let model = SECOND_BIT + rest.min(2) as usize;
    let second = side.bit(at(set, model), truth >> rest & 1 == 1);
    let mut size = 2 | u32::from(second);
    while rest > 0 {
        let bits = rest.min(16);
        rest -= bits;
        let piece = truth >> rest & ((1 << bits) - 1);
        size = size << bits | side.plain(piece, bits);
    }
    size
}

/// One model of a set.
#[inline]
pub(in crate::coder) fn at<M>(set: &mut Set<M>, index: usize) -> &mut M {
    let model = set.get_mut(index % SET);
    model.expect("a remainder of the set's length")
}
