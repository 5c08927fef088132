//! Losing the server, and coming back.

use std::time::Duration;

use tickwire_dialects::reone::message::{DownElement, DownFrame, Refusal};
use tickwire_dialects::reone::{ClientEvent, EndReason, Phase};
use tickwire_session::{Ended, Session, StreamId, Transmit};

use super::script::{ClientScript, config, keep, parameters, shelf, text};
use crate::driven::ms;

/// The number of the stream that was dialled last, and how many were.
fn dialled(script: &ClientScript) -> (u32, usize) {
    let dials = script.orders.iter().filter_map(|order| match order {
        Transmit::Dial {
            on: StreamId::Dialled(number),
            ..
        } => Some(*number),
        _ => None,
    });
    let dials: Vec<u32> = dials.collect();
    (*dials.last().expect("it dialled"), dials.len())
}

#[test]
fn a_restart_of_the_server_is_noticed_and_survived() {
    let mut script = ClientScript::playing();
    script.snapshot(700, 0, &[keep(1)]);
    script.session.send_event(1, b"lost").unwrap();
    script.drain();
    script.forget();
    // It says goodbye.
    let refused = DownFrame::Refused {
        reason: Refusal::SHUTDOWN,
        text: text("back in a minute").into(),
    };
    script.write(&[refused]);
    script.close(Ended::Finished);
    let events = script.events();
    assert!(matches!(events[0], ClientEvent::Refused { .. }));
    let [ClientEvent::Reconnecting { after }] = events[1..] else {
        panic!("{events:?}");
    };
    assert!(after >= ms(500) && after < ms(630), "{after:?}");
    assert_eq!(script.session.phase(), Phase::Reconnecting);
    script.pass(after);
    assert_eq!(
        (script.session.phase(), dialled(&script)),
        (Phase::Connecting, (1, 2))
    );

    // Nobody is there yet.
    script.close(Ended::Refused);
    assert_eq!(script.session.phase(), Phase::Reconnecting);
    script.pass(ms(1_300));
    assert_eq!(dialled(&script), (2, 3));
    script.accept();
    script.welcome();
    // The base is the same, so only the manifest is fetched.
    let fetches = script.fetches();
    assert_eq!(fetches, [("manifest".to_owned(), 0)]);
    script.serve_one(&shelf(2), "manifest", 0);
    assert_eq!(script.session.phase(), Phase::Initialising);
    script.control(&[DownElement::Parameters(parameters())]);
    // The new server counts from 1.
    script.snapshot(1, 0, &[keep(1)]);
    assert_eq!(script.session.phase(), Phase::Playing);
    assert_eq!(script.whole(), [1]);
    let uplinks = script.uplinks();
    let last = uplinks.last().unwrap();
    assert_eq!((last.acknowledged, last.events.len()), (1, 0));
    assert_eq!(script.session.counters().event_lost, 1);
    assert_eq!(script.session.send_event(1, &[]).unwrap().0, 1);
}

#[test]
fn the_pause_grows_to_a_bound_and_the_patience_ends() {
    let mut script = ClientScript::playing();
    let mut pauses = Vec::new();
    let lost = script.now;
    loop {
        script.close(Ended::Refused);
        let events = script.events();
        match events.last() {
            Some(ClientEvent::Reconnecting { after }) => {
                pauses.push(*after);
                script.pass(*after);
            }
            Some(ClientEvent::Ended(why)) => {
                assert_eq!(*why, EndReason::Unreachable);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    // 250 ms doubled, and up to a quarter more, by the token.
    let first = pauses[0];
    assert_eq!(pauses[1], first * 2);
    assert_eq!(pauses[4], first * 16);
    assert!(pauses.iter().all(|pause| *pause < ms(10_000)));
    let tried = script.now.since(lost);
    assert!(tried > ms(289_000) && tried <= ms(300_000), "{tried:?}");
    assert_eq!(script.session.poll_timeout(), None);
}

#[test]
fn who_is_not_to_come_back_ends() {
    let mut config = config();
    config.retry_for = Duration::ZERO;
    let mut script = ClientScript::with(config);
    script.accept();
    script.welcome();
    script.serve(&shelf(2));
    script.events();
    script.close(Ended::Reset);
    let over = ClientEvent::Ended(EndReason::ServerClosed);
    assert_eq!(script.events(), [over]);
}

#[test]
fn a_full_server_is_tried_again_only_by_who_was_there() {
    let full = DownFrame::Refused {
        reason: Refusal::FULL,
        text: text("no place").into(),
    };
    let mut script = ClientScript::playing();
    script.close(Ended::Reset);
    script.pass(ms(500));
    script.accept();
    script.write(&[full]);
    assert_eq!(script.session.phase(), Phase::Reconnecting);

    let kicked = DownFrame::Refused {
        reason: Refusal(130),
        text: text("you were rude").into(),
    };
    script.pass(ms(1_000));
    script.accept();
    script.write(&[kicked]);
    let why = EndReason::Refused(Refusal(130));
    assert_eq!(script.session.phase(), Phase::Ended(why));
}

#[test]
fn a_dead_line_is_given_up_after_90_seconds() {
    let mut script = ClientScript::playing();
    script.pass(ms(89_999));
    assert_eq!(script.session.phase(), Phase::Playing);
    script.pass(ms(1));
    assert_eq!(script.session.phase(), Phase::Reconnecting);
    // What comes on the old stream is nobody's.
    script.write(&[DownFrame::ModuleChanged {
        module: super::script::MODULE,
        name: text("x"),
    }]);
    assert_eq!(script.session.phase(), Phase::Reconnecting);
}

#[test]
fn leaving_while_it_waits_ends_it() {
    let mut script = ClientScript::playing();
    script.close(Ended::Reset);
    let orders = script.orders.len();
    script.session.disconnect();
    script.drain();
    assert_eq!(script.orders.len(), orders, "there is no stream to end");
    let why = EndReason::Disconnected;
    assert_eq!(script.session.phase(), Phase::Ended(why));
    script.pass(ms(60_000));
    assert_eq!(script.orders.len(), orders);
}

#[test]
fn half_a_frame_of_a_stream_that_was_given_up_is_no_part_of_the_next() {
    let mut script = ClientScript::playing();
    let refused = DownFrame::Refused {
        reason: Refusal::SHUTDOWN,
        text: text("back in a minute").into(),
    };
    script.write(&[refused]);
    assert_eq!(script.session.phase(), Phase::Reconnecting);
    // The kind of a frame, and not yet its length: the old stream was not empty.
    script.write_raw(&[5, 0]);
    script.pass(ms(1_000));
    script.accept();
    script.welcome();
    assert_eq!(script.session.phase(), Phase::Loading);
}
