//! Sets of a place's blocks, one a bit.
//!
//! A place may have thousands of blocks of which a few are of interest. So a set remembers which of its
//! words may have members, and nothing looks at the others.

use alloc::vec::Vec;
use core::ops::Range;

use crate::number::BlockNumber;

/// Some blocks of a place.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct BlockSet {
    words: Vec<u64>,
    /// Words beyond these are 0.
    used: Range<usize>,
}

impl BlockSet {
    pub(crate) fn clear(&mut self) {
        let used = core::mem::take(&mut self.used);
        self.words.get_mut(used).unwrap_or_default().fill(0);
    }

    /// Makes it a copy of another.
    pub(crate) fn copy_from(&mut self, from: &Self) {
        self.words.clone_from(&from.words);
        self.used = from.used.clone();
    }

    pub(crate) fn insert(&mut self, block: BlockNumber) {
        let at = usize::from(block.0 / 64);
        self.reserve(at..at + 1);
        if let Some(word) = self.words.get_mut(at) {
            *word |= 1 << (block.0 % 64);
        }
    }

    /// Adds all members of another set.
    #[inline]
    pub(crate) fn extend(&mut self, other: &Self) {
        if other.used.is_empty() {
            return;
        }
        self.reserve(other.used.clone());
        let ours = self.words.get_mut(other.used.clone()).unwrap_or_default();
        let theirs = other.words.get(other.used.clone()).unwrap_or_default();
        for (ours, theirs) in ours.iter_mut().zip(theirs) {
            *ours |= theirs;
        }
    }

    /// Makes room for these words.
    fn reserve(&mut self, words: Range<usize>) {
        if self.words.len() < words.end {
            self.words.resize(words.end, 0);
        }
        if self.used.is_empty() {
            self.used = words;
        } else {
            self.used = self.used.start.min(words.start)..self.used.end.max(words.end);
        }
    }

    /// Whether it certainly has no members.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.used.start >= self.used.end
    }

    /// The members, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = BlockNumber> {
        let words = self.words.get(self.used.clone()).unwrap_or_default();
        let firsts = self.used.clone().map(|at| u16::try_from(at * 64));
        let pairs = firsts.zip(words);
        pairs.flat_map(|(first, word)| members(first.unwrap_or(u16::MAX), *word))
    }

    /// Whether a block is a member.
    #[inline]
    pub(crate) fn contains(&self, block: BlockNumber) -> bool {
        let word = self.words.get(usize::from(block.0 / 64));
        word.is_some_and(|word| word >> (block.0 % 64) & 1 == 1)
    }

    /// Keeps the members for which `keep` says so.
    #[inline]
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(BlockNumber) -> bool) {
        let mut used = 0..0;
        for at in self.used.clone() {
            let (Some(word), Ok(first)) = (self.words.get_mut(at), u16::try_from(at * 64)) else {
                continue;
            };
            for block in members(first, *word) {
                if !keep(block) {
                    *word &= !(1 << (block.0 % 64));
                }
            }
            if *word != 0 {
                let start = if used.is_empty() { at } else { used.start };
                used = start..at + 1;
            }
        }
        self.used = used;
    }
}

/// The members of one word, whose first block has this number.
#[inline]
fn members(first: u16, word: u64) -> impl Iterator<Item = BlockNumber> {
    let mut rest = word;
    core::iter::from_fn(move || {
        let bit = u16::try_from(rest.trailing_zeros()).ok()?;
        (bit < 64).then(|| {
            rest &= rest - 1;
            BlockNumber(first | bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn set(blocks: &[u16]) -> BlockSet {
        let mut set = BlockSet::default();
        blocks.iter().for_each(|b| set.insert(BlockNumber(*b)));
        set
    }

    fn list(blocks: impl Iterator<Item = BlockNumber>) -> Vec<u16> {
        blocks.map(|block| block.0).collect()
    }

    #[test]
    fn sets_have_the_members_that_were_put_in() {
        let mut a = set(&[700, 3, 64, u16::MAX]);
        assert_eq!(list(a.iter()), [3, 64, 700, u16::MAX]);
        assert!(a.contains(BlockNumber(64)) && !a.contains(BlockNumber(65)));
        a.extend(&set(&[5, 700]));
        assert_eq!(list(a.iter()), [3, 5, 64, 700, u16::MAX]);
        a.clear();
        assert!(a.is_empty());
        assert_eq!(list(a.iter()), vec![]);
    }

    #[test]
    fn what_is_not_kept_leaves_no_words_to_look_at() {
        let mut a = set(&[3, 64, 700, 701]);
        a.retain(|block| block.0 > 100 && block.0 != 701);
        assert_eq!(list(a.iter()), [700]);
        assert_eq!(a.used, 10..11);
        a.retain(|_| false);
        assert!(a.is_empty());
    }
}
