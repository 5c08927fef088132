//! A client goes every way that `STATES.md` has. That it goes no other, every script checks.

use std::collections::BTreeSet;

use tickwire_dialects::opendrakan::Phase;
use tickwire_dialects::opendrakan::message::Message;
use tickwire_session::Ended;

use crate::script::{CLIENT_LICENCE, ClientScript, STREAM, confirm, loaded, ms};

const LEVEL: Message<'static> = Message::LoadLevel {
    databases: 0,
    path: "levels/a.lvl",
};

/// Phases that a client can be brought to, and how.
const PHASES: [fn() -> ClientScript; 5] = [
    ClientScript::dialling,
    ClientScript::open,
    || {
        let mut script = ClientScript::open();
        script.write(&[LEVEL]);
        script
    },
    ClientScript::loaded,
    || {
        let mut script = ClientScript::loaded();
        script.send(&[confirm(3, 0, 0)]);
        script
    },
];

#[test]
fn a_client_goes_every_way_that_there_is() {
    let ways: [&dyn Fn(&mut ClientScript); 5] = [
        &|script| script.close(Ended::Finished),
        &|script| script.pass(ms(15_000)),
        &|script| script.act(|_, client| client.disconnect()),
        &|script| {
            if script.session.phase() != Phase::Connecting {
                script.write_bytes(STREAM, &[0xff]);
            }
        },
        &|script| {
            if script.session.phase() == Phase::Loading {
                script.act(|_, client| client.loaded(loaded())).unwrap();
            }
        },
    ];
    let mut seen = BTreeSet::new();
    for phase in PHASES {
        for way in ways {
            let mut script = phase();
            way(&mut script);
            seen.append(&mut script.watch.seen);
        }
    }
    CLIENT_LICENCE.check_all(&seen);
}
