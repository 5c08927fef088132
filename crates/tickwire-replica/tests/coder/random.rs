//! Random schemas and blocks, the same for the same seed.

use std::sync::Arc;

use tickwire_replica::{BlockBuf, Field, Kind, SLOTS};

/// A deterministic random number generator (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `bound` - 1.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    pub(crate) fn fields(&mut self) -> Vec<Field> {
        (0..self.below(6)).map(|_| self.field()).collect()
    }

    fn field(&mut self) -> Field {
        let kind = match self.below(9) {
            0 => Kind::Flag,
            1 => Kind::Unsigned {
                max: self.next() as u32 >> self.below(32),
            },
            2 => Kind::Signed {
                min: i32::MIN,
                max: i32::MAX,
            },
            3 | 4 => Kind::Signed {
                min: -(self.below(5_000) as i32),
                max: self.below(100_000) as i32,
            },
            5 => Kind::Angle {
                bits: 1 + self.below(32) as u8,
            },
            6 => Kind::Quaternion {
                bits: 2 + self.below(14) as u8,
            },
            7 => Kind::Entity,
            _ => Kind::Bytes {
                max: self.below(20) as u16,
            },
        };
        let single = matches!(kind, Kind::Quaternion { .. } | Kind::Bytes { .. });
        Field {
            components: if single { 1 } else { 1 + self.below(3) as u8 },
            ..Field::new("field", kind)
        }
    }

    /// Any value that a lane of this kind can hold.
    fn lane(&mut self, kind: Kind, index: usize) -> u32 {
        let any = self.next() as u32;
        match kind {
            Kind::Flag => any % 2,
            Kind::Unsigned { max } => (u64::from(any) % (u64::from(max) + 1)) as u32,
            Kind::Signed { min, max } => {
                let span = i64::from(max) - i64::from(min) + 1;
                (i64::from(min) + i64::from(any) % span) as u32
            }
            Kind::Quaternion { .. } if index == 0 => any % 4,
            Kind::Angle { bits } | Kind::Quaternion { bits } => {
                (u64::from(any) % (1 << bits)) as u32
            }
            Kind::Entity => any,
            Kind::Bytes { .. } => 0,
        }
    }

    /// A value near another, as motion makes them.
    fn near(&mut self, kind: Kind, index: usize, lane: u32) -> u32 {
        let step = self.below(17) as i64 - 8;
        match kind {
            Kind::Unsigned { max } => (i64::from(lane) + step).clamp(0, max.into()) as u32,
            Kind::Signed { min, max } => {
                (i64::from(lane as i32) + step).clamp(min.into(), max.into()) as u32
            }
            Kind::Quaternion { bits } if index > 0 => {
                (i64::from(lane) + step).clamp(0, (1 << bits) - 1) as u32
            }
            Kind::Angle { bits } => (i64::from(lane) + step).rem_euclid(1 << bits) as u32,
            _ => self.lane(kind, index),
        }
    }

    /// What a block may look like some sends later: some go, some come, some change.
    pub(crate) fn later(&mut self, fields: &[Field], from: &BlockBuf) -> BlockBuf {
        let mut block = from.clone();
        let (goes, comes, changes) = (1 + self.below(40), 1 + self.below(20), 1 + self.below(9));
        for slot in 0..SLOTS {
            let occupied = block.occupied >> slot & 1 == 1;
            if occupied && self.chance(goes) {
                block.occupied &= !(1 << slot);
                block.ids[slot] = 0;
                self.write(fields, &mut block, slot, |_, _, _, _| 0);
            } else if self.chance(comes) {
                block.occupied |= 1 << slot;
                block.ids[slot] = 1 + self.below(u32::MAX.into()) as u32;
                self.write(fields, &mut block, slot, |random, kind, index, _| {
                    random.lane(kind, index)
                });
            } else if occupied && self.chance(changes) {
                let rarely = 1 + self.below(4);
                self.write(
                    fields,
                    &mut block,
                    slot,
                    |random, kind, index, lane| match random.below(8) {
                        0 if random.chance(rarely) => random.lane(kind, index),
                        1..4 => random.near(kind, index, lane),
                        _ => lane,
                    },
                );
            }
        }
        block
    }

    fn write(
        &mut self,
        fields: &[Field],
        block: &mut BlockBuf,
        slot: usize,
        mut change: impl FnMut(&mut Self, Kind, usize, u32) -> u32,
    ) {
        let (mut lane, mut column) = (slot, slot);
        let leaves = block.ids[slot] == 0;
        for field in fields {
            for index in 0..field.lanes() {
                block.lanes[lane] = change(self, field.kind, index, block.lanes[lane]);
                lane += SLOTS;
            }
            if let Kind::Bytes { max } = field.kind {
                if leaves {
                    block.bytes[column] = Arc::default();
                } else if self.chance(2) {
                    let length = self.below(u64::from(max) + 1);
                    block.bytes[column] = (0..length).map(|_| self.next() as u8).collect();
                }
                column += SLOTS;
            }
        }
    }
}

/// A block without occupants.
pub(crate) fn empty(fields: &[Field]) -> BlockBuf {
    let mut block = BlockBuf::default();
    block.assign(fields, None);
    block
}
