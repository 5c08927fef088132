//! Both forms of a record's content: what goes in comes out, and whatever bytes come in, the result is a
//! block or an error.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "random numbers are cut to size"
)]

mod coded;
mod packed;
mod random;

use random::Random;
use tickwire_replica::coder::{Ages, Known};
use tickwire_replica::{BlockBuf, Field};

/// A block at three sends.
struct Story {
    fields: Vec<Field>,
    previous: Option<BlockBuf>,
    baseline: Option<BlockBuf>,
    now: BlockBuf,
    ages: Ages,
}

impl Story {
    fn random(seed: u64) -> Self {
        let random = &mut Random(seed);
        let fields = random.fields();
        let previous = random.later(&fields, &random::empty(&fields));
        let baseline = random.later(&fields, &previous);
        let now = random.later(&fields, &baseline);
        let age = 1 + random.below(32) as u8;
        let is_followed = !random.chance(5);
        Self {
            ages: Ages {
                baseline: age,
                previous: age + 1 + random.below(31) as u8,
            },
            previous: (is_followed && !random.chance(4)).then_some(previous),
            baseline: is_followed.then_some(baseline),
            now,
            fields,
        }
    }

    fn known(&self) -> Known<'_> {
        Known {
            fields: &self.fields,
            baseline: self.baseline.as_ref().map(BlockBuf::view),
            previous: self.previous.as_ref().map(BlockBuf::view),
            ages: self.ages,
        }
    }
}

/// What must hold of a block, whatever bytes it was made from.
#[track_caller]
fn check_sound(fields: &[Field], block: &BlockBuf) {
    let mut again = block.clone();
    again.assign(fields, Some(block.view()));
    assert_eq!(&again, block, "columns of other lengths");
    for (slot, &id) in block.ids.iter().enumerate() {
        assert_eq!(block.occupied >> slot & 1 == 1, id != 0, "slot {slot}");
    }
}
