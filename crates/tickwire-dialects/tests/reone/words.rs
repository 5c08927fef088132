//! Messages to bytes and back.

use tickwire_dialects::reone::limits::DATAGRAM_MAX;
use tickwire_dialects::reone::message::{
    Direction, DownHeader, Packet, PacketWriter, UpHeader, encode_frame,
};
use tickwire_dialects::reone::{CreatureStatus, PacketSeq, SnapshotSeq, Text, Vec3};

pub(super) const SNAPSHOT: DownHeader = DownHeader {
    sequence: SnapshotSeq(7),
    acknowledged: SnapshotSeq(5),
    tick: 0x0102_0304,
};

pub(super) const UPLINK: UpHeader = UpHeader {
    packet: PacketSeq(9),
    acknowledged: SnapshotSeq(7),
    tick: 0x0102_0304,
};

pub(super) fn text(text: &str) -> Text<'_> {
    Text::new(text).expect("a string that can be sent")
}

/// One packet of the elements, which must fit.
pub(super) fn packet<D: Direction>(header: &D::Header, elements: &[D::Element<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::<D>::new(&mut out, header, DATAGRAM_MAX);
    for element in elements {
        writer.push(element).expect("they fit");
    }
    writer.finish();
    out
}

/// The bytes of frames.
pub(super) fn frames<D: Direction>(frames: &[D::Frame<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for frame in frames {
        encode_frame::<D>(frame, &mut out).expect("it is short enough");
    }
    out
}

/// A creature at a place.
pub(super) fn creature_at(x: f32) -> CreatureStatus {
    CreatureStatus {
        pos: Vec3 { x, ..Vec3::ZERO },
        ..CreatureStatus::default()
    }
}

/// The elements of a packet that decodes.
pub(super) fn elements<D: Direction>(bytes: &[u8]) -> Vec<D::Element<'_>> {
    let packet = Packet::<D>::decode(bytes).expect("it decodes");
    packet.elements().collect()
}
