//! Arbitrary messages, and messages to bytes and back.

use std::num::NonZeroU16;

use proptest::prelude::*;
use proptest::sample::select;
use tickwire_dialects::reone::delta::Delta;
use tickwire_dialects::reone::limits::DATAGRAM_MAX;
use tickwire_dialects::reone::message::{
    Ballistics, Compression, Direction, DownElement, DownFrame, DownHeader, Event, Invalid, Packet,
    PacketWriter, Parameters, PlayAnimation, Refusal, Role, Speed, Status, UpElement, UpFrame,
    UpHeader, VisualEffect, encode_frame,
};
use tickwire_dialects::reone::{
    CallId, ClientId, CreatureStatus, EventId, ModuleNumber, ObjectId, PacketSeq, Remark,
    SnapshotSeq, SpatialStatus, Text, Vec3,
};
use tickwire_session::Token;

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

/// 255 bytes.
const LONGEST: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

const CONTENT: [u8; 255] = [0xa5; 255];

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

/// The elements of a packet that decodes.
pub(super) fn elements<D: Direction>(bytes: &[u8]) -> Vec<D::Element<'_>> {
    let packet = Packet::<D>::decode(bytes).expect("it decodes");
    packet.elements().collect()
}

pub(super) fn frame<D: Direction>(frame: &D::Frame<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode_frame::<D>(frame, &mut out).expect("it is short enough");
    out
}

pub(super) fn any_text() -> impl Strategy<Value = Text<'static>> {
    select(&["", "p_bastilla", "Ünïcode ☄", LONGEST][..]).prop_map(text)
}

/// Words for a person may be any bytes but zero.
fn any_remark() -> impl Strategy<Value = Remark<'static>> {
    let remarks: [&[u8]; 4] = [b"", b"not today", b"\x1b[2J\r\n", b"\xff\xc3("];
    select(remarks.to_vec()).prop_map(|bytes| Remark::new(bytes).expect("no zero"))
}

fn float() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits)
}

fn place() -> impl Strategy<Value = Vec3> {
    [float(), float(), float()].prop_map(|[x, y, z]| Vec3 { x, y, z })
}

pub(super) fn creature() -> impl Strategy<Value = CreatureStatus> {
    (place(), float(), any::<[u8; 3]>(), any::<[u16; 6]>()).prop_map(
        |(pos, heading, [anim, animframe, faction], worn)| CreatureStatus {
            pos,
            heading,
            anim,
            animframe,
            faction,
            equipment1: worn[0],
            equipment2: worn[1],
            equipment3: worn[2],
            equipment4: worn[3],
            equipment5: worn[4],
            equipment6: worn[5],
        },
    )
}

pub(super) fn spatial() -> impl Strategy<Value = SpatialStatus> {
    (place(), float(), any::<[u32; 2]>()).prop_map(|(at, facing, points)| SpatialStatus {
        x: at.x,
        y: at.y,
        z: at.z,
        facing,
        max_hit_points: points[0],
        hit_points: points[1],
    })
}

fn id() -> impl Strategy<Value = ObjectId> {
    any::<u32>().prop_map(ObjectId)
}

fn moment() -> impl Strategy<Value = SnapshotSeq> {
    any::<u32>().prop_map(SnapshotSeq)
}

/// What may ride in a snapshot, but for Last.
pub(super) fn snapshot_element() -> impl Strategy<Value = DownElement<'static>> {
    prop_oneof![
        (id(), 1..1_u32 << 11, creature()).prop_map(|(id, mask, now)| DownElement::CreatureDiff {
            id,
            delta: Delta::of(mask, &now),
        }),
        (id(), creature()).prop_map(|(id, status)| DownElement::CreatureFull { id, status }),
        (id(), 1..1_u32 << 6, spatial()).prop_map(|(id, mask, now)| DownElement::SpatialDiff {
            id,
            delta: Delta::of(mask, &now),
        }),
        (id(), spatial()).prop_map(|(id, status)| DownElement::SpatialFull { id, status }),
        id().prop_map(|id| DownElement::KeepAlive { id }),
        command(),
        any::<u32>().prop_map(|event| DownElement::EventAck(EventId(event))),
    ]
}

