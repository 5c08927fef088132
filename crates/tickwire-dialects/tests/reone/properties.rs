//! What is written is read, whatever it is and however it is cut.

use proptest::prelude::*;
use tickwire_dialects::reone::limits::{DATAGRAM_MAX, HEADER};
use tickwire_dialects::reone::message::{
    Answer, Base, Call, CallError, Direction, Down, DownElement, DownHeader, Method, Packet,
    PacketWriter, Status, Texts, Up,
};
use tickwire_dialects::reone::{AnyStatus, CreatureStatus, Inbox, ObjectId, Outbox};
use tickwire_wire::DecodeError;

use super::words::{
    SNAPSHOT, UPLINK, any_text, down_frame, elements, frame, packet, snapshot_element, text,
    unsequenced_element, up_element, up_frame,
};

/// Fills as many packets as it takes.
fn packets<D: Direction>(header: &D::Header, all: &[D::Element<'_>], limit: usize) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let mut rest = all;
    while !rest.is_empty() {
        let mut out = Vec::new();
        let mut writer = PacketWriter::<D>::new(&mut out, header, limit);
        let fits = |element: &&D::Element<'_>| writer.push(element).is_ok();
        let fitted = rest.iter().take_while(fits).count();
        assert!(fitted > 0, "every element fits a packet");
        assert_eq!(writer.finish(), out.len());
        assert!(out.len() <= limit, "{} bytes", out.len());
        packets.push(out);
        rest = &rest[fitted..];
    }
    packets
}

fn check_cuts<D: Direction>(bytes: &[u8]) -> Result<(), TestCaseError> {
    for length in (0..bytes.len()).filter(|length| *length != HEADER) {
        let cut = Packet::<D>::decode(&bytes[..length]).map(|_| ());
        prop_assert!(
            matches!(cut, Err(DecodeError::Truncated { .. })),
            "{length} bytes: {cut:?}"
        );
    }
    Ok(())
}

/// Everything that an inbox hears, when its bytes come in the pieces that `cut` makes.
fn heard<D: Direction>(pieces: &[&[u8]]) -> Vec<String>
where
    for<'a> D::Frame<'a>: std::fmt::Debug,
{
    let mut heard = Vec::new();
    let mut inbox = Inbox::<D>::new();
    for piece in pieces {
        let hear = |frame: D::Frame<'_>| heard.push(format!("{frame:?}"));
        inbox.receive(piece, hear).expect("it decodes");
    }
    heard
}

fn check_stream<D: Direction>(frames: &[D::Frame<'_>]) -> Result<(), TestCaseError>
where
    for<'a> D::Frame<'a>: std::fmt::Debug,
{
    let mut outbox = Outbox::<D>::new();
    for frame in frames {
        outbox.push(frame).expect("there is room");
    }
    let mut bytes = Vec::new();
    while outbox.waiting() > 0 {
        prop_assert!(outbox.write(7, &mut bytes).is_some_and(|taken| taken <= 7));
    }
    let expected: Vec<_> = frames.iter().map(|frame| format!("{frame:?}")).collect();
    for at in 0..=bytes.len() {
        let (first, second) = bytes.split_at(at);
        prop_assert_eq!(&heard::<D>(&[first, second]), &expected);
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    prop_assert_eq!(heard::<D>(&single), expected);
    Ok(())
}

proptest! {
    #[test]
    fn snapshots_are_read_back(all in prop::collection::vec(snapshot_element(), 0..60), limit in 300..=DATAGRAM_MAX) {
        let packets = packets::<Down>(&SNAPSHOT, &all, limit);
        let read: Vec<_> = packets.iter().flat_map(|bytes| elements::<Down>(bytes)).collect();
        prop_assert_eq!(read, all);
    }

    #[test]
    fn what_has_no_sequence_is_read_back(all in prop::collection::vec(unsequenced_element(), 0..20)) {
        let packets = packets::<Down>(&DownHeader::unsequenced(3), &all, DATAGRAM_MAX);
        let read: Vec<_> = packets.iter().flat_map(|bytes| elements::<Down>(bytes)).collect();
        prop_assert_eq!(read, all);
    }

    #[test]
    fn clients_packets_are_read_back(all in prop::collection::vec(up_element(), 0..20)) {
        let packets = packets::<Up>(&UPLINK, &all, DATAGRAM_MAX);
        let read: Vec<_> = packets.iter().flat_map(|bytes| elements::<Up>(bytes)).collect();
        prop_assert_eq!(read, all);
    }

    #[test]
    fn a_cut_list_names_a_field(down in snapshot_element(), other in unsequenced_element(), up in up_element()) {
        check_cuts::<Down>(&packet::<Down>(&SNAPSHOT, &[down]))?;
        check_cuts::<Down>(&packet::<Down>(&DownHeader::unsequenced(1), &[other]))?;
        check_cuts::<Up>(&packet::<Up>(&UPLINK, &[up]))?;
    }

    #[test]
    fn lists_of_the_other_side_do_not_decode(down in snapshot_element(), up in up_element()) {
        let down = packet::<Down>(&SNAPSHOT, &[down]);
        let up = packet::<Up>(&UPLINK, &[up]);
        for error in [Packet::<Up>::decode(&down).err(), Packet::<Down>::decode(&up).err()] {
            let is_refused = matches!(error, Some(DecodeError::Forbidden { field: "list type", .. }));
            prop_assert!(is_refused, "{error:?}");
        }
    }

    #[test]
    fn frames_of_clients_arrive_however_they_are_cut(frames in prop::collection::vec(up_frame(), 0..4)) {
        check_stream::<Up>(&frames)?;
    }

    #[test]
    fn frames_of_servers_arrive_however_they_are_cut(frames in prop::collection::vec(down_frame(), 0..4)) {
        check_stream::<Down>(&frames)?;
    }

    #[test]
    fn a_cut_frame_waits_and_never_fails(up in up_frame(), down in down_frame()) {
        let (up, down) = (frame::<Up>(&up), frame::<Down>(&down));
        for length in 0..up.len() {
            prop_assert_eq!(heard::<Up>(&[&up[..length]]).len(), 0);
        }
        for length in 0..down.len() {
            prop_assert_eq!(heard::<Down>(&[&down[..length]]).len(), 0);
        }
    }

    #[test]
    fn calls_and_answers_are_read_back(id: u32, value: i32, name in any_text(), items in prop::collection::vec(any_text(), 0..20)) {
        let object = ObjectId(id);
        let calls = [Call::Resref(object), Call::Inventory(object), Call::Global(name), Call::Local(name), Call::Log(name)];
        for call in calls {
            let mut bytes = Vec::new();
            call.encode(&mut bytes);
            prop_assert_eq!(Call::decode(call.method().name(), &bytes), Ok(call));
            bytes.push(0);
            let read = Call::decode(call.method().name(), &bytes);
            prop_assert!(read.is_err_and(|error| error.status() == Status::BadArgument));
        }
        let mut buffer = Vec::new();
        let texts = Texts::new(items.iter().copied(), &mut buffer).expect("few");
        prop_assert!(texts.iter().eq(items.iter().copied()));
        let answers = [
            (Method::Resref, Answer::Resref(name)),
            (Method::Inventory, Answer::Inventory(texts)),
            (Method::Global, Answer::Global(value)),
            (Method::Local, Answer::Local(value)),
            (Method::Log, Answer::Log),
        ];
        for (method, answer) in answers {
            let mut bytes = Vec::new();
            answer.encode(&mut bytes);
            prop_assert_eq!(Answer::decode(method, &bytes), Ok(answer));
            for length in 0..bytes.len() {
                prop_assert!(Answer::decode(method, &bytes[..length]).is_err());
            }
        }
    }
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
fn a_base_has_full_states_and_may_be_long() {
    let creature = AnyStatus::Creature(CreatureStatus::default());
    let objects = || (0..1_000).map(|id| (ObjectId(id), creature));
    let mut out = Vec::new();
    Base::encode(3, objects(), &mut out).expect("it is short enough");
    assert!(out.len() > 30_000);
    let base = Base::decode(&out).expect("it decodes");
    assert_eq!(base.tick, 3);
    let all = objects().map(|(id, status)| DownElement::full(id, status));
    assert!(base.elements().eq(all));
    for other in [
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
