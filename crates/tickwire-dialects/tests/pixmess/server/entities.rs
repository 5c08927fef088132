//! Who sees whom.

use tickwire_dialects::pixmess::message::{FromClient, FromServer};
use tickwire_dialects::pixmess::{Direction, EntityId, PlayerId};

use crate::script::{ANN, BOB, CID, Script, ms};
use crate::words::{
    Heard, LOOK, cell, creation, destruction, moved, player_id, position, walk, xy,
};

const EAST: u8 = 0;
const WEST: u8 = 1;

/// Ann and Bob stand at the eastern edge of chunk (0, 0) and hold it; Cid holds the one to the east.
fn at_the_border() -> (Script, PlayerId, PlayerId, PlayerId) {
    let mut s = Script::begin();
    s.memory.game.spawn = cell(63, 10);
    let ann = s.join(ANN, "ann");
    let bob = s.join(BOB, "bob");
    let cid = s.join(CID, "cid");
    s.load(ANN, xy(0, 0));
    s.load(BOB, xy(0, 0));
    s.load(CID, xy(1, 0));
    s.forget();
    (s, ann, bob, cid)
}

#[test]
fn steps_go_to_everybody_who_sees_them_but_not_to_the_walker() {
    let (mut s, ann, ..) = at_the_border();
    for direction in 0..8 {
        let back = direction ^ 1;
        s.send(ANN, &[walk(WEST), walk(direction), walk(back)]);
        s.expects(
            BOB,
            &[moved(ann, WEST), moved(ann, direction), moved(ann, back)],
        );
        s.hears_nothing(ANN);
        s.hears_nothing(CID);
        s.send(ANN, &[walk(EAST)]);
        s.forget();
        s.live(ms(1_000), &[ANN, BOB, CID]);
    }
    assert_eq!(s.at(ann), cell(63, 10));
}

#[test]
fn who_leaves_sight_is_destroyed_and_who_enters_is_created() {
    let (mut s, ann, ..) = at_the_border();
    s.send(ANN, &[walk(EAST)]);
    s.expects(BOB, &[destruction(ann.entity())]);
    s.expects(CID, &[creation(ann, "ann", cell(64, 10))]);
    s.hears_nothing(ANN);
    s.send(ANN, &[walk(EAST)]);
    s.hears_nothing(BOB);
    s.expects(CID, &[moved(ann, EAST)]);
    s.send(ANN, &[walk(WEST)]);
    s.expects(CID, &[moved(ann, WEST)]);
    s.send(ANN, &[walk(WEST)]);
    s.expects(BOB, &[creation(ann, "ann", cell(63, 10))]);
    s.expects(CID, &[destruction(ann.entity())]);
}

#[test]
fn who_holds_both_chunks_sees_a_step() {
    let (mut s, ann, ..) = at_the_border();
    s.load(BOB, xy(1, 0));
    s.forget();
    s.send(ANN, &[walk(EAST), walk(WEST)]);
    s.expects(BOB, &[moved(ann, EAST), moved(ann, WEST)]);
}

#[test]
fn a_step_into_a_wall_is_taken_back_and_costs_nothing() {
    let mut s = Script::begin();
    s.memory.game.wall_in(0, 0);
    let ann = s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.load(BOB, xy(0, 0));
    s.forget();
    for _ in 0..100 {
        s.send(ANN, &[walk(EAST)]);
        s.expects(ANN, &[position(ann, cell(0, 0))]);
    }
    s.hears_nothing(BOB);
    // Twenty steps at once are still there: diagonal ones get out.
    s.send(ANN, &[walk(4)]);
    s.send(ANN, &[walk(EAST); 19]);
    s.hears_nothing(ANN);
    assert_eq!(s.at(ann), cell(20, 1));
}

#[test]
fn twenty_steps_at_once_then_twenty_a_second() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.send(ANN, &[walk(EAST); 30]);
    // Told where it stands, but four times a second at most.
    s.expects(ANN, &[position(ann, cell(20, 0)); 4]);
    assert_eq!(s.counters().too_fast, 10);
    s.pass(ms(49));
    s.send(ANN, &[walk(EAST)]);
    assert_eq!(s.at(ann), cell(20, 0));
    s.pass(ms(1));
    s.send(ANN, &[walk(EAST)]);
    assert_eq!(s.at(ann), cell(21, 0));
    // What was refused without a word is made good as soon as that may be said again.
    s.hears_nothing(ANN);
    s.pass(ms(1_000));
    s.expects(ANN, &[position(ann, cell(21, 0))]);
    s.send(ANN, &[walk(EAST); 30]);
    assert_eq!(s.at(ann), cell(41, 0));
    s.expects(ANN, &[position(ann, cell(41, 0)); 3]);
    s.pass(ms(1_000));
    s.expects(ANN, &[position(ann, cell(41, 0))]);
}

#[test]
fn a_direction_above_7_is_refused_and_answered() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.send(ANN, &[walk(8), walk(255)]);
    s.expects(ANN, &[position(ann, cell(0, 0)); 2]);
    assert_eq!(s.counters().bad_direction, 2);
    // The field that it was in counts as sent: a mask repeats it.
    s.say_bytes(ANN, &[0xd0, 0x01]);
    s.expects(ANN, &[position(ann, cell(0, 0))]);
    assert_eq!(s.counters().bad_direction, 3);
}

