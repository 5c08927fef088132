//! What a client knows of a place, block by block.
//!
//! A block is *settled* if the client has acknowledged it as it is. All others are surveyed each send: is
//! it on its way, or due? And at which sends does the client hold it, so that they can be baselines?
//! Nothing here says which client it is: those who know the same share it, see
//! [`Knowledge`](super::knowledge::Knowledge).

use alloc::vec::Vec;
use core::mem;

use super::records::{Numbered, Records};
use crate::coder::Ages;
use crate::limits::{MOVER_WAIT, WINDOW};
use crate::number::{BlockNumber, SendIndex};
use crate::window::{self, Acked};
use crate::world::{BlockSet, Head, Place, State};

/// What a client knows of a place.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct KnownPlace {
    /// By number.
    blocks: Vec<KnownBlock>,
    /// Blocks that are not settled.
    unsettled: BlockSet,
    /// The send of the last survey.
    surveyed: SendIndex,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct KnownBlock {
    acked: Acked,
    told: Told,
}

/// When a block was last sent, and whether the client may know it: in one word, because what clients know
/// is copied.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Told(u64);

impl Told {
    /// It was sent.
    const POSSIBLE: u64 = 1;
    /// It was sent and is gone, and the client has not yet confirmed that.
    const ENDING: u64 = 2;

    const fn new(sent: SendIndex, state: u64) -> Self {
        Self(sent.0 << 2 | state)
    }

    /// The last send that it was part of.
    #[inline]
    const fn sent(self) -> SendIndex {
        SendIndex(self.0 >> 2)
    }

    /// Whether the client may know it.
    #[inline]
    const fn is_known(self) -> bool {
        self.0 & 3 != 0
    }

    /// Whether it may and should.
    #[inline]
    const fn is_possible(self) -> bool {
        self.0 & 3 == Self::POSSIBLE
    }
}

/// A block that a client is to be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Due {
    pub(super) block: BlockNumber,
    /// The sends at which the client holds it, of those before its last change.
    held: u64,
    /// Whether the client holds no version that could be a baseline.
    pub(super) is_fresh: bool,
}

impl Due {
    /// What a record of this block alone is relative to.
    pub(super) fn ages(&self) -> Ages {
        let Some(baseline) = window::youngest_age(self.held) else {
            return Ages::default();
        };
        Ages {
            baseline,
            previous: previous(self.held, baseline),
        }
    }
}

/// What a survey of a place found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Survey {
    /// Blocks to be sent.
    pub(super) due: Vec<Due>,
    /// Blocks that the client may know and are no more.
    pub(super) gone: Vec<BlockNumber>,
    /// Sends that every block changed since is held at, or did not exist at, and after which every due
    /// block changed.
    baselines: u64,
    /// Sends at which every block is held that is held at all.
    held: u64,
    /// Blocks on their way that the client has never held.
    pub(super) entering: usize,
    /// Whether there are blocks on their way, or such as received movers.
    pub(super) is_pending: bool,
}

impl Default for Survey {
    fn default() -> Self {
        Self {
            due: Vec::new(),
            gone: Vec::new(),
            baselines: u64::MAX,
            held: u64::MAX,
            entering: 0,
            is_pending: false,
        }
    }
}

impl Survey {
    /// One that finds so many blocks gone without asking for memory.
    pub(super) fn with_room(gone: usize) -> Self {
        Self {
            gone: Vec::with_capacity(gone),
            ..Self::default()
        }
    }

    /// Forgets what was found, but not the memory that it took.
    fn clear(&mut self) {
        let (mut due, mut gone) = (mem::take(&mut self.due), mem::take(&mut self.gone));
        due.clear();
        gone.clear();
        *self = Self {
            due,
            gone,
            ..Self::default()
        };
    }
}

/// When a client is surveyed, and what of it matters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Moment {
    pub(super) send: SendIndex,
    /// Sends after which something on its way is taken for lost.
    pub(super) overdue: u64,
}

/// The sends since which everything must arrive for the client to know all, or all that received movers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Oldest {
    pub(super) any: SendIndex,
    /// Nothing if one was left out.
    pub(super) movers: Option<SendIndex>,
}

impl Oldest {
    /// Everything has arrived but what the last send holds.
    pub(super) const fn new(send: SendIndex) -> Self {
        Self {
            any: send,
            movers: Some(send),
        }
    }

    /// What must arrive for both.
    pub(super) fn and(self, other: Self) -> Self {
        let movers = self.movers.zip(other.movers);
        Self {
            any: self.any.min(other.any),
            movers: movers.map(|(one, other)| one.min(other)),
        }
    }
}

