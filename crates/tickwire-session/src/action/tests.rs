use super::*;
use alloc::vec;

const PATIENCE: Duration = Duration::from_secs(10);

/// Actions of two kinds, and a clock.
struct Script {
    actions: Actions<char, u32>,
    now: Instant,
}

impl Script {
    fn new() -> Self {
        Self {
            actions: Actions::new(PATIENCE, 8),
            now: Instant::from_millis(100),
        }
    }

    #[track_caller]
    fn ask(&mut self, kind: char, content: u32) -> ActionNumber {
        self.actions
            .ask(self.now, kind, Belief::Assumed, content)
            .unwrap()
    }

    #[track_caller]
    fn sends(&mut self, expected: &[(char, u32)]) {
        let mut sent = vec![];
        while let Some((kind, content)) = self.actions.poll_send(self.now) {
            sent.push((kind, *content));
        }
        assert_eq!(sent, expected);
    }

    #[track_caller]
    fn fails(&mut self, kind: char, reason: Reason) {
        assert_eq!(self.actions.handle_failure(self.now, kind, reason), Ok(()));
    }

    #[track_caller]
    fn succeeds(&mut self, kind: char) {
        assert_eq!(self.actions.handle_success(kind, b"ok"), Ok(()));
    }

    #[track_caller]
    fn ended(&mut self, expected: &[(ActionNumber, Outcome)]) {
        let ended: Vec<_> = core::iter::from_fn(|| self.actions.poll_ended())
            .map(|ended| (ended.number, ended.outcome))
            .collect();
        assert_eq!(ended, expected);
    }

    fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.actions.handle_timeout(self.now);
    }

    fn assumed(&self) -> Vec<u32> {
        self.actions
            .assumed()
            .map(|(_, _, content)| *content)
            .collect()
    }
}

fn succeeded(late: bool) -> Outcome {
    Outcome::Succeeded {
        message: b"ok".to_vec(),
        late,
    }
}

const fn refused(reason: Reason) -> Outcome {
    Outcome::Failed(Failure::Refused(reason))
}

#[test]
fn answers_meet_actions_of_their_kind_in_order() {
    let mut script = Script::new();
    let (a, b, c) = (script.ask('x', 1), script.ask('y', 2), script.ask('x', 3));
    script.sends(&[('x', 1), ('y', 2), ('x', 3)]);
    script.fails('x', Reason::Waiting);
    script.succeeds('x');
    script.succeeds('y');
    script.ended(&[
        (a, refused(Reason::Waiting)),
        (c, succeeded(false)),
        (b, succeeded(false)),
    ]);
    assert_eq!(script.actions.handle_success('x', b""), Err(Unasked));
    assert_eq!(script.actions.handle_success('z', b""), Err(Unasked));
    script.ended(&[]);
}

#[test]
fn what_was_assumed_is_gone_when_it_failed() {
    let mut script = Script::new();
    script.ask('x', 1);
    script.ask('x', 2);
    let confirmed = script
        .actions
        .ask(script.now, 'x', Belief::Confirmed, 3)
        .unwrap();
    script.sends(&[('x', 1), ('x', 2), ('x', 3)]);
    assert_eq!(script.assumed(), [1, 2]);
    script.fails('x', Reason::Unavailable);
    assert_eq!(script.assumed(), [2]);
    script.succeeds('x');
    assert_eq!(script.assumed(), [0; 0]);
    assert_eq!(script.actions.under_way(), 1);
    script.succeeds('x');
    let last = core::iter::from_fn(|| script.actions.poll_ended()).last();
    assert_eq!(last.unwrap().number, confirmed);
}

#[test]
fn busy_is_tried_again_with_growing_waits() {
    let mut script = Script::new();
    let number = script.ask('x', 1);
    script.sends(&[('x', 1)]);
    for wait in [50, 100, 200, 400, 800, 800, 800] {
        script.fails('x', Reason::Busy);
        script.ended(&[]);
        script.wait(wait - 1);
        script.sends(&[]);
        assert_eq!(script.assumed(), [1], "still shown");
        script.wait(1);
        script.sends(&[('x', 1)]);
    }
    script.succeeds('x');
    script.ended(&[(number, succeeded(false))]);
}

