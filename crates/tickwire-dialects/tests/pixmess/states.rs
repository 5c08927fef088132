//! What `STATES.md` licenses. Every conversation of the scripts fails at a transition that it does not have;
//! here each one that it has happens.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use tickwire_dialects::pixmess::{Phase, Version};
use tickwire_session::{Ended, Session as _, WAITING_MAX};

use crate::client::script::{ClientScript, OWN};
use crate::licence::{Licence, Words};
use crate::script::{Script, ms};
use crate::words::{Heard, Said, cell, kick, login, player_id, say};

const STATES: &str = include_str!("../../src/pixmess/STATES.md");

const OPEN: &[&str] = &["Greeting", "Entering", "Playing", "Watching", "Closing"];
const TOLD: &[&str] = OPEN.split_at(4).0;

/// What a connection may go through at a server.
pub(crate) static SERVER: LazyLock<Licence> = LazyLock::new(|| {
    let words = Words {
        head: "| from |",
        states: OPEN,
        absent: "(gone)",
        groups: &[("any", OPEN), ("any but Closing", TOLD)],
    };
    Licence::read(STATES, &["## Server, for each connection"], words)
});

const PHASES: &[&str] = &["Dialling", "LoggingIn", "Playing", "Leaving", "Ended"];

/// What a client may go through.
pub(crate) static CLIENT: LazyLock<Licence> = LazyLock::new(|| {
    let words = Words {
        head: "| from |",
        states: PHASES,
        absent: "Dialling",
        groups: &[("any", PHASES)],
    };
    Licence::read(STATES, &["## Client"], words)
});

const WHO: u32 = 7;

/// A connection that reads nothing yet, in this state, on a server whose game only answers when it is told
/// to.
fn server_in(state: &str) -> Script {
    let mut s = Script::begin();
    s.open_deaf(WHO);
    match state {
        "Greeting" => return s,
        "Closing" => {
            s.send(WHO, &[say("hello")]);
            return s;
        }
        _ => {}
    }
    s.memory.game.silent = true;
    let name = if state == "Watching" { "" } else { "ann" };
    s.send(WHO, &[login(2, name)]);
    if state != "Entering" {
        let asked = s.told().pop().expect("a question");
        s.memory.game.silent = false;
        let now = s.now;
        s.play(|game, server| game.handle(now, server, &asked));
    }
    assert_eq!(s.state(WHO), Some(state));
    s
}

#[test]
fn a_connection_goes_every_way_at_the_server_that_there_is() {
    let acts: [fn(&mut Script); 6] = [
        |s| s.say_bytes(WHO, &[0x7f, 0x00]),
        |s| s.say_bytes(WHO, &[0x01]),
        |s| s.act(|now, server| server.shut_down(now)),
        |s| s.close(WHO),
        |s| {
            s.pass(ms(20_000));
            s.set_deaf(WHO, false);
        },
        |s| {
            for who in 1_000..=1_000 + u32::try_from(WAITING_MAX).unwrap() {
                s.open(who);
            }
        },
    ];
    let mut seen = BTreeSet::new();
    for state in OPEN {
        for act in acts {
            let mut s = server_in(state);
            act(&mut s);
            // Two seconds are left to read what it was told.
            s.pass(ms(2_000));
            seen.extend(s.watch.seen);
        }
    }
    let mut s = Script::begin();
    s.act(|now, server| server.shut_down(now));
    s.open_deaf(WHO);
    seen.extend(s.watch.seen);
    SERVER.check_all(&seen);
}

/// A client in this phase, by the shortest way.
fn client_in(phase: &str) -> ClientScript {
    if phase == "Playing" {
        return ClientScript::playing(Version::Two, cell(0, 0));
    }
    let mut c = ClientScript::dial(Version::Two, "ann");
    if phase != "Dialling" {
        c.open();
    }
    if phase == "Leaving" {
        // The server does not read it.
        c.send_deaf(&[0x00]);
    }
    c
}

#[test]
fn a_client_goes_every_way_that_there_is() {
    let acts: [fn(&mut ClientScript); 7] = [
        ClientScript::open,
        |c| c.send(&[player_id(OWN)]),
        |c| c.send(&[kick("Version mismatch!")]),
        |c| c.send(&[kick("Go!")]),
        |c| c.act(|now, client| client.quit(now, "bye")),
        |c| c.close(Ended::Reset),
        |c| c.pass(ms(20_000)),
    ];
    let mut seen = BTreeSet::new();
    for phase in &PHASES[..4] {
        for act in acts {
            let mut c = client_in(phase);
            act(&mut c);
            seen.extend(c.watch.seen);
        }
    }
    CLIENT.check_all(&seen);
}

#[test]
fn what_leaves_a_connection_where_it_is_does() {
    for (state, what) in &SERVER.stays {
        let mut s = server_in(state);
        s.set_deaf(WHO, false);
        s.heard(WHO);
        let told = match what.as_str() {
            "ping" => {
                s.send(WHO, &[Said::Ping]);
                Heard::Pong
            }
            "5 s of silence" => {
                s.pass(ms(5_000));
                Heard::Ping
            }
            // Any packet does; this is one that both may send.
            "what `WIRE.md` says under each packet" => {
                s.send(WHO, &[Said::PlayerId]);
                let heard = s.heard(WHO);
                assert!(matches!(heard[..], [Heard::PlayerId { .. }]), "{heard:?}");
                continue;
            }
            other => panic!("nothing does: {other}"),
        };
        s.expects(WHO, &[told]);
        assert_eq!(s.state(WHO), Some(*state), "{what}");
    }
}

#[test]
fn what_leaves_a_client_where_it_is_does() {
    // What is over stays so, whatever ends then.
    let goes_on = |(phase, _): &&(&str, String)| *phase != "Ended";
    for (phase, what) in CLIENT.stays.iter().filter(goes_on) {
        let mut c = client_in(phase);
        match what.as_str() {
            "5 s of silence" => {
                c.pass(ms(5_000));
                c.expects(&[Said::Ping]);
            }
            "it says something, 2 s since the last ping, which was answered" => {
                c.send(&[Heard::Pong]);
                c.pass(ms(2_000));
                c.act(|now, client| client.chat(now, "hello").unwrap());
                c.expects(&[Said::Ping, say("hello")]);
            }
            other => panic!("nothing does: {other}"),
        }
        assert_eq!(*c.session.phase(), Phase::Playing, "{what}");
    }
}
