//! What `STATES.md` licenses. Every conversation of the scripts fails at a transition that it does not have;
//! here each one that it has happens.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use tickwire_dialects::lwar::Header;
use tickwire_dialects::lwar::limits::{PROOF_TIMEOUT, SEND_PERIOD, SETTLE, TIMEOUT};
use tickwire_dialects::lwar::message::{Framed, Reliable, Unreliable};
use tickwire_session::Session as _;

use crate::licence::{Licence, Words};
use crate::script::{ANN, ClientScript, ServerScript, first_id, ms};
use crate::words::{connect, datagram, forward, join, leave, player};

const STATES: &str = include_str!("../../src/lwar/STATES.md");

/// What an address may go through at a server.
pub(crate) static SERVER: LazyLock<Licence> = LazyLock::new(|| {
    let words = Words {
        head: "| state |",
        states: &["Joining", "Proving", "Syncing", "Playing"],
        absent: "stranger",
        // They hold no place, so statistics do not show them.
        groups: &[("Answering", &["stranger"]), ("Repeating", &["stranger"])],
    };
    Licence::read(STATES, &["## The server, for each address"], words)
});

/// What a client goes through.
pub(crate) static CLIENT: LazyLock<Licence> = LazyLock::new(|| {
    let words = Words {
        head: "| phase |",
        states: &["Syncing", "Settling", "Playing", "Leaving", "Ended"],
        absent: "Connecting",
        groups: &[],
    };
    Licence::read(STATES, &["## The client"], words)
});

/// A server at which ANN is in this state, by the shortest way.
fn server_in(state: &str) -> ServerScript {
    let mut s = ServerScript::empty();
    if state == "stranger" {
        return s;
    }
    s.send(ANN, &[connect("ann")]);
    s.mailed(ANN);
    if state != "Joining" {
        s.ack(ANN);
    }
    if state == "Playing" {
        s.mailed(ANN);
        s.ack(ANN);
    }
    if matches!(state, "Syncing" | "Playing") {
        s.prove(ANN, first_id(1));
    }
    assert_eq!(s.state(ANN), Some(state));
    s
}

#[test]
fn an_address_goes_every_way_at_the_server_that_there_is() {
    let acts: [fn(&mut ServerScript); 7] = [
        |s| s.send_numbered(ANN, 1, &[connect("ann")]),
        |s| s.ack(ANN),
        |s| {
            let header = s.header(ANN);
            let ack = header.ack.max(1);
            let proof = Framed::Unreliable(forward(first_id(1), 0, 0));
            s.send_bytes(ANN, &datagram(Header { ack, ..header }, &[proof]));
        },
        |s| {
            s.next_packet(ANN);
            s.ack(ANN);
        },
        |s| s.send_numbered(ANN, 2, &[Reliable::Disconnect]),
        |s| s.act(|now, server| server.shut_down(now)),
        |s| s.pass(PROOF_TIMEOUT.max(TIMEOUT) + SEND_PERIOD),
    ];
    let mut seen = BTreeSet::new();
    for state in ["stranger", "Joining", "Proving", "Syncing", "Playing"] {
        for (number, act) in acts.iter().enumerate() {
            // Whoever is sent nothing has nothing to read.
            if number == 3 && state != "Syncing" {
                continue;
            }
            let mut s = server_in(state);
            act(&mut s);
            seen.extend(s.watch.seen);
        }
    }
    // One that has heard everything before it names its id plays at once.
    let mut s = server_in("Proving");
    s.mailed(ANN);
    s.ack(ANN);
    s.prove(ANN, first_id(1));
    seen.extend(s.watch.seen);
    SERVER.check_all(&seen);
}

/// A client in this phase, by the shortest way.
fn client_in(phase: &str) -> ClientScript {
    match phase {
        "Connecting" => ClientScript::connecting(),
        "Syncing" => ClientScript::syncing(),
        "Settling" => ClientScript::settling(&[]),
        _ => {
            let mut c = ClientScript::playing(&[]);
            if phase == "Leaving" {
                c.act(|now, client| client.disconnect(now));
            }
            c
        }
    }
}

#[test]
fn a_client_goes_every_way_that_there_is() {
    let acts: [fn(&mut ClientScript); 6] = [
        |c| c.tell(&[join(player(1), "ann"), Reliable::Synced]),
        |c| c.show_now(&[Unreliable::Full]),
        |c| c.tell(&[leave(player(1))]),
        |c| c.act(|now, client| client.disconnect(now)),
        |c| c.pass(TIMEOUT),
        |c| c.live(SETTLE + ms(100)),
    ];
    let mut seen = BTreeSet::new();
    for phase in ["Connecting", "Syncing", "Settling", "Playing", "Leaving"] {
        for act in acts {
            let mut c = client_in(phase);
            act(&mut c);
            seen.extend(c.watch.seen);
        }
    }
    CLIENT.check_all(&seen);
}