impl KnownPlace {
    /// Makes it a copy of another.
    pub(super) fn copy_from(&mut self, from: &Self) {
        self.blocks.clone_from(&from.blocks);
        self.unsettled.copy_from(&from.unsettled);
        self.surveyed = from.surveyed;
    }

    /// The blocks that the client may know.
    pub(super) fn known(&self) -> impl Iterator<Item = BlockNumber> {
        let numbered = (0..=u16::MAX).map(BlockNumber).zip(&self.blocks);
        let known = numbered.filter(|(_, block)| block.told.is_known());
        known.map(|(number, _)| number)
    }

    /// A packet of a send with these blocks was acknowledged.
    #[inline]
    pub(super) fn acknowledge(&mut self, blocks: &[BlockNumber], send: SendIndex) {
        for block in blocks {
            if let Some(block) = self.blocks.get_mut(usize::from(block.0))
                && block.told.is_possible()
            {
                block.acked.insert(send);
            }
        }
    }

    /// The client has confirmed that a block is gone.
    pub(super) fn end(&mut self, block: BlockNumber) {
        if let Some(block) = self.blocks.get_mut(usize::from(block.0)) {
            *block = KnownBlock::default();
        }
    }

    /// The client holds nothing for certain any more.
    pub(super) fn forget(&mut self) {
        self.surveyed = SendIndex::NONE;
        for block in &mut self.blocks {
            block.acked = Acked::default();
            block.told.0 &= 3;
        }
    }

    /// Whether nothing has to be sent, nothing is on its way and nothing has changed.
    #[inline]
    pub(super) fn is_settled(&self, place: &Place) -> bool {
        self.unsettled.is_empty()
            && self.surveyed != SendIndex::NONE
            && place.changed_at() <= self.surveyed
    }

    /// Looks at every block that is not settled.
    pub(super) fn survey(&mut self, place: &Place, moment: &Moment, survey: &mut Survey) {
        self.unsettle(place, moment.send);
        survey.clear();
        let Self {
            blocks, unsettled, ..
        } = self;
        survey.due.reserve(blocks.len());
        unsettled.retain(|number| {
            let at = usize::from(number.0);
            let (Some(head), Some(block)) = (place.head(number), blocks.get_mut(at)) else {
                return false;
            };
            match block.survey(head, moment, survey) {
                Found::OnItsWay => true,
                Found::Due(held) => {
                    survey.due.push(Due {
                        block: number,
                        held,
                        is_fresh: block.acked.is_empty(),
                    });
                    true
                }
                Found::Settled => false,
                Found::Gone => {
                    if block.told.is_possible() {
                        block.told = Told::new(block.told.sent(), Told::ENDING);
                        survey.gone.push(number);
                    }
                    false
                }
            }
        });
    }

    /// For how many sends a block has been due.
    pub(super) fn waiting(&self, place: &Place, block: BlockNumber, moment: &Moment) -> u64 {
        let known = self.blocks.get(usize::from(block.0));
        let both = known.zip(place.head(block));
        both.map_or(0, |(known, head)| known.waiting(head, moment))
    }

    /// Notes which blocks have changed since the last survey.
    fn unsettle(&mut self, place: &Place, send: SendIndex) {
        let heads = place.heads();
        self.blocks.resize(heads.len(), KnownBlock::default());
        if self.surveyed.next() >= send {
            if place.changed_at() > self.surveyed {
                self.unsettled.extend(place.changed());
            }
        } else {
            // It slept, or has just come: whatever may have changed in between.
            let is_new = self.surveyed == SendIndex::NONE;
            for (number, head) in (0..=u16::MAX).map(BlockNumber).zip(heads) {
                if is_new || head.changes.last() > self.surveyed {
                    self.unsettled.insert(number);
                }
            }
        }
        self.surveyed = send;
    }

    /// What one record of all blocks that changed since a baseline would be relative to, if there is one
    /// baseline for all of them.
    pub(super) fn whole(
        &mut self,
        place: Numbered<'_>,
        survey: &Survey,
        send: SendIndex,
        records: &mut Records,
    ) -> Option<Ages> {
        let baseline = window::youngest_age(survey.baselines)?;
        let mut held = survey.held;
        // The survey has not seen blocks that are settled now but need not have been held then.
        for block in records.changed_since(place, baseline) {
            if !self.unsettled.contains(*block) {
                held &= self.held(place.1, *block, send, baseline);
                if held & window::bit(baseline.into()) == 0 {
                    return None;
                }
            }
        }
        Some(Ages {
            baseline,
            previous: previous(held, baseline),
        })
    }

