//! Joined: the server waits for a token by UDP. Attached: it has come.

use tickwire_dialects::cppevy::limits::{KEEP_ALIVE, TIMEOUT};
use tickwire_dialects::cppevy::{ActionId, Reason};
use tickwire_session::{Addr, WRONG_TOKENS};
use tickwire_sim::addr::{link, machine};

use crate::driven::ms;
use crate::script::{Mail, ServerScript, addr};
use crate::words::{
    HEALTH, ROCK, STEER, action, attach, failure, payload, request, state, state_id, success,
};

const ATTACHED: ActionId = ActionId::ATTACH;

fn other_port(client: u8) -> Addr {
    machine(client, 6_000)
}

#[test]
fn a_token_attaches_its_address_and_every_showing_is_answered() {
    let mut s = ServerScript::begin();
    let ann = s.join(1);
    for _ in 0..3 {
        s.cast(1, &[attach(ann.token.0)]);
        assert_eq!(s.catches(1), [success(ATTACHED, &[])]);
        assert_eq!(s.state(1), Some("Attached"));
    }
}

#[test]
fn from_strangers_only_attach_is_answered() {
    let mut s = ServerScript::begin();
    s.join(1);
    s.forget();
    s.cast(1, &[action(STEER, &[1]), request(state_id(0, HEALTH))]);
    s.cast(1, &[]);
    s.expects_nothing();
    assert_eq!(s.counters().stranger, 3);
    assert_eq!(s.events(), []);
}

#[test]
fn a_guessed_token_is_an_error_and_the_answer_is_no_longer_than_the_question() {
    let mut s = ServerScript::begin();
    let ann = s.join(1);
    s.forget();
    for guess in [0, u64::MAX, ann.token.0 ^ 1] {
        s.cast(1, &[attach(guess)]);
        assert_eq!(s.catches(1), [failure(ATTACHED, Reason::Error)]);
    }
    assert_eq!(s.counters().wrong_token, 3);
    // The shortest question that gets an answer, and a payload full of them.
    for count in [1, 126] {
        let questions = vec![action(ATTACHED, &[]); count];
        let asked = payload(0, &questions).len();
        s.cast(1, &questions);
        let mail = s.datagram_mail(addr(1));
        assert_eq!(mail.len(), 1);
        assert!(mail[0].size <= asked, "{} for {asked}", mail[0].size);
        assert_eq!(mail[0].objects.len(), count);
    }
}

#[test]
fn guesses_above_the_rate_of_a_machine_are_not_answered_and_the_right_token_is() {
    let mut s = ServerScript::begin();
    let ann = s.join(1);
    s.forget();
    for _ in 0..WRONG_TOKENS / 32 {
        s.cast(1, &[attach(5); 32]);
        assert_eq!(s.catches(1).len(), 32);
    }
    s.cast(1, &[attach(5); 32]);
    s.expects_nothing();
    assert_eq!(s.counters().token_ignored, 32);
    s.cast(1, &[attach(ann.token.0)]);
    assert_eq!(s.catches(1), [success(ATTACHED, &[])]);
}

#[test]
fn a_token_from_another_machine_is_ignored() {
    let mut s = ServerScript::begin();
    let ann = s.join(1);
    s.forget();
    s.cast(2, &[attach(ann.token.0)]);
    s.expects_nothing();
    assert_eq!(s.counters().token_from_elsewhere, 1);
    assert_eq!(s.state(1), Some("Joined"));
    s.cast_from(link(1), &[attach(ann.token.0)]);
    s.expects_nothing();
}

#[test]
fn the_newest_address_gets_the_datagrams_and_all_states() {
    let mut s = ServerScript::begin();
    let rock = s.act(|now, server| server.summon(now, ROCK).unwrap());
    s.act(|_, server| server.set_state(rock, HEALTH, &[50]).unwrap());
    let ann = s.join(1);
    s.cast(1, &[attach(ann.token.0)]);
    s.live(ms(2_000), &[1]);
    s.forget();
    s.cast_from(other_port(1), &[attach(ann.token.0)]);
    s.pass(ms(50));
    let heard: Vec<_> = s
        .datagram_mail(other_port(1))
        .into_iter()
        .flat_map(|mail| mail.objects)
        .collect();
    assert_eq!(
        heard,
        [success(ATTACHED, &[]), state(state_id(0, HEALTH), &[50])]
    );
    s.pass(ms(1_000));
    assert_eq!(s.catches(1), [], "the old address hears nothing more");
    s.cast(1, &[action(STEER, &[1])]);
    assert_eq!(s.counters().stranger, 1);
}

#[test]
fn an_attached_address_cannot_show_another_client_s_token() {
    let mut s = ServerScript::begin();
    s.play(1);
    // The second client is on the same machine as the first.
    let bob = s.join_from(2, machine(1, 4_001));
    s.forget();
    s.cast(1, &[attach(bob.token.0)]);
    assert_eq!(s.catches(1), [failure(ATTACHED, Reason::Error)]);
    assert_eq!(s.counters().foreign_token, 1);
    s.cast_from(other_port(1), &[attach(bob.token.0)]);
    let answer = s.datagram_mail(other_port(1));
    assert_eq!(answer[0].objects, [success(ATTACHED, &[])]);
}

/// Where a token may be shown from, in this test.
#[derive(Clone, Copy, Debug)]
enum Shown {
    /// Its holder attached this address.
    Attached,
    /// An address of a known machine that nobody attached.
    Unattached,
    /// An address of a machine that has no stream.
    Unknown,
}

