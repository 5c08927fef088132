//! The records of one send, each encoded once for all clients that need it.
//!
//! A record is a pure function of what it is of, its baseline, its previous send, and now. So within a
//! send its key is its target and two ages. What a target has hangs in a chain, which is as long as
//! clients differ in what they hold: one or two mostly, as many as the slowest round trip has sends at
//! worst. What changed in a place is as many records as it takes for each to fit a packet.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::ledger::{Ledger, RecordIndex};
use crate::coder::Ages;
use crate::number::{BlockNumber, PlaceNumber, SendIndex};
use crate::packet::{Form, RecordHead, Target};
use crate::record::{self, Changed, Coding, Part};
use crate::world::{Audience, Cell, Head, Place, State, Store};

/// The records of a send.
#[derive(Debug)]
pub(super) struct Records {
    send: SendIndex,
    forms: Forms,
    coding: Coding,
    bytes: Vec<u8>,
    /// By [`RecordIndex`].
    entries: Vec<Entry>,
    ledger: Ledger,
    runs: Vec<Run>,
    spans: Vec<Span>,
    place_runs: Chains,
    block_runs: Chains,
    place_spans: Chains,
    figures: Sharing,
    /// What is being encoded.
    parts: Vec<Part>,
}

/// How often records were shared.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sharing {
    /// Records that were encoded.
    pub encoded: u64,
    /// Records that were asked for and had been encoded for somebody else.
    pub shared: u64,
}

/// How the records of a place are coded at a send. Nothing of a client is asked for.
pub(super) type ChooseForm = Box<dyn Fn(Option<Cell>, Audience, SendIndex) -> Form + Send + Sync>;

/// How records are coded.
struct Forms {
    usual: Form,
    chosen: Option<ChooseForm>,
}

impl Forms {
    fn of(&self, place: &Place, send: SendIndex) -> Form {
        let chosen = self.chosen.as_ref();
        chosen.map_or(self.usual, |choose| {
            choose(place.cell(), place.audience, send)
        })
    }
}

impl fmt::Debug for Forms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forms")
            .field("usual", &self.usual)
            .finish_non_exhaustive()
    }
}

/// A record.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) head: RecordHead,
    bytes: Range<usize>,
}

/// All records of a target that are relative to the same.
#[derive(Clone, Debug)]
struct Run {
    ages: Ages,
    entries: Range<usize>,
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
pub(super) struct Chains(Vec<(SendIndex, usize)>);

impl Chains {
    pub(super) fn first(&self, of: u32, send: SendIndex) -> Option<usize> {
        let (at, first) = *self.0.get(of as usize)?;
        (at == send).then_some(first)
    }

