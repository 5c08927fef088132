//! Messages at their limits. What holds for all of them is in the golden files, and what holds for any bytes
//! in the fuzz targets.

use tickwire_dialects::reone::limits::HEADER;
use tickwire_dialects::reone::message::{
    Base, Call, CallError, Direction, Down, DownElement, DownHeader, Packet, PacketWriter, Up,
    VariableDiff,
};
use tickwire_dialects::reone::{AnyStatus, CreatureStatus, GLOBAL, Inbox, ObjectId};
use tickwire_wire::DecodeError;

use super::words::{SNAPSHOT, UPLINK, elements, packet, text};

fn receive<D: Direction>(bytes: &[u8]) -> Result<(), DecodeError> {
    Inbox::<D>::new().receive(bytes, |_| ())
}

#[test]
fn a_method_that_is_none_is_told_apart_from_a_bad_argument() {
    let error = Call::decode(text("levitate"), &[]);
    assert_eq!(error, Err(CallError::UnknownMethod));
}

#[test]
fn a_list_of_more_than_255_is_several() {
    let all: Vec<_> = (0..300)
        .map(|id| DownElement::KeepAlive { id: ObjectId(id) })
        .collect();
    let mut out = Vec::new();
    let mut writer = PacketWriter::<Down>::new(&mut out, &SNAPSHOT, 10_000);
    for element in &all {
        writer.push(element).expect("there is room");
    }
    writer.finish();
    assert_eq!(out[HEADER..HEADER + 2], [4, 255]);
    let second = HEADER + 2 + 4 * 255;
    assert_eq!(out[second..second + 2], [4, 45]);
    assert_eq!(elements::<Down>(&out), all);
}

#[test]
fn a_base_has_full_states_and_the_game_s_variables_and_may_be_long() {
    let creature = AnyStatus::Creature(CreatureStatus::default());
    let round = DownElement::VariableDiff(VariableDiff {
        scope: GLOBAL,
        name: text("round"),
        value: 7,
    });
    let all = || {
        let objects = (0..1_000).map(|id| DownElement::full(ObjectId(id), creature));
        objects.chain([round])
    };
    let mut out = Vec::new();
    Base::encode(3, all(), &mut out).expect("it is short enough");
    assert!(out.len() > 30_000);
    let base = Base::decode(&out).expect("it decodes");
    assert_eq!(base.tick, 3);
    assert!(base.elements().eq(all()));
    let local = VariableDiff {
        scope: ObjectId(1),
        name: text("kills"),
        value: 7,
    };
    for other in [
        DownElement::VariableDiff(local),
        DownElement::KeepAlive { id: ObjectId(1) },
        DownElement::Last { datagrams: 1 },
    ] {
        let bytes = packet::<Down>(&DownHeader::unsequenced(3), &[other]);
        assert!(Base::decode(&bytes).is_err(), "{other:?}");
    }
    assert!(Base::decode(&packet::<Down>(&SNAPSHOT, &[])).is_err());
}

#[test]
fn a_header_alone_is_an_acknowledgement() {
    let mut out = Vec::new();
    assert_eq!(PacketWriter::acknowledgement(&mut out, &UPLINK), HEADER);
    let packet = Packet::<Up>::decode(&out).expect("it decodes");
    assert_eq!(packet.header, UPLINK);
    assert_eq!(packet.elements().count(), 0);
}

#[test]
fn a_length_that_its_kind_cannot_have_is_refused_at_once() {
    let check = |bytes: &[u8], limit| {
        let error = receive::<Up>(bytes);
        let Err(DecodeError::TooLong {
            field,
            limit: found,
            ..
        }) = error
        else {
            panic!("{error:?}");
        };
        assert_eq!((field, found), ("length", limit));
    };
    check(&[1, 68, 0, 0, 0], 67);
    check(&[6, 1, 0, 0, 0], 0);
    check(&[7, 0, 0, 0, 1], 4 + 256 + 65_536);
}

#[test]
fn a_kind_of_the_other_side_is_refused_by_its_first_byte() {
    for kind in [0, 2, 3, 5, 8, 9, 10, 255] {
        let error = receive::<Up>(&[kind]);
        assert!(matches!(
            error,
            Err(DecodeError::Forbidden { field: "kind", .. })
        ));
    }
    for kind in [0, 1, 4, 6, 7, 10, 255] {
        let error = receive::<Down>(&[kind]);
        assert!(matches!(
            error,
            Err(DecodeError::Forbidden { field: "kind", .. })
        ));
    }
}
