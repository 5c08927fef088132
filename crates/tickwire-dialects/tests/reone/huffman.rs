//! Huffman coding: its vectors, and the tree against one that is written out.

mod model;

use proptest::prelude::*;
use tickwire_dialects::reone::huffman::{decode, encode};
use tickwire_dialects::reone::limits::{DATAGRAM_MAX, ENVELOPE, HEADER};
use tickwire_dialects::reone::message::{Down, DownElement, Packet, PacketWriter};
use tickwire_dialects::reone::{ObjectId, inspect};
use tickwire_wire::{DecodeError, FieldLog};

use super::vectors::jsonl;
use super::words::{SNAPSHOT, packet};
use crate::golden::{hex, unhex};
use model::Model;

fn coded(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(plain, &mut out);
    out
}

fn plain(coded: &[u8], length: usize) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    decode(coded, length, &mut out).map(|()| out)
}

#[test]
fn vectors_are_coded_to_the_bit() {
    let lines = jsonl("huffman", &["plain", "coded"]);
    assert_eq!(lines.len(), 5);
    for line in lines {
        let bytes = unhex(&line[0]);
        assert_eq!(hex(&coded(&bytes)), line[1]);
        assert_eq!(plain(&unhex(&line[1]), bytes.len()), Ok(bytes));
    }
}

#[test]
fn code_ends_where_the_length_says() {
    let bytes = unhex("040601000000020000000300000005000000");
    let good = coded(&bytes);
    for length in 0..good.len() {
        let cut = plain(&good[..length], bytes.len());
        assert!(matches!(
            cut,
            Err(DecodeError::Truncated { field: "code", .. })
        ));
    }
    let longer = [&good[..], &[0]].concat();
    let trailing = plain(&longer, bytes.len());
    assert!(matches!(trailing, Err(DecodeError::Trailing { .. })));
    // Seven bits of one code leave one to spare.
    let one = coded(&[0]);
    assert_eq!(one.len(), 1);
    let spare = plain(&[one[0] | 1], 1);
    assert!(matches!(
        spare,
        Err(DecodeError::Forbidden {
            field: "spare bits",
            ..
        })
    ));
}

#[test]
fn a_byte_with_a_code_is_not_escaped() {
    let mut bits = Vec::new();
    Model::new().encode(255, &mut bits);
    let escape = bits.len() - 8;
    bits[escape..].fill(false);
    let error = plain(&Model::bytes(&bits), 1).expect_err("0 has a code");
    let expected = DecodeError::Forbidden {
        field: "escaped byte",
        at_bit: u32::try_from(escape).expect("it is short"),
        value: 0,
    };
    assert_eq!(error, expected);
}

#[test]
fn a_packet_is_coded_only_if_that_is_shorter() {
    let keep = |count: u32| -> Vec<DownElement<'static>> {
        (1..=count)
            .map(|id| DownElement::KeepAlive { id: ObjectId(id) })
            .collect()
    };
    let written = |elements: &[DownElement<'_>]| {
        let mut out = Vec::new();
        let mut writer = PacketWriter::<Down>::coded(&mut out, &SNAPSHOT, DATAGRAM_MAX);
        for element in elements {
            writer.push(element).expect("they fit");
        }
        assert_eq!(writer.finish(), out.len());
        out
    };
    for count in 0..100 {
        let elements = keep(count);
        let lists = packet::<Down>(&SNAPSHOT, &elements).split_off(HEADER);
        let bits = coded(&lists);
        let bytes = written(&elements);
        if 2 + bits.len() < lists.len() {
            assert_eq!(bytes[HEADER], 1);
            assert_eq!(usize::from(bytes[HEADER + 1]), lists.len() % 256);
            assert_eq!(bytes[HEADER + 3..], bits);
        } else {
            assert_eq!(bytes[HEADER], 0);
            assert_eq!(bytes[HEADER + ENVELOPE..], lists);
        }
        let mut scratch = Vec::new();
        let read = Packet::<Down>::decode_coded(&bytes, &mut scratch).expect("it decodes");
        assert!(read.elements().eq(elements));
    }
    assert_eq!(written(&keep(50))[HEADER], 1, "many are coded");
    assert_eq!(written(&keep(0))[HEADER], 0, "none are not");
}

#[test]
fn coded_fields_are_shown_where_their_codes_are() {
    let mut out = Vec::new();
    let mut writer = PacketWriter::<Down>::coded(&mut out, &SNAPSHOT, DATAGRAM_MAX);
    for id in 1..=50 {
        let element = DownElement::KeepAlive { id: ObjectId(id) };
        writer.push(&element).expect("they fit");
    }
    writer.finish();
    let mut log = FieldLog::default();
    inspect(false, false, &out, &mut log).expect("it decodes");
    let fields: Vec<_> = log
        .entries()
        .iter()
        .filter_map(|entry| Some((entry.name, entry.field.as_ref()?)))
        .collect();
    let mut end = 0;
    for (name, (place, _)) in &fields {
        assert_eq!(place.at_bit, end, "{name} leaves a hole");
        end += place.bits;
    }
    assert_eq!(end as usize, 8 * out.len());
    assert_eq!(fields.iter().filter(|(name, _)| *name == "id").count(), 50);
}

/// Bytes as lists have them: mostly small, some not.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![6 => 0..4_u8, 3 => 0..=100_u8, 1 => any::<u8>()];
    prop::collection::vec(byte, 0..400)
}

proptest! {
    #[test]
    fn every_prefix_is_coded_as_by_the_written_out_tree(bytes in bytes()) {
        let mut model = Model::new();
        let mut bits = Vec::new();
        for (length, byte) in bytes.iter().enumerate() {
            let prefix = &bytes[..length];
            prop_assert_eq!(coded(prefix), Model::bytes(&bits));
            model.encode(*byte, &mut bits);
        }
        prop_assert_eq!(plain(&coded(&bytes), bytes.len()), Ok(bytes));
    }
}
