//! A client goes every way that `STATES.md` has. That it goes no other, every script checks.

use std::collections::BTreeSet;
use std::time::Duration;

use tickwire_dialects::reone::message::{DownElement, DownFrame, Invalid, Refusal};
use tickwire_dialects::reone::{ModuleNumber, Phase};
use tickwire_session::Ended;

use super::script::{CLIENT_LICENCE, ClientScript, config, parameters, shelf, text};
use crate::driven::ms;

/// Phases that a client can be brought to, and how.
const PHASES: [fn() -> ClientScript; 7] = [
    || ClientScript::with(config()),
    ClientScript::open,
    || {
        let mut script = ClientScript::open();
        script.welcome();
        script
    },
    || ClientScript::loaded(2),
    || ClientScript::ready(2),
    ClientScript::playing,
    || {
        let mut script = ClientScript::playing();
        script.close(Ended::Reset);
        script
    },
];

fn invalid(script: &mut ClientScript, why: Invalid) {
    script.pass(ms(500));
    script.control(&[DownElement::Invalid(why)]);
}

fn refuse(script: &mut ClientScript, reason: Refusal) {
    let text = text("no").into();
    script.write(&[DownFrame::Refused { reason, text }]);
}

/// Lost, and dialled again.
fn redialled() -> ClientScript {
    let mut script = ClientScript::playing();
    script.close(Ended::Reset);
    script.pass(ms(1_000));
    assert_eq!(script.session.phase(), Phase::Connecting);
    script
}

#[test]
fn a_client_goes_every_way_that_there_is() {
    let mut seen = BTreeSet::new();
    let mut act = |mut script: ClientScript, act: &dyn Fn(&mut ClientScript)| {
        act(&mut script);
        seen.append(&mut script.watch.seen);
    };
    let ways: [&dyn Fn(&mut ClientScript); 8] = [
        &|script| {
            script.session.disconnect();
            script.drain();
        },
        &|script| script.close(Ended::Finished),
        &|script| script.pass(Duration::from_secs(100)),
        &|script| refuse(script, Refusal(200)),
        &|script| refuse(script, Refusal::SHUTDOWN),
        &|script| {
            if script.session.phase() != Phase::Connecting {
                script.write_raw(&[0xff]);
            }
        },
        &|script| {
            script.write(&[DownFrame::ModuleChanged {
                module: ModuleNumber(6),
                name: text("tar_m02"),
            }]);
        },
        &|script| {
            invalid(script, Invalid::NewModule);
            // The second time there is a pause.
            script.accept();
            script.welcome();
            script.serve(&shelf(2));
            invalid(script, Invalid::NewModule);
        },
    ];
    for phase in PHASES {
        ways.iter().for_each(|way| act(phase(), way));
    }
    for prepare in [ClientScript::playing, || ClientScript::ready(2)] {
        act(prepare(), &|script| invalid(script, Invalid::SameModule));
        // What was good until then is dialled again at once, what was not later.
        act(prepare(), &|script| {
            invalid(script, Invalid::NewModule);
            script.accept();
            script.welcome();
            script.serve(&shelf(2));
            script.control(&[DownElement::Parameters(parameters())]);
            invalid(script, Invalid::NewModule);
        });
    }
    // Of a server that was welcoming once.
    for way in [
        &(|script: &mut ClientScript| script.close(Ended::Refused)) as &dyn Fn(&mut ClientScript),
        &|script| {
            script.accept();
            script.close(Ended::Reset);
        },
        &|script| {
            script.accept();
            refuse(script, Refusal::FULL);
        },
    ] {
        act(redialled(), way);
    }
    CLIENT_LICENCE.check_all(&seen);
}
