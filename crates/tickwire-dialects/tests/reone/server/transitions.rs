//! A client goes every way at the server that `STATES.md` has. That it goes no other, every script checks.

use std::collections::BTreeSet;

use tickwire_dialects::reone::message::{UpElement, UpFrame};
use tickwire_dialects::reone::server_limits::{HISTORY, LOADING_PATIENCE, SILENCE};
use tickwire_dialects::reone::{ObjectId, Seat};

use super::script::{ANN, Guest, SERVER_LICENCE, Script, config, module, text};

const SEAT: Seat = Seat::Player(ObjectId(1));

/// A client in one of the states, by the shortest way.
fn reach(state: &str) -> (Script, Guest) {
    let mut script = Script::new(config());
    let ann = script.greet(0, ANN);
    if state == "Loading" {
        return (script, ann);
    }
    script.write(ann.on, &[UpFrame::Loaded]);
    if state == "Loaded" {
        return (script, ann);
    }
    script.ping(&ann);
    if state == "Joining" {
        return (script, ann);
    }
    script.server.admit(script.now, ann.client, SEAT);
    script.drain();
    if state == "Initialising" {
        return (script, ann);
    }
    script.say(&ann, 0, &[UpElement::Ready]);
    if state == "Performant" {
        let seq = script.publish(&[]);
        script.say(&ann, seq, &[]);
        script.publish(&[]);
    }
    if state == "Removed" {
        fall_silent(&mut script);
    }
    (script, ann)
}

fn fall_silent(script: &mut Script) {
    for _ in 0..HISTORY {
        script.publish(&[]);
    }
    script.pass(SILENCE);
}

fn change_module(script: &mut Script) {
    let changed = script.server.change_module(script.now, module("other"));
    changed.expect("a good module");
    script.drain();
}

#[test]
fn a_client_goes_every_way_that_there_is() {
    const ALL: [&str; 7] = [
        "Loading",
        "Loaded",
        "Joining",
        "Initialising",
        "Fallback",
        "Performant",
        "Removed",
    ];
    let mut seen = BTreeSet::new();
    let mut act = |from: &str, act: &dyn Fn(&mut Script, &Guest)| {
        let (mut script, ann) = reach(from);
        act(&mut script, &ann);
        seen.append(&mut script.transitions);
    };
    for state in ALL {
        act(state, &|script, ann| script.close(ann.on));
        act(state, &|script, _| change_module(script));
    }
    for state in ["Loading", "Loaded"] {
        act(state, &|script, _| script.pass(LOADING_PATIENCE));
    }
    act("Loading", &|script, ann| {
        script.ping(ann);
        script.write(ann.on, &[UpFrame::Loaded]);
    });
    act("Initialising", &|script, _| script.pass(SILENCE));
    act("Performant", &|script, _| fall_silent(script));
    for state in ["Fallback", "Performant"] {
        act(state, &|script, ann| {
            assert!(script.server.reseat(script.now, ann.client, SEAT));
            script.drain();
        });
    }
    act("Removed", &|script, ann| script.ping(ann));
    act("Removed", &|script, ann| {
        change_module(script);
        script.write(ann.on, &[UpFrame::Loaded]);
    });
    act("Removed", &|script, ann| {
        change_module(script);
        let (version, name) = (1, text("ann"));
        script.write(ann.on, &[UpFrame::Hello { version, name }]);
    });
    SERVER_LICENCE.check_all(&seen);
}
