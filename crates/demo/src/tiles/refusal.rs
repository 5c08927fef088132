//! Why the world does not do what somebody wants.

use core::fmt;

use super::limits;

/// Why somebody does not get in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JoinRefusal {
    /// There is no place for another player.
    Crowded,
    /// Too much has happened since the last step; the next may do.
    Busy,
}

impl fmt::Display for JoinRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crowded => write!(f, "the world already has {} players", limits::PLAYERS),
            Self::Busy => f.write_str(BUSY),
        }
    }
}

impl core::error::Error for JoinRefusal {}

/// Why somebody stays where it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WalkRefusal {
    /// It has left.
    Gone,
    /// The world ends here.
    Edge,
    /// Something solid is there, and cannot be pushed on.
    Blocked,
    /// Too much has happened since the last step; the next may do.
    Busy,
}

impl fmt::Display for WalkRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "nobody is there to walk",
            Self::Edge => "the world ends here",
            Self::Blocked => "something is in the way",
            Self::Busy => BUSY,
        })
    }
}

impl core::error::Error for WalkRefusal {}

/// Why a block stays what it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EditRefusal {
    /// Whoever wants it has left.
    Gone,
    /// There is no such cell.
    Nowhere,
    /// It is part of the railway's bed, or the train's floor, which must stay.
    Railway,
    /// Somebody stands where something solid would be.
    Occupied,
    /// The world holds [`limits::EDITED_BLOCKS`] edits, or as many chunks with edits as it can.
    Full,
    /// Too much has happened since the last step; the next may do.
    Busy,
}

impl fmt::Display for EditRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "nobody is there to build",
            Self::Nowhere => "there is no such cell",
            Self::Railway => "the railway must stay as it is",
            Self::Occupied => "somebody stands there",
            Self::Full => "the world holds no more changes; undo some",
            Self::Busy => BUSY,
        })
    }
}

impl core::error::Error for EditRefusal {}

const BUSY: &str = "too much is going on; try again in a moment";
