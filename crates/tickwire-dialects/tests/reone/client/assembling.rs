//! Snapshots from datagrams: in any order, twice, mixed, never; and what they are made against.

use tickwire_dialects::reone::delta::Delta;
use tickwire_dialects::reone::huffman::encode;
use tickwire_dialects::reone::limits::{DATAGRAM_MAX, HEADER};
use tickwire_dialects::reone::message::{
    Compression, Down, DownElement, PacketWriter, Parameters, VisualEffect,
};
use tickwire_dialects::reone::{
    AnyStatus, ClientEvent, CreatureStatus, Mode, ObjectId, SnapshotSeq, SpatialStatus,
};
use tickwire_session::Session as _;

use super::script::{
    ClientScript, SERVER, creature, full, header, keep, last, packet, parameters, text,
};
use crate::driven::ms;
use crate::golden::unhex;

fn moved(id: u32, from: f32, to: f32) -> DownElement<'static> {
    DownElement::CreatureDiff {
        id: ObjectId(id),
        delta: Delta::between(&creature(from), &creature(to)),
    }
}

/// Where the creatures of the newest snapshot are.
fn places(script: &ClientScript) -> Vec<(u32, f32)> {
    let newest = script.session.newest().expect("there is one");
    let objects = newest.objects();
    objects.map(|(id, object)| (id.0, object.pos().x)).collect()
}

/// What it acknowledged since this was last asked.
fn acknowledged(script: &mut ClientScript) -> Vec<u32> {
    let uplinks = script.uplinks();
    uplinks.iter().map(|uplink| uplink.acknowledged).collect()
}

#[test]
fn a_snapshot_of_one_datagram_is_acknowledged_at_once() {
    let mut script = ClientScript::ready(2);
    // Snapshot 1 against the base, tick 3; KeepAlive of 1; Last of 1.
    script.send_raw(&unhex(
        "010000000000000003000000 0401 01000000 8601 01"
            .replace(' ', "")
            .as_str(),
    ));
    assert_eq!(script.session.newest().unwrap().tick, 3);
    // A header alone: packet 3 after Ping and Ready, snapshot 1, nothing shown yet.
    assert_eq!(script.taken(SERVER), [unhex("030000000100000000000000")]);
    assert_eq!(places(&script), [(1, 1.0)], "2 has left");
}

#[test]
fn states_follow_from_the_base_and_from_what_was_acknowledged() {
    let mut script = ClientScript::ready(3);
    script.snapshot(1, 0, &[moved(1, 1.0, 10.0), keep(2), keep(3), full(9, 9.0)]);
    assert_eq!(places(&script), [(1, 10.0), (2, 2.0), (3, 3.0), (9, 9.0)]);
    assert_eq!(script.session.mode(), Some(Mode::Fallback));
    script.snapshot(2, 1, &[keep(1), moved(9, 9.0, 90.0)]);
    assert_eq!(places(&script), [(1, 10.0), (9, 90.0)]);
    assert_eq!(script.session.mode(), Some(Mode::Performant));
    // Against 1 again: the acknowledgement of 2 was lost.
    script.snapshot(3, 1, &[moved(2, 2.0, 20.0)]);
    assert_eq!(places(&script), [(2, 20.0)]);
    let old = script.session.snapshot(SnapshotSeq(1)).unwrap();
    assert_eq!(old.objects().len(), 4);
    assert_eq!(acknowledged(&mut script), [1, 2, 3]);
    let counters = script.session.counters();
    assert_eq!((counters.fallback, counters.performant), (1, 2));
}

#[test]
fn other_objects_change_too() {
    let door = SpatialStatus {
        hit_points: 10,
        ..SpatialStatus::default()
    };
    let broken = SpatialStatus {
        hit_points: 0,
        ..door
    };
    let mut script = ClientScript::ready(1);
    let id = ObjectId(50);
    script.snapshot(1, 0, &[DownElement::SpatialFull { id, status: door }]);
    let delta = Delta::between(&door, &broken);
    script.snapshot(2, 1, &[DownElement::SpatialDiff { id, delta }]);
    let held = script.session.newest().unwrap().object(id);
    assert_eq!(held, Some(&AnyStatus::Spatial(broken)));
}

