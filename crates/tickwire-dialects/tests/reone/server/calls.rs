//! Questions and answers.

use tickwire_dialects::reone::message::{Answer, Call, Status, UpFrame};
use tickwire_dialects::reone::server_limits::{
    ANSWER_BYTE_REFILL, ANSWER_BYTES_AT_ONCE, CALLS_WAITING,
};
use tickwire_dialects::reone::{
    AnswerError, CallId, ClientId, ObjectId, Question, Reply, ServerEvent,
};
use tickwire_session::{MethodError, StreamId};

use super::script::{ANN, Said, Script, config, text};
use crate::driven::ms;

fn ask(script: &mut Script, on: StreamId, id: u32, method: &str, argument: &[u8]) {
    let (id, method) = (CallId(id), text(method));
    script.write(
        on,
        &[UpFrame::Call {
            id,
            method,
            argument,
        }],
    );
}

fn questions(script: &mut Script) -> Vec<(ClientId, u32, Question)> {
    let events = script.events().into_iter().filter_map(|event| match event {
        ServerEvent::Called {
            client,
            call,
            question,
        } => Some((client, call.0, question)),
        _ => None,
    });
    events.collect()
}

fn result(id: u32, status: u8, answer: &[u8]) -> Said {
    let answer = answer.into();
    Said::Result { id, status, answer }
}

#[test]
fn the_game_answers_what_is_asked() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    for (id, call) in [
        (1, Call::Resref(ObjectId(5))),
        (2, Call::Inventory(ObjectId(5))),
        (3, Call::Global(text("score"))),
        (4, Call::Local(text("kills"))),
        (5, Call::Log(text("hello"))),
    ] {
        let mut argument = Vec::new();
        call.encode(&mut argument);
        ask(
            &mut script,
            ann.on,
            id,
            call.method().name().as_str(),
            &argument,
        );
    }
    let asked: Vec<_> = questions(&mut script)
        .into_iter()
        .map(|(_, id, question)| (id, question))
        .collect();
    assert_eq!(
        asked,
        [
            (1, Question::Resref(ObjectId(5))),
            (2, Question::Inventory(ObjectId(5))),
            (3, Question::Global("score".into())),
            (4, Question::Local("kills".into())),
            (5, Question::Log("hello".into())),
        ]
    );
    let mut answer = |id, reply| {
        script
            .session
            .answer(script.now, ann.client, CallId(id), reply)
    };
    assert_eq!(answer(3, Reply::Answer(Answer::Global(-2))), Ok(()));
    assert_eq!(answer(1, Reply::Failed(Status::BadArgument)), Ok(()));
    assert_eq!(answer(5, Reply::Answer(Answer::Log)), Ok(()));
    assert_eq!(
        answer(5, Reply::Answer(Answer::Log)),
        Err(AnswerError::Unasked)
    );
    script.drain();
    assert_eq!(
        script.frames(ann.on),
        [
            result(3, 0, &[0xfe, 0xff, 0xff, 0xff]),
            result(1, 2, &[]),
            result(5, 0, &[])
        ]
    );
}

#[test]
fn nonsense_is_answered_at_once() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    ask(&mut script, ann.on, 1, "teleport", &[]);
    ask(&mut script, ann.on, 2, "resref", &[1, 0, 0]);
    ask(&mut script, ann.on, 3, "resref", &[1, 0, 0, 0, 0]);
    ask(&mut script, ann.on, 4, "log", b"no end");
    assert_eq!(
        script.frames(ann.on),
        [
            result(1, 1, &[]),
            result(2, 2, &[]),
            result(3, 2, &[]),
            result(4, 2, &[])
        ]
    );
    assert!(questions(&mut script).is_empty());
    assert!(script.orders.is_empty());
}

