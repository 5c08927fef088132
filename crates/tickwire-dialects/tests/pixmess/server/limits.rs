//! Clients that ask for too much of a server.

use tickwire_dialects::pixmess::limits::{CONNECTIONS_MAX, HELD_BACK_MAX, WAITING_MAX};
use tickwire_dialects::pixmess::{Block, Departure, ServerEvent};

use tickwire_session::{Addr, Host, Session, StreamId};

use super::super::script::{ANN, BOB, CID, Script, ms};
use super::super::words::{Heard, Said, WALL, chat, kick, login, say, solid, xy};

#[test]
fn who_never_reads_is_cut_off_and_the_others_do_not_notice() {
    let mut s = Script::new();
    s.join(BOB, "bob");
    s.open_deaf(ANN);
    s.send(ANN, &[login(1, "ann"), Said::LayerRequest(xy(0, 0))]);
    s.forget();
    s.load(BOB, xy(0, 0));
    s.forget();
    let mut changes = 0;
    while s.is_open(ANN) {
        let block = Block {
            col: i8::try_from(changes % 100).unwrap(),
            ..WALL
        };
        s.act(|_, game, server| {
            for x in 0..64 {
                game.set_block(server, solid(x, 9), block);
            }
        });
        changes += 64;
        assert!(
            changes * 8 <= WAITING_MAX + 1_024,
            "more than the bound waits"
        );
        assert_eq!(
            s.heard(BOB)
                .iter()
                .filter(|m| matches!(m, Heard::BlockSet(_)))
                .count(),
            64
        );
    }
    assert!(changes * 8 > WAITING_MAX / 2);
    s.expects_cut(ANN);
    assert_eq!(s.counters().never_read, 1);
    assert!(s.events().iter().any(|event| matches!(
        event,
        ServerEvent::Left {
            why: Departure::FellBehind,
            ..
        }
    )));
    s.send(BOB, &[Said::Ping]);
    assert!(s.is_open(BOB));
}

#[test]
fn pings_of_who_never_reads_are_bounded_too() {
    let mut s = Script::new();
    s.open_deaf(ANN);
    let pings = vec![0x7c; 64 * 1_024];
    for _ in 0..=WAITING_MAX / pings.len() {
        s.send_bytes(ANN, &pings);
    }
    s.expects_cut(ANN);
}

#[test]
fn a_kick_that_nobody_reads_waits_two_seconds() {
    let mut s = Script::new();
    s.open_deaf(ANN);
    s.send(ANN, &[login(9, "ann")]);
    assert_eq!(s.state(ANN), Some("Closing"));
    s.advance(ms(1_999));
    assert!(s.is_open(ANN));
    s.advance(ms(1));
    s.expects_cut(ANN);
}

#[test]
fn who_talks_on_while_the_game_thinks_is_stopped() {
    let mut s = Script::new();
    s.game.silent = true;
    s.open(ANN);
    s.send(ANN, &[login(1, "ann")]);
    let pings = vec![0x7c; 16 * 1_024];
    for _ in 0..HELD_BACK_MAX / pings.len() {
        s.send_bytes(ANN, &pings);
    }
    s.expects_nothing(ANN);
    s.send_bytes(ANN, &[0x7c]);
    s.expects_end(ANN, &[kick("Too much at once!")]);
}

#[test]
fn five_hundred_idle_connections_are_gone_after_five_seconds() {
    let mut s = Script::new();
    s.join(ANN, "ann");
    for who in 1_000..1_500 {
        s.open(who);
    }
    s.live(ms(4_999), &[ANN]);
    assert!(s.is_open(1_000) && s.is_open(1_499));
    s.live(ms(1), &[ANN]);
    for who in 1_000..1_500 {
        s.expects_end(who, &[kick("Login timeout!")]);
    }
    assert_eq!(s.counters().login_timeout, 500);
    assert_eq!(s.state(ANN), Some("Playing"));
    s.expects_nothing(ANN);
}

#[test]
fn there_are_only_so_many_connections() {
    let mut s = Script::new();
    let first = 10;
    let most = u32::try_from(CONNECTIONS_MAX).unwrap();
    // One drain is enough for all of them.
    for who in first..first + most - 1 {
        let on = StreamId::Accepted(who);
        let host = Host::Link(who.into());
        s.server.handle_opened(s.now, on, Addr { host, port: 0 });
    }
    s.open(ANN);
    assert!(s.is_open(ANN));
    s.open(BOB);
    s.expects_cut(BOB);
    assert_eq!(s.counters().too_many_connections, 1);
}

#[test]
fn a_flood_of_chats_leaves_the_others_alone() {
    let mut s = Script::new();
    s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.join(CID, "cid");
    for _ in 0..1_000 {
        s.send(ANN, &[say("spam")]);
    }
    assert_eq!(s.heard(BOB), [chat("<ann> spam"); 8]);
}
