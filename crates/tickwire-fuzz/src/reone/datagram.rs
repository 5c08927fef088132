//! One datagram of either side, a base, or what a call carries, however broken.

use std::fmt::Debug;

use tickwire_dialects::reone::limits::{DATAGRAM_MAX, HEADER};
use tickwire_dialects::reone::message::{
    Answer, Base, Call, Compression, Direction, Down, Method, Packet, PacketWriter, Up,
};
use tickwire_dialects::reone::{inspect, inspect_datagram};
use tickwire_wire::{DecodeError, FieldLog};

use crate::trace::traced_end;

/// Reads `bytes`, whose first says who sent the others and how, with and without a trace, and writes what
/// was read again.
///
/// # Panics
/// If the trace changes the verdict or leaves a hole, if what was written says something else or can be
/// read before all of it is there, or if one side could have sent what the other did.
pub fn reone_datagram(bytes: &[u8]) {
    let Some((&side, datagram)) = bytes.split_first() else {
        return;
    };
    match side % 5 {
        0 => check_plain::<Up, Down>(datagram, |log| inspect(true, false, datagram, log)),
        1 => check_plain::<Down, Up>(datagram, |log| {
            inspect_datagram(Compression::None, datagram, log)
        }),
        2 => check_coded(datagram),
        3 => check_base(datagram),
        _ => check_call(datagram),
    }
}

fn check_plain<D, Other>(
    datagram: &[u8],
    inspect: impl FnOnce(&mut FieldLog) -> Result<(), DecodeError>,
) where
    D: Direction,
    D::Header: PartialEq + Debug,
    for<'e> D::Element<'e>: PartialEq + Debug,
    Other: Direction,
{
    let mut log = FieldLog::default();
    let packet = Packet::<D>::decode(datagram);
    check_verdict(packet.as_ref().err(), inspect(&mut log));
    let Ok(packet) = packet else {
        return;
    };
    assert_eq!(traced_end(&log) as usize, datagram.len() * 8);
    if packet.elements().next().is_some() {
        assert!(Packet::<Other>::decode(datagram).is_err());
    }
    let written = write(&packet, ROOMY);
    let again = Packet::<D>::decode(&written).expect("what was written can be read");
    assert_eq!(again.header, packet.header);
    assert!(again.elements().eq(packet.elements()));
    // As many of the first as fit, and not half of the next.
    let short = write(&packet, HEADER + (written.len() - HEADER) / 2);
    let fitting = Packet::<D>::decode(&short).expect("it is whole");
    let count = fitting.elements().count();
    assert!(fitting.elements().eq(packet.elements().take(count)));
    for element in packet.elements().take(ELEMENTS_CUT) {
        check_cuts::<D>(&packet.header, &element);
    }
}

/// The packet as our own writer writes it, up to `limit` bytes.
fn write<D: Direction>(packet: &Packet<'_, D>, limit: usize) -> Vec<u8> {
    let mut written = Vec::new();
    let mut writer = PacketWriter::<D>::new(&mut written, &packet.header, limit);
    for element in packet.elements() {
        if writer.push(&element).is_err() {
            break;
        }
    }
    assert_eq!(writer.finish(), written.len());
    assert!(written.len() <= limit);
    written
}

/// A list that is cut says so.
fn check_cuts<D: Direction>(header: &D::Header, element: &D::Element<'_>) {
    let mut bytes = Vec::new();
    let mut writer = PacketWriter::<D>::new(&mut bytes, header, ROOMY);
    writer.push(element).expect("there is room");
    writer.finish();
    // A header alone is a whole packet.
    for length in (0..bytes.len()).filter(|length| *length != HEADER) {
        let cut = Packet::<D>::decode(&bytes[..length]).map(drop);
        assert!(
            matches!(cut, Err(DecodeError::Truncated { .. })),
            "{length} bytes: {cut:?}"
        );
    }
}

fn check_coded(datagram: &[u8]) {
    let (mut log, mut scratch) = (FieldLog::default(), Vec::new());
    let packet = Packet::<Down>::decode_coded(datagram, &mut scratch);
    let inspected = inspect_datagram(Compression::Huffman, datagram, &mut log);
    check_verdict(packet.as_ref().err(), inspected);
    let Ok(packet) = packet else {
        return;
    };
    let mut coded = vec![0xee; 3];
    let mut writer = PacketWriter::coded(&mut coded, &packet.header, DATAGRAM_MAX);
    // Another sender may have coded more than ours does.
    let fits = |element: &_| writer.push(element).is_ok();
    let count = packet.elements().take_while(fits).count();
    assert!(writer.finish() <= DATAGRAM_MAX);
    let mut scratch = Vec::new();
    let again = Packet::<Down>::decode_coded(&coded[3..], &mut scratch);
    let again = again.expect("what was written can be read");
    assert!(again.elements().eq(packet.elements().take(count)));
}

fn check_base(bytes: &[u8]) {
    if let Ok(base) = Base::decode(bytes) {
        assert!(Packet::<Down>::decode(bytes).is_err() || base.elements().next().is_none());
        base.elements().for_each(drop);
    }
}

fn check_call(bytes: &[u8]) {
    let Some((&choice, content)) = bytes.split_first() else {
        return;
    };
    let method = Method::ALL[usize::from(choice) % Method::ALL.len()];
    let mut written = Vec::new();
    if let Ok(call) = Call::decode(method.name(), content) {
        call.encode(&mut written);
        assert_eq!(written, content);
    }
    written.clear();
    if let Ok(answer) = Answer::decode(method, content) {
        if let Answer::Inventory(items) = answer {
            items.iter().for_each(drop);
        }
        answer.encode(&mut written);
        assert_eq!(written, content);
        let cut = (0..content.len()).map(|length| Answer::decode(method, &content[..length]));
        assert!(cut.into_iter().all(|cut| cut.is_err()));
    }
}

/// More than anything that was read can need, in lists of its own or not.
const ROOMY: usize = 1 << 20;

/// Elements of a packet that are cut at every byte.
const ELEMENTS_CUT: usize = 8;

/// Where a fault is may differ, that there is one may not.
fn check_verdict(fault: Option<&DecodeError>, inspected: Result<(), DecodeError>) {
    assert_eq!(
        fault.is_some(),
        inspected.is_err(),
        "{fault:?}, {inspected:?}"
    );
}
