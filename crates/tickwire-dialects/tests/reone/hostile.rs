//! Bytes that nobody who knows the protocol would send.

use proptest::prelude::*;
use tickwire_dialects::reone::message::{
    Answer, Base, Call, Compression, Direction, Down, DownHeader, Method, Packet, PacketWriter, Up,
};
use tickwire_dialects::reone::{Inbox, inspect, inspect_datagram};
use tickwire_wire::{DecodeError, FieldLog};

use super::words::{
    SNAPSHOT, UPLINK, down_frame, frame, packet, snapshot_element, unsequenced_element, up_element,
    up_frame,
};

/// Shows the bytes to everything that reads bytes. Whatever is accepted says the same once more.
fn read(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(accepted) = Packet::<Up>::decode(bytes) {
        let elements: Vec<_> = accepted.elements().collect();
        let again = packet_of::<Up>(&accepted.header, &elements);
        let again = Packet::<Up>::decode(&again).expect("it was just written");
        prop_assert!(again.elements().eq(elements));
    }
    if let Ok(accepted) = Packet::<Down>::decode(bytes) {
        let elements: Vec<_> = accepted.elements().collect();
        let again = packet_of::<Down>(&accepted.header, &elements);
        let again = Packet::<Down>::decode(&again).expect("it was just written");
        prop_assert!(again.elements().eq(elements));
    }
    let mut scratch = Vec::new();
    if let Ok(packet) = Packet::<Down>::decode_coded(bytes, &mut scratch) {
        packet.elements().for_each(drop);
    }
    if let Ok(base) = Base::decode(bytes) {
        base.elements().for_each(drop);
    }
    ignore(receive::<Up>(bytes));
    ignore(receive::<Down>(bytes));
    for method in Method::ALL {
        ignore(Call::decode(method.name(), bytes));
        if let Ok(Answer::Inventory(items)) = Answer::decode(method, bytes) {
            items.iter().for_each(drop);
        }
    }
    for (from_client, on_stream) in [(true, true), (true, false), (false, true), (false, false)] {
        ignore(inspect(
            from_client,
            on_stream,
            bytes,
            &mut FieldLog::default(),
        ));
    }
    let shown = inspect_datagram(Compression::Huffman, bytes, &mut FieldLog::default());
    let mut scratch = Vec::new();
    let verdict = Packet::<Down>::decode_coded(bytes, &mut scratch);
    prop_assert_eq!(shown.is_ok(), verdict.is_ok());
    Ok(())
}

/// That there is a verdict is all that is asked for.
fn ignore<T, E>(_: Result<T, E>) {}

fn receive<D: Direction>(bytes: &[u8]) -> Result<(), DecodeError> {
    Inbox::<D>::new().receive(bytes, |_| ())
}

/// A packet that may be longer than a datagram, because lists can be cut into shorter ones.
fn packet_of<D: Direction>(header: &D::Header, elements: &[D::Element<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::<D>::new(&mut out, header, 1 << 20);
    for element in elements {
        writer.push(element).expect("there is room");
    }
    writer.finish();
    out
}

fn change(mut bytes: Vec<u8>, changes: &[(prop::sample::Index, u8)]) -> Vec<u8> {
    for (at, byte) in changes {
        if !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
    }
    bytes
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        read(&bytes)?;
        // Behind a good header more of it is looked at.
        read(&[packet::<Down>(&SNAPSHOT, &[]), bytes.clone()].concat())?;
        read(&[packet::<Down>(&DownHeader::unsequenced(1), &[]), bytes.clone()].concat())?;
        read(&[packet::<Down>(&SNAPSHOT, &[]), vec![1, 200, 0], bytes].concat())?;
    }

    #[test]
    fn changed_messages_are_read_or_refused(
        down in prop::collection::vec(snapshot_element(), 0..3),
        other in unsequenced_element(),
        up in prop::collection::vec(up_element(), 0..3),
        up_frame in up_frame(),
        down_frame in down_frame(),
        changes: [(prop::sample::Index, u8); 3],
    ) {
        for bytes in [
            packet::<Down>(&SNAPSHOT, &down),
            packet::<Down>(&DownHeader::unsequenced(1), &[other]),
            packet::<Up>(&UPLINK, &up),
            frame::<Up>(&up_frame),
            frame::<Down>(&down_frame),
        ] {
            read(&change(bytes, &changes))?;
        }
    }
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
