//! Bytes and sequences that nobody should send.

use proptest::prelude::*;
use tickwire_dialects::reone::client_limits::ASSEMBLIES_MAX;
use tickwire_dialects::reone::message::{DownElement, DownHeader};
use tickwire_dialects::reone::{Phase, Snapshot, SnapshotSeq};

use super::script::{ClientScript, full, header, keep, last, packet};

/// Arbitrary bytes behind a header that may be right, or packets with a byte changed.
fn odd_datagram() -> impl Strategy<Value = Vec<u8>> {
    let small = || prop_oneof![Just(0_u32), 1..6_u32, any::<u32>()];
    let bytes = proptest::collection::vec(prop_oneof![0..8_u8, 131..=134_u8, any::<u8>()], 0..80);
    let framed = (small(), small(), bytes).prop_map(|(sequence, acknowledged, lists)| {
        let mut bytes = Vec::new();
        bytes.extend(sequence.to_le_bytes());
        bytes.extend(acknowledged.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(lists);
        bytes
    });
    let bent = (good_packet(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(mut bytes, at, value)| {
            let at = at.index(bytes.len());
            bytes[at] = value;
            bytes
        },
    );
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        framed,
        bent,
        good_packet(),
    ]
}

/// A packet that decodes, whatever it says.
fn good_packet() -> impl Strategy<Value = Vec<u8>> {
    let element = prop_oneof![
        (1..5_u32, any::<f32>()).prop_map(|(id, x)| full(id, x)),
        (1..5_u32).prop_map(keep),
        any::<u32>().prop_map(|id| DownElement::EventAck(tickwire_dialects::reone::EventId(id))),
    ];
    let elements = proptest::collection::vec(element, 0..6);
    (1..8_u32, 0..8_u32, elements, proptest::option::of(1..4_u8)).prop_map(
        |(sequence, acknowledged, mut elements, count)| {
            elements.extend(count.map(last));
            let acknowledged = acknowledged.min(sequence - 1);
            packet(header(sequence, acknowledged), &elements)
        },
    )
}

/// All that a client holds of snapshots.
fn held(script: &ClientScript) -> Vec<Snapshot> {
    let client = &script.session;
    let held = (1..16).filter_map(|sequence| client.snapshot(SnapshotSeq(sequence)));
    held.chain(client.newest()).cloned().collect()
}

#[test]
fn of_datagrams_that_never_become_a_snapshot_a_bounded_number_is_held() {
    let mut script = ClientScript::ready(2);
    let mut most = 0;
    for number in 0..100_000 {
        // Several of each snapshot, with a step back to one that gave way now and then.
        let sequence = 1 + number / 50 - number % 7 % 2;
        let bytes = packet(header(sequence.max(1), 0), &[full(number, 0.0)]);
        script.send_raw(&bytes);
        most = most.max(script.session.datagrams_held());
    }
    assert!((50..=ASSEMBLIES_MAX * 254).contains(&most), "{most} held");
    assert_eq!(script.session.counters().overrun, 0);
    script.snapshot(200_000, 0, &[keep(1)]);
    assert_eq!(script.whole(), [200_000]);
}

#[test]
fn datagrams_of_future_snapshots_do_not_keep_out_a_whole_one() {
    let mut script = ClientScript::ready(2);
    for sequence in 1_001..=1_100 {
        script.send_raw(&packet(header(sequence, 0), &[keep(1)]));
    }
    for sequence in 1..=3 {
        script.snapshot(sequence, 0, &[keep(1)]);
    }
    assert_eq!(script.whole(), [1, 2, 3]);
}

#[test]
fn a_snapshot_of_more_datagrams_than_there_can_be_is_given_up() {
    let mut script = ClientScript::ready(2);
    for id in 0..1_000 {
        script.send_raw(&packet(header(1, 0), &[full(id, 0.0)]));
    }
    assert_eq!(script.session.counters().contradiction, 1_000 / 255);
    script.snapshot(2, 0, &[keep(1)]);
    assert_eq!(script.whole(), [2]);
}

#[test]
fn one_bad_element_undoes_its_datagram() {
    let mut script = ClientScript::playing();
    script.session.send_event(1, &[]).unwrap();
    script.drain();
    let ack = DownElement::EventAck(tickwire_dialects::reone::EventId(1));
    let mut bytes = packet(DownHeader::unsequenced(0), &[ack]);
    bytes.extend([5, 1, 0]);
    script.send_raw(&bytes);
    assert_eq!(script.session.counters().undecodable, 1);
    script.datagrams.clear();
    script.snapshot(2, 1, &[]);
    assert_eq!(
        script.uplinks()[0].events.len(),
        1,
        "it is not acknowledged"
    );
}

proptest! {
    #[test]
    fn a_snapshot_is_applied_as_a_whole_or_not_at_all(
        datagrams in proptest::collection::vec(odd_datagram(), 1..30),
    ) {
        let mut script = ClientScript::ready(3);
        script.snapshot(1, 0, &[keep(1), keep(2)]);
        for datagram in datagrams {
            let before = held(&script);
            script.events();
            script.datagrams.clear();
            script.send_raw(&datagram);
            let whole = script.whole();
            if whole.is_empty() && script.session.phase() == Phase::Playing {
                prop_assert_eq!(held(&script), before);
            }
            for uplink in script.uplinks() {
                let newest = script.session.newest().map_or(0, |newest| newest.sequence.0);
                prop_assert_eq!(uplink.acknowledged, newest);
            }
        }
    }
}
