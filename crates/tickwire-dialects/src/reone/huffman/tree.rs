//! The tree of the codes (J. S. Vitter, "Design and Analysis of Dynamic Huffman Codes", 1987).
//!
//! Nodes lie in *places* that are numbered from the lightest to the root, so that weights never fall
//! and, among equal weights, leaves come before inner nodes. Nodes of one weight and sort are a
//! *block*, its last one the *leader*. Two neighbouring places with the same number but for the last
//! bit are siblings, the lower one on the left: so a code is read off the last bits of places, and an
//! inner node can change its place and take its children along without any of them moving.

/// Codes for the bytes 0 to 100, and one for all others.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The node at a place.
    node: Table<u8>,
    /// The weight and sort at a place: see [`key`]. It never falls from one place to the next.
    key: Table<u32>,
    /// The place of a node.
    place: Table<u8>,
    /// The inner node above the places 2n and 2n + 1.
    above: Table<u8>,
    /// The n of the places below an inner node.
    below: Table<u8>,
}

/// Something for every `u8`, so that no index can be out of it.
type Table<T> = [T; 256];

/// What a walk from the root comes to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Inner,
    Byte(u8),
    Escape,
}

/// Bytes with a code of their own; a leaf has its byte's number.
const LEAVES: u8 = 101;
/// The leaf of all other bytes.
const ESCAPE: u8 = LEAVES;
/// The first inner node; there are as many as bytes with a code.
const INNER: u8 = ESCAPE + 1;
/// The place of the root: the last.
const ROOT: u8 = 2 * LEAVES;

#[expect(
    clippy::indexing_slicing,
    reason = "tables have an entry for every u8 that is an index"
)]
impl Tree {
    /// The place where a walk begins.
    pub(super) const ROOT: u8 = ROOT;

    /// The tree of a new packet.
    pub(super) const START: Self = Self::grow();

    /// Whether a byte has a code of its own.
    pub(super) const fn has(byte: u8) -> bool {
        byte < LEAVES
    }

    /// The code of a byte that has one, and its bits.
    #[inline]
    pub(super) fn code(&self, byte: u8) -> (u64, u32) {
        self.code_of(self.place[usize::from(byte)])
    }

    /// The code before any other byte.
    #[inline]
    pub(super) fn escape_code(&self) -> (u64, u32) {
        self.code_of(self.place[ESCAPE as usize])
    }

    /// The place below, to the left for 0 and to the right for 1.
    #[inline]
    pub(super) fn child(&self, place: u8, bit: u8) -> u8 {
        let node = self.node[usize::from(place)];
        2 * self.below[usize::from(node)] + bit
    }

    /// What is at a place.
    #[inline]
    pub(super) fn step(&self, place: u8) -> Step {
        match self.node[usize::from(place)] {
            INNER.. => Step::Inner,
            ESCAPE => Step::Escape,
            byte => Step::Byte(byte),
        }
    }

    /// Counts a byte that has a code, which makes codes change.
    #[inline]
    pub(super) const fn update(&mut self, byte: u8) {
        let place = self.place[byte as usize];
        let leader = self.last_of_block(place);
        self.swap(place, leader);
        if leader == 1 {
            // The escape's sibling has its parent's weight, and must not overtake it.
            self.count_from(self.above[0]);
            self.count(byte);
        } else {
            self.count_from(byte);
        }
    }

    /// The code of a place, lowest bit last. A tree as high as 64 would weigh more than can be counted.
    #[inline]
    fn code_of(&self, mut place: u8) -> (u64, u32) {
        let (mut code, mut length) = (0, 0);
        while place != ROOT {
            code |= u64::from(place & 1) << length;
            length += 1;
            let above = self.above[usize::from(place >> 1)];
            place = self.place[usize::from(above)];
        }
        (code, length)
    }

    /// A tree of the escape alone, into which every byte with a code is inserted, in ascending order.
    const fn grow() -> Self {
        let mut tree = Self {
            node: [0; 256],
            key: [0; 256],
            place: [0; 256],
            above: [0; 256],
            below: [0; 256],
        };
        tree.put(ESCAPE, ROOT);
        let mut byte = 0;
        while byte < LEAVES {
            tree.insert(byte, INNER + byte);
            byte += 1;
        }
        tree
    }

    /// Splits the escape into `inner`, and below it the escape, which stays left, and `leaf`.
    const fn insert(&mut self, leaf: u8, inner: u8) {
        let place = self.place[ESCAPE as usize];
        self.put(inner, place);
        self.put(leaf, place - 1);
        self.put(ESCAPE, place - 2);
        self.below[inner as usize] = place / 2 - 1;
        self.above[place as usize / 2 - 1] = inner;
        self.count_from(inner);
        self.count(leaf);
    }

    /// Puts a node of weight 0 to a place.
    const fn put(&mut self, node: u8, place: u8) {
        self.node[place as usize] = node;
        self.place[node as usize] = place;
        self.key[place as usize] = key(0, node);
    }

    const fn swap(&mut self, a: u8, b: u8) {
        let (at_a, at_b) = (self.node[a as usize], self.node[b as usize]);
        self.node[a as usize] = at_b;
        self.node[b as usize] = at_a;
        self.place[at_b as usize] = a;
        self.place[at_a as usize] = b;
    }

    /// Counts a node and everything above it.
    const fn count_from(&mut self, mut node: u8) {
        loop {
            let former = self.place[node as usize];
            self.count(node);
            let place = self.place[node as usize];
            if place == ROOT {
                return;
            }
            // A leaf passes the weight on to where it is now, an inner node to where it was: a leaf
            // overtook inner nodes as heavy as itself, whose parents weigh the same without it.
            let from = if node < INNER { place } else { former };
            node = self.above[(from >> 1) as usize];
        }
    }

    /// Makes the leader of a block one heavier: it overtakes the block that stands between it and
    /// its new weight, if there is one.
    #[inline]
    const fn count(&mut self, node: u8) {
        let mut place = self.place[node as usize];
        let new = self.key[place as usize] + 2;
        if place < ROOT && self.key[place as usize + 1] == new - 1 {
            let last = self.last_of_block(place + 1);
            self.key[place as usize] = new - 1;
            while place < last {
                let next = self.node[place as usize + 1];
                self.node[place as usize] = next;
                self.place[next as usize] = place;
                place += 1;
            }
            self.node[place as usize] = node;
            self.place[node as usize] = place;
        }
        self.key[place as usize] = new;
    }

    /// The leader of the block that `place` is in. Most blocks are short, so it looks near first, in
    /// steps that grow until they are too long and then shrink.
    #[inline]
    const fn last_of_block(&self, place: u8) -> u8 {
        let key = self.key[place as usize];
        let mut last = place;
        let mut step = 1;
        while step <= ROOT - last && self.key[(last + step) as usize] == key {
            last += step;
            step = step.saturating_mul(2);
        }
        while step > 0 {
            if step <= ROOT - last && self.key[(last + step) as usize] == key {
                last += step;
            }
            step /= 2;
        }
        last
    }
}

/// What places are ordered by: the weight, and of one weight leaves first. One more weight is two more.
const fn key(weight: u32, node: u8) -> u32 {
    2 * weight + (node >= INNER) as u32
}
