extern crate std;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString as _;
use alloc::vec;

use proptest::prelude::*;

use super::*;

const PATIENCE: Duration = Duration::from_secs(5);

const fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn calls() -> Calls<&'static str> {
    Calls::new(PATIENCE, 3)
}

#[track_caller]
fn check_ended(calls: &mut Calls<&'static str>, expected: &[(&str, CallOutcome)]) {
    let mut ended = vec![];
    while let Some(call) = calls.poll_ended() {
        ended.push((call.asked, call.outcome));
    }
    assert_eq!(ended, expected);
}

fn answered(status: CallStatus, body: &[u8]) -> CallOutcome {
    let body = body.to_vec();
    CallOutcome::Answered { status, body }
}

#[test]
fn results_meet_their_calls_in_any_order() {
    let mut calls = calls();
    let [a, b] = ["a", "b"].map(|name| calls.ask(ms(0), name).unwrap());
    assert_eq!(calls.asked(b), Some(&"b"));
    calls
        .handle_result(b, CallStatus::BadArgument, b"")
        .unwrap();
    calls.handle_result(a, CallStatus::Done, b"yes").unwrap();
    check_ended(
        &mut calls,
        &[
            ("b", answered(CallStatus::BadArgument, b"")),
            ("a", answered(CallStatus::Done, b"yes")),
        ],
    );
    assert_eq!((calls.under_way(), calls.poll_timeout()), (0, None));
}

#[test]
fn a_result_counts_once() {
    let mut calls = calls();
    let id = calls.ask(ms(0), "a").unwrap();
    calls.handle_result(id, CallStatus::Done, b"1").unwrap();
    for stranger in [id, CallId(77)] {
        let again = calls.handle_result(stranger, CallStatus::Done, b"2");
        assert_eq!(again, Err(Unasked));
    }
    assert_eq!(calls.unasked(), 2);
    check_ended(&mut calls, &[("a", answered(CallStatus::Done, b"1"))]);
}

#[test]
fn patience_ends_and_what_comes_later_is_nobodys() {
    let mut calls = calls();
    let late = calls.ask(ms(0), "late").unwrap();
    calls.ask(ms(1_000), "later").unwrap();
    assert_eq!(calls.poll_timeout(), Some(ms(5_000)));
    calls.handle_timeout(ms(4_999));
    check_ended(&mut calls, &[]);
    calls.handle_timeout(ms(5_000));
    check_ended(&mut calls, &[("late", CallOutcome::TimedOut)]);
    assert_eq!(
        calls.handle_result(late, CallStatus::Done, b""),
        Err(Unasked)
    );
    assert_eq!(calls.poll_timeout(), Some(ms(6_000)));
}

#[test]
fn a_lost_connection_ends_them_all() {
    let mut calls = calls();
    calls.ask(ms(0), "a").unwrap();
    calls.ask(ms(0), "b").unwrap();
    calls.disconnect();
    let cut = CallOutcome::Disconnected;
    check_ended(&mut calls, &[("a", cut.clone()), ("b", cut)]);
}

#[test]
fn too_many_are_refused_until_one_is_polled() {
    let mut calls = calls();
    let ids = ["a", "b", "c"].map(|name| calls.ask(ms(0), name).unwrap());
    let full = TooManyCalls { most: 3 };
    assert_eq!(calls.ask(ms(0), "d"), Err(full));
    assert_eq!(full.to_string(), "3 calls wait for their answers");
    calls.handle_result(ids[1], CallStatus::Done, b"").unwrap();
    assert_eq!(calls.ask(ms(0), "d"), Err(full), "its end is to be told");
    calls.poll_ended().unwrap();
    assert!(calls.ask(ms(0), "d").is_ok());
}

#[test]
fn a_number_that_is_under_way_is_passed_over() {
    let mut calls = calls();
    calls.next = CallId(u32::MAX);
    let ids = ["a", "b"].map(|name| calls.ask(ms(0), name).unwrap());
    assert_eq!(ids, [CallId(u32::MAX), CallId(0)]);
    calls.next = CallId(u32::MAX);
    assert_eq!(calls.ask(ms(0), "c"), Ok(CallId(1)));
}

#[test]
fn methods_have_names_of_their_own() {
    let mut methods = Methods::new();
    methods.register("log", 1).unwrap();
    assert_eq!(methods.register("log", 2), Err(MethodError::Taken));
    for name in ["", "two\nlines", &"x".repeat(METHOD_NAME_MAX + 1)] {
        assert_eq!(
            methods.register(name, 3),
            Err(MethodError::Name),
            "{name:?}"
        );
    }
    assert_eq!((methods.get("log"), methods.get("Log")), (Some(&1), None));
    for number in 1..METHODS_MAX {
        methods.register(&format!("m{number}"), number).unwrap();
    }
    assert_eq!(methods.register("more", 0), Err(MethodError::TooMany));
}

#[test]
fn a_thousand_calls_at_once_are_refused_but_the_first() {
    let mut methods = Methods::new();
    methods.register("log", ()).unwrap();
    let mut waiting = CallsWaiting::new(8);
    let admitted = (0..1_000)
        .filter(|id| waiting.admit(&methods, CallId(*id), "log").is_ok())
        .count();
    assert_eq!((admitted, waiting.len()), (8, 8));
    let refused = waiting.admit(&methods, CallId(2_000), "log");
    assert_eq!(refused, Err(CallStatus::Refused));
    // A method that does not exist is told so even then: waiting would not make it exist.
    let unknown = waiting.admit(&methods, CallId(2_000), "nonsense");
    assert_eq!(unknown, Err(CallStatus::UnknownMethod));
    waiting.answer(CallId(3)).unwrap();
    assert!(waiting.admit(&methods, CallId(2_000), "log").is_ok());
}

#[test]
fn a_number_that_waits_cannot_be_used_again() {
    let mut methods = Methods::new();
    methods.register("log", ()).unwrap();
    let mut waiting = CallsWaiting::new(8);
    assert!(waiting.admit(&methods, CallId(1), "log").is_ok());
    let again = waiting.admit(&methods, CallId(1), "log");
    assert_eq!(again, Err(CallStatus::Refused));
    assert_eq!(waiting.answer(CallId(1)), Ok(()));
    assert_eq!(waiting.answer(CallId(1)), Err(Unasked));
    assert!(waiting.is_empty());
}

proptest! {
    #[test]
    fn every_call_ends_exactly_once(
        happenings in proptest::collection::vec((0..4_u8, 0..20_u32, 0..3_000_u64), 0..80),
    ) {
        let mut calls = Calls::new(PATIENCE, 6);
        let mut now = ms(0);
        let mut ends = BTreeMap::new();
        for (kind, number, passed) in happenings {
            now += Duration::from_millis(passed);
            match kind {
                0 => if let Ok(id) = calls.ask(now, ()) {
                    prop_assert_eq!(ends.insert(id, 0), None, "a number twice");
                },
                1 => {
                    let known = calls.asked(CallId(number)).is_some();
                    let taken = calls.handle_result(CallId(number), CallStatus::Done, b"");
                    prop_assert_eq!(taken.is_ok(), known);
                }
                2 => calls.handle_timeout(now),
                _ => if let Some(ended) = calls.poll_ended() {
                    *ends.get_mut(&ended.id).unwrap() += 1;
                },
            }
            prop_assert!(calls.under_way() + calls.ended.len() <= 6);
        }
        calls.disconnect();
        while let Some(ended) = calls.poll_ended() {
            *ends.get_mut(&ended.id).unwrap() += 1;
        }
        prop_assert!(ends.values().all(|ended| *ended == 1), "{:?}", ends);
    }
}
