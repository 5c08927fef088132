//! Clients that do not keep up, and games that ask for too much.

use std::collections::VecDeque;

use tickwire_dialects::lwar::limits::SEND_PERIOD;
use tickwire_dialects::lwar::message::Reliable;
use tickwire_dialects::lwar::{
    Departure, Kind, PlayerId, Server, ServerConfig, ServerEvent, Shape, TooManyEntities, limits,
};
use tickwire_session::Events;

use crate::script::{ANN, BOB, CID, ServerScript, first_id, ms};
use crate::words::{GUNS, connect, datagram, join, reliable, remove, rename, select};

/// The game does this for 14 s, while BOB follows and ANN says nothing at all; then ANN is back.
fn miss_14_seconds(s: &mut ServerScript, mut game: impl FnMut(u32, &mut Server)) {
    let now = s.now;
    for step in 0..14 * 15 {
        s.act(|_, server| game(step, server));
        s.live(SEND_PERIOD, &[BOB]);
    }
    assert!(s.now.since(now) < limits::TIMEOUT);
    assert_eq!(s.state(ANN), Some("Playing"));
    s.ack(ANN);
}

#[test]
fn fourteen_silent_seconds_of_shooting_remove_nobody() {
    let (mut s, ann, _) = ServerScript::with_two();
    let shape = Shape::Place { x: 0, y: 0 };
    let mut bullets = VecDeque::new();
    miss_14_seconds(&mut s, |_, server| {
        // 50 shots a second, each a second long.
        for _ in 0..4 {
            bullets.push_back(server.add(Kind::BULLET, ann, shape).expect("room"));
        }
        if bullets.len() > 50 {
            bullets.drain(..4).for_each(|bullet| server.remove(bullet));
        }
    });
    s.live(ms(5_000), &[ANN, BOB]);
    let both = (s.state(ANN), s.state(BOB));
    assert_eq!(both, (Some("Playing"), Some("Playing")));
}

/// Everything reliable that ANN hears until nothing is new.
fn told_to_ann(s: &mut ServerScript) -> Vec<Reliable<'static>> {
    let mut told = Vec::new();
    loop {
        s.ack(ANN);
        let mut sending = s.next_packet(ANN).reliable;
        // The further packets of a sending hold updates.
        while s.mailed(ANN).is_some() {}
        if sending.is_empty() {
            return told;
        }
        told.append(&mut sending);
    }
}

#[test]
fn an_add_and_its_remove_that_wait_for_numbers_cancel_each_other() {
    let (mut s, ann, _) = ServerScript::with_two();
    let shape = Shape::Place { x: 0, y: 0 };
    let mut numbered = None;
    s.act(|_, server| {
        for number in 0..200 {
            let bullet = server.add(Kind::BULLET, ann, shape).expect("room");
            numbered.get_or_insert(bullet);
            // The first has its number; those behind the window have none.
            if number == 0 || number >= limits::NUMBERED_MAX {
                server.remove(bullet);
            }
        }
    });
    let told = told_to_ann(&mut s);
    let adds = told
        .iter()
        .filter(|message| matches!(message, Reliable::Add { .. }))
        .count();
    let removes: Vec<_> = told
        .iter()
        .filter(|message| matches!(message, Reliable::Remove { .. }))
        .collect();
    assert_eq!(removes, [&remove(numbered.expect("at least one"))]);
    assert_eq!(
        adds,
        limits::NUMBERED_MAX,
        "those that were not removed, and the first"
    );
}

#[test]
fn of_several_names_that_wait_for_numbers_the_last_stands() {
    let (mut s, ann, bob) = ServerScript::with_two();
    s.act(|_, server| (0..limits::NUMBERED_MAX).for_each(|_| server.say(".")));
    for name in ["bo", "bobby", "robert"] {
        s.send(BOB, &[rename(bob, name)]);
    }
    s.send(ANN, &[select(ann, GUNS)]);
    s.send(BOB, &[rename(bob, "rob")]);
    let told = told_to_ann(&mut s);
    assert_eq!(
        told[limits::NUMBERED_MAX..],
        [rename(bob, "rob"), select(ann, GUNS)]
    );
}

#[test]
fn with_1024_messages_waiting_it_is_removed() {
    let (mut s, ann, _) = ServerScript::with_two();
    for _ in 0..limits::QUEUE_MAX {
        s.act(|_, server| server.say("."));
    }
    s.live(ms(100), &[BOB]);
    let (player, why) = (ann, Departure::FellBehind);
    assert!(s.events().contains(&ServerEvent::Left { player, why }));
    s.expects_silence(ANN, ms(1_000));
}

#[test]
fn a_game_that_says_much_at_once_removes_nobody_who_listens() {
    let (mut s, ..) = ServerScript::with_two();
    for _ in 0..600 {
        s.act(|_, server| server.say("."));
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
    s.act(|_, server| server.say("do you hear me?"));
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
fn with_nothing_waiting_no_progress_is_needed() {
    let (mut s, ..) = ServerScript::with_two();
    for _ in 0..60 {
        s.live(ms(1_000), &[ANN, BOB]);
    }
    assert_eq!(s.state(ANN), Some("Playing"));
    // The clock of progress starts with the message that waits.
    s.act(|_, server| server.say("do you hear me?"));
    for _ in 0..14 {
        s.send_messages(ANN, &[]);
        s.live(ms(1_000), &[BOB]);
    }
    assert_eq!(s.state(ANN), Some("Playing"));
}

#[test]
fn the_table_of_entities_ends() {
    let mut s = ServerScript::empty();
    let shape = Shape::Place { x: 0, y: 0 };
    let mut add = || {
        s.session
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
    let taken = core::iter::from_fn(|| s.session.poll_event()).count();
    assert_eq!(taken, limits::EVENTS_WAITING);
    // Repeated, the one that was dropped is taken.
    let renaming = reliable(number - 1, rename(ann, "anna"));
    let bytes = datagram(s.header(ANN), &[renaming]);
    s.hand_in(ANN, &bytes);
    let (player, name) = (ann, "anna".into());
    assert_eq!(
        s.session.poll_event(),
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
    s.answers(ANN, &[join(first_id(1), "ann")]);
    s.ack(ANN);
    let cut = "x".repeat(32);
    s.answers(ANN, &[join(PlayerId::SERVER, &cut), Reliable::Synced]);
}
