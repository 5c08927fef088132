//! One resource, put together from pieces in any order.
//!
//! In: the size of the resource, and pieces with their offsets, out of order and repeated as the
//! protocol allows. Out: the whole resource once no byte is missing. Whether the bytes are the right
//! ones is the caller's to check, against the hash that is listed. [`Fetching`](super::Fetching) is for
//! protocols whose pieces come in order.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use super::EXTENTS_MAX;

/// The bytes of a resource that have arrived.
///
/// They take as much memory as the resource has up to the last byte that arrived.
#[derive(Clone, Debug)]
pub struct Assembly {
    size: usize,
    bytes: Vec<u8>,
    /// The parts of `bytes` that have arrived, from begin to end; no two of them touch.
    extents: BTreeMap<usize, usize>,
    have: usize,
}

/// A piece reaches beyond the end of the resource, or leaves more than [`EXTENTS_MAX`] parts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Misplaced;

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a piece out of place")
    }
}

impl core::error::Error for Misplaced {}

impl Assembly {
    /// Nothing of a resource of `size` bytes. Announcing a size takes no memory.
    pub const fn new(size: usize) -> Self {
        Self {
            size,
            bytes: Vec::new(),
            extents: BTreeMap::new(),
            have: 0,
        }
    }

    /// The size of the resource.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Bytes that have arrived, each counted once.
    pub const fn have(&self) -> usize {
        self.have
    }

    /// Adds a piece. Of bytes that arrive twice the later ones count. A misplaced piece changes
    /// nothing.
    pub fn handle_piece(&mut self, offset: usize, piece: &[u8]) -> Result<(), Misplaced> {
        let end = offset
            .checked_add(piece.len())
            .filter(|end| *end <= self.size)
            .ok_or(Misplaced)?;
        if piece.is_empty() {
            return Ok(());
        }
        let before = self.extents.range(..=offset).next_back();
        let joins_before = before.is_some_and(|(_, before_end)| *before_end >= offset);
        let joins_behind = self.extents.range(offset..=end).next().is_some();
        if self.extents.len() >= EXTENTS_MAX && !joins_before && !joins_behind {
            return Err(Misplaced);
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        if let Some(place) = self.bytes.get_mut(offset..end) {
            place.copy_from_slice(piece);
        }
        self.add_extent(offset, end);
        Ok(())
    }

    /// The resource, if no byte is missing.
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        (self.have == self.size).then_some(self.bytes)
    }

    /// Marks a part as arrived, and makes one of it and those that it touches.
    fn add_extent(&mut self, mut begin: usize, mut end: usize) {
        while let Some((&other, &other_end)) = self
            .extents
            .range(..=end)
            .next_back()
            .filter(|(_, other_end)| **other_end >= begin)
        {
            self.extents.remove(&other);
            self.have -= other_end - other;
            begin = begin.min(other);
            end = end.max(other_end);
        }
        self.extents.insert(begin, end);
        self.have += end - begin;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: &[u8] = b"here be dragons, and whales, and a kraken";

    /// Adds the piece of [`CONTENT`] that has this place.
    fn add(assembly: &mut Assembly, begin: usize, end: usize) {
        let piece = &CONTENT[begin..end];
        assembly.handle_piece(begin, piece).unwrap();
    }

    #[test]
    fn any_order_and_repetition_gives_the_same_bytes() {
        // Every order of five pieces, with one of them repeated and one that overlaps two others.
        let cuts = [0, 7, 8, 20, 33, CONTENT.len()];
        for order in 0..120 {
            let (mut left, mut rest) = ((0..5).collect::<Vec<usize>>(), order);
            let mut assembly = Assembly::new(CONTENT.len());
            add(&mut assembly, 15, 25);
            while !left.is_empty() {
                let nth = left.remove(rest % left.len());
                rest /= left.len() + 1;
                add(&mut assembly, cuts[nth], cuts[nth + 1]);
                add(&mut assembly, cuts[nth], cuts[nth + 1]);
                let complete = assembly.clone().into_bytes().is_some();
                assert_eq!(complete, left.is_empty());
            }
            assert_eq!(assembly.extents.len(), 1);
            assert_eq!(assembly.into_bytes().unwrap(), CONTENT);
        }
    }

    #[test]
    fn a_piece_beyond_the_end_changes_nothing() {
        let mut assembly = Assembly::new(10);
        for (offset, length) in [(10, 1), (5, 6), (usize::MAX, 1)] {
            let piece = &CONTENT[..length];
            assert_eq!(assembly.handle_piece(offset, piece), Err(Misplaced));
        }
        assert_eq!((assembly.have(), assembly.bytes.len()), (0, 0));
        assert_eq!(assembly.into_bytes(), None);
    }

    #[test]
    fn the_number_of_parts_is_bounded() {
        let mut assembly = Assembly::new(usize::MAX);
        for part in 0..EXTENTS_MAX {
            assert_eq!(assembly.handle_piece(2 * part, b"x"), Ok(()));
        }
        let one_more = 2 * EXTENTS_MAX;
        assert_eq!(assembly.handle_piece(one_more, b"x"), Err(Misplaced));
        assert_eq!(assembly.handle_piece(one_more - 1, b"xx"), Ok(()));
        assert_eq!(assembly.handle_piece(1, b"x"), Ok(()));
        assert_eq!(assembly.extents.len(), EXTENTS_MAX - 1);
    }
}
