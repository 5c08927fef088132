//! How a value of a game becomes integers, and comes back.
//!
//! Each quantiser states how far what comes back may be from what was stored. NaN and what is beyond the
//! range are errors. Quantising what came back gives the same integers again.

mod quaternion;

pub use quaternion::Quaternion;
