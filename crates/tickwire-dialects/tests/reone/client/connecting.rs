//! Dialling, the handshake, and the ends of it.

use tickwire_dialects::reone::message::{DownFrame, Refusal};
use tickwire_dialects::reone::{
    AskError, BadText, ClientConfig, ClientEvent, ClientId, EndReason, Phase, SendError,
};
use tickwire_session::{Ended, Session, StreamId, Transmit};

use super::script::{ClientScript, MODULE, SERVER, config, text};
use crate::driven::ms;
use crate::golden::unhex;

const STREAM: StreamId = StreamId::Dialled(0);

#[test]
fn it_dials_and_says_hello() {
    let mut script = ClientScript::with(config());
    let dial = Transmit::Dial {
        on: STREAM,
        to: SERVER,
    };
    assert_eq!(script.orders, [dial]);
    assert_eq!(script.session.phase(), Phase::Connecting);
    script.accept();
    // Kind 1, 6 bytes: version 1, "ann".
    assert_eq!(script.written(), unhex("01060000000100616e6e00"));
    assert_eq!(script.session.phase(), Phase::Handshaking);
}

#[test]
fn welcome_leads_to_the_manifest() {
    let mut script = ClientScript::open();
    script.written();
    // Kind 2, 23 bytes: client 3, token, module 5, "danm13".
    script.write_raw(&unhex(
        "021700000003000000887766554433221105000000\
         64616e6d313300",
    ));
    let welcomed = ClientEvent::Welcomed {
        client: ClientId(3),
    };
    let loading = ClientEvent::Loading {
        module: MODULE,
        name: "danm13".into(),
    };
    assert_eq!(script.events(), [welcomed, loading]);
    // Kind 4, 17 bytes: "manifest" from offset 0.
    assert_eq!(
        script.written(),
        unhex("04110000006d616e6966657374000000000000000000")
    );
    assert_eq!(script.session.phase(), Phase::Loading);
}

#[test]
fn a_name_that_cannot_be_sent_is_refused() {
    let refused = |name: &str| ClientConfig::new(SERVER, name).err();
    assert_eq!(refused(&"a".repeat(64)), None);
    assert_eq!(refused(&"a".repeat(65)), Some(BadText::TooLong));
    assert_eq!(refused("a\0"), Some(BadText::Character));
}

#[test]
fn nothing_is_said_before_the_server_listens() {
    let mut script = ClientScript::open();
    let now = script.now;
    assert_eq!(script.session.send_event(1, &[]), Err(SendError::NotReady));
    let asked = script.session.call(now, text("score"), &[]);
    assert_eq!(asked, Err(AskError::NotConnected));
    assert_eq!(script.session.render_time(now), None);
    assert!(script.session.sample(now).is_none());
}

fn ended(script: &mut ClientScript) -> EndReason {
    let events = script.events();
    assert_eq!(script.session.poll_timeout(), None);
    match events.last() {
        Some(ClientEvent::Ended(why)) => {
            assert_eq!(script.session.phase(), Phase::Ended(*why));
            *why
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refusal_is_told_in_the_servers_words() {
    for reason in [
        Refusal::MALFORMED,
        Refusal::VERSION,
        Refusal::FULL,
        Refusal::SHUTDOWN,
        Refusal(200),
    ] {
        let mut script = ClientScript::open();
        let text = text("not today");
        let text = text.into();
        script.write(&[DownFrame::Refused { reason, text }]);
        let events = script.events();
        let refused = ClientEvent::Refused {
            reason,
            text: "not today".into(),
        };
        let over = ClientEvent::Ended(EndReason::Refused(reason));
        assert_eq!(events, [refused, over]);
        assert_eq!(script.orders[1..], [Transmit::Finish { on: STREAM }]);
        assert_eq!(script.session.poll_timeout(), None);
    }
}

#[test]
fn what_would_harm_a_terminal_is_not_in_a_reason() {
    let mut script = ClientScript::open();
    // Kind 3, 11 bytes: reason 200, an escape sequence, a line end, half a character.
    script.write_raw(&unhex("030b000000c81b5b324a0d0a6e6fc300"));
    let refused = ClientEvent::Refused {
        reason: Refusal(200),
        text: "\u{fffd}[2J\u{fffd}\u{fffd}no\u{fffd}".into(),
    };
    let over = ClientEvent::Ended(EndReason::Refused(Refusal(200)));
    assert_eq!(script.events(), [refused, over]);
}

#[test]
fn every_end_has_its_reason() {
    let mut script = ClientScript::with(config());
    script.close(Ended::Refused);
    assert_eq!(ended(&mut script), EndReason::Unreachable);

    let mut script = ClientScript::with(config());
    script.pass(ms(15_000));
    assert_eq!(ended(&mut script), EndReason::Unreachable);
    assert_eq!(script.orders[1..], [Transmit::Abort { on: STREAM }]);

    // It was never welcome, so it does not come back.
    let mut script = ClientScript::open();
    script.close(Ended::Finished);
    assert_eq!(ended(&mut script), EndReason::ServerClosed);

    let mut script = ClientScript::open();
    script.pass(ms(15_000));
    assert_eq!(ended(&mut script), EndReason::TimedOut);
    assert_eq!(script.orders[1..], [Transmit::Finish { on: STREAM }]);

    let mut script = ClientScript::open();
    script.write_raw(&unhex("ff"));
    assert_eq!(ended(&mut script), EndReason::Undecodable);
    assert_eq!(script.orders[1..], [Transmit::Finish { on: STREAM }]);

    let mut script = ClientScript::playing();
    script.session.disconnect();
    script.drain();
    assert_eq!(ended(&mut script), EndReason::Disconnected);
    assert_eq!(script.orders[1..], [Transmit::Finish { on: STREAM }]);
    // Over is over.
    script.close(Ended::Reset);
    script.snapshot(2, 0, &[]);
    assert_eq!(script.events(), []);
}

#[test]
fn frames_that_make_no_sense_are_counted() {
    let mut script = ClientScript::open();
    script.write(&[DownFrame::ModuleChanged {
        module: MODULE,
        name: text("a"),
    }]);
    assert_eq!(script.session.phase(), Phase::Handshaking);
    script.welcome();
    script.welcome();
    assert_eq!(script.session.counters().unexpected, 2);
}