#[test]
fn a_game_has_methods_of_its_own() {
    let mut script = Script::begin(config());
    assert_eq!(script.session.register("dance"), Ok(()));
    assert_eq!(script.session.register("resref"), Err(MethodError::Taken));
    let ann = script.greet(0, ANN);
    ask(&mut script, ann.on, 9, "dance", &[1, 2]);
    let (method, argument) = ("dance".to_owned(), vec![1, 2]);
    let question = Question::Other { method, argument };
    assert_eq!(questions(&mut script), [(ann.client, 9, question)]);
    let answer = |script: &mut Script, bytes: &[u8]| {
        script
            .session
            .answer(script.now, ann.client, CallId(9), Reply::Bytes(bytes))
    };
    let too_long = vec![0; 65_537];
    assert_eq!(answer(&mut script, &too_long), Err(AnswerError::TooLong));
    assert_eq!(answer(&mut script, &too_long[1..]), Ok(()));
    script.drain();
    assert_eq!(script.frames(ann.on), [result(9, 0, &too_long[1..])]);
}

#[test]
fn of_a_thousand_calls_at_once_those_above_the_bound_are_refused() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    for id in 0..1_000 {
        ask(&mut script, ann.on, id, "resref", &[7, 0, 0, 0]);
    }
    let asked = questions(&mut script);
    assert_eq!(asked.len(), CALLS_WAITING);
    let refused = script.frames(ann.on);
    assert_eq!(refused.len(), 1_000 - CALLS_WAITING);
    let first = u32::try_from(CALLS_WAITING).unwrap();
    assert_eq!(refused[0], result(first, 3, &[]));
    for (client, id, _) in asked {
        let reply = Reply::Answer(Answer::Resref(text("n_bastila")));
        script
            .session
            .answer(script.now, client, CallId(id), reply)
            .unwrap();
    }
    script.drain();
    assert_eq!(script.frames(ann.on).len(), CALLS_WAITING);
    ask(&mut script, ann.on, 1_000, "resref", &[7, 0, 0, 0]);
    assert_eq!(questions(&mut script).len(), 1);
}

#[test]
fn an_answer_to_somebody_who_left_is_nobody_s() {
    let mut script = Script::begin(config());
    let ann = script.greet(0, ANN);
    ask(&mut script, ann.on, 1, "log", b"a\0");
    script.close(ann.on);
    let reply = Reply::Answer(Answer::Log);
    let answered = script
        .session
        .answer(script.now, ann.client, CallId(1), reply);
    assert_eq!(answered, Err(AnswerError::Unasked));
}

#[test]
fn a_client_has_a_rate_of_bytes_of_answers() {
    let mut script = Script::begin(config());
    script.session.register("scores").expect("a good name");
    let ann = script.greet(0, ANN);
    let scores = [7; 10_000];
    // Asks again and again for ten seconds; returns how many bytes came.
    let take = |script: &mut Script| {
        let mut bytes = 0;
        for id in 0..1_000 {
            ask(script, ann.on, id, "scores", &[]);
            questions(script);
            let reply = Reply::Bytes(&scores);
            let answered = script
                .session
                .answer(script.now, ann.client, CallId(id), reply);
            assert_eq!(answered, Ok(()));
            script.pass(ms(10));
            script.drain();
            for frame in script.frames(ann.on) {
                match frame {
                    Said::Result {
                        status: 0, answer, ..
                    } => bytes += answer.len(),
                    refused => assert_eq!(refused, result(id, 3, &[])),
                }
            }
        }
        bytes
    };
    let burst = ANSWER_BYTES_AT_ONCE as usize;
    let rate = 1_000_000 / ANSWER_BYTE_REFILL.as_micros() as usize * 10;
    let first = take(&mut script);
    assert!(first > rate && first <= burst + rate, "{first}");
    let second = take(&mut script);
    assert!(second <= rate + scores.len(), "{second}");
    assert!(second + scores.len() > rate, "{second}");
    assert!(script.session.counters().answer_refused > 1_000);
}
