//! Clients that ask for too much of a server.

use tickwire_dialects::pixmess::limits::{HELD_BACK_MAX, WAITING_MAX};
use tickwire_dialects::pixmess::{Block, Departure, Layer, ServerEvent, Spot, Sublayer, Tiles};

use tickwire_session::{
    Addr, Host, JOINS_A_HOST, Session, StreamId, WAITING_MAX as ADMISSION_WAITING_MAX,
};
use tickwire_sim::Rng;

use crate::script::{ANN, BOB, CID, Script, ms};
use crate::words::{Heard, Said, kick, login, root, xy};

/// A chunk that does not compress.
fn noise() -> Tiles {
    let mut tiles = Tiles::default();
    let mut rng = Rng::new(1);
    let mut byte = || i8::try_from(rng.within(0..=127)).expect("it fits");
    for (x, y) in (0..64).flat_map(|y| (0..64).map(move |x| (x, y))) {
        for sublayer in [Sublayer::Walkable, Sublayer::Solid] {
            let [typ, col, ch] = [byte(), byte(), byte()];
            tiles.set_block(sublayer, Spot::new(x, y), Block { typ, col, ch });
        }
    }
    tiles
}

#[test]
fn who_never_reads_is_cut_off_and_the_others_do_not_notice() {
    let mut s = Script::begin();
    s.memory.game.tiles.insert(root(0, 0), noise());
    s.join(BOB, "bob");
    s.open_deaf(ANN);
    s.send(ANN, &[login(1, "ann")]);
    let size = Layer::new(&noise()).as_bytes().len();
    let mut layers = 0;
    while s.is_open(ANN) {
        s.send(ANN, &[Said::LayerRequest(xy(0, 0))]);
        assert!(layers * size <= WAITING_MAX, "more than the bound waits");
        layers += 1;
    }
    assert!(layers * size > WAITING_MAX / 2);
    s.expects_cut(ANN);
    assert_eq!(s.counters().never_read, 1);
    assert!(s.told().iter().any(|event| matches!(
        event,
        ServerEvent::Left {
            why: Departure::FellBehind,
            ..
        }
    )));
    s.forget();
    s.send(BOB, &[Said::Ping]);
    s.expects(BOB, &[Heard::Pong]);
}

#[test]
fn pings_of_who_never_reads_are_bounded_too() {
    let mut s = Script::begin();
    s.open_deaf(ANN);
    let pings = vec![0x7c; 64 * 1_024];
    for _ in 0..=WAITING_MAX / pings.len() {
        s.say_bytes(ANN, &pings);
    }
    s.expects_cut(ANN);
}

#[test]
fn a_kick_that_nobody_reads_waits_two_seconds() {
    let mut s = Script::begin();
    s.open_deaf(ANN);
    s.send(ANN, &[login(9, "ann")]);
    assert_eq!(s.state(ANN), Some("Closing"));
    s.pass(ms(1_999));
    assert!(s.is_open(ANN));
    s.pass(ms(1));
    s.expects_cut(ANN);
}

#[test]
fn who_talks_on_while_the_game_thinks_is_stopped() {
    let mut s = Script::begin();
    s.memory.game.silent = true;
    s.open(ANN);
    s.send(ANN, &[login(1, "ann")]);
    let pings = vec![0x7c; 16 * 1_024];
    for _ in 0..HELD_BACK_MAX / pings.len() {
        s.say_bytes(ANN, &pings);
    }
    s.hears_nothing(ANN);
    s.say_bytes(ANN, &[0x7c]);
    s.expects_end(ANN, &[kick("Too much at once!")]);
}

#[test]
fn five_hundred_idle_connections_are_gone_after_five_seconds() {
    let mut s = Script::begin();
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
    s.hears_nothing(ANN);
}

/// Opens so many connections from one host, without a word.
fn open_silent(s: &mut Script, first: u32, count: u32) {
    let host = Host::Ip([192, 0, 2, 1].into());
    for who in first..first + count {
        let on = StreamId::Accepted(who);
        s.session.handle_opened(s.now, on, Addr { host, port: 99 });
    }
    while s.session.poll_transmit(s.now, &mut Vec::new()).is_some() {}
}

#[test]
fn silent_connections_do_not_lock_newcomers_out() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    open_silent(&mut s, 1_000, 5_000);
    let silent = u64::try_from(ADMISSION_WAITING_MAX).unwrap();
    assert_eq!(s.counters().gave_way, 5_000 - silent);
    // A newcomer pushes out one of the crowd, and whoever plays is left alone.
    s.join(BOB, "bob");
    assert_eq!(s.state(ANN), Some("Playing"));
}

#[test]
fn logins_of_one_host_are_limited_and_told_so() {
    let mut s = Script::begin();
    let joins = 3 * JOINS_A_HOST;
    let host = Host::Ip([192, 0, 2, 1].into());
    for number in 0..joins {
        let who = 1_000 + number;
        s.open_from(who, host);
        s.send(who, &[login(1, format!("{number}").leak())]);
    }
    assert_eq!(s.counters().busy, u64::from(joins - JOINS_A_HOST));
    let text = "Server is busy: try again in a moment!";
    s.expects_end(1_000 + JOINS_A_HOST, &[kick(text)]);
    // Others are not concerned.
    s.join(ANN, "ann");
    s.pass(ms(1_000));
    s.open_from(9_000, host);
    s.send(9_000, &[login(1, "later")]);
    assert_eq!(s.state(9_000), Some("Playing"));
}

#[test]
fn a_server_that_is_too_slow_takes_nobody_and_keeps_who_plays() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    let session: &mut dyn Session = &mut s.session;
    session.set_busy(true);
    s.open(BOB);
    s.send(BOB, &[login(1, "bob")]);
    s.expects_end(BOB, &[kick("Server is busy: try again in a moment!")]);
    assert_eq!(s.state(ANN), Some("Playing"));
    s.session.set_busy(false);
    s.join(CID, "cid");
}
