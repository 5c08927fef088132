//! What a snapshot says beside objects: kept as a whole, or not at all.

use std::num::NonZeroU16;
use std::sync::Arc;

use tickwire_dialects::reone::client_limits::SCOPES_MAX;
use tickwire_dialects::reone::limits::{STRING_MAX, VARIABLES_MAX};
use tickwire_dialects::reone::message::{
    Base, DownElement, DownHeader, InventoryDiff, VariableDiff, Velocity,
};
use tickwire_dialects::reone::{
    ClientEvent, EndReason, GLOBAL, LoadFault, ObjectId, Phase, Snapshot, Vec2,
};
use tickwire_session::bulk::Shelf;

use super::script::{ClientScript, OWN, header, keep, last, packet, text};

fn slot(owner: ObjectId, slot: u8, count: u16) -> DownElement<'static> {
    let item = NonZeroU16::new(count).map(|count| (count, text("rockets")));
    DownElement::InventoryDiff(InventoryDiff { owner, slot, item })
}

fn variable(scope: ObjectId, name: &str, value: i32) -> DownElement<'_> {
    let name = text(name);
    DownElement::VariableDiff(VariableDiff { scope, name, value })
}

fn velocity(id: u32, x: f32) -> DownElement<'static> {
    DownElement::Velocity(Velocity {
        id: ObjectId(id),
        velocity: Vec2 { x, y: 0.0 },
    })
}

fn newest(script: &ClientScript) -> &Snapshot {
    script.session.newest().expect("there is one")
}

/// Rockets in slot 2, kills, and the round.
fn held(script: &ClientScript) -> (u16, i32, i32) {
    let snapshot = newest(script);
    let rockets = snapshot.scope(OWN).and_then(|own| own.item(2));
    let kills = snapshot.scope(OWN).map_or(0, |own| own.variable("kills"));
    let round = snapshot.scope(GLOBAL).map_or(0, |it| it.variable("round"));
    (rockets.map_or(0, |it| it.count.get()), kills, round)
}

#[test]
fn what_is_not_said_is_as_in_the_baseline() {
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1)]);
    assert_eq!(held(&script), (0, 0, 1), "the base has a round");
    script.snapshot(2, 1, &[keep(1), slot(OWN, 2, 4), variable(OWN, "kills", 7)]);
    assert_eq!(held(&script), (4, 7, 1));
    script.snapshot(3, 2, &[keep(1), variable(GLOBAL, "round", 2)]);
    assert_eq!(held(&script), (4, 7, 2));
    let rockets = newest(&script).scope(OWN).and_then(|own| own.item(2));
    assert_eq!(rockets.expect("some").resref.as_str(), "rockets");
    script.snapshot(4, 3, &[slot(OWN, 2, 0), variable(OWN, "kills", 0)]);
    assert_eq!(held(&script), (0, 0, 2));
    assert_eq!(newest(&script).scope(OWN), None, "nothing is left");
    // Against the base, everything is said anew.
    script.snapshot(5, 0, &[keep(1), slot(OWN, 2, 1)]);
    assert_eq!(held(&script), (1, 0, 1));
}

#[test]
fn a_velocity_is_told_with_the_own_creature() {
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1), keep(2), velocity(1, 3.5)]);
    let told = script.events().into_iter().find_map(|event| match event {
        ClientEvent::Snapshot(whole) => Some(whole.velocity),
        _ => None,
    });
    let moving = Some(Vec2 { x: 3.5, y: 0.0 });
    assert_eq!(told, Some(moving));
    assert_eq!(newest(&script).velocity(OWN), moving);
    assert_eq!(newest(&script).velocity(ObjectId(2)), None);
    // Unlike everything else it is not kept.
    script.snapshot(2, 1, &[keep(1)]);
    assert_eq!(newest(&script).velocity(OWN), None);
}

/// A snapshot that follows from the first is not taken, counted, and changes nothing.
#[track_caller]
fn check_spoilt(elements: &[DownElement<'_>], count: impl Fn(&ClientScript) -> u64) {
    check_spoilt_from(1, elements, count);
}

/// The same of one that follows from another snapshot, or from the base, which is 0.
#[track_caller]
fn check_spoilt_from(
    baseline: u32,
    elements: &[DownElement<'_>],
    count: impl Fn(&ClientScript) -> u64,
) {
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1), slot(OWN, 2, 4), variable(OWN, "kills", 7)]);
    let before = newest(&script).clone();
    script.forget();
    // Datagrams as small as needed, of which the last says how many there are.
    let mut parts: Vec<_> = elements.chunks(50).map(<[_]>::to_vec).collect();
    let datagrams = u8::try_from(parts.len()).expect("a few");
    parts.last_mut().expect("some").push(last(datagrams));
    for part in parts {
        script.send_raw(&packet(header(2, baseline), &part));
    }
    assert_eq!((count(&script), script.whole()), (1, vec![]));
    assert!(script.datagrams.is_empty(), "it is not acknowledged");
    assert_eq!(newest(&script), &before);
    script.snapshot(3, 1, &[keep(1)]);
    assert_eq!(held(&script), (4, 7, 1));
}