fn command() -> impl Strategy<Value = DownElement<'static>> {
    prop_oneof![
        (any::<u8>(), place(), moment(), id(), float()).prop_map(
            |(kind, origin, at, owner, heading)| DownElement::Ballistics(Ballistics {
                kind,
                origin,
                at,
                owner,
                heading,
            })
        ),
        (id(), moment(), any::<[u32; 2]>(), any_text()).prop_map(
            |(id, at, [flags, speed], resref)| DownElement::PlayAnimation(PlayAnimation {
                id,
                at,
                flags,
                speed: Speed(speed),
                resref,
            })
        ),
        (id(), moment(), any_text()).prop_map(|(id, at, resref)| DownElement::VisualEffect(
            VisualEffect { id, at, resref }
        )),
    ]
}

/// What may come without a sequence.
pub(super) fn unsequenced_element() -> impl Strategy<Value = DownElement<'static>> {
    let reasons = [Invalid::SameModule, Invalid::NewModule, Invalid::Unknown];
    let parameters = (
        1..=u16::MAX,
        any::<u16>(),
        any::<bool>(),
        any::<[u32; 2]>(),
        any::<bool>(),
    );
    prop_oneof![
        command(),
        parameters.prop_map(|(rate, lerp_ms, plays, [own, module], is_coded)| {
            DownElement::Parameters(Parameters {
                tick_rate: NonZeroU16::new(rate).expect("it is not 0"),
                lerp_ms,
                role: if plays { Role::Player } else { Role::Spectator },
                own: ObjectId(own),
                module: ModuleNumber(module),
                compression: if is_coded {
                    Compression::Huffman
                } else {
                    Compression::None
                },
            })
        }),
        select(reasons.to_vec()).prop_map(DownElement::Invalid),
        any::<u32>().prop_map(|event| DownElement::EventAck(EventId(event))),
    ]
}

pub(super) fn up_element() -> impl Strategy<Value = UpElement<'static>> {
    prop_oneof![
        any::<u64>().prop_map(|token| UpElement::Ping(Token(token))),
        Just(UpElement::Ready),
        (any::<u32>(), any::<u8>(), 0..=255_usize).prop_map(|(id, kind, size)| {
            UpElement::Event(Event::new(EventId(id), kind, &CONTENT[..size]).expect("short enough"))
        }),
    ]
}

pub(super) fn up_frame() -> impl Strategy<Value = UpFrame<'static>> {
    let name = select(&["", "Bastilla", "Ünïcode ☄"][..]).prop_map(text);
    prop_oneof![
        (any::<u16>(), name).prop_map(|(version, name)| UpFrame::Hello { version, name }),
        (any_text(), any::<u64>()).prop_map(|(name, offset)| UpFrame::Fetch { name, offset }),
        Just(UpFrame::Loaded),
        (any::<u32>(), any_text(), 0..=255_usize).prop_map(|(id, method, size)| UpFrame::Call {
            id: CallId(id),
            method,
            argument: &CONTENT[..size],
        }),
    ]
}

pub(super) fn down_frame() -> impl Strategy<Value = DownFrame<'static>> {
    let statuses = [
        Status::Ok,
        Status::UnknownMethod,
        Status::BadArgument,
        Status::Refused,
    ];
    let module = || any::<u32>().prop_map(ModuleNumber);
    prop_oneof![
        (any::<u32>(), any::<u64>(), module(), any_text()).prop_map(
            |(client, token, module, name)| DownFrame::Welcome {
                client: ClientId(client),
                token: Token(token),
                module,
                name,
            }
        ),
        (any::<u8>(), any_remark()).prop_map(|(reason, text)| DownFrame::Refused {
            reason: Refusal(reason),
            text,
        }),
        (any_text(), 0..1_u64 << 40, 0..=255_usize, 1..1_000_u64).prop_map(
            |(name, offset, size, more)| DownFrame::Resource {
                name,
                // No bytes are the end, and only that.
                total: if size == 0 {
                    offset
                } else {
                    offset + size as u64 + more
                },
                offset,
                piece: &CONTENT[..size],
            }
        ),
        (any::<u32>(), select(statuses.to_vec()), 0..=255_usize).prop_map(|(id, status, size)| {
            DownFrame::Result {
                id: CallId(id),
                status,
                answer: &CONTENT[..size],
            }
        }),
        (module(), any_text()).prop_map(|(module, name)| DownFrame::ModuleChanged { module, name }),
    ]
}
