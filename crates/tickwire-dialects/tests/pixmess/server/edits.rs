//! Changing blocks.

use tickwire_dialects::pixmess::message::{BlockSet, FromClient};
use tickwire_dialects::pixmess::{Block, BlockId, Low, ServerEvent, Sublayer};

use crate::script::{ANN, BOB, CID, Script, ms};
use crate::words::{Said, WALL, cell, changed, edit, plain, solid, xy};

/// Ann and Bob hold chunk (0, 0); Cid holds none.
fn three() -> Script {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.join(CID, "cid");
    s.load(ANN, xy(0, 0));
    s.load(BOB, xy(0, 0));
    s.forget();
    s
}

#[test]
fn a_change_goes_to_everybody_who_holds_the_chunk_the_originator_included() {
    let mut s = three();
    let floor = BlockId {
        sublayer: Sublayer::Walkable,
        ..solid(3, 4)
    };
    let grass = Block {
        typ: -1,
        col: 2,
        ch: 46,
    };
    s.send(ANN, &[edit(solid(3, 4), WALL), edit(floor, grass)]);
    for who in [ANN, BOB] {
        s.expects(who, &[changed(solid(3, 4), WALL), changed(floor, grass)]);
    }
    s.hears_nothing(CID);
    assert_eq!(s.memory.game.block(solid(3, 4)), WALL);
    assert_eq!(s.memory.game.block(floor), grass);
}

#[test]
fn a_refused_change_is_answered_with_what_is_there() {
    let mut s = three();
    s.play(|game, server| game.set_block(server, solid(3, 4), WALL));
    s.forget();
    s.memory.game.sacred.insert((3, 4));
    s.send(ANN, &[edit(solid(3, 4), Block { typ: 9, ..WALL })]);
    s.expects(ANN, &[changed(solid(3, 4), WALL)]);
    s.hears_nothing(BOB);
}

#[test]
fn a_change_outside_the_chunks_held_is_refused() {
    let mut s = three();
    s.play(|game, server| game.set_block(server, solid(64, 0), WALL));
    s.send(ANN, &[edit(solid(64, 0), Block::EMPTY)]);
    s.expects(ANN, &[changed(solid(64, 0), WALL)]);
    s.send(CID, &[edit(solid(3, 4), WALL)]);
    s.expects(CID, &[changed(solid(3, 4), Block::EMPTY)]);
    s.hears_nothing(ANN);
    assert_eq!(s.counters().edits_outside, 2);
    assert!(
        s.told()
            .iter()
            .all(|event| matches!(event, ServerEvent::BlockAsked { .. }))
    );
}

#[test]
fn low_bits_mean_the_cell_nearest_to_the_player() {
    let mut s = Script::begin();
    s.memory.game.spawn = cell(65_530, -3);
    s.join(ANN, "ann");
    s.load(ANN, xy(1_024, -1));
    s.load(ANN, xy(1_024, 0));
    s.forget();
    for id in [solid(65_540, -1), solid(65_541, 2)] {
        s.send(ANN, &[edit(id, WALL)]);
        s.expects(ANN, &[changed(id, WALL)]);
        assert_eq!(s.memory.game.block(id), WALL);
    }
}

#[test]
fn clearing_says_nothing_about_colour_and_character() {
    let mut s = three();
    s.play(|game, server| game.set_block(server, solid(3, 4), WALL));
    s.forget();
    let cleared = Block {
        typ: 0,
        col: 99,
        ch: 99,
    };
    s.say_bytes(ANN, &plain(&edit(solid(3, 4), cleared)));
    s.say_bytes(ANN, &[0x02, 3, 0, 4, 0, 0, 99, 98]);
    for who in [ANN, BOB] {
        s.expects(who, &[changed(solid(3, 4), Block::EMPTY); 2]);
    }
}

#[test]
fn at_most_20_changes_in_any_second() {
    let mut s = three();
    let wish = |n: i32| edit(solid(n, 0), WALL);
    let wishes: Vec<Said> = (0..25).map(wish).collect();
    s.send(ANN, &wishes);
    assert_eq!(s.heard(BOB).len(), 20);
    let heard = s.heard(ANN);
    // The last five are answered with what is there.
    assert_eq!(heard[19], changed(solid(19, 0), WALL));
    assert_eq!(
        heard[20..],
        [20, 21, 22, 23, 24].map(|x| changed(solid(x, 0), Block::EMPTY))
    );
    assert_eq!(s.counters().too_many_edits, 5);
    s.pass(ms(999));
    s.send(ANN, &[wish(30)]);
    s.hears_nothing(BOB);
    s.pass(ms(1));
    s.send(ANN, &[wish(31)]);
    s.expects(BOB, &[changed(solid(31, 0), WALL)]);
}

#[test]
fn what_the_server_said_is_no_memory_of_the_client() {
    let mut s = three();
    s.send(BOB, &[edit(solid(5, 6), WALL)]);
    s.expects(ANN, &[changed(solid(5, 6), WALL)]);
    // All as before, and before she said nothing.
    s.say_bytes(ANN, &[0xc2, 0b1_1111]);
    s.expects(ANN, &[changed(solid(0, 0), Block::EMPTY)]);
}

#[test]
fn every_form_of_mask_says_the_same() {
    let mut s = three();
    // Plain, then under a new mask (x, typ, col and ch as before), then under that mask again.
    s.say_bytes(ANN, &[0x02, 5, 0, 6, 0, 1, 7, 35]);
    s.say_bytes(ANN, &[0xc2, 0b1_1101, 7, 0, 0x82, 8, 0]);
    // Plain again leaves the mask where it is.
    s.say_bytes(ANN, &[0x02, 9, 0, 9, 0, 2, 3, 4, 0x82, 10, 0]);
    // The other sublayer has a memory of its own, in which all is zero.
    s.say_bytes(ANN, &[0xc3, 0b1_1111]);
    let other = Block {
        typ: 2,
        col: 3,
        ch: 4,
    };
    let floor = BlockId {
        sublayer: Sublayer::Walkable,
        ..solid(0, 0)
    };
    s.expects(
        BOB,
        &[
            changed(solid(5, 6), WALL),
            changed(solid(5, 7), WALL),
            changed(solid(5, 8), WALL),
            changed(solid(9, 9), other),
            changed(solid(9, 10), other),
            changed(floor, Block::EMPTY),
        ],
    );
}

#[test]
fn what_a_client_says_takes_effect_in_order() {
    let mut s = Script::begin();
    s.memory.game.spawn = cell(32_767, 0);
    let ann = s.join(ANN, "ann");
    // Low bits 0xffff: from where she stands now that is -1 in x, one step further it is 65,535.
    let wish = FromClient::BlockSet(BlockSet {
        sublayer: Sublayer::Solid,
        cell: Low { x: 0xffff, y: 0 },
        block: WALL,
    });
    s.send(ANN, &[wish, Said::Movement { direction: 0 }, wish]);
    let asked: Vec<i32> = s
        .told()
        .iter()
        .filter_map(|event| match event {
            ServerEvent::BlockAsked { id, .. } => Some(id.cell.x),
            _ => None,
        })
        .collect();
    assert_eq!(asked, [-1, 65_535]);
    assert_eq!(s.at(ann), cell(32_768, 0));
}
