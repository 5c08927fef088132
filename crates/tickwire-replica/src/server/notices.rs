//! What a client must be told to drop: everything, places, blocks.
//!
//! The first packet of every send repeats all of it until one of those packets is acknowledged. Until
//! then a block counts as known, a place cannot be entered again, and no number is used anew. Should
//! there be more than a packet has room for, those that came first are told first.

use alloc::vec::Vec;

use crate::number::{BlockNumber, PacketNumber, PlaceNumber};
use crate::packet::Notices;
use crate::record::BlockName;

/// Notices that one packet carries at most. At three to eight bytes each they leave half of the smallest
/// datagram to records.
const NOTICES_PER_PACKET: usize = 64;

/// What a client has not yet confirmed to have dropped.
#[derive(Debug, Default)]
pub(super) struct Pending {
    clear: Option<Cleared>,
    leaves: Vec<Leave>,
    gones: Vec<Gone>,
    /// As packets carry them.
    told_leaves: Vec<PlaceNumber>,
    told_gones: Vec<(PlaceNumber, BlockNumber)>,
}

#[derive(Debug)]
struct Cleared {
    blocks: Vec<BlockName>,
    /// The first packet that told it.
    told: Option<PacketNumber>,
}

#[derive(Debug)]
struct Leave {
    place: PlaceNumber,
    /// What the client may know there.
    blocks: Vec<BlockNumber>,
    told: Option<PacketNumber>,
}

#[derive(Clone, Copy, Debug)]
struct Gone {
    block: BlockName,
    told: Option<PacketNumber>,
}

impl Pending {
    #[cfg(test)]
    const fn is_empty(&self) -> bool {
        self.clear.is_none() && self.leaves.is_empty() && self.gones.is_empty()
    }

    /// How many blocks the client has not confirmed to have dropped. None of their numbers is used anew.
    pub(super) fn unconfirmed(&self) -> usize {
        let cleared = self.clear.as_ref().map_or(0, |clear| clear.blocks.len());
        let left: usize = self.leaves.iter().map(|leave| leave.blocks.len()).sum();
        cleared + left + self.gones.len()
    }

    /// Whether everything pending has been told at least once.
    pub(super) fn is_all_told(&self) -> bool {
        self.clear.as_ref().is_none_or(|clear| clear.told.is_some())
            && self.leaves.iter().all(|leave| leave.told.is_some())
            && self.gones.iter().all(|gone| gone.told.is_some())
    }

    /// Whether a place cannot be entered yet.
    pub(super) fn blocks_entry(&self, place: PlaceNumber) -> bool {
        self.clear.is_some() || self.leaves.iter().any(|leave| leave.place == place)
    }

    /// A block that the client may know is gone.
    pub(super) fn add_gone(&mut self, block: BlockName) {
        self.gones.push(Gone { block, told: None });
    }

    /// A place is left. `blocks` are what the client may know there, those that are gone included.
    pub(super) fn add_leave(&mut self, place: PlaceNumber, blocks: Vec<BlockNumber>) {
        self.gones.retain(|gone| gone.block.place != place);
        if !blocks.is_empty() {
            self.leaves.push(Leave {
                place,
                blocks,
                told: None,
            });
        }
    }

    /// Everything is left. `blocks` are what the client may know in places that were not left before.
    pub(super) fn add_clear(&mut self, mut blocks: Vec<BlockName>) {
        for leave in self.leaves.drain(..) {
            let place = leave.place;
            let known = leave.blocks.into_iter();
            blocks.extend(known.map(|block| BlockName { place, block }));
        }
        self.gones.clear();
        let before = self.clear.take().map(|clear| clear.blocks);
        blocks.extend(before.into_iter().flatten());
        self.clear = (!blocks.is_empty()).then_some(Cleared { blocks, told: None });
    }

