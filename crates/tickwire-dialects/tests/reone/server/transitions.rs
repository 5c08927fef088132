//! A client goes every way at the server that `STATES.md` has. That it goes no other, every script checks.

use std::collections::BTreeSet;

use tickwire_dialects::reone::message::{Refusal, UpElement, UpFrame};
use tickwire_dialects::reone::server_limits::{
    GOODBYE_PATIENCE, HISTORY, LOADING_PATIENCE, SILENCE,
};
use tickwire_dialects::reone::{ObjectId, Seat};
use tickwire_session::Session;

use super::script::{ANN, CLIENT, Guest, HELLO, SERVER_LICENCE, Script, config, text};
use crate::driven::Window;

pub(super) const SEAT: Seat = Seat::Player(ObjectId(1));

/// A client in one of the states, by the shortest way.
pub(super) fn reach(state: &str) -> (Script, Guest) {
    let mut script = Script::begin(config());
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
    script.admit(ann.client, SEAT);
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

#[test]
fn a_client_goes_every_way_that_there_is() {
    let mut seen = BTreeSet::new();
    let mut act = |from: &str, act: &dyn Fn(&mut Script, &Guest)| {
        let (mut script, ann) = reach(from);
        // What it is told last stays where it is, so that closing takes its time.
        script.give_room(ann.on, 0);
        act(&mut script, &ann);
        seen.append(&mut script.watch.seen);
    };
    for &state in CLIENT {
        act(state, &|script, ann| script.close(ann.on));
        act(state, &|script, _| script.change_module("other"));
        act(state, &|script, ann| {
            let (client, reason) = (ann.client, Refusal(128));
            script.act(|now, server| server.kick(now, client, reason, text("away")));
            script.pass(GOODBYE_PATIENCE);
        });
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
            assert!(script.act(|now, server| server.reseat(now, ann.client, SEAT)));
        });
    }
    act("Performant", &|script, ann| {
        script.ping(ann);
        script.say(ann, 0, &[UpElement::Ready]);
    });
    act("Removed", &|script, ann| script.ping(ann));
    act("Removed", &|script, ann| {
        script.change_module("other");
        script.write(ann.on, &[UpFrame::Loaded]);
    });
    act("Removed", &|script, ann| {
        script.change_module("other");
        script.write(ann.on, &[HELLO]);
    });
    for act in [refuse, go, shut_down] {
        let mut script = Script::begin(config());
        script.window = Window::Once(0);
        act(&mut script);
        seen.append(&mut script.watch.seen);
    }
    SERVER_LICENCE.check_all(&seen);
}

/// A stream says something else than Hello.
fn refuse(script: &mut Script) {
    let on = script.open(0, ANN);
    script.write(on, &[UpFrame::Loaded]);
}

/// A stream ends before it says anything.
fn go(script: &mut Script) {
    let on = script.open(0, ANN);
    script.close(on);
}

/// A stream opens at a server that ends.
fn shut_down(script: &mut Script) {
    script.act(|now, server| server.shut_down(now));
    script.open(0, ANN);
}
