//! Steps, corrections, edits, and what cannot be done.

use tickwire_dialects::pixmess::message::FromClient;
use tickwire_dialects::pixmess::{
    ActError, BlockId, ClientEvent, Direction, EntityId, PlayerId, SetId, Version,
};

use super::super::script::ms;
use super::super::words::{
    WALL, cell, creation, destruction, edit, moved, position, root, say, solid, walk,
};
use super::script::{ClientScript, OWN};

const BOB: PlayerId = PlayerId(6);

#[test]
fn a_step_is_taken_at_once() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.act(|now, client| client.walk(now, Direction::SouthWest))
        .unwrap();
    c.expects(&[walk(6)]);
    assert_eq!(c.client.position(), Some(cell(-1, 1)));
}

#[test]
fn steps_keep_the_server_s_rate() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    let taken = c.act(|now, client| {
        let steps = (0..30).map(|_| client.walk(now, Direction::East));
        steps.filter(Result::is_ok).count()
    });
    assert_eq!(taken, 20);
    let refused = c.act(|now, client| client.walk(now, Direction::East));
    assert_eq!(refused, Err(ActError::TooFast));
    c.advance(ms(50));
    c.act(|now, client| client.walk(now, Direction::East))
        .unwrap();
}

#[test]
fn a_correction_is_believed_and_confirmed_once() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.act(|now, client| {
        for _ in 0..3 {
            client.walk(now, Direction::East).unwrap();
        }
    });
    c.expects(&[walk(0); 3]);
    // The first was refused; the server has not seen the others when it says so.
    c.send(&[position(OWN, cell(0, 0))]);
    assert_eq!(c.client.position(), Some(cell(0, 0)));
    c.expects(&[FromClient::EntityPosition { at: cell(0, 0) }]);
    // It has now, and answers that.
    c.send(&[position(OWN, cell(2, 0))]);
    c.expects(&[]);
    assert_eq!(c.client.position(), Some(cell(2, 0)));
    assert_eq!(
        c.events(),
        [
            ClientEvent::Corrected(cell(0, 0)),
            ClientEvent::Corrected(cell(2, 0))
        ]
    );
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
    let counters = c.client.counters();
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
    assert_eq!(c.client.entities().count(), 1);
    assert!(c.act(|_, client| client.ignore(OWN.entity())).is_err());
}

#[test]
fn an_edit_must_be_near_enough_to_be_understood() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.act(|_, client| client.edit(solid(-32_768, 32_767), WALL))
        .unwrap();
    c.expects(&[edit(solid(-32_768, 32_767), WALL)]);
    let far = c.act(|_, client| client.edit(solid(32_768, 0), WALL));
    assert_eq!(far, Err(ActError::TooFar));
    let elsewhere = BlockId {
        set: SetId(1),
        ..solid(0, 0)
    };
    let unknown = c.act(|_, client| client.edit(elsewhere, WALL));
    assert_eq!(unknown, Err(ActError::UnknownSet));
}

#[test]
fn a_chat_has_1_to_255_bytes() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    let long = "x".repeat(256);
    for text in ["", &long] {
        let refused = c.act(|_, client| client.chat(text));
        assert_eq!(refused, Err(ActError::Length { limit: 255 }));
    }
    c.act(|_, client| client.chat(&long[..255])).unwrap();
    c.expects(&[say(&long[..255])]);
}

#[test]
fn a_server_that_does_not_read_is_not_talked_to_without_end() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    let mut waiting = 0;
    while c.client.release(root(0, 0)).is_ok() {
        waiting += 1;
    }
    assert_eq!(waiting, 256);
    assert_eq!(c.client.chat("hi"), Err(ActError::TooMuchWaiting));
}
