//! Clients that do not keep up, and games that ask for too much.

use tickwire_dialects::lwar::message::Reliable;
use tickwire_dialects::lwar::{
    Departure, Kind, PlayerId, ServerConfig, ServerEvent, Shape, TooManyEntities, limits,
};

use tickwire_session::Events;

use super::super::script::{ANN, BOB, CID, ServerScript, ms};
use super::super::words::{connect, datagram, join, leave, player, reliable, rename};

/// The server says `count` things, which BOB acknowledges and ANN does not; both are alive.
fn say_without_ann(s: &mut ServerScript, count: u32) {
    for _ in 0..count {
        s.game(|_, server| server.say("."));
    }
    for _ in 0..30 {
        s.next_packet(BOB);
        s.ack(BOB);
        s.send_messages(ANN, &[]);
    }
}

#[test]
fn up_to_255_messages_may_wait() {
    let (mut s, ..) = ServerScript::with_two();
    say_without_ann(&mut s, 200);
    say_without_ann(&mut s, 55);
    assert_eq!(s.state(ANN), Some("Playing"));
}

#[test]
fn with_256_messages_waiting_it_is_removed() {
    let (mut s, ann, _) = ServerScript::with_two();
    say_without_ann(&mut s, 200);
    say_without_ann(&mut s, 56);
    assert_eq!((s.state(ANN), s.state(BOB)), (None, Some("Playing")));
    let (player, why) = (ann, Departure::FellBehind);
    assert_eq!(s.events(), [ServerEvent::Left { player, why }]);
    s.expects_silence(ANN, ms(1_000));
}

#[test]
fn a_game_that_says_much_at_once_removes_nobody_who_listens() {
    let (mut s, ..) = ServerScript::with_two();
    for _ in 0..600 {
        s.game(|_, server| server.say("."));
    }
    s.live(ms(5_000), &[ANN, BOB]);
    assert_eq!(
        (s.state(ANN), s.state(BOB)),
        (Some("Playing"), Some("Playing"))
    );
}

#[test]
fn fifteen_seconds_without_progress_of_the_ack_remove_it() {
    let (mut s, ann, _) = ServerScript::with_two();
    s.game(|_, server| server.say("do you hear me?"));
    let mut elapsed = 0;
    while s.state(ANN).is_some() {
        // Not silent: it only never acknowledges.
        s.send_messages(ANN, &[]);
        s.live(ms(500), &[BOB]);
        elapsed += 500;
        assert!(elapsed < 20_000, "never removed");
    }
    assert!((15_000..16_000).contains(&elapsed), "{elapsed} ms");
    let (player, why) = (ann, Departure::FellBehind);
    assert_eq!(s.events(), [ServerEvent::Left { player, why }]);
}

#[test]
fn the_others_hear_that_somebody_fell_behind() {
    let (mut s, ann, _) = ServerScript::with_two();
    say_without_ann(&mut s, 255);
    s.game(|_, server| server.say("one too many"));
    let told = s.packets_during(BOB, ms(100));
    assert_eq!(told.last().unwrap().reliable.last(), Some(&leave(ann)));
}

#[test]
fn with_nothing_waiting_no_progress_is_needed() {
    let (mut s, ..) = ServerScript::with_two();
    for _ in 0..60 {
        s.live(ms(1_000), &[ANN, BOB]);
    }
    assert_eq!(s.state(ANN), Some("Playing"));
    // The clock of progress starts with the message that waits.
    s.game(|_, server| server.say("do you hear me?"));
    for _ in 0..14 {
        s.send_messages(ANN, &[]);
        s.live(ms(1_000), &[BOB]);
    }
    assert_eq!(s.state(ANN), Some("Playing"));
}

#[test]
fn the_table_of_entities_ends() {
    let mut s = ServerScript::new();
    let shape = Shape::Place { x: 0, y: 0 };
    let mut add = || {
        s.server
            .add(Kind::BULLET, PlayerId::SERVER, shape)
            .map(|id| id.0.index)
    };
    for index in 0..limits::ENTITIES_MAX {
        assert_eq!(add(), Ok(index));
    }
    assert_eq!(add(), Err(TooManyEntities));
}

#[test]
fn while_the_game_takes_no_events_datagrams_are_as_if_lost() {
    let (mut s, ann, _) = ServerScript::with_two();
    // Each renaming is an event, and slow enough to be taken however much waits.
    let mut number = 2;
    while s.counters().overrun == 0 {
        s.now += limits::BROADCAST_REFILL;
        let renaming = reliable(number, rename(ann, "ann"));
        let bytes = datagram(s.header(ANN), &[renaming]);
        s.hand_in(ANN, &bytes);
        number += 1;
    }
    let taken = core::iter::from_fn(|| s.server.poll_event()).count();
    assert_eq!(taken, limits::EVENTS_WAITING);
    // Repeated, the one that was dropped is taken.
    let renaming = reliable(number - 1, rename(ann, "anna"));
    let bytes = datagram(s.header(ANN), &[renaming]);
    s.hand_in(ANN, &bytes);
    let (player, name) = (ann, "anna".into());
    assert_eq!(
        s.server.poll_event(),
        Some(ServerEvent::Renamed { player, name })
    );
}

#[test]
fn a_smaller_server_is_full_earlier() {
    let players = 2;
    let mut s = ServerScript::with(ServerConfig {
        players,
        ..ServerConfig::default()
    });
    s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.send(CID, &[connect("cid")]);
    assert_eq!(s.next_packet(CID).header.ack, 1);
    assert_eq!(s.counters().full, 1);
}

#[test]
fn the_servers_own_name_is_cut_to_what_a_join_carries() {
    let name = "x".repeat(40);
    let mut s = ServerScript::with(ServerConfig {
        name,
        ..ServerConfig::default()
    });
    s.send(ANN, &[connect("ann")]);
    s.answers(ANN, &[join(player(1), "ann")]);
    s.ack(ANN);
    let cut = "x".repeat(32);
    s.expects(ANN, &[join(PlayerId::SERVER, &cut), Reliable::Synced]);
}