#[test]
fn a_mask_of_a_field_never_sent_means_zero() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    // All bits, those of fields that a client's packet does not have included.
    s.say_bytes(ANN, &[0xd0, 0xff, 0x90]);
    assert_eq!(s.at(ann), cell(2, 0));
    s.hears_nothing(ANN);
}

#[test]
fn a_position_that_is_not_true_is_answered_with_the_one_that_is() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.send(ANN, &[FromClient::EntityPosition { at: cell(0, 0) }]);
    s.hears_nothing(ANN);
    s.send(ANN, &[FromClient::EntityPosition { at: cell(1, 0) }]);
    s.expects(ANN, &[position(ann, cell(0, 0))]);
    assert_eq!(s.at(ann), cell(0, 0));
}

#[test]
fn a_teleport_is_told_to_the_player_and_to_all_who_see_it() {
    let (mut s, ann, bob, _) = at_the_border();
    s.act(|_, server| server.place_entity(ann.entity(), cell(0, 0)));
    for who in [ANN, BOB] {
        s.expects(who, &[position(ann, cell(0, 0))]);
    }
    s.act(|_, server| server.place_entity(bob.entity(), cell(100, 0)));
    s.expects(ANN, &[destruction(bob.entity())]);
    s.expects(BOB, &[position(bob, cell(100, 0))]);
    s.expects(CID, &[creation(bob, "bob", cell(100, 0))]);
}

#[test]
fn chunks_that_come_too_far_away_are_released() {
    let (mut s, ann, ..) = at_the_border();
    let far = cell(257 * 64, 0);
    s.act(|_, server| server.place_entity(ann.entity(), cell(256 * 64, 0)));
    s.expects(ANN, &[position(ann, cell(256 * 64, 0))]);
    s.act(|_, server| server.place_entity(ann.entity(), far));
    s.expects(
        ANN,
        &[
            position(ann, far),
            FromServer::LayerRelease(xy(0, 0)),
            destruction(EntityId(2)),
            destruction(EntityId(3)),
        ],
    );
}

#[test]
fn an_entity_that_a_client_does_not_want_is_not_mentioned_until_its_chunk_is_loaded() {
    let (mut s, ann, bob, _) = at_the_border();
    s.send(
        ANN,
        &[FromClient::EntityDestruction {
            entity: bob.entity(),
        }],
    );
    s.send(BOB, &[walk(WEST), walk(EAST), walk(EAST), walk(WEST)]);
    s.hears_nothing(ANN);
    // Bob does not notice.
    s.send(ANN, &[walk(WEST)]);
    s.expects(BOB, &[moved(ann, WEST)]);
    s.send(ANN, &[FromClient::LayerRequest(xy(0, 0))]);
    s.expects_layer(ANN, xy(0, 0));
    assert!(s.heard(ANN).contains(&creation(bob, "bob", cell(63, 10))));
    s.send(BOB, &[walk(WEST)]);
    s.expects(ANN, &[moved(bob, WEST)]);
}

#[test]
fn one_s_own_entity_cannot_be_removed() {
    let (mut s, ann, ..) = at_the_border();
    s.send(
        ANN,
        &[FromClient::EntityDestruction {
            entity: ann.entity(),
        }],
    );
    for who in [ANN, BOB, CID] {
        s.hears_nothing(who);
    }
    s.send(ANN, &[walk(WEST), FromClient::PlayerId]);
    s.expects(BOB, &[moved(ann, WEST)]);
    s.expects(ANN, &[player_id(ann)]);
    s.act(|_, server| server.destroy_entity(ann.entity()));
    s.hears_nothing(BOB);
}

#[test]
fn the_game_has_entities_of_its_own() {
    let (mut s, ..) = at_the_border();
    let cat = s.act(|_, server| server.create_entity(cell(64, 5), LOOK, "cat").unwrap());
    let created = creation(PlayerId(cat.0), "cat", cell(64, 5));
    s.expects(CID, &[created]);
    s.hears_nothing(ANN);
    s.act(|_, server| {
        server.move_entity(cat, Direction::West);
        server.move_entity(cat, Direction::North);
    });
    // A client is told how things are, not how they came about.
    s.expects(ANN, &[creation(PlayerId(cat.0), "cat", cell(63, 4))]);
    s.expects(CID, &[destruction(cat)]);
    s.act(|_, server| server.move_entity(cat, Direction::North));
    s.expects(ANN, &[moved(PlayerId(cat.0), 3)]);
    s.act(|_, server| server.destroy_entity(cat));
    s.expects(ANN, &[destruction(cat)]);
}

#[test]
fn a_straight_walk_costs_each_watcher_a_byte_a_step() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.load(BOB, xy(0, 0));
    s.send(ANN, &[walk(EAST); 2]);
    let before = s.bytes_to(BOB);
    s.send(ANN, &[walk(EAST); 10]);
    assert_eq!(s.bytes_to(BOB) - before, 10);
    let steps: Vec<Heard> = s.heard(BOB);
    assert!(steps.len() >= 12);
}
