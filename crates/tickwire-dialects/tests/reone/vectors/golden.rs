//! One of every list and frame, and some that must be refused.

use std::num::NonZeroU16;

use tickwire_dialects::reone::delta::Delta;
use tickwire_dialects::reone::message::{
    Answer, Ballistics, Call, Compression, Down, DownElement, DownFrame, DownHeader, Event,
    Invalid, Parameters, PlayAnimation, Refusal, Role, Speed, Status, Texts, Up, UpElement,
    UpFrame, VERSION, VisualEffect,
};
use tickwire_dialects::reone::{
    CallId, ClientId, CreatureStatus, EventId, ModuleNumber, ObjectId, SnapshotSeq, SpatialStatus,
    Vec3,
};
use tickwire_session::Token;

use super::Way::{self, ClientDatagram, ClientStream, ServerDatagram, ServerStream};
use super::inspect_on;
use crate::golden::{Golden, unhex};
use crate::words::{SNAPSHOT, UPLINK, frame, packet, text};

type Case = (Golden, Way);

const ID: ObjectId = ObjectId(0x0102_0304);
const TOKEN: Token = Token(0x1122_3344_5566_7788);
const AT: SnapshotSeq = SnapshotSeq(6);
const MODULE: ModuleNumber = ModuleNumber(2);

fn golden(name: &'static str, title: &'static str, way: Way, bytes: Vec<u8>) -> Case {
    let sender = inspect_on(way).1;
    let golden = Golden {
        name,
        title,
        sender,
        bytes,
    };
    (golden, way)
}

fn snapshot(name: &'static str, title: &'static str, elements: &[DownElement<'_>]) -> Case {
    let bytes = packet::<Down>(&SNAPSHOT, elements);
    golden(name, title, ServerDatagram, bytes)
}

fn at_once(name: &'static str, title: &'static str, element: DownElement<'_>) -> Case {
    let bytes = packet::<Down>(&DownHeader::unsequenced(9), &[element]);
    golden(name, title, ServerDatagram, bytes)
}

fn uplink(name: &'static str, title: &'static str, elements: &[UpElement<'_>]) -> Case {
    let bytes = packet::<Up>(&UPLINK, elements);
    golden(name, title, ClientDatagram, bytes)
}

fn creature() -> CreatureStatus {
    CreatureStatus {
        pos: Vec3 {
            x: 1.0,
            y: 2.0,
            z: 3.0,
        },
        heading: 0.5,
        anim: 4,
        animframe: 5,
        faction: 6,
        equipment1: 0x0101,
        equipment2: 0x0202,
        equipment3: 0x0303,
        equipment4: 0x0404,
        equipment5: 0x0505,
        equipment6: 0x0606,
    }
}

fn spatial() -> SpatialStatus {
    SpatialStatus {
        x: 1.0,
        y: 2.0,
        z: 3.0,
        facing: 0.5,
        max_hit_points: 100,
        hit_points: 99,
    }
}

fn creature_diff(mask: u32) -> DownElement<'static> {
    DownElement::CreatureDiff {
        id: ID,
        delta: Delta::of(mask, &creature()),
    }
}

fn keep(id: u32) -> DownElement<'static> {
    DownElement::KeepAlive { id: ObjectId(id) }
}

fn shot() -> DownElement<'static> {
    DownElement::Ballistics(Ballistics {
        kind: 3,
        origin: creature().pos,
        at: AT,
        owner: ID,
        heading: 0.5,
    })
}

/// What a server says in snapshots.
fn snapshots() -> Vec<Case> {
    let spatial_diff = DownElement::SpatialDiff {
        id: ID,
        delta: Delta::of(0b10_0001, &spatial()),
    };
    let full = DownElement::CreatureFull {
        id: ID,
        status: creature(),
    };
    let spatial_full = DownElement::SpatialFull {
        id: ID,
        status: spatial(),
    };
    let ack = DownElement::EventAck(EventId(5));
    let last = DownElement::Last { datagrams: 1 };
    let whole = [creature_diff(2), keep(7), ack, last];
    let title = "A creature moved: its place is one field";
    let kept = "Three objects that did not change, in one list";
    vec![
        snapshot("creature-diff-pos", title, &[creature_diff(1)]),
        snapshot(
            "creature-diff-all",
            "All of a creature changed",
            &[creature_diff(0x7ff)],
        ),
        snapshot(
            "creature-full",
            "A creature that the baseline lacks",
            &[full],
        ),
        snapshot(
            "spatial-diff",
            "An object moved and was hit",
            &[spatial_diff],
        ),
        snapshot(
            "spatial-full",
            "An object that the baseline lacks",
            &[spatial_full],
        ),
        snapshot("keep-alive", kept, &[keep(1), keep(2), keep(3)]),
        snapshot(
            "ballistics-snapshot",
            "A shot that rides in a snapshot",
            &[shot()],
        ),
        snapshot("snapshot-whole", "A snapshot of one datagram", &whole),
    ]
}

