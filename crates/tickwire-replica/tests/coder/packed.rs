use proptest::prelude::*;
use tickwire_replica::coder::{decode_packed, encode_packed, packed_bound};
use tickwire_replica::{BlockBuf, SLOTS};
use tickwire_wire::BitReader;

use crate::{Story, check_sound};

fn encode(story: &Story) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_packed(&story.known(), &story.now.view(), &mut bytes);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_goes_in_comes_out(seed: u64) {
        let story = Story::random(seed);
        let bytes = encode(&story);
        prop_assert!(bytes.len() <= packed_bound(&story.fields, SLOTS));
        let mut into = BlockBuf::default();
        let mut r = BitReader::new(&bytes);
        prop_assert_eq!(decode_packed(&story.known(), &mut r, &mut into), Ok(()));
        prop_assert_eq!(r.finish(), Ok(()));
        prop_assert_eq!(into, story.now);
    }

    #[test]
    fn every_prefix_is_an_error(seed: u64) {
        let story = Story::random(seed);
        let bytes = encode(&story);
        for len in 0..bytes.len() {
            let mut r = BitReader::new(&bytes[..len]);
            let got = decode_packed(&story.known(), &mut r, &mut BlockBuf::default());
            prop_assert!(got.is_err(), "{} of {} bytes", len, bytes.len());
        }
    }

    #[test]
    fn changed_bytes_are_an_error_or_a_block(seed: u64, at: prop::sample::Index, flip in 1_u8..) {
        let story = Story::random(seed);
        let mut bytes = encode(&story);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let mut into = BlockBuf::default();
        let mut r = BitReader::new(&bytes);
        if decode_packed(&story.known(), &mut r, &mut into).is_ok() {
            check_sound(&story.fields, &into);
        }
    }
}

#[test]
fn a_block_that_did_not_change_takes_a_byte() {
    let mut story = Story::random(7);
    story.baseline = Some(story.now.clone());
    assert_eq!(encode(&story), [0]);
}
