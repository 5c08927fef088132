//! The motion whose records are measured: free bodies with random pushes.
//!
//! A body flies straight and turns about one axis, and once a second, on average, something pushes it. It is
//! stepped 60 times a second and sent 20 times. Floats are used freely here: nothing depends on equal
//! results on every machine, only on the same distribution.

use tickwire_replica::{BlockBuf, Replicate, RowWriter, SLOTS};

/// What a body replicates. Its id is the block's.
#[derive(Clone, Copy, Debug, Replicate)]
pub(super) struct Body {
    #[replicate(step = 0.01, position)]
    position: [f32; 3],
    #[replicate(quaternion, bits = 10)]
    rotation: [f32; 4],
    health: u8,
    flags: u8,
}

/// Steps between two sends.
const STEPS: usize = 3;

/// Steps a second.
const STEP_RATE: f32 = 60.0;

/// One step in so many is a push.
const PUSH_EVERY: u64 = 60;

/// The greatest push along each axis, in units and radians a second.
const PUSH: [f32; 2] = [3.0, 2.0];

/// A body on its way.
#[derive(Clone, Copy)]
struct Flight {
    body: Body,
    velocity: [f32; 3],
    spin: [f32; 3],
}

/// Bodies in blocks.
pub(super) struct Motion {
    flights: Vec<Flight>,
    random: Random,
}

impl Motion {
    pub(super) fn new(bodies: usize) -> Self {
        let mut random = Random(17);
        let mut flight = || Flight {
            body: Body {
                position: [0; 3].map(|_| random.within(100.0)),
                rotation: [0.0, 0.0, 0.0, 1.0],
                health: 100,
                flags: 0,
            },
            velocity: [0; 3].map(|_| random.within(5.0)),
            spin: [0; 3].map(|_| random.within(2.0)),
        };
        Self {
            flights: (0..bodies).map(|_| flight()).collect(),
            random,
        }
    }

    /// The blocks at the next send.
    pub(super) fn send(&mut self) -> anyhow::Result<Vec<BlockBuf>> {
        for flight in &mut self.flights {
            for _ in 0..STEPS {
                flight.step(&mut self.random);
            }
        }
        self.flights.chunks(SLOTS).map(block).collect()
    }
}

impl Flight {
    fn step(&mut self, random: &mut Random) {
        if random.chance(PUSH_EVERY) {
            let [push, twist] = PUSH;
            self.velocity = self.velocity.map(|v| v * 0.8 + random.within(push));
            self.spin = self.spin.map(|v| v * 0.8 + random.within(twist));
            self.body.health = self.body.health.wrapping_sub(1);
        }
        for (position, velocity) in self.body.position.iter_mut().zip(self.velocity) {
            *position += velocity / STEP_RATE;
        }
        let [x, y, z, w] = self.body.rotation;
        let [a, b, c] = self.spin.map(|spin| spin / (2.0 * STEP_RATE));
        let turned = [
            x + a * w + b * z - c * y,
            y + b * w + c * x - a * z,
            z + c * w + a * y - b * x,
            w - a * x - b * y - c * z,
        ];
        let length = turned.iter().map(|n| n * n).sum::<f32>().sqrt();
        self.body.rotation = turned.map(|n| n / length);
    }
}

fn block(flights: &[Flight]) -> anyhow::Result<BlockBuf> {
    let mut block = BlockBuf::default();
    block.assign(Body::FIELDS, None);
    let mut lanes = vec![0; block.lanes.len() / SLOTS];
    for (slot, flight) in flights.iter().enumerate() {
        let mut row = RowWriter::new(Body::FIELDS, &mut lanes, &mut []);
        flight.body.store(&mut row)?;
        block.occupied |= 1 << slot;
        block.ids[slot] = u32::try_from(slot + 1)?;
        for (lane, &value) in lanes.iter().enumerate() {
            block.lanes[lane * SLOTS + slot] = value;
        }
    }
    Ok(block)
}

/// A deterministic random number generator (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.next().is_multiple_of(one_in)
    }

    /// From `-most` to `most`.
    fn within(&mut self, most: f32) -> f32 {
        let share = (self.next() >> 40) as f32 / (1 << 24) as f32;
        (share * 2.0 - 1.0) * most
    }
}
