//! One datagram of either side, however broken.

use tickwire_dialects::reone::limits::DATAGRAM_MAX;
use tickwire_dialects::reone::message::{Compression, Direction, Down, Packet, PacketWriter, Up};
use tickwire_dialects::reone::{inspect, inspect_datagram};
use tickwire_wire::{DecodeError, FieldLog};

use crate::trace::traced_end;

/// Reads `bytes`, whose first says who sent the others and how, with and without a trace, and writes what
/// was read again.
///
/// # Panics
/// If the trace changes the verdict or leaves a hole, or if what was written says something else.
pub fn reone_datagram(bytes: &[u8]) {
    let Some((&side, datagram)) = bytes.split_first() else {
        return;
    };
    let mut log = FieldLog::default();
    match side % 3 {
        0 => {
            let packet = Packet::<Up>::decode(datagram);
            let inspected = inspect(true, false, datagram, &mut log);
            check_verdict(packet.as_ref().err(), inspected);
            if let Ok(packet) = packet {
                assert_eq!(traced_end(&log) as usize, datagram.len() * 8);
                check_again(&packet, |again| Packet::decode(again));
            }
        }
        1 => {
            let packet = Packet::<Down>::decode(datagram);
            let inspected = inspect_datagram(Compression::None, datagram, &mut log);
            check_verdict(packet.as_ref().err(), inspected);
            if let Ok(packet) = packet {
                assert_eq!(traced_end(&log) as usize, datagram.len() * 8);
                check_again(&packet, |again| Packet::decode(again));
            }
        }
        _ => {
            let mut scratch = Vec::new();
            let packet = Packet::<Down>::decode_coded(datagram, &mut scratch);
            let inspected = inspect_datagram(Compression::Huffman, datagram, &mut log);
            check_verdict(packet.as_ref().err(), inspected);
            // A longer one would not be sent, and there is no writing it.
            if let Ok(packet) = packet
                && datagram.len() <= DATAGRAM_MAX
            {
                let mut coded = Vec::new();
                let mut writer = PacketWriter::coded(&mut coded, &packet.header, DATAGRAM_MAX);
                packet
                    .elements()
                    .for_each(|element| writer.push(&element).expect("there is room"));
                writer.finish();
                let mut scratch = Vec::new();
                let again = Packet::<Down>::decode_coded(&coded, &mut scratch);
                let again = again.expect("what was written can be read");
                assert!(again.elements().eq(packet.elements()));
            }
        }
    }
}

/// More than anything that was read can need, in lists of its own or not.
const ROOMY: usize = 1 << 20;

/// Where a fault is may differ, that there is one may not.
fn check_verdict(fault: Option<&DecodeError>, inspected: Result<(), DecodeError>) {
    assert_eq!(
        fault.is_some(),
        inspected.is_err(),
        "{fault:?}, {inspected:?}"
    );
}

fn check_again<D>(packet: &Packet<'_, D>, decode: fn(&[u8]) -> Result<Packet<'_, D>, DecodeError>)
where
    D: Direction,
    D::Header: PartialEq + std::fmt::Debug,
    for<'e> D::Element<'e>: PartialEq + std::fmt::Debug,
{
    let mut written = Vec::new();
    let mut writer = PacketWriter::<D>::new(&mut written, &packet.header, ROOMY);
    for element in packet.elements() {
        writer.push(&element).expect("there is room");
    }
    assert_eq!(writer.finish(), written.len());
    let again = decode(&written).expect("what was written can be read");
    assert_eq!(again.header, packet.header);
    assert!(again.elements().eq(packet.elements()));
}
