//! Shots, animations and effects: at once, and again until they have arrived for sure.

use tickwire_dialects::reone::message::Down;
use tickwire_dialects::reone::message::{
    Ballistics, DownElement, Packet, PlayAnimation, Speed, VisualEffect,
};
use tickwire_dialects::reone::{Command, Object, ObjectId, Seat, ServerConfig, SnapshotSeq, Vec3};
use tickwire_state::SightRange;

use super::script::{ANN, BOB, Script, config, creature, text};

fn shot(x: f32) -> Command<'static> {
    Command::Ballistics(Ballistics {
        kind: 4,
        origin: Vec3 { x, y: 0.0, z: 0.0 },
        at: SnapshotSeq(999),
        owner: ObjectId(1),
        heading: 0.0,
    })
}

fn near() -> ServerConfig {
    let (radius, margin) = (100.0, 0.1);
    let sight = SightRange { radius, margin };
    ServerConfig { sight, ..config() }
}

const WORLD: fn() -> [Object; 2] = || [creature(1, 0.0), creature(2, 500.0)];

#[test]
fn a_command_goes_out_at_once_in_a_datagram_of_its_own() {
    let (mut script, _) = Script::playing(config());
    script.publish(&WORLD());
    script.datagrams.clear();
    script.session.command(shot(1.0));
    script.drain();
    let taken = script.taken(ANN);
    assert_eq!(
        taken,
        [b"\0\0\0\0\0\0\0\0\x03\0\0\0\x05\x01\x04\0\0\x80\x3f\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0"]
    );
}

#[test]
fn every_kind_of_command_says_when_it_began() {
    let (mut script, _) = Script::playing(config());
    script.publish(&WORLD());
    script.datagrams.clear();
    let (id, at) = (ObjectId(2), SnapshotSeq::NONE);
    script
        .session
        .command(Command::PlayAnimation(PlayAnimation {
            id,
            at,
            flags: 3,
            speed: Speed::NORMAL,
            resref: text("wave"),
        }));
    let resref = text("spark");
    script
        .session
        .command(Command::VisualEffect(VisualEffect { id, at, resref }));
    script.drain();
    let [datagram] = &script.taken(ANN)[..] else {
        panic!("they go together");
    };
    let packet = Packet::<Down>::decode(datagram).unwrap();
    let elements: Vec<_> = packet.elements().collect();
    let at = SnapshotSeq(1);
    assert_eq!(
        elements,
        [
            DownElement::PlayAnimation(PlayAnimation {
                id,
                at,
                flags: 3,
                speed: Speed::NORMAL,
                resref: text("wave")
            }),
            DownElement::VisualEffect(VisualEffect { id, at, resref })
        ]
    );
}

#[test]
fn it_rides_until_a_snapshot_that_holds_it_is_acknowledged() {
    let (mut script, ann) = Script::playing(config());
    let before = script.publish(&WORLD());
    script.session.command(shot(1.0));
    script.drain();
    script.datagrams.clear();
    let with = script.publish(&WORLD());
    assert_eq!(script.told(ANN).commands, 1);
    script.say(&ann, before, &[]);
    script.publish(&WORLD());
    assert_eq!(script.told(ANN).commands, 1, "that one did not hold it");
    script.say(&ann, with, &[]);
    script.publish(&WORLD());
    assert_eq!(script.told(ANN).commands, 0);
}

#[test]
fn it_rides_no_longer_than_it_can_be_played() {
    let (mut script, _) = Script::playing(config());
    script.publish(&WORLD());
    script.session.command(shot(1.0));
    script.drain();
    script.datagrams.clear();
    for age in 1..40 {
        script.publish(&WORLD());
        let rides = script.told(ANN).commands;
        assert_eq!(rides, usize::from(age < 30), "{age} snapshots old");
    }
}

#[test]
fn only_those_in_range_are_told() {
    let mut script = Script::begin(near());
    script.join(0, ANN, Seat::Player(ObjectId(1)));
    script.join(1, BOB, Seat::Player(ObjectId(2)));
    script.publish(&WORLD());
    script.datagrams.clear();
    script.session.command(shot(90.0));
    let (id, at, resref) = (ObjectId(2), SnapshotSeq::NONE, text("spark"));
    script
        .session
        .command(Command::VisualEffect(VisualEffect { id, at, resref }));
    script.drain();
    let kind = |taken: &[Vec<u8>]| taken.iter().map(|bytes| bytes[12]).collect::<Vec<_>>();
    assert_eq!(kind(&script.taken(ANN)), [5]);
    assert_eq!(kind(&script.taken(BOB)), [7]);
    script.publish(&WORLD());
    assert_eq!(script.told(ANN).commands, 1);
    assert_eq!(script.told(BOB).commands, 1);
}

#[test]
fn commands_that_wait_are_bounded() {
    let (mut script, _) = Script::playing(config());
    script.publish(&WORLD());
    script.datagrams.clear();
    for x in 0..2_000_u16 {
        script.session.command(shot(x.into()));
    }
    script.drain();
    assert_eq!(script.session.counters().command_overrun, 976);
    script.datagrams.clear();
    script.publish(&WORLD());
    assert_eq!(script.told(ANN).commands, 64);
}
