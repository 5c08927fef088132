use alloc::collections::BTreeMap;
use alloc::vec;

use super::*;
use crate::block::{BlockBuf, SLOTS};
use crate::coder::Ages;
use crate::schema::Kind;
use crate::{ArchetypeSchema, Schema};

const PLACE: PlaceNumber = PlaceNumber(5);
const SEND: SendIndex = SendIndex(100);

fn schema() -> Schema {
    let field = |name, max| Field::new(name, Kind::Unsigned { max });
    Schema::new(vec![
        ArchetypeSchema {
            name: "Rock",
            fields: vec![field("size", 7)],
        },
        ArchetypeSchema {
            name: "Ship",
            fields: vec![field("x", 9_999), field("y", 9_999)],
        },
    ])
}

/// A block of which the occupants of some slots have this value in all lanes.
fn block(archetype: usize, occupants: &[(usize, u32)], value: u32) -> BlockBuf {
    let mut block = BlockBuf::default();
    block.assign(schema().fields(archetype), None);
    for &(slot, id) in occupants {
        block.occupied |= 1 << slot;
        block.ids[slot] = id;
        for column in block.lanes.chunks_mut(SLOTS) {
            column[slot] = value;
        }
    }
    block
}

/// What a reader holds, by block number and send.
#[derive(Default)]
struct Versions(BTreeMap<(u16, u64), (usize, BlockBuf)>);

impl Held for Versions {
    fn block_at(&self, name: BlockName, send: SendIndex) -> Option<(usize, BlockView<'_>)> {
        let (archetype, held) = self.0.get(&(name.block.0, send.0))?;
        Some((*archetype, held.view()))
    }
}

fn coding() -> Coding {
    Coding::new(Prior::general(&schema()))
}

fn read(
    head: &RecordHead,
    held: &Versions,
    body: &[u8],
    staging: &mut Staging,
) -> Result<usize, RecordError> {
    let reading = Reading {
        schema: &schema(),
        held,
        send: SEND,
    };
    decode(head, &reading, body, &mut coding(), staging)
}

fn head(target: Target, baseline: u8, previous: u8) -> RecordHead {
    RecordHead {
        place: PLACE,
        target,
        form: Form::Packed,
        ages: Ages { baseline, previous },
    }
}

/// Encodes these blocks relative to what is held, decodes them, and compares, in both forms. Returns
/// the packed body.
#[track_caller]
fn check(head: &RecordHead, held: &Versions, now: &[(u16, usize, BlockBuf)]) -> Vec<u8> {
    let coded = RecordHead {
        form: Form::Coded,
        ..*head
    };
    check_form(&coded, held, now);
    check_form(head, held, now)
}

#[track_caller]
fn check_form(head: &RecordHead, held: &Versions, now: &[(u16, usize, BlockBuf)]) -> Vec<u8> {
    let schema = schema();
    let blocks: Vec<_> = now
        .iter()
        .map(|(number, archetype, now)| {
            let past = |age: u8| {
                let at = (*number, SEND.0 - u64::from(age));
                held.0.get(&at).map(|(_, block)| block.view())
            };
            Changed {
                block: BlockNumber(*number),
                archetype: *archetype,
                fields: schema.fields(*archetype),
                baseline: past(head.ages.baseline),
                previous: past(head.ages.previous),
                now: now.view(),
            }
        })
        .collect();
    let mut bytes = Vec::new();
    encode(head, blocks, &mut coding(), &mut bytes);
    let length = bytes.len();
    // A body ends by itself: whatever follows is not its.
    bytes.extend([0xff; 9]);
    let mut staging = Staging::default();
    let got = read(head, held, &bytes, &mut staging);
    assert_eq!(got, Ok(length));
    let got: Vec<_> = staging
        .blocks()
        .iter()
        .map(|staged| {
            assert_eq!(staged.name.place, PLACE);
            (
                staged.name.block.0,
                staged.archetype,
                staged.contents.clone(),
            )
        })
        .collect();
    assert_eq!(got, now);
    bytes.truncate(length);
    bytes
}

