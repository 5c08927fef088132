//! Logging in, being refused, and going.

use tickwire_dialects::pixmess::message::FromClient;
use tickwire_dialects::pixmess::{Departure, PlayerId, ServerConfig, ServerEvent};
use tickwire_session::Session;

use crate::script::{ANN, BOB, CID, Carriage, Script, ms};
use crate::words::{
    Heard, LOOK, Said, cell, chat, creation, destruction, kick, login, player_id, say, xy,
};

#[test]
fn a_login_is_answered_with_number_entity_and_the_news_in_that_order() {
    let mut s = Script::begin();
    s.memory.game.spawn = cell(-7, 70_000);
    s.open(ANN);
    s.hears_nothing(ANN);
    s.send(ANN, &[login(1, "ann")]);
    let ann = PlayerId(1);
    s.expects(
        ANN,
        &[
            player_id(ann),
            creation(ann, "ann", cell(-7, 70_000)),
            chat("* ann has joined"),
        ],
    );
    let asked = ServerEvent::LoginAsked {
        player: ann,
        name: "ann".into(),
        look: LOOK,
    };
    assert_eq!(s.told(), [asked]);
    assert_eq!(s.state(ANN), Some("Playing"));
}

#[test]
fn others_hear_of_a_newcomer_and_see_it_if_they_hold_its_chunk() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.load(ANN, xy(0, 0));
    s.forget();
    s.open(CID);
    s.send(CID, &[login(1, "cid")]);
    let cid = PlayerId(3);
    let joined = chat("* cid has joined");
    s.expects(ANN, &[creation(cid, "cid", cell(0, 0)), joined]);
    s.expects(BOB, &[joined]);
    s.send(CID, &[FromClient::Kick { reason: b"" }]);
    let left = chat("* cid has left");
    s.expects(ANN, &[destruction(cid.entity()), left]);
    s.expects(BOB, &[left]);
    let gone = ServerEvent::Left {
        player: cid,
        why: Departure::Quit,
    };
    assert_eq!(s.told().last(), Some(&gone));
}

#[test]
fn a_name_has_1_to_32_bytes_of_text() {
    let long = "0123456789abcdef0123456789abcdef";
    let mut s = Script::begin();
    s.join(ANN, long);
    let refused: [&[u8]; 6] = [
        b"",
        b"0123456789abcdef0123456789abcdef!",
        b"a\nb",
        b"\x7f",
        "\u{85}".as_bytes(),
        b"\xff\xfe",
    ];
    for (who, name) in (10..).zip(refused) {
        let (version, look) = (1, LOOK);
        s.open(who);
        s.send(
            who,
            &[FromClient::Login {
                version,
                look,
                name,
            }],
        );
        s.expects_end(who, &[kick("Bad name: 1 to 32 bytes of text!")]);
    }
    assert_eq!(s.counters().bad_name, 6);
    s.hears_nothing(ANN);
}

#[test]
fn a_name_is_taken_until_its_connection_ends_and_compared_byte_for_byte() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.join(BOB, "Ann");
    s.open(CID);
    s.send(CID, &[login(1, "ann")]);
    s.expects_end(CID, &[kick("Name is taken!")]);
    s.close(ANN);
    s.join(4, "ann");
}

#[test]
fn other_versions_do_not_match() {
    for version in [0, 3, 0x0100, u16::MAX] {
        let mut s = Script::begin();
        s.open(ANN);
        s.send(ANN, &[login(version, "ann")]);
        s.expects_end(ANN, &[kick("Version mismatch!")]);
    }
}

#[test]
fn before_login_there_is_only_ping_and_pong() {
    let mut s = Script::begin();
    s.open(ANN);
    s.send(ANN, &[Said::Ping, Said::Pong, Said::Ping]);
    s.expects(ANN, &[Heard::Pong, Heard::Pong]);
    let too_early = [
        say("hello"),
        Said::PlayerId,
        Said::LayerRequest(xy(0, 0)),
        Said::Movement { direction: 0 },
    ];
    for (who, message) in (10..).zip(too_early) {
        s.open(who);
        s.send(who, &[message]);
        s.expects_end(who, &[kick("Log in first!")]);
    }
    // Who goes, goes.
    s.send(ANN, &[FromClient::Kick { reason: b"bye" }]);
    s.expects_end(ANN, &[]);
}

