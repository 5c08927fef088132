//! The other side of a session, as far as a script needs it.

use tickwire_dialects::reone::limits::DATAGRAM_MAX;
use tickwire_dialects::reone::message::{Direction, PacketWriter, decode_arrived};
use tickwire_dialects::reone::{AnyStatus, CreatureStatus, Reader, SpatialStatus, Text, Vec3};

use crate::script::Script;

/// The bytes of a packet: as many elements as fit.
pub(super) fn packet<D: Direction>(header: &D::Header, elements: &[D::Element<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::<D>::new(&mut out, header, DATAGRAM_MAX);
    for element in elements {
        if writer.push(element).is_err() {
            break;
        }
    }
    writer.finish();
    out
}

/// Takes every whole frame off a stream.
///
/// # Panics
/// If one cannot be read.
pub(super) fn read_frames<D: Direction>(unread: &mut Vec<u8>, mut see: impl FnMut(&D::Frame<'_>)) {
    let mut r = Reader::new(unread);
    while let Some(frame) = decode_arrived::<D>(&mut r).expect("it is readable") {
        see(&frame);
    }
    let read = r.position();
    unread.drain(..read);
}

/// A text of the protocol; one that is none is empty.
pub(super) fn text(text: &str) -> Text<'_> {
    Text::new(text).unwrap_or_else(|_| Text::new("").expect("nothing is a text"))
}

pub(super) fn status(choice: u8, script: &mut Script<'_>) -> AnyStatus {
    let number = match choice & 0xf0 {
        0xf0 => f32::from_bits(script.u32()),
        _ => f32::from(script.u8()),
    };
    if choice & 1 == 0 {
        AnyStatus::Creature(CreatureStatus {
            pos: Vec3 {
                x: number,
                ..Vec3::ZERO
            },
            anim: choice >> 4,
            equipment3: u16::from(choice & 2),
            ..CreatureStatus::default()
        })
    } else {
        AnyStatus::Spatial(SpatialStatus {
            y: number,
            hit_points: u32::from(choice >> 4),
            ..SpatialStatus::default()
        })
    }
}
