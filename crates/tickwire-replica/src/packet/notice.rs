//! Notices: what a client shall no longer hold.
//!
//! They lie between a packet's header and its records. Places ascend, so most take a byte.

use tickwire_wire::{DecodeError, LittleEndian, Reader, Writer};

use crate::number::{BlockNumber, PlaceNumber};

/// Everything that a packet says was left, to write.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Notices<'a> {
    /// All places were left.
    pub clear: bool,
    /// The places that were left, ascending.
    pub leaves: &'a [PlaceNumber],
    /// The blocks that are gone from places that were not left, ascending.
    pub gones: &'a [(PlaceNumber, BlockNumber)],
}

/// One thing that was left. A packet's are in ascending order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Notice {
    /// All places.
    Clear,
    /// A place.
    Leave(PlaceNumber),
    /// A block.
    Gone(PlaceNumber, BlockNumber),
}

impl Notices<'_> {
    /// Whether there is nothing to say.
    pub const fn is_empty(&self) -> bool {
        !self.clear && self.leaves.is_empty() && self.gones.is_empty()
    }

    pub(super) fn write(&self, w: &mut Writer<'_, LittleEndian>) {
        let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        w.varint((count(self.leaves.len()) << 1) | u32::from(self.clear));
        let mut before = 0;
        for place in self.leaves {
            w.varint(place.0.wrapping_sub(before));
            before = place.0;
        }
        w.varint(count(self.gones.len()));
        let mut before = 0;
        for (place, block) in self.gones {
            w.varint(place.0.wrapping_sub(before));
            w.varint(block.0.into());
            before = place.0;
        }
    }
}

/// Reads what [`Notices::write`] wrote. What `each` was told before an error may be anything.
pub(super) fn read(
    r: &mut Reader<'_, LittleEndian>,
    mut each: impl FnMut(Notice),
) -> Result<(), DecodeError> {
    let first = r.varint("leaves")?;
    if first & 1 == 1 {
        each(Notice::Clear);
    }
    let mut before = None;
    for _ in 0..first >> 1 {
        let place = read_place(r, before.unwrap_or(0))?;
        if before == Some(place) {
            return Err(r.refuse("place", 0));
        }
        each(Notice::Leave(PlaceNumber(place)));
        before = Some(place);
    }
    let mut before = None;
    for _ in 0..r.varint("gones")? {
        let place = read_place(r, before.map_or(0, |(place, _)| place))?;
        let block = r.varint("block")?;
        let number = u16::try_from(block).ok();
        let Some(number) = number.filter(|number| before < Some((place, *number))) else {
            return Err(r.refuse("block", block.into()));
        };
        each(Notice::Gone(PlaceNumber(place), BlockNumber(number)));
        before = Some((place, number));
    }
    Ok(())
}

fn read_place(r: &mut Reader<'_, LittleEndian>, before: u32) -> Result<u32, DecodeError> {
    let step = r.varint("place")?;
    let place = before.checked_add(step);
    place.ok_or_else(|| r.refuse("place", step.into()))
}
