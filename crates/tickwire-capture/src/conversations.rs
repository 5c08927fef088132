//! Who talks with whom: both directions of every conversation of a capture.
//!
//! In: [`Segment`]s. Out: what was said, in order, with a place for whoever listens to keep something of each
//! conversation. The number of conversations and what waits in them is bounded: a newcomer pushes out who was silent for
//! longest.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::half::{Half, Piece};
use crate::limits::{CONVERSATIONS, HELD_IN_ALL};
use crate::sliced::Segment;

/// Conversations that go on, each with a `T`.
#[derive(Debug)]
pub struct Conversations<T> {
    open: BTreeMap<Key, Conversation<T>>,
    /// Keys by when they were last heard of.
    by_use: BTreeMap<u64, Key>,
    uses: u64,
    count: u64,
    /// Bytes that wait in all of them.
    held: usize,
    forgotten: u64,
}

/// Both addresses, the lower first, and whether it is a stream.
type Key = (SocketAddr, SocketAddr, bool);

#[derive(Debug)]
struct Conversation<T> {
    ends: Ends,
    used: u64,
    /// Of who opened it, and of the other.
    halves: [Half; 2],
    kept: T,
}

/// Between whom a conversation is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ends {
    /// Counted from 1.
    pub number: u64,
    /// Who was heard first, or opened the stream.
    pub opener: SocketAddr,
    /// The other.
    pub other: SocketAddr,
    /// Whether it is a stream.
    pub is_stream: bool,
}

/// Something that happened in a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// In which.
    pub ends: Ends,
    /// Whether it comes from who opened it.
    pub from_opener: bool,
    /// What.
    pub event: Event<'a>,
}

/// What happened.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event<'a> {
    /// A datagram, and whether it was captured in part only.
    Datagram(&'a [u8], bool),
    /// The stream's first byte follows.
    Begin,
    /// More of a stream.
    Bytes(&'a [u8]),
    /// So many bytes of the stream are missing here.
    Gap(u64),
    /// Of this direction nothing more comes.
    End,
    /// Segments of this direction that brought nothing new, told once: when it ends.
    Resent(u64),
    /// Of this conversation nothing more is told.
    Over,
}

impl<T> Default for Conversations<T> {
    fn default() -> Self {
        Self {
            open: BTreeMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            count: 0,
            held: 0,
            forgotten: 0,
        }
    }
}

impl<T: Default> Conversations<T> {
    /// Conversations that were pushed out by newcomers.
    pub const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Takes a segment, and tells what it completes.
    pub fn add(&mut self, segment: &Segment<'_>, tell: &mut dyn FnMut(&mut T, Said<'_>)) {
        let (from, to) = (segment.from, segment.to);
        let key = (from.min(to), from.max(to), segment.tcp.is_some());
        if !self.open.contains_key(&key) {
            self.make_room(tell);
            self.count += 1;
            // Whoever answers a SYN did not open it.
            let answers = segment.tcp.is_some_and(|(_, flags)| flags.syn && flags.ack);
            let (opener, other) = if answers { (to, from) } else { (from, to) };
            let ends = Ends {
                number: self.count,
                opener,
                other,
                is_stream: segment.tcp.is_some(),
            };
            let conversation = Conversation {
                ends,
                used: 0,
                halves: Default::default(),
                kept: T::default(),
            };
            self.open.insert(key, conversation);
        }
        let Some(conversation) = self.open.get_mut(&key) else {
            return;
        };
        self.by_use.remove(&conversation.used);
        self.uses += 1;
        conversation.used = self.uses;
        self.by_use.insert(self.uses, key);
        self.held = self.held.saturating_sub(conversation.held());
        conversation.add(segment, self.held, tell);
        self.held += conversation.held();
    }

    fn make_room(&mut self, tell: &mut dyn FnMut(&mut T, Said<'_>)) {
        if self.open.len() < CONVERSATIONS {
            return;
        }
        let oldest = self.by_use.pop_first();
        if let Some(mut oldest) = oldest.and_then(|(_, key)| self.open.remove(&key)) {
            self.forgotten += 1;
            self.held = self.held.saturating_sub(oldest.held());
            oldest.finish(tell);
        }
    }

    /// Nothing more comes of any of them.
    pub fn finish(&mut self, tell: &mut dyn FnMut(&mut T, Said<'_>)) {
        let mut all: Vec<_> = std::mem::take(&mut self.open).into_values().collect();
        all.sort_by_key(|conversation| conversation.ends.number);
        all.iter_mut()
            .for_each(|conversation| conversation.finish(tell));
        self.by_use.clear();
        self.held = 0;
    }
}

impl<T> Conversation<T> {
    fn held(&self) -> usize {
        self.halves.iter().map(Half::held).sum()
    }

    /// Takes a segment; `held` bytes wait in all other conversations.
    fn add(&mut self, segment: &Segment<'_>, held: usize, tell: &mut dyn FnMut(&mut T, Said<'_>)) {
        let ends = self.ends;
        let from_opener = segment.from == ends.opener;
        let kept = &mut self.kept;
        let mut say = |event: Event<'_>| {
            let said = Said {
                ends,
                from_opener,
                event,
            };
            tell(kept, said);
        };
        let Some((seq, flags)) = segment.tcp else {
            say(Event::Datagram(segment.bytes, segment.is_cut));
            return;
        };
        let [opener, other] = &mut self.halves;
        let (half, back) = match from_opener {
            true => (opener, other),
            false => (other, opener),
        };
        half.add(seq, flags, segment.bytes, &mut |piece| say(event(piece)));
        if held + half.held() + back.held() > HELD_IN_ALL {
            half.skip(&mut |piece| say(event(piece)));
        }
        // A reset ends both directions.
        if flags.rst && !back.is_over() {
            let kept = &mut self.kept;
            back.finish(&mut |piece| {
                let said = Said {
                    ends,
                    from_opener: !from_opener,
                    event: event(piece),
                };
                tell(kept, said);
            });
        }
    }

    fn finish(&mut self, tell: &mut dyn FnMut(&mut T, Said<'_>)) {
        let ends = self.ends;
        for (half, from_opener) in self.halves.iter_mut().zip([true, false]) {
            let kept = &mut self.kept;
            let mut say = |event: Event<'_>| {
                let said = Said {
                    ends,
                    from_opener,
                    event,
                };
                tell(kept, said);
            };
            half.finish(&mut |piece| say(event(piece)));
            if half.resent > 0 {
                say(Event::Resent(half.resent));
            }
        }
        let said = Said {
            ends,
            from_opener: true,
            event: Event::Over,
        };
        tell(&mut self.kept, said);
    }
}

const fn event(piece: Piece<'_>) -> Event<'_> {
    match piece {
        Piece::Begin => Event::Begin,
        Piece::Bytes(bytes) => Event::Bytes(bytes),
        Piece::Gap(missing) => Event::Gap(missing),
        Piece::End => Event::End,
    }
}
