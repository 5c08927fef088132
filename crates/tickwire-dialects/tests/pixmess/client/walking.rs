//! Steps, corrections, edits, and what cannot be done.

use std::time::Duration;

use tickwire_dialects::pixmess::limits::{
    CHAT_SPAN, CHATS_A_SPAN, EDITS_A_SECOND, JITTER_ALLOWED, MOVE_REFILL, MOVES_AT_ONCE,
    REQUESTS_A_SECOND,
};
use tickwire_dialects::pixmess::message::FromClient;
use tickwire_dialects::pixmess::{
    ActError, BlockId, Client, ClientEvent, Direction, EntityId, PlayerId, SetId, Version,
};
use tickwire_session::{Instant, TokenBucket};

use super::script::{ClientScript, ON, OWN};
use crate::script::ms;
use crate::words::{
    Said, WALL, cell, chat, creation, destruction, edit, moved, plain, position, root, say, solid,
    walk,
};

const BOB: PlayerId = PlayerId(6);

#[test]
fn a_step_is_taken_at_once() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.act(|now, client| client.walk(now, Direction::SouthWest))
        .unwrap();
    c.expects(&[walk(6)]);
    assert_eq!(c.session.position(), Some(cell(-1, 1)));
}

#[test]
fn steps_stay_below_the_server_s_rate() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    let taken = c.act(|now, client| {
        let steps = (0..30).map(|_| client.walk(now, Direction::East));
        steps.filter(Result::is_ok).count()
    });
    assert_eq!(taken, 16);
    let refused = c.act(|now, client| client.walk(now, Direction::East));
    assert_eq!(refused, Err(ActError::TooFast));
    c.pass(ms(51));
    c.act(|now, client| client.walk(now, Direction::East))
        .unwrap();
}

#[test]
fn steps_that_arrive_closer_together_than_they_were_taken_are_still_allowed() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    let mut arrivals = Vec::new();
    for turn in 0..2_000_u64 {
        // One packet is late by as much as is allowed, the next one not at all.
        let late = if turn % 40 < 20 {
            JITTER_ALLOWED
        } else {
            ms(0)
        };
        if c.act(|now, client| client.walk(now, Direction::East).is_ok()) {
            arrivals.push(c.now + late);
        }
        c.pass(ms(10));
    }
    assert!(arrivals.len() > 380, "{} steps", arrivals.len());
    arrivals.sort_unstable();
    let mut server = TokenBucket::new(arrivals[0], MOVES_AT_ONCE, MOVE_REFILL);
    assert!(arrivals.iter().all(|&at| server.take(at).is_some()));
}

#[track_caller]
fn check_rate(
    most: usize,
    span: Duration,
    mut act: impl FnMut(Instant, &mut Client) -> Result<(), ActError>,
) {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    for _ in 0..2 {
        for _ in 0..most {
            assert_eq!(c.act(&mut act), Ok(()));
        }
        assert_eq!(c.act(&mut act), Err(ActError::TooFast));
        c.pass(span + JITTER_ALLOWED - ms(1));
        assert_eq!(c.act(&mut act), Err(ActError::TooFast));
        c.pass(ms(1));
        // It is not silent, just slow.
        c.send(&[chat("<bob> hm")]);
    }
}

#[test]
fn what_the_server_would_refuse_for_being_too_much_is_not_said() {
    let second = Duration::from_secs(1);
    check_rate(EDITS_A_SECOND, second, |now, client| {
        client.edit(now, solid(1, 1), WALL)
    });
    check_rate(CHATS_A_SPAN, CHAT_SPAN, |now, client| {
        client.chat(now, "hm")
    });
    let mut x = 0;
    check_rate(REQUESTS_A_SECOND, second, |now, client| {
        x += 1;
        let asked = client.request(now, root(x, 0));
        // As if it came, so that nothing else is in the way.
        client.release(root(x, 0)).and(asked)
    });
}

#[test]
fn a_correction_is_believed_and_confirmed() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.act(|now, client| {
        for _ in 0..3 {
            client.walk(now, Direction::East).unwrap();
        }
    });
    c.expects(&[walk(0); 3]);
    // The first was refused; the server has not seen the others when it says so.
    c.send(&[position(OWN, cell(0, 0))]);
    assert_eq!(c.session.position(), Some(cell(0, 0)));
    c.expects(&[FromClient::EntityPosition { at: cell(0, 0) }]);
    // It has now, and answers that.
    c.send(&[position(OWN, cell(2, 0))]);
    c.expects(&[FromClient::EntityPosition { at: cell(2, 0) }]);
    // What was said already is not said again.
    c.send(&[position(OWN, cell(2, 0))]);
    c.expects(&[]);
    assert_eq!(c.session.position(), Some(cell(2, 0)));
    assert_eq!(
        c.events(),
        [
            ClientEvent::Corrected(cell(0, 0)),
            ClientEvent::Corrected(cell(2, 0)),
            ClientEvent::Corrected(cell(2, 0))
        ]
    );
}