    /// What the packet of this number, a send's first, shall carry.
    pub(super) fn tell(&mut self, packet: PacketNumber) -> Notices<'_> {
        self.told_leaves.clear();
        self.told_gones.clear();
        if let Some(clear) = &mut self.clear {
            clear.told.get_or_insert(packet);
        }
        for leave in self.leaves.iter_mut().take(NOTICES_PER_PACKET) {
            leave.told.get_or_insert(packet);
            self.told_leaves.push(leave.place);
        }
        let room = NOTICES_PER_PACKET.saturating_sub(self.leaves.len());
        for gone in self.gones.iter_mut().take(room) {
            gone.told.get_or_insert(packet);
            let BlockName { place, block } = gone.block;
            self.told_gones.push((place, block));
        }
        self.told_leaves.sort_unstable();
        self.told_gones.sort_unstable();
        Notices {
            clear: self.clear.is_some(),
            leaves: &self.told_leaves,
            gones: &self.told_gones,
        }
    }

    /// A packet that carried notices was acknowledged: whatever it told is done. Calls `each` for every
    /// block that the client does not know any more.
    pub(super) fn confirm(&mut self, packet: PacketNumber, mut each: impl FnMut(BlockName)) {
        let is_done = |told: Option<PacketNumber>| told.is_some_and(|told| told <= packet);
        if self.clear.as_ref().is_some_and(|clear| is_done(clear.told)) {
            let cleared = self.clear.take();
            let blocks = cleared.into_iter().flat_map(|clear| clear.blocks);
            blocks.for_each(&mut each);
        }
        self.leaves.retain(|leave| {
            let done = is_done(leave.told);
            if done {
                let place = leave.place;
                for block in leave.blocks.iter().copied() {
                    each(BlockName { place, block });
                }
            }
            !done
        });
        self.gones.retain(|gone| {
            let done = is_done(gone.told);
            if done {
                each(gone.block);
            }
            !done
        });
    }

    /// Calls `each` for every block that the client may still know: it has gone itself.
    pub(super) fn abandon(&mut self, each: impl FnMut(BlockName)) {
        self.add_clear(self.gones.iter().map(|gone| gone.block).collect());
        let cleared = self.clear.take();
        let blocks = cleared.into_iter().flat_map(|clear| clear.blocks);
        blocks.for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    const fn name(place: u32, block: u16) -> BlockName {
        BlockName {
            place: PlaceNumber(place),
            block: BlockNumber(block),
        }
    }

    fn confirm(pending: &mut Pending, packet: u64) -> Vec<BlockName> {
        let mut released = vec![];
        pending.confirm(PacketNumber(packet), |block| released.push(block));
        released
    }

    #[test]
    fn a_notice_is_told_until_a_packet_that_told_it_is_acknowledged() {
        let mut pending = Pending::default();
        pending.add_leave(PlaceNumber(4), vec![BlockNumber(1)]);
        assert_eq!(pending.tell(PacketNumber(7)).leaves, [PlaceNumber(4)]);
        pending.add_gone(name(2, 9));
        assert!(!pending.is_all_told());
        assert_eq!(confirm(&mut pending, 6), [], "sent before");
        assert_eq!(confirm(&mut pending, 7), [name(4, 1)]);
        let told = pending.tell(PacketNumber(9));
        assert_eq!(told.leaves, []);
        assert_eq!(told.gones, [(PlaceNumber(2), BlockNumber(9))]);
        assert!(pending.is_all_told() && !pending.is_empty());
        assert_eq!(confirm(&mut pending, 9), [name(2, 9)]);
        assert!(pending.is_empty());
    }

    #[test]
    fn every_block_counts_until_its_notice_is_confirmed() {
        let mut pending = Pending::default();
        pending.add_gone(name(1, 1));
        pending.add_leave(PlaceNumber(2), vec![BlockNumber(1), BlockNumber(2)]);
        assert_eq!(pending.unconfirmed(), 3);
        pending.add_clear(vec![name(1, 1), name(3, 1)]);
        assert_eq!(pending.unconfirmed(), 4);
        pending.tell(PacketNumber(7));
        confirm(&mut pending, 7);
        assert_eq!(pending.unconfirmed(), 0);
    }

    #[test]
    fn a_place_that_was_left_needs_no_gones() {
        let mut pending = Pending::default();
        pending.add_gone(name(3, 1));
        pending.add_leave(PlaceNumber(3), vec![BlockNumber(1), BlockNumber(2)]);
        assert!(pending.blocks_entry(PlaceNumber(3)));
        assert_eq!(pending.tell(PacketNumber(1)).gones, []);
        assert_eq!(confirm(&mut pending, 1), [name(3, 1), name(3, 2)]);
    }

    #[test]
    fn a_clear_says_it_all_and_is_told_anew() {
        let mut pending = Pending::default();
        pending.add_leave(PlaceNumber(3), vec![BlockNumber(1)]);
        pending.tell(PacketNumber(1));
        pending.add_clear(vec![name(5, 5)]);
        assert_eq!(confirm(&mut pending, 1), []);
        let told = pending.tell(PacketNumber(2));
        assert!(told.clear && told.leaves.is_empty());
        assert!(pending.blocks_entry(PlaceNumber(77)));
        assert_eq!(confirm(&mut pending, 2), [name(5, 5), name(3, 1)]);
    }

    #[test]
    fn what_does_not_fit_waits_and_what_was_told_is_repeated() {
        let mut pending = Pending::default();
        for block in 0..100 {
            pending.add_gone(name(1, block));
        }
        assert_eq!(pending.tell(PacketNumber(1)).gones.len(), 64);
        assert_eq!(confirm(&mut pending, 1).len(), 64);
        assert_eq!(pending.tell(PacketNumber(2)).gones.len(), 36);
    }

    #[test]
    fn a_client_that_goes_knows_nothing_any_more() {
        let mut pending = Pending::default();
        pending.add_gone(name(1, 1));
        pending.add_leave(PlaceNumber(2), vec![BlockNumber(2)]);
        let mut released = vec![];
        pending.abandon(|block| released.push(block));
        assert_eq!(released, [name(1, 1), name(2, 2)]);
    }
}
