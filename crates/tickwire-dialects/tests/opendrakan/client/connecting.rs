//! Dialling, attaching, and the ends of it.

use tickwire_dialects::opendrakan::message::{ActionState, Message, Way};
use tickwire_dialects::opendrakan::{ActError, ClientEvent, EndReason, Phase};
use tickwire_session::{Ended, Session as _, Token, Transmit};

use crate::golden::unhex;
use crate::script::{ClientScript, SERVER, STREAM, bytes_of, confirm, each, machine, ms};

const TOKEN: Token = Token(0x77);

/// How many datagrams showed the token since this was last asked.
fn shown(script: &mut ClientScript) -> usize {
    let mut count = 0;
    for datagram in script.taken(SERVER) {
        each(Way::ClientDatagram, &datagram, |message| {
            if let Message::Attach { token } = message {
                assert_eq!(token, TOKEN);
                count += 1;
            }
        });
    }
    count
}

#[test]
fn it_dials_the_server_and_says_so() {
    let mut script = ClientScript::dialling();
    let dial = Transmit::Dial {
        on: STREAM,
        to: SERVER,
    };
    assert_eq!(script.orders, [dial]);
    assert_eq!(script.session.phase(), Phase::Connecting);
    let refused = script.session.act(script.now, 1, ActionState::Begin);
    assert_eq!(refused, Err(ActError::NotConnected));
    script.opened(STREAM, SERVER);
    assert_eq!(script.events(), [ClientEvent::Connected]);
}

#[test]
fn it_shows_its_token_every_100_ms_until_a_datagram_comes() {
    let mut script = ClientScript::open();
    script.pass(ms(500));
    assert_eq!(shown(&mut script), 0, "there is no token yet");
    script.write(&[Message::Attach { token: TOKEN }]);
    assert_eq!(shown(&mut script), 1);
    script.pass(ms(1_000));
    assert_eq!(shown(&mut script), 10);
    script.send(&[confirm(3, 0, 0)]);
    script.pass(ms(900));
    assert_eq!(shown(&mut script), 0);
}

#[test]
fn it_shows_its_token_again_to_stay_alive_and_when_nothing_comes() {
    let mut script = ClientScript::open();
    script.write(&[Message::Attach { token: TOKEN }]);
    script.send(&[confirm(3, 0, 0)]);
    shown(&mut script);
    for tick in 2..10 {
        script.pass(ms(500));
        script.send(&[confirm(tick * 3, 0, 0)]);
    }
    // Four seconds in which it could acknowledge nothing, because it is loading.
    let alive = shown(&mut script);
    assert!((3..=5).contains(&alive), "{alive}");
    script.pass(ms(3_000));
    let again = shown(&mut script);
    assert!((19..=22).contains(&again), "{again}");
}

#[test]
fn a_datagram_of_somebody_else_is_not_heard() {
    let mut script = ClientScript::open();
    script.write(&[Message::Attach { token: TOKEN }]);
    let bytes = bytes_of(&[confirm(3, 0, 0)]);
    for stranger in [machine(9, 41_414), machine(1, 41_415)] {
        script.send_bytes(stranger, &bytes);
    }
    assert_eq!(script.session.counters().stranger, 2);
    shown(&mut script);
    script.pass(ms(100));
    assert_eq!(shown(&mut script), 1);
}

#[test]
fn every_end_has_its_reason() {
    let ended = |script: &mut ClientScript| {
        let events = script.events();
        assert_eq!(script.session.poll_timeout(), None);
        match events.last() {
            Some(ClientEvent::Ended(why)) => *why,
            other => panic!("{other:?}"),
        }
    };

    let mut script = ClientScript::dialling();
    script.close(Ended::Refused);
    assert_eq!(ended(&mut script), EndReason::Unreachable);

    let mut script = ClientScript::dialling();
    script.pass(ms(15_000));
    assert_eq!(ended(&mut script), EndReason::Unreachable);
    assert_eq!(script.orders[1], Transmit::Abort { on: STREAM });

    let mut script = ClientScript::open();
    script.close(Ended::Finished);
    assert_eq!(ended(&mut script), EndReason::ServerClosed);

    let mut script = ClientScript::open();
    script.pass(ms(15_000));
    assert_eq!(ended(&mut script), EndReason::TimedOut);

    let mut script = ClientScript::open();
    script.write_bytes(STREAM, &unhex("ff"));
    assert_eq!(ended(&mut script), EndReason::Undecodable);
    assert_eq!(script.orders[1], Transmit::Finish { on: STREAM });

    let mut script = ClientScript::open();
    script.act(|_, client| client.disconnect());
    assert_eq!(ended(&mut script), EndReason::Disconnected);
    assert_eq!(script.orders[1], Transmit::Finish { on: STREAM });
    // Over is over.
    script.close(Ended::Reset);
    assert_eq!(script.events(), []);
}