/// What a server says in datagrams of their own.
fn unsequenced() -> Vec<Case> {
    let animation = DownElement::PlayAnimation(PlayAnimation {
        id: ID,
        at: AT,
        flags: 1,
        speed: Speed::NORMAL,
        resref: text("castout1"),
    });
    let effect = DownElement::VisualEffect(VisualEffect {
        id: ID,
        at: AT,
        resref: text("v_stun"),
    });
    let parameters = DownElement::Parameters(Parameters {
        tick_rate: NonZeroU16::new(20).expect("it is not 0"),
        lerp_ms: 100,
        role: Role::Player,
        own: ID,
        module: MODULE,
        compression: Compression::Huffman,
    });
    let invalid = DownElement::Invalid(Invalid::SameModule);
    let ack = DownElement::EventAck(EventId(5));
    vec![
        at_once("ballistics-at-once", "A shot at once", shot()),
        at_once("play-animation", "An animation begins", animation),
        at_once("visual-effect", "An effect begins", effect),
        at_once("parameters", "What a client must know first", parameters),
        at_once(
            "invalid-same-module",
            "A client was silent for too long",
            invalid,
        ),
        at_once("event-ack", "Events up to the fifth were processed", ack),
    ]
}

/// What a client says in datagrams.
fn client_datagrams() -> Vec<Case> {
    let event = Event::new(EventId(5), 2, &[0xaa, 0xbb]).expect("it is short");
    let event = UpElement::Event(event);
    vec![
        uplink("acknowledgement", "A header alone acknowledges", &[]),
        uplink(
            "ping",
            "A client shows its token",
            &[UpElement::Ping(TOKEN)],
        ),
        uplink("ready", "The parameters have arrived", &[UpElement::Ready]),
        uplink("event-two", "Two events are two lists", &[event, event]),
    ]
}

/// What a client says on its stream.
fn client_frames() -> Vec<Case> {
    let case = |name, title, message: UpFrame<'_>| {
        golden(name, title, ClientStream, frame::<Up>(&message))
    };
    let mut argument = Vec::new();
    Call::Resref(ID).encode(&mut argument);
    let call = UpFrame::Call {
        id: CallId(3),
        method: text("resref"),
        argument: &argument,
    };
    vec![
        case(
            "hello",
            "The first frame",
            UpFrame::Hello {
                version: VERSION,
                name: text("Bastilla"),
            },
        ),
        case(
            "fetch",
            "Asks for a resource",
            UpFrame::Fetch {
                name: text("base"),
                offset: 65_536,
            },
        ),
        case("loaded", "The module is loaded", UpFrame::Loaded),
        case("call-resref", "What is this object made of?", call),
    ]
}

/// What a server says on the stream.
fn server_frames() -> Vec<Case> {
    let case = |name, title, message: DownFrame<'_>| {
        golden(name, title, ServerStream, frame::<Down>(&message))
    };
    let mut buffer = Vec::new();
    let items = Texts::new(
        [text("g_w_lghtsbr01"), text("g_i_medeqpmnt01")],
        &mut buffer,
    );
    let mut answer = Vec::new();
    Answer::Inventory(items.expect("two")).encode(&mut answer);
    let welcome = DownFrame::Welcome {
        client: ClientId(1),
        token: TOKEN,
        module: MODULE,
        name: text("tar_m02aa"),
    };
    let resource = DownFrame::Resource {
        name: text("base"),
        total: 10,
        offset: 8,
        piece: &[1, 2],
    };
    let end = DownFrame::Resource {
        name: text("base"),
        total: 10,
        offset: 10,
        piece: &[],
    };
    let result = |status, answer| DownFrame::Result {
        id: CallId(3),
        status,
        answer,
    };
    vec![
        case("welcome", "The answer to Hello", welcome),
        case(
            "refused",
            "A resource that is not there",
            DownFrame::Refused {
                reason: Refusal::RESOURCE,
                text: text("no such resource").into(),
            },
        ),
        case("resource-piece", "Two bytes of a resource", resource),
        case(
            "resource-end",
            "A resource ends with no bytes at its size",
            end,
        ),
        case(
            "result-inventory",
            "What an object carries",
            result(Status::Ok, &answer),
        ),
        case(
            "result-unknown-method",
            "There is no such method",
            result(Status::UnknownMethod, &[]),
        ),
        case(
            "module-changed",
            "The server went on",
            DownFrame::ModuleChanged {
                module: MODULE,
                name: text("tar_m02ab"),
            },
        ),
    ]
}

