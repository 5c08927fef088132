//! Differences of structures: the original's bytes, and every kind of field.

use tickwire_dialects::reone::delta::{Container, Delta, Structure, Words};
use tickwire_dialects::reone::message::{Direction, Down, DownHeader};
use tickwire_dialects::reone::{
    CreatureStatus, Reader, SnapshotSeq, SpatialStatus, Text, Writer, structure,
};
use tickwire_wire::DecodeError;

use super::vectors::jsonl;
use crate::golden::{hex, unhex};

/// The creature that the original's bytes are of: an older one.
#[derive(Clone, Debug, Default, PartialEq)]
struct Original {
    x: f32,
    y: f32,
    z: f32,
    heading: f64,
    anim: u8,
    animframe: u8,
    faction: u8,
}

structure!(Original {
    x: "x",
    y: "y",
    z: "z",
    heading: "heading",
    anim: "anim",
    animframe: "animframe",
    faction: "faction",
});

/// One of every kind of field.
#[derive(Clone, Debug, Default)]
struct Everything {
    small: u8,
    pair: (u16, u32),
    name: Words,
    items: Container<Words>,
    signed: i32,
}

structure!(Everything {
    small: "small",
    pair: "pair",
    name: "name",
    items: "items",
    signed: "signed",
});

fn encode<S: Structure>(base: &S, now: &S) -> String {
    let mut out = Vec::new();
    Delta::<S, u16>::between(base, now).encode(&mut Writer::new(&mut out, 1_000));
    hex(&out)
}

fn decode<S: Structure>(bytes: &[u8]) -> Result<Delta<S, u16>, DecodeError> {
    let mut r = Reader::new(bytes);
    let delta = Delta::decode(&mut r)?;
    r.finish()?;
    Ok(delta)
}

#[test]
fn the_original_s_bytes_are_read_and_written_again() {
    let lines = jsonl("original-delta", &["hex"]);
    let digits: Vec<&str> = lines.iter().map(|line| line[0].as_str()).collect();
    let [some, one, none, header, name] = digits[..] else {
        panic!("{} lines", digits.len());
    };
    let base = Original::default();
    let changed = Original {
        x: 5.1,
        z: 3.2,
        heading: 0.555_555_555_5,
        animframe: 3,
        faction: 5,
        ..base
    };
    let moved = Original { x: 5.5, ..base };
    for (now, digits) in [(&changed, some), (&moved, one), (&base, none)] {
        assert_eq!(encode(&base, now), digits);
        let mut state = base.clone();
        decode(&unhex(digits))
            .expect("it decodes")
            .apply(&mut state);
        assert_eq!(&state, now);
    }
    let expected = DownHeader {
        sequence: SnapshotSeq(7),
        acknowledged: SnapshotSeq(5),
        tick: 0x0102_0304,
    };
    let bytes = unhex(header);
    assert_eq!(Down::decode_header(&mut Reader::new(&bytes)), Ok(expected));
    let bytes = unhex(name);
    let text = Text::decode(&mut Reader::new(&bytes), "name").expect("it decodes");
    assert_eq!(text.as_str(), "p_bastilla");
}

#[test]
fn every_kind_of_field_has_its_bytes() {
    let words = |text| Words::new(text).expect("it can be sent");
    let now = Everything {
        small: 1,
        pair: (0x0203, 0x0405_0607),
        name: words("ab"),
        items: Container::new(vec![words("c"), words("")]).expect("two"),
        signed: -2,
    };
    let digits = concat!(
        "1f00", "01", "0302", "07060504", "616200", "02", "6300", "00", "feffffff"
    );
    assert_eq!(encode(&Everything::default(), &now), digits);
    let mut state = Everything::default();
    decode(&unhex(digits))
        .expect("it decodes")
        .apply(&mut state);
    assert_eq!(state.changed_since(&now), 0);
    assert_eq!(state.items.as_slice().len(), 2);
}

#[test]
fn the_mask_has_the_width_that_was_chosen() {
    let now = SpatialStatus {
        hit_points: 7,
        ..SpatialStatus::default()
    };
    let mut out = Vec::new();
    let delta = Delta::<_, u32>::between(&SpatialStatus::default(), &now);
    delta.encode(&mut Writer::new(&mut out, 100));
    assert_eq!(hex(&out), "2000000007000000");
    assert_eq!(encode(&SpatialStatus::default(), &now), "200007000000");
}

#[test]
fn a_bit_without_a_field_is_refused() {
    let refused = |bytes: &[u8]| decode::<CreatureStatus>(bytes).expect_err("no such field");
    let error = DecodeError::Forbidden {
        field: "mask",
        at_bit: 0,
        value: 0x0800,
    };
    assert_eq!(refused(&[0x00, 0x08]), error);
}

#[test]
fn numbers_differ_by_their_bits() {
    let status = |x| SpatialStatus {
        x,
        ..SpatialStatus::default()
    };
    assert_eq!(status(f32::NAN), status(f32::NAN));
    assert_ne!(status(0.0), status(-0.0));
}
