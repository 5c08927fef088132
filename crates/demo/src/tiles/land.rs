//! The ground: chunks that are ready, and the making of those that are not.
//!
//! At most [`limits::CHUNKS_READY`] are kept; the next one takes the place of one that nobody has
//! asked for lately. Dropping a chunk loses nothing, since terrain and edits make it again.

use std::collections::BTreeMap;

use super::edits::Edits;
use super::terrain::Terrain;
use super::{Chunk, ChunkId, ChunkXy, SetId, limits};

#[derive(Debug)]
pub(super) struct Land {
    terrain: Terrain,
    places: Vec<Ready>,
    /// Where each chunk is in `places`.
    index: BTreeMap<ChunkXy, usize>,
    /// The next place to be considered for another chunk.
    hand: usize,
}

#[derive(Debug)]
struct Ready {
    at: ChunkXy,
    chunk: Chunk,
    /// Asked for since the clock's hand was last here.
    wanted: bool,
}

impl Land {
    pub(super) const fn new(seed: u64) -> Self {
        Self {
            terrain: Terrain::new(seed),
            places: Vec::new(),
            index: BTreeMap::new(),
            hand: 0,
        }
    }

    /// A chunk, made if need be; it must exist.
    pub(super) fn chunk(&mut self, at: ChunkXy, edits: &Edits) -> &mut Chunk {
        let place = match self.index.get(&at) {
            Some(&place) => place,
            None => self.make(at, edits),
        };
        let ready = &mut self.places[place];
        ready.wanted = true;
        &mut ready.chunk
    }

    /// A chunk that is ready.
    pub(super) fn ready(&self, at: ChunkXy) -> Option<&Chunk> {
        Some(&self.places[*self.index.get(&at)?].chunk)
    }

    pub(super) fn count_ready(&self) -> usize {
        self.places.len()
    }

    fn make(&mut self, at: ChunkXy, edits: &Edits) -> usize {
        let mut chunk = self.terrain.build_chunk(at);
        let set = SetId::ROOT;
        edits.apply_to(ChunkId { set, at }, &mut chunk);
        let ready = Ready {
            at,
            chunk,
            wanted: true,
        };
        let place = if self.places.len() < limits::CHUNKS_READY {
            self.places.push(ready);
            self.places.len() - 1
        } else {
            let place = self.find_unwanted();
            self.index.remove(&self.places[place].at);
            self.places[place] = ready;
            place
        };
        self.index.insert(at, place);
        place
    }

    /// The clock algorithm: a chunk that was asked for since the hand's last round stays for another.
    fn find_unwanted(&mut self) -> usize {
        loop {
            let place = self.hand;
            self.hand = (place + 1) % self.places.len();
            if !core::mem::take(&mut self.places[place].wanted) {
                return place;
            }
        }
    }
}