/// The three datagrams of snapshot `sequence`.
fn three(sequence: u32) -> [Vec<u8>; 3] {
    let header = header(sequence, 0);
    [
        packet(header, &[full(10, 1.0)]),
        packet(header, &[full(11, 2.0)]),
        packet(header, &[full(12, 3.0), last(3)]),
    ]
}

#[test]
fn datagrams_come_in_any_order_and_twice() {
    let parts = three(1);
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut script = ClientScript::ready(2);
        for (step, part) in order.into_iter().enumerate() {
            assert_eq!(acknowledged(&mut script), [], "not whole after {step}");
            script.send_raw(&parts[part]);
            if step < 2 {
                script.send_raw(&parts[part]);
            }
        }
        assert_eq!(acknowledged(&mut script), [1]);
        assert_eq!(places(&script), [(10, 1.0), (11, 2.0), (12, 3.0)]);
        assert_eq!(script.session.counters().duplicate, 2);
        // Again, because the acknowledgement was lost: it is said again, of the newest.
        script.send_raw(&parts[0]);
        assert_eq!(acknowledged(&mut script), [1]);
        script.snapshot(2, 0, &[keep(1)]);
        acknowledged(&mut script);
        script.send_raw(&parts[0]);
        assert_eq!(acknowledged(&mut script), []);
    }
}

#[test]
fn datagrams_of_several_snapshots_mix() {
    let (first, second) = (three(1), three(2));
    let mut script = ClientScript::ready(2);
    for part in [&first[0], &second[2], &second[0], &first[2]] {
        script.send_raw(part);
    }
    script.send_raw(&second[1]);
    assert_eq!(acknowledged(&mut script), [2]);
    // An older one still becomes whole, and is not what is acknowledged.
    script.send_raw(&first[1]);
    assert_eq!(script.whole(), [2, 1]);
    assert_eq!(acknowledged(&mut script), []);
    assert!(script.session.snapshot(SnapshotSeq(1)).is_some());
}

#[test]
fn what_never_becomes_whole_gives_way() {
    let mut script = ClientScript::ready(2);
    for sequence in 1..=100 {
        script.send_raw(&three(sequence)[0]);
    }
    assert_eq!(acknowledged(&mut script), []);
    // The newest ones are still there, the others begin anew.
    let [_, second, third] = three(95);
    script.send_raw(&second);
    script.send_raw(&third);
    assert_eq!(acknowledged(&mut script), [95]);
    let [_, second, third] = three(50);
    script.send_raw(&second);
    script.send_raw(&third);
    assert_eq!(script.whole(), [95]);
}

#[test]
fn datagrams_that_contradict_each_other_are_not_taken() {
    let mut script = ClientScript::ready(2);
    // Made against something else.
    script.send_raw(&three(5)[0]);
    script.send_raw(&packet(header(5, 1), &[full(11, 2.0)]));
    // Two of them are the last.
    script.send_raw(&three(5)[2]);
    script.send_raw(&packet(header(5, 0), &[full(11, 2.0), last(4)]));
    assert_eq!(script.session.counters().contradiction, 2);
    script.send_raw(&three(5)[1]);
    assert_eq!(acknowledged(&mut script), [5]);
    // More than there are: the snapshot is lost as a whole.
    for part in &three(6)[..2] {
        script.send_raw(part);
    }
    script.send_raw(&packet(header(6, 0), &[last(2)]));
    assert_eq!(script.session.counters().contradiction, 3);
    assert_eq!(acknowledged(&mut script), []);
}

#[test]
fn a_baseline_that_is_not_held_drops_the_snapshot() {
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1)]);
    script.snapshot(5, 3, &[keep(1)]);
    assert_eq!(script.session.counters().baseline_missing, 1);
    assert_eq!(acknowledged(&mut script), [1]);
    assert_eq!(places(&script), [(1, 1.0)]);
}