#[test]
fn a_server_that_stays_busy_ends_it_as_busy() {
    let mut script = Script::new();
    let number = script.ask('x', 1);
    while script.actions.under_way() > 0 {
        if script.actions.poll_send(script.now).is_some() {
            script.fails('x', Reason::Busy);
        }
        let next = script.actions.poll_timeout().unwrap();
        assert!(next > script.now, "nothing is due now");
        script.now = next;
        script.actions.handle_timeout(next);
    }
    assert_eq!(script.now, Instant::from_millis(100) + PATIENCE);
    script.ended(&[(number, refused(Reason::Busy))]);
}

#[test]
fn disabled_is_never_sent_again() {
    let mut script = Script::new();
    let (sent, again) = (script.ask('x', 1), script.ask('x', 2));
    script.sends(&[('x', 1), ('x', 2)]);
    script.fails('x', Reason::Busy);
    let unsent = script.ask('x', 3);
    script.fails('x', Reason::Disabled);
    script.ended(&[
        (again, refused(Reason::Disabled)),
        (sent, refused(Reason::Disabled)),
        (unsent, refused(Reason::Disabled)),
    ]);
    let asked = script.actions.ask(script.now, 'x', Belief::Confirmed, 4);
    assert_eq!(asked, Err(AskError::Disabled));
    assert!(script.actions.is_disabled('x') && !script.actions.is_disabled('y'));
    script.wait(60);
    script.sends(&[]);
}

#[test]
fn delayed_fails_and_may_succeed_once_later() {
    let mut script = Script::new();
    let (first, second) = (script.ask('x', 1), script.ask('x', 2));
    script.sends(&[('x', 1), ('x', 2)]);
    script.fails('x', Reason::Delayed);
    script.ended(&[(first, refused(Reason::Delayed))]);
    assert_eq!(script.assumed(), [2]);
    // The first one's success may come before or after the second one's failure.
    script.fails('x', Reason::Waiting);
    script.ended(&[(second, refused(Reason::Waiting))]);
    script.succeeds('x');
    script.ended(&[(first, succeeded(true))]);
    assert_eq!(script.actions.handle_success('x', b""), Err(Unasked));
}

#[test]
fn the_late_success_of_one_that_was_given_up_is_not_another_s() {
    let mut script = Script::new();
    let lost = script.ask('x', 1);
    script.sends(&[('x', 1)]);
    script.wait(10_000);
    script.ended(&[(lost, Outcome::Failed(Failure::TimedOut))]);
    let next = script.ask('x', 2);
    script.sends(&[('x', 2)]);
    script.fails('x', Reason::Delayed);
    script.succeeds('x');
    script.ended(&[]);
    script.succeeds('x');
    script.ended(&[(next, succeeded(false))]);
}

#[test]
fn silence_ends_visibly_and_a_late_answer_is_not_the_next_one_s() {
    let mut script = Script::new();
    let lost = script.ask('x', 1);
    script.sends(&[('x', 1)]);
    script.wait(9_999);
    script.ended(&[]);
    let next = script.ask('x', 2);
    script.sends(&[('x', 2)]);
    script.wait(1);
    script.ended(&[(lost, Outcome::Failed(Failure::TimedOut))]);
    assert_eq!(script.assumed(), [2]);
    script.fails('x', Reason::Error);
    script.ended(&[]);
    script.succeeds('x');
    script.ended(&[(next, succeeded(false))]);
}

#[test]
fn an_action_that_was_never_sent_times_out_too() {
    let mut script = Script::new();
    let number = script.ask('x', 1);
    script.wait(10_000);
    script.ended(&[(number, Outcome::Failed(Failure::TimedOut))]);
    script.sends(&[]);
}

#[test]
fn a_silent_server_cannot_make_the_memory_grow() {
    let mut script = Script::new();
    for _ in 0..8 {
        script.ask('x', 0);
        while script.actions.poll_send(script.now).is_some() {}
        script.wait(10_000);
    }
    // All have ended, but any of their answers may still come.
    assert_eq!(script.actions.under_way(), 0);
    let asked = script.actions.ask(script.now, 'x', Belief::Assumed, 0);
    assert_eq!(asked, Err(AskError::TooMany));
    script.succeeds('x');
    script.ask('x', 0);
}

#[test]
fn the_end_of_the_connection_ends_everything() {
    let mut script = Script::new();
    let (sent, unsent) = (script.ask('x', 1), {
        script.sends(&[('x', 1)]);
        script.ask('y', 2)
    });
    script.actions.disconnect();
    let failed = Outcome::Failed(Failure::Disconnected);
    script.ended(&[(sent, failed.clone()), (unsent, failed)]);
    assert_eq!(script.actions.poll_timeout(), None);
    assert_eq!(script.actions.handle_success('x', b""), Err(Unasked));
}
