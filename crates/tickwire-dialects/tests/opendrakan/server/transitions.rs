//! A connection goes every way that `STATES.md` has. That it goes no other, every script checks.

use std::collections::BTreeSet;

use tickwire_dialects::opendrakan::message::Message;
use tickwire_dialects::opendrakan::{ClientId, ServerConfig, To};
use tickwire_session::{Addr, Host, Session as _, StreamId, WAITING_MAX};

use crate::script::{SERVER_LICENCE, ServerScript, config, machine, ms};

const ANN: Addr = machine(2, 5_000);
const ON: StreamId = StreamId::Accepted(0);

/// A connection in one of the states.
fn reach(state: &str) -> ServerScript {
    let mut script = ServerScript::with(ServerConfig {
        clients: 1,
        ..config(2)
    });
    match state {
        "Attaching" => drop(script.open(0, ANN)),
        "Syncing" => drop(script.attach(0, ANN)),
        "Playing" => {
            script.attach(0, ANN);
            let tick = script.next_send_tick();
            script.acknowledge(ANN, tick);
        }
        _ => {
            script.attach(0, ANN);
            deafen(&mut script);
            script
                .session
                .send_global(To::All, 1, b"bye")
                .expect("it is short");
            script.act(|now, server| server.kick(now, ClientId(1)));
        }
    }
    assert_eq!(script.state(ANN), state);
    script
}

/// The client reads nothing any more.
fn deafen(script: &mut ServerScript) {
    script.give_room(ON, 0);
}

fn show_token(script: &mut ServerScript) {
    let token = script.token_on(ON);
    script.send(ANN, &[Message::Attach { token }]);
}

#[test]
fn a_connection_goes_every_way_that_there_is() {
    let mut seen = BTreeSet::new();
    let mut act = |mut script: ServerScript, act: &dyn Fn(&mut ServerScript)| {
        act(&mut script);
        seen.append(&mut script.watch.seen);
    };
    let ways: [&dyn Fn(&mut ServerScript); 5] = [
        &|script| script.close(ON),
        &|script| script.write_bytes(ON, &[0xff]),
        &|script| script.pass(ms(15_000)),
        &|script| {
            script.act(|now, server| server.shut_down(now));
            script.open(1, machine(3, 5_000));
        },
        &|script| {
            deafen(script);
            for _ in 0..30 {
                script
                    .session
                    .send_global(To::All, 1, &[0; 50_000])
                    .unwrap();
            }
            script.drain();
        },
    ];
    for state in ["Attaching", "Syncing", "Playing", "Closing"] {
        ways.iter().for_each(|way| act(reach(state), way));
    }
    act(reach("Attaching"), &|script| {
        for number in 1..=u32::try_from(WAITING_MAX).unwrap() {
            // Each of another host, so that the oldest of all goes.
            let host = Host::Link(number.into());
            script.open(number, Addr { host, port: 1 });
        }
    });
    act(reach("Attaching"), &|script| {
        script.session.set_busy(true);
        show_token(script);
    });
    SERVER_LICENCE.check_all(&seen);
}
