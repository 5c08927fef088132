use proptest::prelude::*;
use tickwire_replica::coder::{CodedDecoder, CodedEncoder, Known, Prior, Scratch};
use tickwire_replica::{ArchetypeSchema, BlockBuf, Field, Schema};
use tickwire_wire::DecodeError;

use crate::{Story, check_sound};

fn prior(stories: &[Story]) -> Prior {
    let archetype = |fields: &Vec<Field>| ArchetypeSchema {
        name: "Thing",
        fields: fields.clone(),
    };
    let archetypes = stories.iter().map(|story| archetype(&story.fields));
    Prior::general(&Schema::new(archetypes.collect()))
}

/// Several blocks of several archetypes in one run, with a number before each.
fn encode(prior: &Prior, stories: &[Story], scratch: &mut Scratch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = CodedEncoder::new(prior, scratch, &mut bytes);
    for (archetype, story) in stories.iter().enumerate() {
        encoder.plain(archetype as u32, 7);
        encoder.block(archetype, &story.known(), &story.now.view());
    }
    encoder.finish();
    bytes
}

fn decode(
    prior: &Prior,
    stories: &[Story],
    bytes: &[u8],
) -> Result<(Vec<BlockBuf>, usize), DecodeError> {
    let scratch = &mut Scratch::default();
    let mut decoder = CodedDecoder::new(prior, scratch, bytes);
    let mut blocks = Vec::new();
    for (archetype, story) in stories.iter().enumerate() {
        let mut into = BlockBuf::default();
        let value = decoder.plain("archetype", 7)?;
        if value != archetype as u32 {
            return Err(DecodeError::Forbidden {
                field: "archetype",
                at_bit: 0,
                value: value.into(),
            });
        }
        decoder.block(archetype, &story.known(), &mut into)?;
        blocks.push(into);
    }
    Ok((blocks, decoder.finish()?))
}

fn stories(seed: u64) -> Vec<Story> {
    (0..1 + seed % 4)
        .map(|n| Story::random(seed.wrapping_add(n)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_goes_in_comes_out_whatever_follows(seed: u64) {
        let stories = stories(seed);
        let prior = prior(&stories);
        let scratch = &mut Scratch::default();
        let mut bytes = encode(&prior, &stories, scratch);
        // What a run left behind makes no difference to the next.
        prop_assert_eq!(&bytes, &encode(&prior, &stories, scratch));
        let length = bytes.len();
        bytes.extend([0xff, 0, 0xff]);
        let (blocks, read) = decode(&prior, &stories, &bytes).unwrap();
        prop_assert_eq!(read, length);
        for (block, story) in blocks.iter().zip(&stories) {
            prop_assert_eq!(block, &story.now);
        }
    }

    #[test]
    fn every_prefix_is_an_error(seed: u64) {
        let stories = stories(seed);
        let prior = prior(&stories);
        let bytes = encode(&prior, &stories, &mut Scratch::default());
        // Decoding all of them would take a minute.
        for length in (0..bytes.len()).rev().take(20) {
            let got = decode(&prior, &stories, &bytes[..length]);
            prop_assert!(got.is_err(), "{} of {} bytes", length, bytes.len());
        }
    }

    #[test]
    fn changed_bytes_are_an_error_or_blocks(seed: u64, at: prop::sample::Index, flip in 1_u8..) {
        let stories = stories(seed);
        let prior = prior(&stories);
        let mut bytes = encode(&prior, &stories, &mut Scratch::default());
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok((blocks, _)) = decode(&prior, &stories, &bytes) {
            for (block, story) in blocks.iter().zip(&stories) {
                check_sound(&story.fields, block);
            }
        }
    }
}

#[test]
fn blocks_that_did_not_change_take_little() {
    let mut story = Story::random(7);
    story.baseline = Some(story.now.clone());
    let stories = [story];
    let bytes = encode(&prior(&stories), &stories, &mut Scratch::default());
    assert!(bytes.len() <= 6, "{}", bytes.len());
}

#[test]
fn an_archetype_that_does_not_exist_is_refused() {
    let prior = prior(&[]);
    let known = Known {
        fields: &[],
        baseline: None,
        previous: None,
        ages: Default::default(),
    };
    let scratch = &mut Scratch::default();
    let mut decoder = CodedDecoder::new(&prior, scratch, &[0; 9]);
    let got = decoder.block(3, &known, &mut BlockBuf::default());
    let field = "archetype";
    assert!(matches!(got, Err(DecodeError::Forbidden { field: f, value: 3, .. }) if f == field));
}

#[test]
fn more_columns_than_sets_share_them() {
    // Each of these has up to 15 lanes, and there are 40 of them.
    let stories: Vec<Story> = (0..40).map(Story::random).collect();
    let prior = prior(&stories);
    assert!(prior.to_bytes().len() <= 8 * 1024);
    let bytes = encode(&prior, &stories, &mut Scratch::default());
    let (blocks, _) = decode(&prior, &stories, &bytes).unwrap();
    for (block, story) in blocks.iter().zip(&stories) {
        assert_eq!(block, &story.now);
    }
}