#[test]
fn a_report_that_happens_to_be_true_does_not_hide_a_correction_behind_it() {
    let mut c = ClientScript::playing(Version::One, cell(10, 20));
    let ways = [
        Direction::East,
        Direction::East,
        Direction::North,
        Direction::West,
    ];
    c.act(|now, client| ways.map(|way| client.walk(now, way).unwrap()));
    c.expects(&[walk(0), walk(0), walk(3), walk(1)]);
    // The first and the third step are refused; after the fourth it stands where it began.
    c.send(&[position(OWN, cell(10, 20))]);
    c.expects(&[FromClient::EntityPosition { at: cell(10, 20) }]);
    c.send(&[position(OWN, cell(11, 20))]);
    // The first report was true when it arrived. Only this one is answered.
    c.expects(&[FromClient::EntityPosition { at: cell(11, 20) }]);
    c.send(&[position(OWN, cell(10, 20))]);
    c.expects(&[FromClient::EntityPosition { at: cell(10, 20) }]);
    assert_eq!(c.session.position(), Some(cell(10, 20)));
}

#[test]
fn who_never_walked_believes_without_a_word() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.send(&[position(OWN, cell(-1_000, 70_000))]);
    c.expects(&[]);
    assert_eq!(c.session.position(), Some(cell(-1_000, 70_000)));
}

#[test]
fn a_server_that_corrects_and_does_not_read_hears_only_the_last_of_it() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.act(|now, client| client.walk(now, Direction::East))
        .unwrap();
    c.expects(&[walk(0)]);
    for x in 2..1_000 {
        c.send_deaf(&plain(&position(OWN, cell(x, 0))));
    }
    c.pass(ms(5_000));
    c.give_room(ON, u32::MAX);
    c.expects(&[Said::Ping, FromClient::EntityPosition { at: cell(999, 0) }]);
}

#[test]
fn others_come_walk_and_go() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    let bob = BOB.entity();
    c.send(&[
        creation(BOB, "bob", cell(5, 5)),
        moved(BOB, 0),
        position(BOB, cell(9, 9)),
        destruction(bob),
        moved(BOB, 0),
        moved(OWN, 9),
    ]);
    let events = c.events();
    assert_eq!(
        events[..3],
        [
            ClientEvent::EntityCreated(bob),
            ClientEvent::EntityMoved(bob),
            ClientEvent::EntityMoved(bob)
        ]
    );
    assert!(matches!(&events[3], ClientEvent::EntityDestroyed(_, last) if last.at == cell(9, 9)));
    assert_eq!(events.len(), 4);
    let counters = c.session.counters();
    assert_eq!((counters.unknown_entity, counters.violations), (1, 1));
}

#[test]
fn an_entity_that_is_ignored_is_gone_here_and_there() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.send(&[creation(BOB, "bob", cell(5, 5))]);
    c.act(|_, client| client.ignore(BOB.entity())).unwrap();
    c.expects(&[FromClient::EntityDestruction {
        entity: EntityId(6),
    }]);
    assert_eq!(c.session.entities().count(), 1);
    assert!(c.act(|_, client| client.ignore(OWN.entity())).is_err());
}

#[test]
fn an_edit_must_be_near_enough_to_be_understood() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.act(|now, client| client.edit(now, solid(-32_768, 32_767), WALL))
        .unwrap();
    c.expects(&[edit(solid(-32_768, 32_767), WALL)]);
    let far = c.act(|now, client| client.edit(now, solid(32_768, 0), WALL));
    assert_eq!(far, Err(ActError::TooFar));
    let elsewhere = BlockId {
        set: SetId(1),
        ..solid(0, 0)
    };
    let unknown = c.act(|now, client| client.edit(now, elsewhere, WALL));
    assert_eq!(unknown, Err(ActError::UnknownSet));
}

#[test]
fn a_chat_has_1_to_255_bytes() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    let long = "x".repeat(256);
    for text in ["", &long] {
        let refused = c.act(|now, client| client.chat(now, text));
        assert_eq!(refused, Err(ActError::Length { limit: 255 }));
    }
    c.act(|now, client| client.chat(now, &long[..255])).unwrap();
    c.expects(&[say(&long[..255])]);
}

#[test]
fn a_server_that_does_not_read_is_not_talked_to_without_end() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    let mut waiting = 0;
    while c.session.release(root(0, 0)).is_ok() {
        waiting += 1;
    }
    assert_eq!(waiting, 256);
    assert_eq!(c.session.chat(c.now, "hi"), Err(ActError::TooMuchWaiting));
}
