//! Connections and clients go every way that `STATES.md` has. That they go no other, every script checks.

use std::collections::BTreeSet;
use std::time::Duration;

use tickwire_dialects::cppevy::limits::{
    ANSWER_PATIENCE, ATTACH_AGAIN, ATTACH_PERIOD, EVENTS_WAITING, FAREWELL, STATE_PERIOD, TIMEOUT,
};
use tickwire_dialects::cppevy::message::Object;
use tickwire_dialects::cppevy::{ActionId, Answer, Reason};
use tickwire_session::{Ended, JOINS_A_HOST, Session, StreamId};
use tickwire_sim::addr::machine;

use crate::driven::Window;
use crate::script::{CLIENT_LICENCE, ClientScript, SERVER_LICENCE, ServerScript, stream};
use crate::words::{
    HEALTH, WAVE, action, attach, client_leave, failure, id, join, leave, payload, success,
};

/// A connection in one of the states, which reads nothing from then on.
fn reach(state: &str) -> ServerScript {
    let mut s = ServerScript::begin();
    s.open(1);
    if state != "Open" {
        s.send(1, &[join("ann")]);
        let token = s.hears(1).first().map(|welcome| match welcome {
            Object::Success { message, .. } => {
                u64::from_le_bytes(*message.bytes().last_chunk().expect("a token"))
            }
            other => panic!("{other:?}"),
        });
        if state != "Joined" {
            s.cast(1, &[attach(token.expect("it joined"))]);
        }
    }
    s.window = Window::Once(0);
    s.give_room(stream(1), 0);
    // There is something that it does not read.
    s.send(1, &[action(ActionId::DISABLED, &[])]);
    if state == "Closing" {
        s.send(1, &[leave()]);
    }
    assert_eq!(s.state(1), Some(state));
    s
}

#[test]
fn a_connection_goes_every_way_that_there_is() {
    let mut seen = BTreeSet::new();
    for state in ["Open", "Joined", "Attached", "Closing"] {
        let ways: [&dyn Fn(&mut ServerScript); 6] = [
            &|s| s.close(1),
            &|s| s.write_bytes(stream(1), &[0, 0, 0, 0, 0xff]),
            &|s| s.pass(TIMEOUT),
            &|s| s.send(1, &[leave()]),
            &|s| {
                s.act(|now, server| server.shut_down(now));
                s.open(2);
            },
            &|s| s.act(|now, server| server.kick(now, id(0))),
        ];
        for way in ways {
            let mut s = reach(state);
            way(&mut s);
            s.pass(FAREWELL);
            seen.append(&mut s.watch.seen);
        }
    }
    SERVER_LICENCE.check_all(&seen);
}

#[test]
fn a_client_goes_every_way_that_there_is() {
    let mut seen = BTreeSet::new();
    let phases: [fn() -> ClientScript; 5] = [
        ClientScript::dialling,
        ClientScript::joining,
        ClientScript::attaching,
        ClientScript::playing,
        || {
            let mut c = ClientScript::playing();
            c.act(|now, client| client.leave(now));
            c
        },
    ];
    let ways: [&dyn Fn(&mut ClientScript); 6] = [
        &|c| c.close(Ended::Reset),
        &|c| c.pass(TIMEOUT + Duration::from_secs(1)),
        &|c| c.act(|now, client| client.leave(now)),
        &|c| c.tell(&[failure(ActionId::JOIN, Reason::Unavailable)]),
        &|c| c.tell(&[client_leave(1)]),
        // Its stream is heard of, and its datagrams are not.
        &|c| {
            c.pass(ATTACH_AGAIN);
            c.tell_bytes(&payload(0, &[]));
            c.show(&[success(ActionId::ATTACH, &[])]);
        },
    ];
    for phase in phases {
        for way in ways {
            let mut c = phase();
            way(&mut c);
            seen.append(&mut c.watch.seen);
        }
    }
    CLIENT_LICENCE.check_all(&seen);
}

/// A server with whoever is there before client 1 does this.
fn crowd(what: &str) -> ServerScript {
    let mut s = match what {
        "Join; no place, no sync id, or the game is too slow" => ServerScript::with(Some(0)),
        _ => ServerScript::begin(),
    };
    if what == "Join; too many joined in this second" {
        for client in 0..JOINS_A_HOST {
            s.join_from(u8::try_from(10 + client).expect("few"), machine(1, 4_000));
        }
    }
    if what == "Join while the game has `EVENTS_WAITING` events to take" {
        // The game takes none of what happens when one after another comes and goes.
        for number in 0..EVENTS_WAITING / 2 {
            let on = StreamId::Accepted(1_000 + u32::try_from(number).expect("few"));
            s.opened(on, machine(2, 4_000));
            s.write_bytes(on, &payload(0, &[join("bob"), leave()]));
            s.pass(Duration::from_millis(50));
        }
    }
    s
}