    /// The sends at which a block is held; all if it did not exist at the baseline.
    fn held(&mut self, place: &Place, block: BlockNumber, send: SendIndex, baseline: u8) -> u64 {
        let known = self.blocks.get_mut(usize::from(block.0));
        let Some((known, head)) = known.zip(place.head(block)) else {
            return 0;
        };
        let changes = head.changes.at(send);
        known.acked.advance(send, &changes);
        if head.born > send.before(baseline.into()) {
            return u64::MAX;
        }
        known.acked.held(&changes)
    }

    /// Notes that blocks are part of a packet. Adds those that the client could not know before to `first`.
    pub(super) fn mark_sent(
        &mut self,
        blocks: &[BlockNumber],
        send: SendIndex,
        first: &mut Vec<BlockNumber>,
    ) {
        for number in blocks {
            if let Some(block) = self.blocks.get_mut(usize::from(number.0)) {
                if !block.told.is_known() {
                    first.push(*number);
                }
                block.told = Told::new(send, Told::POSSIBLE);
            }
        }
    }

    /// The oldest sends that hold something which is not acknowledged; `send`, the last, at most.
    pub(super) fn oldest(&self, place: &Place, send: SendIndex) -> Oldest {
        let mut oldest = Oldest::new(send);
        for number in self.unsettled.iter() {
            let at = usize::from(number.0);
            let (Some(head), Some(block)) = (place.head(number), self.blocks.get(at)) else {
                continue;
            };
            oldest.any = oldest.any.min(block.told.sent());
            if block.lacks_mover(head) {
                let is_sent = block.told.sent() >= head.changes.last();
                let movers = oldest.movers.filter(|_| is_sent);
                oldest.movers = movers.map(|send| send.min(block.told.sent()));
            }
        }
        oldest
    }
}

/// What becomes of a block that was not settled.
enum Found {
    Settled,
    Gone,
    OnItsWay,
    /// It is to be sent. At these sends before its last change it is held.
    Due(u64),
}

impl KnownBlock {
    #[inline]
    fn survey(&mut self, head: &Head, moment: &Moment, survey: &mut Survey) -> Found {
        if head.state != State::Live {
            return Found::Gone;
        }
        let send = moment.send;
        let changes = head.changes.at(send);
        self.acked.advance(send, &changes);
        let since_last = changes.since_last();
        if self.acked.is_in(since_last) {
            return Found::Settled;
        }
        let held = self.acked.held(&changes);
        let is_fresh = self.acked.is_empty();
        if !is_fresh {
            survey.held &= held;
        }
        survey.is_pending |= self.lacks_mover(head);
        let unborn = !window::since(send.since(head.born));
        if self.told.sent() >= changes.last() && send.since(self.told.sent()) < moment.overdue {
            survey.baselines &= held | unborn | since_last;
            survey.entering += usize::from(is_fresh);
            survey.is_pending = true;
            return Found::OnItsWay;
        }
        survey.baselines &= (held | unborn) & !since_last;
        Found::Due(held & !since_last)
    }

    /// For how many sends a change has been neither received nor on its way.
    fn waiting(&self, head: &Head, moment: &Moment) -> u64 {
        let changes = head.changes.at(moment.send);
        let received = self.acked.youngest();
        let received = received.unwrap_or_else(|| head.born.before(1));
        let is_lost = moment.send.since(self.told.sent()) >= moment.overdue;
        let told = if is_lost {
            received
        } else {
            received.max(self.told.sent())
        };
        let untold = match moment.send.since(told) {
            0 => 0,
            age => changes.bits() & window::since(age - 1),
        };
        let oldest = WINDOW - u64::from(untold.trailing_zeros()).min(WINDOW - 1);
        oldest
            + if self.lacks_mover(head) {
                MOVER_WAIT
            } else {
                0
            }
    }

    /// Whether an entity has come to the block from another, and the client does not know it.
    #[inline]
    fn lacks_mover(&self, head: &Head) -> bool {
        head.moved_in != SendIndex::NONE
            && head.moved_in > self.acked.youngest().unwrap_or_default()
    }
}

/// The age of the send through which motion is extrapolated; 0 for none. It is as near as can be to half
/// the baseline's age before the baseline: less and rounding is amplified, more and the motion is old.
fn previous(held: u64, baseline: u8) -> u8 {
    let ideal = baseline
        .saturating_add((baseline / 2).max(1))
        .min(Ages::OLDEST);
    let older = held & !window::since(baseline.into());
    window::nearest_age(older, ideal).unwrap_or(0)
}
