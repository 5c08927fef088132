//! The two decoders of a block, on any bytes: a block or an error, and a block that can be told again.

use tickwire_replica::coder::{
    Ages, CodedDecoder, CodedEncoder, Known, Prior, Scratch, decode_packed, encode_packed,
};
use tickwire_replica::{ArchetypeSchema, BlockBuf, Field, Kind, Playback, SLOTS, Schema};
use tickwire_wire::BitReader;

use crate::script::Script;

/// One field of every kind.
const FIELDS: &[Field] = &[
    Field {
        components: 3,
        playback: Playback::Interpolate { jump_over: 9 },
        ..Field::new(
            "at",
            Kind::Signed {
                min: -500,
                max: 500,
            },
        )
    },
    Field::new("turn", Kind::Quaternion { bits: 7 }),
    Field::new("heading", Kind::Angle { bits: 6 }),
    Field::new("health", Kind::Unsigned { max: 100 }),
    Field::new("lit", Kind::Flag),
    Field::new("target", Kind::Entity),
    Field::new("name", Kind::Bytes { max: 5 }),
];

/// Decodes a packed block.
///
/// # Panics
/// If what comes out is no block, or does not survive being packed.
pub fn replica_packed(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let past = Past::new(&mut script);
    let mut block = BlockBuf::default();
    let mut r = BitReader::new(script.rest());
    if decode_packed(&past.known(), &mut r, &mut block).is_err() {
        return;
    }
    check_sound(&block);
    let (mut packed, mut again) = (Vec::new(), BlockBuf::default());
    encode_packed(&past.known(), &block.view(), &mut packed);
    let got = decode_packed(&past.known(), &mut BitReader::new(&packed), &mut again);
    assert_eq!((got, &again), (Ok(()), &block));
}

/// Decodes a run of two coded blocks.
///
/// # Panics
/// If what comes out is no block, or does not survive being coded.
pub fn replica_coded(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let past = Past::new(&mut script);
    let prior = Prior::general(&Schema::new(vec![ArchetypeSchema {
        name: "Thing",
        fields: FIELDS.to_vec(),
    }]));
    let input = script.rest();
    let decode = |bytes: &[u8]| {
        let scratch = &mut Scratch::default();
        let mut decoder = CodedDecoder::new(&prior, scratch, bytes);
        let mut blocks = [BlockBuf::default(), BlockBuf::default()];
        for block in &mut blocks {
            decoder.block(0, &past.known(), block)?;
        }
        Ok::<_, tickwire_wire::DecodeError>((blocks, decoder.finish()?))
    };
    let Ok((blocks, length)) = decode(input) else {
        return;
    };
    assert!(length <= input.len(), "it read {length} bytes");
    let (mut coded, scratch) = (Vec::new(), &mut Scratch::default());
    let mut encoder = CodedEncoder::new(&prior, scratch, &mut coded);
    for block in &blocks {
        check_sound(block);
        encoder.block(0, &past.known(), &block.view());
    }
    encoder.finish();
    assert_eq!(decode(&coded), Ok((blocks, coded.len())));
}

/// What both sides know: two versions of a block that the first bytes of the input choose.
struct Past {
    baseline: Option<BlockBuf>,
    previous: Option<BlockBuf>,
    ages: Ages,
}

impl Past {
    fn new(script: &mut Script<'_>) -> Self {
        let [which, seed, age] = [script.u8(), script.u8(), script.u8() % 63];
        let version = |salt: u8| some_block(seed.wrapping_add(salt / 16 * (which >> 4)));
        Self {
            baseline: (which & 1 == 1).then(|| version(16)),
            previous: (which & 3 == 3).then(|| version(32)),
            ages: Ages {
                baseline: age,
                previous: age + 1,
            },
        }
    }

    fn known(&self) -> Known<'_> {
        Known {
            fields: FIELDS,
            baseline: self.baseline.as_ref().map(BlockBuf::view),
            previous: self.previous.as_ref().map(BlockBuf::view),
            ages: self.ages,
        }
    }
}

/// A block that a small number chooses: about half of its slots are occupied.
fn some_block(seed: u8) -> BlockBuf {
    let mut block = BlockBuf::default();
    block.assign(FIELDS, None);
    for slot in (0..SLOTS).filter(|slot| (slot * usize::from(seed) / 3).is_multiple_of(2)) {
        block.occupied |= 1 << slot;
        block.ids[slot] = 1 + u32::from(seed / 64);
        let lane = |lane: u32| u32::from(seed).wrapping_mul(7 * lane + 1);
        let at = (0..3).map(|n| (lane(n) % 900).wrapping_sub(450));
        let turn = [lane(3) % 4, lane(4) % 128, lane(5) % 128, lane(6) % 128];
        let others = [lane(7) % 64, lane(8) % 101, lane(9) % 2, lane(10)];
        for (lane, value) in at.chain(turn).chain(others).enumerate() {
            block.lanes[lane * SLOTS + slot] = value;
        }
        block.bytes[slot] = vec![seed; usize::from(seed % 6)].into();
    }
    block
}

/// Columns are of the right length, lanes within their ranges, and only occupied slots hold anything.
fn check_sound(block: &BlockBuf) {
    let mut same = BlockBuf::default();
    same.assign(FIELDS, Some(block.view()));
    assert_eq!(&same, block, "columns of other lengths");
    for slot in 0..SLOTS {
        let is_occupied = block.occupied >> slot & 1 == 1;
        assert_eq!(is_occupied, block.ids[slot] != 0, "slot {slot}");
        let lanes: Vec<u32> = block
            .lanes
            .iter()
            .skip(slot)
            .step_by(SLOTS)
            .copied()
            .collect();
        let [x, y, z, largest, a, b, c, heading, health, lit, target] = lanes[..] else {
            panic!("{} lanes", lanes.len());
        };
        assert!(is_occupied || lanes.iter().all(|&lane| lane == 0) && target == 0);
        assert!([x, y, z].iter().all(|at| at.cast_signed().abs() <= 500));
        assert!(largest < 4 && [a, b, c].iter().all(|&lane| lane < 128));
        assert!(heading < 64 && health <= 100 && lit < 2);
        assert!(block.bytes[slot].len() <= 5);
    }
}