/// What client 1 is told of one thing that leaves it in its state, and by whom it is answered.
fn stay(state: &str, what: &str) -> (ServerScript, Vec<Object<'static>>) {
    let mut s = crowd(what);
    s.open(1);
    let mut token = 0;
    if state != "Open" {
        token = s.join_open(1).token.0;
    }
    if ["Attached", "Closing"].contains(&state) {
        s.cast(1, &[attach(token)]);
    }
    if state == "Closing" {
        s.give_room(stream(1), 0);
        s.send(1, &[leave()]);
    }
    assert_eq!(s.state(1), Some(state), "{what}");
    s.hears(1);
    s.datagrams.clear();
    match what {
        "Join; no place, no sync id, or the game is too slow"
        | "Join; too many joined in this second"
        | "Join while the game has `EVENTS_WAITING` events to take"
        | "Join" => s.send(1, &[join("ann")]),
        "Join that makes no sense" => s.send(1, &[action(ActionId::JOIN, &[1])]),
        "0xff04" => s.send(1, &[action(ActionId::DISABLED, &[])]),
        "any other action" => s.send(1, &[action(WAVE, &[])]),
        "the same" => s.cast(1, &[attach(token)]),
        "its token from another machine" => s.cast(9, &[attach(token)]),
        "its token from an address that another client has attached" => {
            let beside = machine(1, 6_000);
            let other = s.join_from(2, machine(1, 4_001));
            s.cast_from(beside, &[attach(other.token.0)]);
            s.cast_from(beside, &[attach(token)]);
            assert_eq!(s.counters().foreign_token, 1);
            s.close(2);
        }
        "an unknown token by UDP" => s.cast(9, &[attach(1)]),
        "an action of the game" => {
            s.events();
            s.send(1, &[action(WAVE, &[])]);
        }
        "the game answers" => {
            s.events();
            s.send(1, &[action(WAVE, &[])]);
            let asked = s.action();
            s.act(|now, server| {
                server
                    .answer(now, asked, Answer::Success(&[]))
                    .expect("it was asked")
            });
        }
        "the game has not answered for `ANSWER_PATIENCE`" => {
            s.send(1, &[action(WAVE, &[])]);
            s.pass(ANSWER_PATIENCE);
        }
        "a sending is due" => {
            s.act(|_, server| {
                server
                    .set_state(id(0), HEALTH, &[1])
                    .expect("the entity is there")
            });
            s.pass(STATE_PERIOD * 2);
        }
        other => panic!("nothing does: {other}"),
    }
    assert_eq!(s.state(1), Some(state), "{what}");
    let heard = s.hears(1);
    (s, heard)
}

#[test]
fn what_leaves_a_connection_where_it_is_does() {
    for (state, what) in &SERVER_LICENCE.stays {
        let (mut s, heard) = stay(state, what);
        let join = |why| vec![failure(ActionId::JOIN, why)];
        let told = match what.as_str() {
            "Join; no place, no sync id, or the game is too slow" | "Join" => {
                join(Reason::Unavailable)
            }
            "Join; too many joined in this second" => join(Reason::Busy),
            "Join that makes no sense" => join(Reason::Error),
            "Join while the game has `EVENTS_WAITING` events to take" => join(Reason::Busy),
            "0xff04" => vec![failure(ActionId::DISABLED, Reason::Disabled)],
            "any other action" | "the game has not answered for `ANSWER_PATIENCE`" => {
                vec![failure(WAVE, Reason::Unavailable)]
            }
            "the game answers" => vec![success(WAVE, &[])],
            _ => vec![],
        };
        // Whoever joined meanwhile was told of, too.
        let about = |object: &Object<'_>| !matches!(object, Object::Event { .. });
        let heard: Vec<_> = heard.into_iter().filter(about).collect();
        assert_eq!(heard, told, "{state}: {what}");
        let caught = s.catches(1);
        match what.as_str() {
            "the same" => assert!(caught.contains(&success(ActionId::ATTACH, &[]))),
            "a sending is due" => assert!(matches!(caught[..], [Object::State { .. }, ..])),
            "an unknown token by UDP" => {
                assert_eq!(s.catches(9), [failure(ActionId::ATTACH, Reason::Error)]);
            }
            "its token from another machine" => assert_eq!(s.catches(9), []),
            "an action of the game" => drop(s.action()),
            _ => {}
        }
    }
}

#[test]
fn what_leaves_a_client_where_it_is_does() {
    for (phase, what) in &CLIENT_LICENCE.stays {
        let mut c = match *phase {
            "Joining" => ClientScript::joining(),
            "Attaching" => ClientScript::attaching(),
            other => panic!("nothing does in {other}"),
        };
        let before = c.session.phase();
        c.said();
        c.cast();
        match what.as_str() {
            "Busy" => {
                c.tell(&[failure(ActionId::JOIN, Reason::Busy)]);
                c.pass(Duration::from_millis(50));
                assert_eq!(c.said(), [join("ann")]);
            }
            "`ATTACH_PERIOD` has passed" => {
                c.pass(ATTACH_PERIOD);
                assert_eq!(c.cast(), [attach(99)]);
            }
            "Attach failed" => {
                c.show(&[failure(ActionId::ATTACH, Reason::Error)]);
                assert_eq!((c.cast(), c.said()), (vec![], vec![]));
            }
            other => panic!("nothing does: {other}"),
        }
        assert_eq!(c.session.phase(), before, "{what}");
    }
}
