//! Vitter's tree written out: nodes with parents and children, and a list that numbers them.
//!
//! Slow, and close to the words of the paper. After every step it looks at the whole tree.

const CODES: u8 = 101;

#[derive(Clone, Debug)]
struct Node {
    weight: u32,
    /// The byte of a leaf; `None` for an inner node. The escape's is [`CODES`], which has no code.
    leaf: Option<u8>,
    parent: Option<usize>,
    /// Left and right.
    children: Option<[usize; 2]>,
}

pub(super) struct Model {
    nodes: Vec<Node>,
    /// The implicit numbering, from the lowest.
    order: Vec<usize>,
    escape: usize,
}

impl Model {
    pub(super) fn new() -> Self {
        let escape = Node {
            weight: 0,
            leaf: Some(CODES),
            parent: None,
            children: None,
        };
        let mut model = Self {
            nodes: vec![escape],
            order: vec![0],
            escape: 0,
        };
        for byte in 0..CODES {
            model.insert(byte);
        }
        model
    }

    /// Appends the bits of a byte and counts it.
    pub(super) fn encode(&mut self, byte: u8, bits: &mut Vec<bool>) {
        if byte >= CODES {
            bits.extend(self.code(self.escape));
            bits.extend((0..8).rev().map(|bit| byte >> bit & 1 == 1));
            return;
        }
        let leaf = self.leaf(byte);
        bits.extend(self.code(leaf));
        self.update(leaf);
    }

    /// Bits as bytes, the first in the highest place.
    pub(super) fn bytes(bits: &[bool]) -> Vec<u8> {
        let byte = |bits: &[bool]| {
            let ones = bits.iter().enumerate().filter(|(_, bit)| **bit);
            ones.map(|(place, _)| 0x80 >> place).sum()
        };
        bits.chunks(8).map(byte).collect()
    }

    fn leaf(&self, byte: u8) -> usize {
        let is_leaf = |node: &Node| node.leaf == Some(byte);
        self.nodes.iter().position(is_leaf).expect("it has a leaf")
    }

    fn code(&self, mut node: usize) -> Vec<bool> {
        let mut bits = Vec::new();
        while let Some(parent) = self.nodes[node].parent {
            let [left, right] = self.nodes[parent].children.expect("a parent has children");
            assert!(node == left || node == right);
            bits.push(node == right);
            node = parent;
        }
        bits.reverse();
        bits
    }

    /// The escape becomes an inner node with the escape to the left and the new leaf to the right.
    fn insert(&mut self, byte: u8) {
        let inner = self.escape;
        let (left, right) = (self.nodes.len(), self.nodes.len() + 1);
        for leaf in [CODES, byte] {
            self.nodes.push(Node {
                weight: 0,
                leaf: Some(leaf),
                parent: Some(inner),
                children: None,
            });
        }
        self.nodes[inner].leaf = None;
        self.nodes[inner].children = Some([left, right]);
        self.escape = left;
        self.order.splice(0..0, [left, right]);
        self.increment_upwards(inner);
        self.slide_and_increment(right);
        self.look();
    }

    fn update(&mut self, leaf: usize) {
        let leader = self.leader(leaf);
        self.exchange(leaf, leader);
        let parent = self.nodes[leaf].parent.expect("a leaf is below something");
        let siblings = self.nodes[parent].children.expect("a parent has children");
        if siblings.contains(&self.escape) {
            self.increment_upwards(parent);
            self.slide_and_increment(leaf);
        } else {
            self.increment_upwards(leaf);
        }
        self.look();
    }

    fn increment_upwards(&mut self, node: usize) {
        let mut next = Some(node);
        while let Some(node) = next {
            assert_eq!(node, self.leader(node), "only leaders are counted");
            next = self.slide_and_increment(node);
        }
    }

    /// Returns the node to go on with.
    fn slide_and_increment(&mut self, node: usize) -> Option<usize> {
        let former_parent = self.nodes[node].parent;
        let is_leaf = self.nodes[node].leaf.is_some();
        let weight = self.nodes[node].weight;
        let passed = if is_leaf {
            (weight, false)
        } else {
            (weight + 1, true)
        };
        while let Some(&next) = self.order.get(self.number(node) + 1)
            && self.block(next) == passed
        {
            self.exchange(node, next);
        }
        self.nodes[node].weight += 1;
        if is_leaf {
            self.nodes[node].parent
        } else {
            former_parent
        }
    }

    fn number(&self, node: usize) -> usize {
        let is_node = |other: &usize| *other == node;
        self.order.iter().position(is_node).expect("it has one")
    }

    /// What nodes of one block have in common: the weight, and whether they are leaves.
    fn block(&self, node: usize) -> (u32, bool) {
        (self.nodes[node].weight, self.nodes[node].leaf.is_some())
    }

    /// The node of the same block with the highest number.
    fn leader(&self, node: usize) -> usize {
        let is_same = |other: &&usize| self.block(**other) == self.block(node);
        *self.order.iter().rev().find(is_same).expect("itself")
    }

    /// Two nodes, with all that is below them, change places and numbers.
    fn exchange(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let (number_a, number_b) = (self.number(a), self.number(b));
        self.order.swap(number_a, number_b);
        let (above_a, above_b) = (self.nodes[a].parent, self.nodes[b].parent);
        let slot = |model: &Self, parent: Option<usize>, child| {
            let parent = parent.expect("the root stays where it is");
            let children = model.nodes[parent].children.expect("it has children");
            let side = children.iter().position(|other| *other == child);
            (parent, side.expect("it is one of them"))
        };
        let (slot_a, slot_b) = (slot(self, above_a, a), slot(self, above_b, b));
        for ((parent, side), child) in [(slot_a, b), (slot_b, a)] {
            self.nodes[parent].children.as_mut().expect("as before")[side] = child;
            self.nodes[child].parent = Some(parent);
        }
    }

    /// Fails unless the tree is what the paper says it always is.
    fn look(&self) {
        let keys: Vec<_> = self
            .order
            .iter()
            .map(|node| {
                let (weight, is_leaf) = self.block(*node);
                (weight, !is_leaf)
            })
            .collect();
        assert!(keys.is_sorted(), "weights rise, leaves first");
        for pair in self.order.chunks_exact(2) {
            let [a, b] = [pair[0], pair[1]];
            let parent = self.nodes[a].parent.expect("not the root");
            assert_eq!(
                self.nodes[parent].children,
                Some([a, b]),
                "siblings are neighbours"
            );
            let sum = self.nodes[a].weight + self.nodes[b].weight;
            assert_eq!(self.nodes[parent].weight, sum);
        }
    }
}
