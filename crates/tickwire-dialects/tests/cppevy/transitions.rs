//! Connections and clients go every way that `STATES.md` has. That they go no other, every script checks.

use std::collections::BTreeSet;
use std::time::Duration;

use tickwire_dialects::cppevy::limits::{ATTACH_AGAIN, FAREWELL, TIMEOUT};
use tickwire_dialects::cppevy::{ActionId, Reason};
use tickwire_session::{Ended, Session};

use crate::driven::Window;
use crate::script::{CLIENT_LICENCE, ClientScript, SERVER_LICENCE, ServerScript, stream};
use crate::words::{attach, client_leave, failure, id, join, leave, payload, success};

/// A connection in one of the states, which reads nothing from then on.
fn reach(state: &str) -> ServerScript {
    let mut s = ServerScript::begin();
    s.open(1);
    if state != "Open" {
        s.send(1, &[join("ann")]);
        let token = s.hears(1).first().map(|welcome| match welcome {
            tickwire_dialects::cppevy::message::Object::Success { message, .. } => {
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
    s.send(1, &[crate::words::action(ActionId::DISABLED, &[])]);
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
