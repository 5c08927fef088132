//! Calls, and the questions that the client asks by itself.

use tickwire_dialects::reone::client_limits::{CALLS_UNDER_WAY, RESREFS_ASKED};
use tickwire_dialects::reone::message::{Call, DownFrame, Status};
use tickwire_dialects::reone::{
    AskError, CallFailure, CallId, CallReply, ClientEvent, ModuleNumber, ObjectId,
};
use tickwire_session::Ended;

use super::script::{ClientScript, full, keep, parameters, shelf, text};
use crate::driven::ms;
use crate::golden::unhex;

fn answer(script: &mut ClientScript, id: u32, status: Status, answer: &[u8]) {
    let id = CallId(id);
    script.write(&[DownFrame::Result { id, status, answer }]);
}

/// A client that knows the creature it sees, which took call 1.
fn acquainted() -> ClientScript {
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1)]);
    answer(&mut script, 1, Status::Ok, b"n_ann\0");
    script.forget();
    script
}

/// The calls that ended.
fn ended(script: &mut ClientScript) -> Vec<(u32, Result<CallReply, CallFailure>)> {
    let events = script.events().into_iter();
    let ended = events.filter_map(|event| match event {
        ClientEvent::CallEnded { id, outcome } => Some((id.0, outcome)),
        _ => None,
    });
    ended.collect()
}

#[test]
fn questions_of_the_protocol_get_answers_of_their_type() {
    let mut script = acquainted();
    let now = script.now;
    let calls = [
        Call::Resref(ObjectId(7)),
        Call::Inventory(ObjectId(7)),
        Call::Global(text("kills")),
        Call::Local(text("deaths")),
        Call::Log(text("it burns")),
    ];
    for call in calls {
        script.session.ask(now, call).unwrap();
    }
    script.drain();
    let asked = script.calls();
    let names: Vec<_> = asked.iter().map(|(_, name, _)| &**name).collect();
    assert_eq!(names, ["resref", "inventory", "global", "local", "log"]);
    assert_eq!(asked[0], (2, "resref".into(), unhex("07000000")));
    assert_eq!(asked[2], (4, "global".into(), b"kills\0".to_vec()));
    // They come in any order.
    answer(&mut script, 6, Status::Ok, &[]);
    answer(&mut script, 4, Status::Ok, &unhex("ffffffff"));
    answer(&mut script, 5, Status::Ok, &unhex("03000000"));
    answer(&mut script, 3, Status::Ok, b"\x02sword\0shield\0");
    answer(&mut script, 2, Status::Ok, b"n_bob\0");
    let items = vec!["sword".to_owned(), "shield".to_owned()];
    let expected = [
        (6, Ok(CallReply::Log)),
        (4, Ok(CallReply::Global(-1))),
        (5, Ok(CallReply::Local(3))),
        (3, Ok(CallReply::Inventory(items))),
        (2, Ok(CallReply::Resref("n_bob".into()))),
    ];
    assert_eq!(ended(&mut script), expected);
}

#[test]
fn every_call_ends_once_whatever_happens() {
    let mut script = acquainted();
    for _ in 0..7 {
        let now = script.now;
        script.session.call(now, text("score"), b"x").unwrap();
    }
    answer(&mut script, 2, Status::Ok, b"12");
    answer(&mut script, 3, Status::UnknownMethod, &[]);
    answer(&mut script, 4, Status::BadArgument, &[]);
    answer(&mut script, 5, Status::Refused, &[]);
    // Twice, and of nothing.
    answer(&mut script, 5, Status::Refused, &[]);
    answer(&mut script, 99, Status::Ok, &[]);
    assert_eq!(script.session.counters().unasked_result, 2);
    let expected = [
        (2, Ok(CallReply::Bytes(b"12".to_vec()))),
        (3, Err(CallFailure::UnknownMethod)),
        (4, Err(CallFailure::BadArgument)),
        (5, Err(CallFailure::Refused)),
    ];
    assert_eq!(ended(&mut script), expected);
    script.pass(ms(9_999));
    assert_eq!(ended(&mut script), []);
    script.pass(ms(1));
    let late = [6, 7, 8].map(|id| (id, Err(CallFailure::TimedOut)));
    assert_eq!(ended(&mut script), late);

    let now = script.now;
    script.session.ask(now, Call::Global(text("a"))).unwrap();
    script.session.ask(now, Call::Global(text("b"))).unwrap();
    answer(&mut script, 9, Status::Ok, b"xx");
    script.close(Ended::Reset);
    let expected = [
        (9, Err(CallFailure::Undecodable)),
        (10, Err(CallFailure::Disconnected)),
    ];
    assert_eq!(ended(&mut script), expected);
    let now = script.now;
    let refused = script.session.ask(now, Call::Global(text("c")));
    assert_eq!(refused, Err(AskError::NotConnected));
}