/// Whose it is.
#[derive(Clone, Copy, Debug)]
enum Whose {
    Own,
    Nobody,
    Neighbour,
    OtherMachine,
    Ended,
}

#[test]
fn every_token_from_every_kind_of_address() {
    use {Reason::Error, Shown::*, Whose::*};
    let yes = Some(success(ATTACHED, &[]));
    let no = Some(failure(ATTACHED, Error));
    let table = [
        (Attached, Own, yes),
        (Attached, Nobody, no),
        (Attached, Neighbour, no),
        (Attached, OtherMachine, None),
        (Attached, Ended, no),
        (Unattached, Own, yes),
        (Unattached, Nobody, no),
        (Unattached, Neighbour, yes),
        (Unattached, OtherMachine, None),
        (Unattached, Ended, no),
        (Unknown, Own, None),
        (Unknown, Nobody, no),
        (Unknown, Neighbour, None),
        (Unknown, OtherMachine, None),
        (Unknown, Ended, no),
    ];
    for (shown, whose, expected) in table {
        let mut s = ServerScript::begin();
        let own = s.join(1);
        s.cast(1, &[attach(own.token.0)]);
        let neighbour = s.join_from(2, machine(1, 4_001));
        let other = s.join(3);
        s.cast(3, &[attach(other.token.0)]);
        let ended = s.join_from(4, machine(1, 4_003));
        s.close(4);
        s.forget();
        let from = match shown {
            Attached => addr(1),
            Unattached => other_port(1),
            Unknown => machine(77, 5_000),
        };
        let token = match whose {
            Own => own.token.0,
            Nobody => own.token.0 ^ 1,
            Neighbour => neighbour.token.0,
            OtherMachine => other.token.0,
            Ended => ended.token.0,
        };
        s.cast_from(from, &[attach(token)]);
        let mail = s.datagram_mail(from);
        let answers: Vec<_> = mail.into_iter().flat_map(|mail| mail.objects).collect();
        assert_eq!(answers, Vec::from_iter(expected), "{shown:?}, {whose:?}");
        s.expects_nothing();
        // Whatever was shown, nobody else's datagrams go elsewhere.
        s.forget();
        s.cast(3, &[action(ActionId::DISABLED, &[])]);
        let disabled = failure(ActionId::DISABLED, Reason::Disabled);
        assert_eq!(s.catches(3), [disabled], "{shown:?}, {whose:?}");
        let counted = s.counters();
        let violations = counted.wrong_token + counted.token_from_elsewhere + counted.foreign_token;
        assert_eq!(
            violations,
            u64::from(expected != yes),
            "{shown:?}, {whose:?}"
        );
    }
}

#[test]
fn what_follows_an_attach_in_its_datagram_counts_and_what_precedes_it_does_not() {
    let mut s = ServerScript::begin();
    let ann = s.join(1);
    s.forget();
    s.cast(
        1,
        &[
            action(ActionId::DISABLED, &[]),
            attach(ann.token.0),
            action(ActionId::DISABLED, &[]),
        ],
    );
    assert_eq!(
        s.catches(1),
        [
            success(ATTACHED, &[]),
            failure(ActionId::DISABLED, Reason::Disabled)
        ]
    );
}

#[test]
fn attach_by_stream_is_an_error() {
    let mut s = ServerScript::begin();
    let ann = s.join(1);
    s.send(1, &[attach(ann.token.0)]);
    assert_eq!(s.hears(1), [failure(ATTACHED, Reason::Error)]);
    assert_eq!(s.counters().wrong_path, 1);
    assert_eq!(s.state(1), Some("Joined"));
}

#[test]
fn a_client_that_never_attaches_hears_only_its_stream() {
    let mut s = ServerScript::begin();
    s.join(1);
    let rock = s.act(|now, server| server.summon(now, ROCK).unwrap());
    s.act(|_, server| server.set_state(rock, HEALTH, &[50]).unwrap());
    s.forget();
    s.live(TIMEOUT * 2, &[1]);
    assert_eq!(s.catches(1), []);
    assert!(s.stream_mail(1).iter().all(|mail| mail.objects.is_empty()));
    assert_eq!(s.state(1), Some("Joined"));
}

#[test]
fn datagrams_alone_keep_a_client_too() {
    let mut s = ServerScript::begin();
    s.play(1);
    for _ in 0..40 {
        s.pass(ms(1_000));
        s.cast(1, &[]);
    }
    assert_eq!(s.state(1), Some("Attached"));
    s.pass(TIMEOUT + ms(50));
    assert_eq!(s.state(1), None);
}

#[test]
fn a_quiet_server_keeps_the_path_open() {
    let mut s = ServerScript::begin();
    s.play(1);
    s.pass(KEEP_ALIVE * 3);
    let mail = s.datagram_mail(addr(1));
    let empty = |mail: &Mail| mail.objects.is_empty() && mail.size == 5;
    assert_eq!(mail.len(), 3);
    assert!(mail.iter().all(empty), "{mail:?}");
}

#[test]
fn a_link_is_one_peer_by_stream_and_datagram() {
    let mut s = ServerScript::begin();
    let bot = s.join_from(1, link(9));
    s.cast_from(link(8), &[attach(bot.token.0)]);
    assert_eq!(s.datagram_mail(link(8)), []);
    s.cast_from(link(9), &[attach(bot.token.0)]);
    let answer = s.datagram_mail(link(9));
    assert_eq!(answer[0].objects, [success(ATTACHED, &[])]);
}
