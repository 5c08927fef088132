//! The general prior.

use crate::coder::coded::model::Start;
use crate::coder::coded::residual::{SET, Set};
use crate::coder::prior::Column;

/// Where the models of a column of this kind begin.
pub(super) fn starts(_column: Column) -> Set<Start> {
    [Start::UNKNOWN; SET]
}