#[test]
fn a_second_login_is_one_too_many() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.send(ANN, &[login(1, "ann")]);
    s.expects_end(ANN, &[kick("You are logged in already!")]);
}

#[test]
fn types_that_do_not_exist_and_types_of_servers_are_kicked_apart() {
    let unknown = "Unknown packet type!";
    let servers = "Only servers send that!";
    let cases: [(&[u8], &str); 12] = [
        (&[0x00], unknown),
        (&[0x80], unknown),
        (&[0xc0, 0xff], unknown),
        (&[0x01], unknown),
        (&[0x3f], unknown),
        (&[0xbf], unknown),
        (&[0x49], unknown),
        (&[0x7a], unknown),
        (&[0x11], servers),
        (&[0xd1], servers),
        (&[0x42, 0xff, 0xff], servers),
        (&[0x45], servers),
    ];
    for (bytes, reason) in cases {
        for logged_in in [false, true] {
            let mut s = Script::begin();
            s.open(ANN);
            if logged_in {
                s.send(ANN, &[login(1, "ann")]);
                s.forget();
            }
            s.say_bytes(ANN, bytes);
            s.expects_end(ANN, &[kick(reason)]);
        }
    }
}

#[test]
fn what_stood_before_a_fault_took_effect() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.join(BOB, "bob");
    let mut bytes = vec![0x58, 2, b'h', b'i', 0x7e];
    bytes.extend([0x00, 0x58, 1, b'x']);
    s.say_bytes(ANN, &bytes);
    s.expects(BOB, &[chat("<ann> hi"), chat("* ann has left")]);
    let before = [chat("<ann> hi"), player_id(ann)];
    s.expects_end(ANN, &[before[0], before[1], kick("Unknown packet type!")]);
    let gone = ServerEvent::Left {
        player: ann,
        why: Departure::Violation,
    };
    assert!(s.told().contains(&gone));
}

#[test]
fn a_full_server_says_so() {
    let mut s = Script::with(ServerConfig { players: 1 }, Carriage::WHOLE);
    s.join(ANN, "ann");
    s.open(BOB);
    s.send(BOB, &[login(1, "bob")]);
    s.expects_end(BOB, &[kick("Server is full!")]);
    // There is always a place to watch from.
    s.join_as(CID, 2, "");
}

#[test]
fn the_game_decides_and_meanwhile_nothing_more_is_read() {
    let mut s = Script::begin();
    s.memory.game.silent = true;
    s.open(ANN);
    s.send(ANN, &[login(1, "ann"), Said::PlayerId, say("hi")]);
    s.hears_nothing(ANN);
    assert_eq!(s.state(ANN), Some("Entering"));
    assert_eq!(s.told().len(), 1);
    let ann = PlayerId(1);
    s.act(|now, server| server.admit(now, ann, cell(5, 5)));
    s.expects(
        ANN,
        &[
            player_id(ann),
            creation(ann, "ann", cell(5, 5)),
            chat("* ann has joined"),
            player_id(ann),
            chat("<ann> hi"),
        ],
    );
}

#[test]
fn the_game_may_refuse_and_nobody_hears_of_it() {
    let mut s = Script::begin();
    s.join(BOB, "bob");
    s.memory.game.silent = true;
    s.open(ANN);
    s.send(ANN, &[login(1, "ann")]);
    s.act(|now, server| server.kick(now, PlayerId(2), "Not you!"));
    s.expects_end(ANN, &[kick("Not you!")]);
    s.hears_nothing(BOB);
    assert!(
        !s.told()
            .iter()
            .any(|e| matches!(e, ServerEvent::Left { .. }))
    );
}

#[test]
fn a_kick_ends_a_player_and_the_others_hear_it() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.act(|now, server| server.kick(now, ann, "Enough!"));
    s.expects_end(ANN, &[kick("Enough!")]);
    s.expects(BOB, &[chat("* ann has left")]);
}

#[test]
fn a_server_that_ends_tells_everybody_and_takes_nobody() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.open(BOB);
    s.act(|now, server| server.shut_down(now));
    for who in [ANN, BOB] {
        s.expects_end(who, &[kick("Server is shutting down!")]);
    }
    s.open(CID);
    s.expects_end(CID, &[kick("Server is shutting down!")]);
    assert!(s.session.is_finished());
    s.pass(ms(60_000));
}