#[test]
fn what_makes_no_sense_is_not_half_applied() {
    let twice = |script: &ClientScript| script.session.counters().object_twice;
    let good = variable(OWN, "kills", 8);
    check_spoilt(&[good, slot(OWN, 1, 1), slot(OWN, 1, 2)], twice);
    check_spoilt(&[good, slot(OWN, 2, 0), slot(OWN, 2, 0)], twice);
    check_spoilt(&[slot(OWN, 0, 1), good, variable(OWN, "kills", 9)], twice);
    check_spoilt(&[good, keep(1), velocity(1, 1.0), velocity(1, 2.0)], twice);
    let unknown = |script: &ClientScript| script.session.counters().unknown_object;
    check_spoilt(&[good, slot(OWN, 3, 0)], unknown);
    check_spoilt(&[good, slot(ObjectId(2), 2, 0)], unknown);
    check_spoilt(&[slot(OWN, 0, 1), variable(OWN, "deaths", 0)], unknown);
    check_spoilt(&[good, variable(GLOBAL, "kills", 0)], unknown);
    check_spoilt(&[good, keep(1), velocity(2, 1.0)], unknown);
}

#[test]
fn what_the_base_lacks_cannot_end() {
    let unknown = |script: &ClientScript| script.session.counters().unknown_object;
    let good = variable(OWN, "kills", 8);
    // The first snapshot has them, and the base has nothing but the round.
    check_spoilt_from(0, &[good, slot(OWN, 2, 0)], unknown);
    check_spoilt_from(0, &[slot(OWN, 0, 1), variable(OWN, "kills", 0)], unknown);
    check_spoilt_from(0, &[good, variable(GLOBAL, "players", 0)], unknown);
}

#[test]
fn slots_and_names_are_bounded() {
    let much = |script: &ClientScript| script.session.counters().too_much;
    let names: Vec<_> = (0..VARIABLES_MAX).map(|it| it.to_string()).collect();
    let all = |scope| names.iter().map(move |name| variable(scope, name, 1));
    // The own creature has one already.
    check_spoilt(&all(OWN).collect::<Vec<_>>(), much);
    let scopes = u32::try_from(SCOPES_MAX).expect("a few");
    let crowd: Vec<_> = (2..scopes + 1).map(|id| slot(ObjectId(id), 0, 1)).collect();
    check_spoilt(&crowd, much);
    // However few each has.
    let many: Vec<_> = (1..5).flat_map(|id| all(ObjectId(id)).skip(1)).collect();
    check_spoilt(&many, much);
    // As many as there may be are taken.
    let mut script = ClientScript::ready(2);
    let slots = (0..=u8::MAX).map(|number| slot(OWN, number, 1));
    let everything: Vec<_> = slots.chain(all(OWN)).collect();
    let count = everything.len().div_ceil(50);
    for (number, part) in everything.chunks(50).enumerate() {
        let mut part = part.to_vec();
        if number + 1 == count {
            part.push(last(u8::try_from(count).expect("a few")));
        }
        script.send_raw(&packet(header(1, 0), &part));
    }
    let own = newest(&script).scope(OWN).expect("it was told");
    assert_eq!(
        (own.items().count(), own.variables().count()),
        (256, VARIABLES_MAX)
    );
}

#[test]
fn a_name_that_is_too_long_does_not_decode() {
    let mut script = ClientScript::playing();
    let before = newest(&script).clone();
    for (length, end) in [(STRING_MAX + 1, &[0, 1, 0, 0, 0][..]), (1_000, &[])] {
        let mut datagram = packet(header(9, 0), &[]);
        // VariableDiff, one of it, of the game.
        datagram.extend([136, 1, 0, 0, 0, 0]);
        datagram.extend(vec![b'a'; length]);
        datagram.extend(end);
        script.send_raw(&datagram);
    }
    assert_eq!(script.session.counters().undecodable, 2);
    assert_eq!(newest(&script), &before);
}

#[test]
fn a_base_that_tells_of_a_creature_or_twice_is_none() {
    for elements in [
        [variable(GLOBAL, "round", 1), variable(OWN, "kills", 1)],
        [variable(GLOBAL, "round", 1), variable(GLOBAL, "round", 2)],
        [variable(GLOBAL, "round", 1), variable(GLOBAL, "players", 0)],
    ] {
        let mut base = Vec::new();
        Base::encode(0, elements, &mut base).expect("it is short");
        let mut shelf = Shelf::new("manifest");
        let base: Arc<[u8]> = base.into();
        shelf.insert("base", base).expect("a good name");
        let mut script = ClientScript::open();
        script.welcome();
        script.serve(&shelf);
        let why = EndReason::Load(LoadFault::Base);
        assert_eq!(script.session.phase(), Phase::Ended(why), "{elements:?}");
    }
}

#[test]
fn they_are_of_a_snapshot_and_of_nothing_else() {
    let mut script = ClientScript::playing();
    for element in [slot(OWN, 2, 4), variable(OWN, "kills", 1), velocity(1, 1.0)] {
        script.send_raw(&packet(DownHeader::unsequenced(0), &[element]));
    }
    assert_eq!(script.session.counters().undecodable, 3);
}