#[test]
fn baselines_older_than_the_newest_acknowledgement_are_dropped() {
    let mut script = ClientScript::ready(2);
    for sequence in 1..=5 {
        script.snapshot(sequence, sequence - 1, &[keep(1)]);
    }
    script.snapshot(6, 4, &[keep(1)]);
    let held = |sequence| script.session.snapshot(SnapshotSeq(sequence)).is_some();
    assert_eq!([3, 4, 5, 6].map(held), [false, true, true, true]);
    // Without acknowledgements, 32 are held.
    for sequence in 7..=60 {
        script.snapshot(sequence, 0, &[keep(1)]);
    }
    let held = |sequence| script.session.snapshot(SnapshotSeq(sequence)).is_some();
    assert_eq!([28, 29, 60].map(held), [false, true, true]);
}

#[track_caller]
fn check_spoilt(elements: &[DownElement<'_>], count: impl Fn(&ClientScript) -> u64) {
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1)]);
    script.events();
    acknowledged(&mut script);
    script.snapshot(2, 1, elements);
    assert_eq!(count(&script), 1);
    assert_eq!(acknowledged(&mut script), []);
    assert_eq!(script.whole(), []);
    assert_eq!(places(&script), [(1, 1.0)]);
}

#[test]
fn lists_that_make_no_sense_change_nothing() {
    let unknown = |script: &ClientScript| script.session.counters().unknown_object;
    let twice = |script: &ClientScript| script.session.counters().object_twice;
    check_spoilt(&[full(7, 1.0), keep(2)], unknown);
    check_spoilt(&[full(7, 1.0), moved(2, 2.0, 3.0)], unknown);
    let spatial = DownElement::SpatialDiff {
        id: ObjectId(1),
        delta: Delta::of(1, &SpatialStatus::default()),
    };
    check_spoilt(&[spatial], unknown);
    check_spoilt(&[keep(1), moved(1, 1.0, 2.0)], twice);
    check_spoilt(&[keep(1), full(7, 1.0), full(7, 1.0)], twice);
}

#[test]
fn a_mask_beyond_the_fields_does_not_decode() {
    let mut script = ClientScript::ready(2);
    // CreatureDiff of 1 with bit 11, and one with no bit at all; Last.
    for mask in ["0008", "0000"] {
        let digits = format!("010000000000000003000000 0001 01000000 {mask} 860101");
        script.send_raw(&unhex(&digits.replace(' ', "")));
    }
    assert_eq!(script.session.counters().undecodable, 2);
    assert_eq!(acknowledged(&mut script), []);
}

#[test]
fn coded_snapshots_unfold_once_that_was_agreed_on() {
    let coded = Parameters {
        compression: Compression::Huffman,
        ..parameters()
    };
    let mut script = ClientScript::ready_with(2, coded);
    let many: Vec<_> = (10..30).map(|id| full(id, 0.0)).collect();
    let mut bytes = Vec::new();
    let mut writer = PacketWriter::<Down>::coded(&mut bytes, &header(1, 0), 1_200);
    for element in &many {
        writer.push(element).unwrap();
    }
    writer.push(&last(1)).unwrap();
    writer.finish();
    let plain = packet(header(1, 0), &many);
    assert!(bytes.len() < plain.len() / 2, "{}", bytes.len());
    script.send_raw(&bytes);
    assert_eq!(places(&script).len(), 20);
    // Uncoded snapshots need the byte that says so.
    script.snapshot(2, 0, &[keep(1)]);
    assert_eq!(script.session.counters().undecodable, 1);
    // What is no snapshot has no such byte.
    script.control(&[DownElement::EventAck(Default::default())]);
    assert_eq!(script.session.counters().undecodable, 1);
}

/// Snapshot 1 as another sender may code it: an effect whose name has so many letters, lists without
/// elements up to `plain` bytes, and Last.
fn coded_elsewhere(plain: usize, letters: usize) -> Vec<u8> {
    let name = "x".repeat(letters);
    let effect = DownElement::VisualEffect(VisualEffect {
        id: ObjectId(1),
        at: SnapshotSeq(1),
        resref: text(&name),
    });
    let mut lists = packet(header(1, 0), &[effect]).split_off(HEADER);
    let last = packet(header(1, 0), &[last(1)]).split_off(HEADER);
    while lists.len() + last.len() < plain {
        lists.extend([DownElement::KEEP_ALIVE, 0]);
    }
    lists.extend(last);
    assert_eq!(lists.len(), plain);
    let mut bytes = packet(header(1, 0), &[]);
    bytes.push(1);
    bytes.extend(u16::try_from(plain).expect("it is short").to_le_bytes());
    encode(&lists, &mut bytes);
    assert!(bytes.len() < DATAGRAM_MAX, "{} bytes", bytes.len());
    bytes
}

