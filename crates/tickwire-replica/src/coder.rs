//! Records' contents: what changed in a block, as bytes.
//!
//! In: a block, and the versions of it that the receiver holds for certain ([`Known`]). Out: bytes from
//! which, and the same `Known`, the receiver makes the same block, lane for lane. There are two forms.
//! *Packed* ([`encode_packed`]) takes nanoseconds: the residuals of a lane, each in as many bits as the
//! largest needs. *Coded* ([`CodedEncoder`]) takes some hundred and is smaller: every residual is coded
//! bit by bit, as probable as a [`Prior`] and the record so far make it.
//!
//! ```text
//!              now ──┐
//!    baseline, ──────┼─▶ residuals ─┬─▶ packed: one width a lane ────────────▶ bytes
//!    previous  ──────┘              └─▶ coded: contexts ─▶ range coder ──────▶ bytes
//! ```
//!
//! A slot whose occupant differs from the baseline's is coded as new. Where the occupant differs at
//! `previous`, nothing is extrapolated. So no value that one entity had is ever used for another.
//! Newcomers of a record are told relative to each other.
//!
//! Which blocks a record holds, which versions it may name and which form it takes is decided above.
//! [`spec`] has the layout of both forms.

mod coded;
mod lane;
mod packed;
mod prior;
mod rotation;
mod single;
mod slots;
mod train;

#[doc = include_str!("coder/WIRE.md")]
pub mod spec {}

pub use coded::{CodedDecoder, CodedEncoder, Scratch};
pub use packed::{decode_packed, encode_packed, packed_bound};
pub use prior::Prior;
pub use single::Quantised;
pub use train::{Coded, Cost, Trainer};

use crate::block::BlockView;
use crate::schema::Field;

/// What sender and receiver of a record both hold.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The archetype's.
    pub fields: &'a [Field],
    /// The version that the record is relative to.
    pub baseline: Option<BlockView<'a>>,
    /// An older version, from which motion is extrapolated through the baseline. Only with a baseline.
    pub previous: Option<BlockView<'a>>,
    /// When these two were true.
    pub ages: Ages,
}

/// How many sends ago two versions of a block were true; 0 for one that is not used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Ages {
    /// At most [`OLDEST`](Self::OLDEST).
    pub baseline: u8,
    /// At most [`OLDEST`](Self::OLDEST), and above `baseline`.
    pub previous: u8,
}

impl Ages {
    /// The oldest version that a record may name.
    pub const OLDEST: u8 = 63;

    /// By how much more than between the two versions a lane moves from the baseline until now, in
    /// units of 1/4096.
    ///
    /// A fraction and not a quotient, because a multiplication takes a tenth of a division's time. It
    /// has at most 18 bits, so that its product with a difference of lanes fits 53.
    fn reach(self) -> i64 {
        let span = i64::from(self.previous.saturating_sub(self.baseline).max(1));
        (i64::from(self.baseline.min(Self::OLDEST)) * 4096 + span / 2) / span
    }
}