    /// Puts an entry in front; the caller has made it point to what was there.
    pub(super) fn push(&mut self, of: u32, send: SendIndex, entry: usize) {
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
    pub(super) fn new(usual: Form, coding: Coding) -> Self {
        Self {
            send: SendIndex::NONE,
            forms: Forms {
                usual,
                chosen: None,
            },
            coding,
            bytes: Vec::new(),
            entries: Vec::new(),
            ledger: Ledger::default(),
            runs: Vec::new(),
            spans: Vec::new(),
            place_runs: Chains::default(),
            block_runs: Chains::default(),
            place_spans: Chains::default(),
            figures: Sharing::default(),
            parts: Vec::new(),
        }
    }

    /// Lets `choose` say how the records of a place are coded at a send.
    pub(super) fn set_forms(&mut self, choose: ChooseForm) {
        self.forms.chosen = Some(choose);
    }

    /// Begins another send.
    pub(super) fn begin(&mut self, send: SendIndex) {
        self.send = send;
        self.bytes.clear();
        self.entries.clear();
        self.ledger.begin(send);
        self.runs.clear();
        self.spans.clear();
    }

    pub(super) const fn figures(&self) -> Sharing {
        self.figures
    }

    /// What the records of this send and of those before hold.
    pub(super) const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(super) fn entry(&self, at: RecordIndex) -> &Entry {
        let entry = self.entries.get(at.0 as usize);
        entry.expect("indices are of this send")
    }

    pub(super) fn body(&self, entry: &Entry) -> &[u8] {
        self.bytes.get(entry.bytes.clone()).unwrap_or_default()
    }

    /// The blocks of a place that changed since an age, ascending.
    pub(super) fn changed_since(&mut self, place: Numbered<'_>, age: u8) -> &[BlockNumber] {
        let span = self.span(place, age);
        self.ledger.now().blocks(span)
    }

    fn span(&mut self, (number, place): Numbered<'_>, age: u8) -> Range<usize> {
        let first = self.place_spans.first(number.0, self.send);
        let mut next = first;
        while let Some(at) = next
            && let Some(span) = self.spans.get(at)
        {
            if span.age == age {
                return span.blocks.clone();
            }
            next = span.next;
        }
        let baseline = self.send.before(age.into());
        let is_in = |head: &Head| head.state == State::Live && head.changes.last() > baseline;
        let blocks = if age == 1 && place.changed_at() == self.send {
            // The usual case, and no need to look at every block of a large place.
            let changed = place.changed().iter();
            let changed = changed.filter(|block| place.head(*block).is_some_and(is_in));
            self.ledger.now().list(changed)
        } else {
            let heads = (0..=u16::MAX).map(BlockNumber).zip(place.heads());
            let changed = heads.filter(|(_, head)| is_in(head));
            self.ledger.now().list(changed.map(|(block, _)| block))
        };
        self.spans.push(Span {
            age,
            blocks: blocks.clone(),
            next: first,
        });
        let at = self.spans.len() - 1;
        self.place_spans.push(number.0, self.send, at);
        blocks
    }

    /// The records of all blocks of a place that changed since a baseline.
    pub(super) fn place(
        &mut self,
        store: &Store,
        place: Numbered<'_>,
        ages: Ages,
    ) -> impl ExactSizeIterator<Item = RecordIndex> + use<> {
        let first = self.place_runs.first(place.0.0, self.send);
        let entries = self.find(first, ages).unwrap_or_else(|| {
            let span = self.span(place, ages.baseline);
            let entries = self.encode(store, place, (Target::Place, ages), span);
            self.push_run(ages, &entries, first);
            self.place_runs
                .push(place.0.0, self.send, self.runs.len() - 1);
            entries
        });
        indices(entries)
    }

    /// The record of one block.
    pub(super) fn block(
        &mut self,
        store: &Store,
        place: Numbered<'_>,
        block: BlockNumber,
        ages: Ages,
    ) -> Option<RecordIndex> {
        let handle = place.1.head(block)?.handle;
        let first = self.block_runs.first(handle.0, self.send);
        let entries = self.find(first, ages).unwrap_or_else(|| {
            let blocks = self.ledger.now().list(core::iter::once(block));
            let entries = self.encode(store, place, (Target::Block(block), ages), blocks);
            self.push_run(ages, &entries, first);
            self.block_runs
                .push(handle.0, self.send, self.runs.len() - 1);
            entries
        });
        indices(entries).next()
    }

    fn push_run(&mut self, ages: Ages, entries: &Range<usize>, next: Option<usize>) {
        self.figures.encoded += entries.len() as u64;
        self.runs.push(Run {
            ages,
            entries: entries.clone(),
            next,
        });
    }

    fn find(&mut self, first: Option<usize>, ages: Ages) -> Option<Range<usize>> {
        let mut next = first;
        while let Some(at) = next
            && let Some(run) = self.runs.get(at)
        {
            if run.ages == ages {
                self.figures.shared += run.entries.len() as u64;
                return Some(run.entries.clone());
            }
            next = run.next;
        }
        None
    }

    /// Encodes blocks that are listed, and says which records they are.
    fn encode(
        &mut self,
        store: &Store,
        (number, place): Numbered<'_>,
        (target, ages): (Target, Ages),
        blocks: Range<usize>,
    ) -> Range<usize> {
        let Self {
            send,
            forms,
            coding,
            bytes,
            entries,
            ledger,
            ..
        } = self;
        let head = RecordHead {
            place: number,
            target,
            form: forms.of(place, *send),
            ages,
        };
        let page = ledger.now();
        let first = entries.len();
        let (mut at, mut block) = (bytes.len(), blocks.start);
        let mut ends = core::mem::take(&mut self.parts);
        let changed = page.blocks(blocks).iter().filter_map(|block| {
            let head = place.head(*block)?;
            changed_block(store, (*block, head), ages, *send)
        });
        record::encode_parts(&head, changed, coding, bytes, |part| ends.push(part));
        for part in ends.drain(..) {
            let head = RecordHead {
                form: part.form,
                ..head
            };
            entries.push(Entry {
                head,
                bytes: at..at + part.bytes,
            });
            page.add(number, block..block + part.blocks);
            at += part.bytes;
            block += part.blocks;
        }
        self.parts = ends;
        first..self.entries.len()
    }
}

/// Indices of entries.
fn indices(entries: Range<usize>) -> impl ExactSizeIterator<Item = RecordIndex> {
    entries.map(|at| RecordIndex(u32::try_from(at).unwrap_or(u32::MAX)))
}

impl Entry {
    /// Bytes of its body.
    pub(super) const fn len(&self) -> usize {
        self.bytes.end - self.bytes.start
    }
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
