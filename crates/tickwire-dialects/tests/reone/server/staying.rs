//! Every row of `STATES.md` in which a client stays where it is, in each of its states.

use tickwire_dialects::reone::message::{UpElement, UpFrame, VisualEffect};
use tickwire_dialects::reone::server_limits::{
    ANSWER_BYTES_AT_ONCE, PARAMETERS_PERIOD, READY_UNDER_WAY,
};
use tickwire_dialects::reone::{CallId, Command, EventId, ObjectId, Reply, SnapshotSeq};
use tickwire_session::Session as _;
use tickwire_sim::addr::machine;

use super::script::{ANN, CLIENT, Guest, Said, Script, creature, event, text};
use super::transitions::{SEAT, reach};
use crate::states::staying;

/// Brings about what a row says, and checks what it says of it.
type Walk = fn(&mut Script, &Guest);

/// By what happens, in the words of the document.
const WALKS: &[(&str, Walk)] = &[
    ("Fetch", |script, ann| {
        let (name, offset) = (text("rules.txt"), 0);
        stay(script, |script| {
            script.write(ann.on, &[UpFrame::Fetch { name, offset }])
        });
        assert!(matches!(script.frames(ann.on)[..], [Said::Piece { .. }, _]));
    }),
    (
        "Call that makes sense, fewer than `CALLS_WAITING` wait",
        |script, ann| {
            stay(script, |script| call(script, ann, "log", b"x\0"));
            assert_eq!(script.events().len(), 1);
        },
    ),
    ("another Call", |script, ann| {
        stay(script, |script| call(script, ann, "levitate", &[]));
        assert!(matches!(
            script.frames(ann.on)[..],
            [Said::Result { status: 1, .. }]
        ));
    }),
    (
        "the game answers with more bytes than the client's rate allows",
        |script, ann| {
            let long = vec![0; 60_000];
            let mut refused = 0;
            stay(script, |script| {
                for _ in 0..ANSWER_BYTES_AT_ONCE / 60_000 + 1 {
                    call(script, ann, "log", b"x\0");
                    let reply = Reply::Bytes(&long);
                    let answered =
                        script.act(|now, it| it.answer(now, ann.client, CallId(1), reply));
                    answered.expect("it was asked");
                    let said = script.frames(ann.on);
                    refused += usize::from(matches!(said[..], [Said::Result { status: 3, .. }]));
                }
            });
            assert_eq!(refused, 1);
        },
    ),
    ("Ping", |script, ann| {
        let is_loading = state(script) == "Loading";
        stay(script, |script| script.ping(ann));
        // Parameters at once, or nothing as long as it loads.
        assert_eq!(script.taken(ANN).len(), usize::from(!is_loading));
    }),
    (
        "an acknowledgement that is newer than the last",
        |script, ann| {
            let seq = script.publish(&[]);
            stay(script, |script| script.say(ann, seq, &[]));
            assert_eq!(script.session.acknowledged(ann.client), SnapshotSeq(seq));
        },
    ),
    (
        "an acknowledgement of what was never sent",
        |script, ann| {
            stay(script, |script| script.say(ann, 999, &[]));
            assert_eq!(script.session.counters().ack_never_sent, 1);
        },
    ),
    (
        "Event, in order, fewer than `EVENTS_AHEAD` unprocessed",
        |script, ann| {
            stay(script, |script| script.say(ann, 0, &[event(1, 7)]));
            assert_eq!(script.events().len(), 1);
            script.session.processed(ann.client, EventId(1));
            script.publish(&[]);
            assert_eq!(script.told(ANN).event_acks, [1]);
        },
    ),
    ("any other Event with a number", |script, ann| {
        stay(script, |script| script.say(ann, 0, &[event(5, 7)]));
        assert_eq!(script.events(), []);
        script.publish(&[]);
        assert_eq!(script.told(ANN).event_acks, [0]);
    }),
    ("Event 0 within the rate", |script, ann| {
        stay(script, |script| script.say(ann, 0, &[event(0, 7)]));
        assert_eq!(script.events().len(), 1);
        script.publish(&[]);
        assert!(script.told(ANN).event_acks.is_empty());
    }),
    ("a command", |script, _| {
        stay(script, |script| {
            let (id, at, resref) = (ObjectId(1), SnapshotSeq::NONE, text("spark"));
            let effect = Command::VisualEffect(VisualEffect { id, at, resref });
            script.act(|_, server| server.command(effect));
        });
        assert_eq!(script.taken(ANN).len(), 1);
        script.publish(&[creature(1, 0.0)]);
        assert_eq!(script.told(ANN).commands, 1);
    }),
    (
        "a Ready within `READY_UNDER_WAY` of `reseat` was the last",
        |script, ann| {
            reseat(script, ann);
            stay(script, |script| script.pass(PARAMETERS_PERIOD * 3));
            assert_eq!(script.taken(ANN).len(), 3);
        },
    ),
    ("Ready, later than that", |script, ann| {
        reseat(script, ann);
        script.pass(READY_UNDER_WAY);
        script.datagrams.clear();
        stay(script, |script| {
            script.say(ann, 0, &[UpElement::Ready]);
            script.pass(PARAMETERS_PERIOD * 3);
        });
        assert!(script.datagrams.is_empty());
    }),
    (
        "any other datagram of `INVALID` bytes or more",
        |script, ann| {
            stay(script, |script| script.say(ann, 0, &[event(1, 1)]));
            assert_eq!(script.taken(ANN).len(), 1);
        },
    ),
    ("Ping, and the module changed", |script, ann| {
        script.change_module("other");
        stay(script, |script| script.ping(ann));
        let said = script.taken(ANN);
        assert!(matches!(&said[..], [invalid] if invalid.ends_with(&[132, 1, 1])));
    }),
    (
        "Ping with its token from another address of its host",
        |script, ann| {
            let addr = machine(2, 6_000);
            // Somebody who has loaded takes part with it, and is told so by another row.
            if ["Loaded", "Removed"].contains(&state(script)) {
                script.ping(ann);
            }
            stay(script, |script| script.ping(&Guest { addr, ..*ann }));
            let is_told = ["Initialising", "Fallback", "Performant"].contains(&state(script));
            let told = (script.taken(addr).len(), script.taken(ANN).len());
            assert_eq!(told, (usize::from(is_told), 0), "datagrams go there");
        },
    ),
];