#[test]
fn too_many_calls_are_refused() {
    let mut script = acquainted();
    let now = script.now;
    for _ in 0..CALLS_UNDER_WAY {
        script.session.call(now, text("score"), &[]).unwrap();
    }
    let more = script.session.call(now, text("score"), &[]);
    assert_eq!(more, Err(AskError::TooMany));
    let long = script.session.call(now, text("score"), &[0; 65_537]);
    assert_eq!(long, Err(AskError::TooLong));
}

/// The creatures that are shown.
fn shown(script: &mut ClientScript) -> Vec<(u32, String)> {
    let now = script.now;
    let view = script.session.sample(now).expect("there is a world");
    let objects = view.objects();
    let named = objects.map(|(id, shown)| (id.0, shown.resref.unwrap_or("-").to_owned()));
    named.collect()
}

#[test]
fn a_creature_is_shown_once_its_resref_is_known() {
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1), keep(2)]);
    let asked = script.calls();
    let (first, second) = (unhex("01000000"), unhex("02000000"));
    let expected = [(1, "resref".into(), first), (2, "resref".into(), second)];
    assert_eq!(asked, expected);
    assert_eq!(shown(&mut script), []);
    script.events();
    answer(&mut script, 2, Status::Ok, b"n_bob\0");
    let known = ClientEvent::Known {
        id: ObjectId(2),
        resref: "n_bob".into(),
    };
    assert_eq!(script.events(), [known]);
    assert_eq!(shown(&mut script), [(2, "n_bob".to_owned())]);
    assert_eq!(script.session.resref(ObjectId(2)), Some("n_bob"));
    // It is asked once, even if the creature goes and comes back.
    script.snapshot(2, 1, &[]);
    script.snapshot(3, 1, &[keep(1), keep(2)]);
    assert_eq!(script.calls(), []);
}

#[test]
fn a_question_that_came_to_nothing_is_asked_again_later() {
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1)]);
    script.written();
    for (sequence, status) in [(2, Status::Refused), (4, Status::BadArgument)] {
        answer(&mut script, sequence / 2, status, &[]);
        script.pass(ms(900));
        script.snapshot(sequence, 0, &[keep(1)]);
        assert_eq!(script.calls(), []);
        script.pass(ms(100));
        script.snapshot(sequence + 1, 0, &[keep(1)]);
        assert_eq!(script.calls().len(), 1);
    }
    // The client's own questions are not the application's.
    assert_eq!(ended(&mut script), []);
}

#[test]
fn a_crowd_is_asked_for_a_few_at_a_time() {
    let mut script = ClientScript::ready(2);
    let crowd: Vec<_> = (101..=145).map(|id| full(id, 0.0)).collect();
    let header = super::script::header(1, 0);
    for (number, part) in crowd.chunks(15).enumerate() {
        let mut part = part.to_vec();
        if number == 2 {
            part.push(super::script::last(3));
        }
        script.send_raw(&super::script::packet(header, &part));
    }
    assert_eq!(script.calls().len(), RESREFS_ASKED);
    for id in 1..=10 {
        answer(&mut script, id, Status::Ok, b"n_x\0");
    }
    let all: Vec<_> = script.session.newest().unwrap().objects().collect();
    assert_eq!(all.len(), 45);
    let again: Vec<_> = all.iter().map(|(id, _)| keep(id.0)).collect();
    script.snapshot(2, 1, &again);
    assert_eq!(script.calls().len(), 10);
}

#[test]
fn another_module_has_other_creatures() {
    let mut script = acquainted();
    script.snapshot(2, 1, &[keep(1), full(8, 1.0)]);
    assert_eq!(script.calls().len(), 1);
    let module = ModuleNumber(6);
    let name = text("tar_m02");
    script.write(&[DownFrame::ModuleChanged { module, name }]);
    script.serve(&shelf(2));
    let parameters = tickwire_dialects::reone::message::Parameters {
        module,
        ..parameters()
    };
    script.control(
        &[tickwire_dialects::reone::message::DownElement::Parameters(
            parameters,
        )],
    );
    script.snapshot(3, 0, &[keep(1), full(8, 1.0)]);
    let asked: Vec<_> = script.calls().iter().map(|call| call.0).collect();
    assert_eq!(asked, [3, 4]);
    // The answer to the question of before says nothing of this module.
    answer(&mut script, 2, Status::Ok, b"n_old\0");
    assert_eq!(script.session.resref(ObjectId(8)), None);
    answer(&mut script, 4, Status::Ok, b"n_new\0");
    assert_eq!(script.session.resref(ObjectId(8)), Some("n_new"));
}
