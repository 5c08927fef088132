//! The records of one send, each encoded once for all clients that need it.
//!
//! A record is a pure function of what it is of, its baseline, its previous send, and now. So within a
//! send its key is its target and two ages. Records of a target hang in a chain, which is as long as
//! clients differ in what they hold: one or two mostly, as many as the slowest round trip has sends at
//! worst.

use alloc::vec::Vec;
use core::ops::Range;

use crate::coder::Ages;
use crate::limits::RECORD_MAX;
use crate::number::{BlockNumber, PlaceNumber, SendIndex};
use crate::packet::{Form, RecordHead, Target};
use crate::record::{self, Changed, Coding};
use crate::world::{Head, Place, State, Store};

/// The records of a send.
#[derive(Debug)]
pub(super) struct Records {
    send: SendIndex,
    form: Form,
    coding: Coding,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// The blocks that place records hold.
    blocks: Vec<BlockNumber>,
    spans: Vec<Span>,
    place_records: Chains,
    block_records: Chains,
    place_spans: Chains,
    figures: Sharing,
}

/// How often records were shared.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sharing {
    /// Records that were encoded.
    pub encoded: u64,
    /// Records that were asked for and had been encoded for somebody else.
    pub shared: u64,
}

/// A record.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) head: RecordHead,
    bytes: Range<usize>,
    /// The blocks in it, if it is a place's.
    span: Option<usize>,
    next: Option<usize>,
}

/// The blocks of a place that changed since a baseline.
#[derive(Clone, Debug)]
struct Span {
    age: u8,
    blocks: Range<usize>,
    next: Option<usize>,
}

/// Where the chain of each target begins, by the target's number.
#[derive(Debug, Default)]
struct Chains(Vec<(SendIndex, usize)>);

impl Chains {
    fn first(&self, of: u32, send: SendIndex) -> Option<usize> {
        let (at, first) = *self.0.get(of as usize)?;
        (at == send).then_some(first)
    }

    /// Puts an entry in front; the caller has made it point to what was there.
    fn push(&mut self, of: u32, send: SendIndex, entry: usize) {
        let of = of as usize;
        if self.0.len() <= of {
            self.0.resize(of + 1, (SendIndex::NONE, 0));
        }
        if let Some(first) = self.0.get_mut(of) {
            *first = (send, entry);
        }
    }
}

/// A place and its number.
pub(super) type Numbered<'a> = (PlaceNumber, &'a Place);

impl Records {
    pub(super) fn new(form: Form, coding: Coding) -> Self {
        Self {
            send: SendIndex::NONE,
            form,
            coding,
            bytes: Vec::new(),
            entries: Vec::new(),
            blocks: Vec::new(),
            spans: Vec::new(),
            place_records: Chains::default(),
            block_records: Chains::default(),
            place_spans: Chains::default(),
            figures: Sharing::default(),
        }
    }

    /// Begins another send.
    pub(super) fn begin(&mut self, send: SendIndex) {
        self.send = send;
        self.bytes.clear();
        self.entries.clear();
        self.blocks.clear();
        self.spans.clear();
    }

    pub(super) const fn figures(&self) -> Sharing {
        self.figures
    }

    pub(super) fn entry(&self, at: usize) -> &Entry {
        self.entries.get(at).expect("indices are of this send")
    }

    pub(super) fn body(&self, entry: &Entry) -> &[u8] {
        self.bytes.get(entry.bytes.clone()).unwrap_or_default()
    }

    /// The blocks in a record, ascending.
    pub(super) fn blocks(&self, entry: &Entry) -> impl Iterator<Item = BlockNumber> {
        blocks_of(entry, &self.spans, &self.blocks)
    }

    /// The blocks of a place that changed since an age, ascending.
    pub(super) fn changed_since(&mut self, place: Numbered<'_>, age: u8) -> &[BlockNumber] {
        let span = self.span(place, age);
        let blocks = self
            .spans
            .get(span)
            .map_or(0..0, |span| span.blocks.clone());
        self.blocks.get(blocks).unwrap_or_default()
    }

    fn span(&mut self, (number, place): Numbered<'_>, age: u8) -> usize {
        let first = self.place_spans.first(number.0, self.send);
        let mut next = first;
        while let Some(at) = next
            && let Some(span) = self.spans.get(at)
        {
            if span.age == age {
                return at;
            }
            next = span.next;
        }
        let first_block = self.blocks.len();
        let baseline = self.send.before(age.into());
        let is_in = |head: &Head| head.state == State::Live && head.changes.last() > baseline;
        if age == 1 && place.changed_at() == self.send {
            // The usual case, and no need to look at every block of a large place.
            let changed = place.changed().iter();
            self.blocks
                .extend(changed.filter(|block| place.head(*block).is_some_and(is_in)));
        } else {
            let heads = (0..=u16::MAX).map(BlockNumber).zip(place.heads());
            let changed = heads.filter(|(_, head)| is_in(head));
            self.blocks.extend(changed.map(|(block, _)| block));
        }
        self.spans.push(Span {
            age,
            blocks: first_block..self.blocks.len(),
            next: first,
        });
        let at = self.spans.len() - 1;
        self.place_spans.push(number.0, self.send, at);
        at
    }