#[test]
fn a_place_of_known_and_new_blocks_survives() {
    let mut held = Versions::default();
    for (age, value) in [(2, 20), (3, 10)] {
        let at = SEND.0 - age;
        let past = block(1, &[(0, 7), (63, 8)], value);
        held.0.insert((0, at), (1, past.clone()));
        held.0.insert((1_000, at), (1, past));
    }
    let now = [
        (0, 1, block(1, &[(0, 7), (63, 9)], 30)),
        (62, 0, block(0, &[(5, 6)], 3)),
        (126, 0, block(0, &[(5, 6)], 4)),
        (1_000, 1, block(1, &[(0, 7), (63, 8)], 31)),
        (u16::MAX, 0, block(0, &[], 0)),
    ];
    check(&head(Target::Place, 2, 3), &held, &now);
    check(&head(Target::Place, 2, 0), &held, &now);
    check(&head(Target::Place, 0, 0), &Versions::default(), &now);
}

#[test]
fn one_block_survives() {
    let mut held = Versions::default();
    held.0
        .insert((3, SEND.0 - 63), (1, block(1, &[(1, 2)], 500)));
    let now = [(3, 1, block(1, &[(1, 2)], 501))];
    let target = Target::Block(BlockNumber(3));
    check(&head(target, 63, 0), &held, &now);
    check(&head(target, 0, 0), &Versions::default(), &now);
}

#[test]
fn a_baseline_that_is_not_held_is_named() {
    let mut held = Versions::default();
    held.0.insert((3, SEND.0 - 4), (1, block(1, &[(1, 2)], 5)));
    let target = Target::Block(BlockNumber(3));
    let body = check(
        &head(target, 4, 0),
        &held,
        &[(3, 1, block(1, &[(1, 2)], 6))],
    );
    let read = |head: &RecordHead| read(head, &held, &body, &mut Staging::default());
    let lacking = |age| {
        Err(RecordError::Lacking {
            name: BlockName {
                place: PLACE,
                block: BlockNumber(3),
            },
            send: SEND.before(age),
        })
    };
    assert_eq!(read(&head(target, 3, 0)), lacking(3));
    assert_eq!(read(&head(target, 4, 9)), lacking(9));
}

#[test]
fn what_no_schema_has_is_refused() {
    let held = Versions::default();
    let refused = |head: &RecordHead, body: &[u8]| {
        let got = read(head, &held, body, &mut Staging::default());
        match got {
            Err(RecordError::Malformed(DecodeError::Forbidden { field, .. })) => field,
            other => panic!("{other:?}"),
        }
    };
    let one = head(Target::Block(BlockNumber(0)), 0, 0);
    assert_eq!(refused(&one, &[2, 0]), "archetype");
    // A block number behind the last, and one that is none.
    let all = head(Target::Place, 0, 0);
    assert_eq!(refused(&all, &[63 << 2, 0, 0, 0, 0, 63 << 2, 0, 0]), "lead");
    let last = [63 << 2, 0xff, 0xff, 0, 0, 1 << 2];
    assert_eq!(refused(&all, &last), "lead");
}

#[test]
fn every_prefix_and_every_flipped_bit_give_blocks_or_an_error() {
    let now = [
        (0, 1, block(1, &[(0, 7), (63, 9)], 30)),
        (80, 0, block(0, &[(5, 6)], 3)),
    ];
    for form in [Form::Packed, Form::Coded] {
        let held = Versions::default();
        let head = RecordHead {
            form,
            ..head(Target::Place, 0, 0)
        };
        let body = check_form(&head, &held, &now);
        let read = |body: &[u8]| read(&head, &held, body, &mut Staging::default());
        for length in 0..body.len() {
            assert!(read(&body[..length]).is_err(), "{form:?} {length}");
        }
        for bit in 0..body.len() * 8 {
            let mut body = body.clone();
            body[bit / 8] ^= 1 << (bit % 8);
            if let Ok(length) = read(&body) {
                assert!(length <= body.len());
            }
        }
    }
}

#[test]
fn buffers_are_used_again() {
    let (head, held) = (head(Target::Place, 0, 0), Versions::default());
    let now = [(0, 1, block(1, &[(0, 7)], 30))];
    let body = check(&head, &held, &now);
    let mut staging = Staging::default();
    let mut at = Vec::new();
    for _ in 0..2 {
        read(&head, &held, &body, &mut staging).unwrap();
        at.push(staging.blocks()[0].contents.lanes.as_ptr());
        staging.reset();
        assert!(staging.blocks().is_empty());
    }
    assert_eq!(at[0], at[1]);
}