pub(super) fn accepted() -> Vec<Case> {
    [
        snapshots(),
        unsequenced(),
        client_datagrams(),
        client_frames(),
        server_frames(),
    ]
    .concat()
}

const HEADER: &str = "070000000500000004030201";
const NONE: &str = "000000000000000009000000";

/// Name, title, way and bytes of what must not be accepted.
type Row = (&'static str, &'static str, Way, &'static [&'static str]);

#[rustfmt::skip]
const REFUSED: &[Row] = &[
    ("refused-short-header", "A header has twelve bytes", ClientDatagram, &["0700000005000000040302"]),
    ("refused-acknowledged-ahead", "Nothing differs from a newer snapshot", ServerDatagram, &["050000000500000004030201"]),
    ("refused-unknown-list", "There is no list 8", ServerDatagram, &[HEADER, "0801"]),
    ("refused-uplink-list", "A server does not ping", ServerDatagram, &[HEADER, "8001", "8877665544332211"]),
    ("refused-downlink-list", "A client keeps nothing alive", ClientDatagram, &[HEADER, "0401", "01000000"]),
    ("refused-cut-element", "The list ends inside its element", ServerDatagram, &[HEADER, "0402", "01000000", "0200"]),
    ("refused-empty-mask", "Nothing changed: that is KeepAlive", ServerDatagram, &[HEADER, "0001", "01000000", "0000"]),
    ("refused-mask-beyond-fields", "There is no twelfth field", ServerDatagram, &[HEADER, "0001", "01000000", "0008"]),
    ("refused-single-list-of-two", "EventAck has one element", ServerDatagram, &[NONE, "8502", "01000000", "02000000"]),
    ("refused-list-after-last", "Nothing follows Last", ServerDatagram, &[HEADER, "8601", "01", "0401", "01000000"]),
    ("refused-last-of-none", "A snapshot has at least one datagram", ServerDatagram, &[HEADER, "8601", "00"]),
    ("refused-parameters-in-snapshot", "Parameters have a datagram of their own", ServerDatagram, &[HEADER, "8301"]),
    ("refused-state-at-once", "States have a sequence", ServerDatagram, &[NONE, "0401", "01000000"]),
    ("refused-tick-rate-zero", "A server sends at some rate", ServerDatagram, &[NONE, "8301", "0000", "6400", "00", "00000000", "02000000", "00"]),
    ("refused-resref-control-character", "A name does not ring the bell", ServerDatagram, &[NONE, "0701", "01000000", "06000000", "760700"]),
    ("refused-resref-not-utf8", "A name is UTF-8", ServerDatagram, &[NONE, "0701", "01000000", "06000000", "ff00"]),
    ("refused-unknown-kind", "There is no frame 10", ClientStream, &["0a00000000"]),
    ("refused-server-s-kind", "A client does not welcome", ClientStream, &["0200000000"]),
    ("refused-long-frame", "A length that Loaded cannot have", ClientStream, &["0601000000", "00"]),
    ("refused-frame-surplus", "A byte follows the fields", ServerStream, &["0303000000", "04", "00", "00"]),
    ("refused-string-beyond-the-frame", "The name ends in another frame", ServerStream, &["0906000000", "02000000", "7461", "6100"]),
    ("refused-piece-beyond-the-end", "A piece reaches beyond its resource", ServerStream, &["0514000000", "6100", "0100000000000000", "0000000000000000", "0102"]),
];

pub(super) fn refused() -> Vec<Case> {
    let case =
        |(name, title, way, digits): &Row| golden(name, title, *way, unhex(&digits.concat()));
    REFUSED.iter().map(case).collect()
}