    /// The record of all blocks of a place that changed since a baseline; nothing if it is too long.
    pub(super) fn place(
        &mut self,
        store: &Store,
        place: Numbered<'_>,
        ages: Ages,
    ) -> Option<usize> {
        let number = place.0;
        let first = self.place_records.first(number.0, self.send);
        let found = self.find(first, ages);
        let at = found.unwrap_or_else(|| {
            let span = self.span(place, ages.baseline);
            let at = self.encode(store, place, (Target::Place, ages), Some(span), first);
            self.place_records.push(number.0, self.send, at);
            at
        });
        (self.entry(at).len() <= RECORD_MAX).then_some(at)
    }

    /// The record of one block.
    pub(super) fn block(
        &mut self,
        store: &Store,
        place: Numbered<'_>,
        block: BlockNumber,
        ages: Ages,
    ) -> Option<usize> {
        let handle = place.1.head(block)?.handle;
        let first = self.block_records.first(handle.0, self.send);
        let found = self.find(first, ages);
        Some(found.unwrap_or_else(|| {
            let at = self.encode(store, place, (Target::Block(block), ages), None, first);
            self.block_records.push(handle.0, self.send, at);
            at
        }))
    }

    fn find(&mut self, first: Option<usize>, ages: Ages) -> Option<usize> {
        let mut next = first;
        while let Some(at) = next
            && let Some(entry) = self.entries.get(at)
        {
            if entry.head.ages == ages {
                self.figures.shared += 1;
                return Some(at);
            }
            next = entry.next;
        }
        self.figures.encoded += 1;
        None
    }

    fn encode(
        &mut self,
        store: &Store,
        (number, place): Numbered<'_>,
        (target, ages): (Target, Ages),
        span: Option<usize>,
        next: Option<usize>,
    ) -> usize {
        let start = self.bytes.len();
        let mut entry = Entry {
            head: RecordHead {
                place: number,
                target,
                form: self.form,
                ages,
            },
            bytes: start..start,
            span,
            next,
        };
        self.append(store, place, &entry);
        entry.bytes.end = self.bytes.len();
        if entry.head.form == Form::Coded {
            entry.head.form = Form::Packed;
            self.append(store, place, &entry);
            let packed = self.bytes.len() - entry.bytes.end;
            if packed < entry.len() {
                self.bytes.drain(start..entry.bytes.end);
                entry.bytes.end = self.bytes.len();
            } else {
                entry.head.form = Form::Coded;
                self.bytes.truncate(entry.bytes.end);
            }
        }
        self.entries.push(entry);
        self.entries.len() - 1
    }

    /// Appends a record's body.
    fn append(&mut self, store: &Store, place: &Place, entry: &Entry) {
        let blocks = blocks_of(entry, &self.spans, &self.blocks);
        let changed = blocks.filter_map(|block| {
            let head = place.head(block)?;
            changed_block(store, (block, head), entry.head.ages, self.send)
        });
        record::encode_within(
            RECORD_MAX,
            &entry.head,
            changed,
            &mut self.coding,
            &mut self.bytes,
        );
    }
}

impl Entry {
    /// Bytes of its body.
    pub(super) const fn len(&self) -> usize {
        self.bytes.end - self.bytes.start
    }
}

/// The blocks in a record, ascending.
fn blocks_of(
    entry: &Entry,
    spans: &[Span],
    blocks: &[BlockNumber],
) -> impl Iterator<Item = BlockNumber> {
    let span = entry.span.and_then(|span| spans.get(span));
    let range = span.map_or(0..0, |span| span.blocks.clone());
    let one = match entry.head.target {
        Target::Block(block) => Some(block),
        Target::Place => None,
    };
    let many = blocks.get(range).unwrap_or_default();
    one.into_iter().chain(many.iter().copied())
}

/// A block with the versions that a record of it names.
fn changed_block<'a>(
    store: &'a Store,
    (number, head): (BlockNumber, &Head),
    ages: Ages,
    send: SendIndex,
) -> Option<Changed<'a>> {
    let version = |age: u8| {
        let at = send.before(age.into());
        (age > 0 && head.born <= at).then(|| store.at_send(head.handle, at))?
    };
    let archetype = store.block(head.handle).archetype;
    let baseline = version(ages.baseline);
    Some(Changed {
        block: number,
        archetype,
        fields: store.fields(archetype),
        baseline,
        previous: version(ages.previous).filter(|_| baseline.is_some()),
        now: store.at_send(head.handle, send)?,
    })
}