#[test]
fn a_coded_datagram_holds_up_to_4096_plain_bytes_and_no_more() {
    let coded = Parameters {
        compression: Compression::Huffman,
        ..parameters()
    };
    let mut script = ClientScript::ready_with(2, coded);
    script.send_raw(&coded_elsewhere(4_097, 3));
    assert_eq!(script.session.counters().undecodable, 1);
    assert_eq!(script.whole(), []);
    script.send_raw(&coded_elsewhere(4_096, 4));
    assert_eq!(script.session.counters().undecodable, 1);
    assert_eq!(script.whole(), [1]);
    assert_eq!(acknowledged(&mut script), [1]);
}

#[test]
fn after_a_hang_everything_begins_with_the_base() {
    let mut script = ClientScript::playing();
    script.snapshot(2, 1, &[keep(1)]);
    script.pass(ms(1_999));
    script.snapshot(3, 2, &[keep(1)]);
    assert_eq!(script.session.counters().hang, 0);
    script.pass(ms(2_000));
    script.forget();
    // The server still believes in 3, until that is out of its history.
    script.snapshot(43, 3, &[keep(1)]);
    assert_eq!(script.session.counters().hang, 1);
    assert_eq!(script.whole(), []);
    let now = script.now;
    let shown = script.session.sample(now).expect("the old picture stays");
    assert_eq!(shown.sequence(), SnapshotSeq(3));
    for part in three(44) {
        script.send_raw(&part);
    }
    assert_eq!(script.whole(), [44]);
    assert_eq!(acknowledged(&mut script), [44]);
    let shown = script.session.sample(now).expect("there is another");
    assert_eq!(shown.sequence(), SnapshotSeq(44));
}

#[test]
fn what_is_missing_counts_as_lost_from_the_newest_whole_one_on() {
    let mut script = ClientScript::ready(2);
    let loss = |script: &ClientScript| {
        let mut loss = None;
        script.session.visit_peers(&mut |peer| loss = peer.loss);
        loss
    };
    script.snapshot(7, 0, &[keep(1)]);
    assert_eq!(loss(&script), Some(0.0), "nobody knows of those before");
    script.snapshot(8, 0, &[keep(1)]);
    script.snapshot(11, 0, &[keep(1)]);
    let lost = loss(&script);
    assert!(lost > Some(0.0), "9 and 10");
    script.snapshot(10, 0, &[keep(1)]);
    assert_eq!(loss(&script), lost, "too late to count");
}

#[test]
fn the_own_creature_and_the_events_it_answers_come_with_each_snapshot() {
    let mut script = ClientScript::playing();
    for _ in 0..4 {
        script.session.send_event(1, &[]).unwrap();
    }
    let ack = |id| DownElement::EventAck(tickwire_dialects::reone::EventId(id));
    let told = |script: &mut ClientScript| -> Vec<(u32, u32, Option<CreatureStatus>)> {
        let events = script.events().into_iter();
        let whole = events.filter_map(|event| match event {
            ClientEvent::Snapshot(whole) => Some((whole.sequence.0, whole.answered.0, whole.own)),
            _ => None,
        });
        whole.collect()
    };
    script.snapshot(2, 1, &[keep(1), ack(2)]);
    // Said outside of snapshots, it says nothing about any of them.
    script.control(&[ack(3)]);
    script.snapshot(3, 1, &[keep(1)]);
    script.snapshot(5, 1, &[ack(4)]);
    let own = Some(creature(1.0));
    // What a newer one answers may be more than an older one shows.
    script.snapshot(4, 1, &[keep(1)]);
    let all = [(2, 2, own), (3, 2, own), (5, 4, None), (4, 0, own)];
    assert_eq!(told(&mut script), all);
    // What nobody sent cannot be acknowledged.
    script.snapshot(6, 1, &[ack(9)]);
    assert_eq!(told(&mut script), [(6, 4, None)]);
    assert_eq!(script.session.counters().ack_never_sent, 1);
}