/// The state of the only client.
fn state(script: &Script) -> &'static str {
    let mut state = "gone";
    script.session.visit_peers(&mut |peer| state = peer.state);
    state
}

#[track_caller]
fn stay(script: &mut Script, act: impl FnOnce(&mut Script)) {
    script.events();
    script.datagrams.clear();
    let before = state(script);
    act(script);
    assert_eq!(state(script), before);
}

fn call(script: &mut Script, ann: &Guest, method: &str, argument: &[u8]) {
    let (id, method) = (CallId(1), text(method));
    script.write(
        ann.on,
        &[UpFrame::Call {
            id,
            method,
            argument,
        }],
    );
}

/// The seat changes, and the client is ready at once and as far as it was.
fn reseat(script: &mut Script, ann: &Guest) {
    let before = state(script);
    assert!(script.act(|now, server| server.reseat(now, ann.client, SEAT)));
    script.say(ann, 0, &[UpElement::Ready]);
    if before == "Performant" {
        let seq = script.publish(&[]);
        script.say(ann, seq, &[]);
        script.publish(&[]);
    }
    assert_eq!(state(script), before);
}

#[test]
fn a_client_stays_where_each_row_says_so() {
    let parts = [
        "## The server, for each stream",
        "## The server, for each client",
    ];
    let rows: Vec<_> = parts.into_iter().flat_map(staying).collect();
    for (what, _) in WALKS {
        let is_said = rows.iter().any(|(_, row)| row == what);
        assert!(is_said, "no row has: {what}");
    }
    for (states, what) in rows {
        let walk = WALKS.iter().find(|(row, _)| *row == what);
        let (_, walk) = walk.unwrap_or_else(|| panic!("nobody walks: {what}"));
        let states = match states {
            "a client" => CLIENT.to_vec(),
            named => named.split(", ").collect(),
        };
        for state in states {
            let (mut script, ann) = reach(state);
            script.frames(ann.on);
            assert_eq!(self::state(&script), state);
            walk(&mut script, &ann);
        }
    }
}
