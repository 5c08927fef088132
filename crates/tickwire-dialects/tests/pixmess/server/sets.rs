//! Version 2: movable layer sets, and spectators.

use tickwire_dialects::pixmess::message::{FromClient, FromServer};
use tickwire_dialects::pixmess::{Block, BlockId, PlayerId, ServerEvent, SetId, Sublayer};

use crate::script::{ANN, BOB, CID, Script};
use crate::words::{
    Heard, Said, WALL, cell, changed, chat, creation, destruction, edit, kick, login, moved,
    player_id, say, solid, walk, xy,
};

const TRAIN: SetId = SetId(1);

const fn select(set: SetId) -> Said {
    FromClient::LayersetSelect { set }
}

const fn selected(set: SetId) -> Heard {
    FromServer::LayersetSelect { set }
}

const fn on_train(x: i32, y: i32) -> BlockId {
    BlockId {
        set: TRAIN,
        cell: cell(x, y),
        sublayer: Sublayer::Solid,
    }
}

/// Ann speaks version 2, Bob version 1; there is a train at (100, 10).
fn with_train() -> Script {
    let mut s = Script::begin();
    s.memory.game.spawn = cell(110, 12);
    s.join_as(ANN, 2, "ann");
    s.join(BOB, "bob");
    let train = s.act(|_, server| server.create_set(cell(100, 10)).expect("the first"));
    assert_eq!(train, TRAIN);
    s
}

#[test]
fn clients_of_version_2_hear_of_sets_and_others_never() {
    let mut s = with_train();
    let at = cell(100, 10);
    s.expects(ANN, &[FromServer::LayersetCreate { set: TRAIN, at }]);
    let at = cell(101, 10);
    s.act(|_, server| server.move_set(TRAIN, at));
    s.expects(ANN, &[FromServer::LayersetMove { set: TRAIN, at }]);
    // Who comes later hears of it at login, behind the news.
    s.open(CID);
    s.send(CID, &[login(2, "cid")]);
    let heard = s.heard(CID);
    assert_eq!(heard.len(), 4);
    assert_eq!(heard[3], FromServer::LayersetCreate { set: TRAIN, at });
    s.forget();
    s.act(|_, server| server.remove_set(TRAIN));
    s.expects(ANN, &[FromServer::LayersetRemove { set: TRAIN }]);
    s.hears_nothing(BOB);
}

#[test]
fn the_selected_set_is_meant_until_another_is_selected() {
    let mut s = with_train();
    s.forget();
    s.send(ANN, &[select(TRAIN), FromClient::LayerRequest(xy(0, 0))]);
    let heard = s.heard(ANN);
    assert_eq!(heard[0], selected(TRAIN));
    assert_eq!(heard[1], FromServer::LayerStart(xy(0, 0)));
    // A change on the train goes to those who hold that chunk, not to those of the root's.
    s.load(BOB, xy(0, 0));
    s.forget();
    s.send(ANN, &[edit(on_train(3, 4), WALL)]);
    s.expects(ANN, &[changed(on_train(3, 4), WALL)]);
    s.hears_nothing(BOB);
    assert_eq!(s.memory.game.block(on_train(3, 4)), WALL);
    assert_eq!(s.memory.game.block(solid(3, 4)), Block::EMPTY);
    // The server selects only when it has to.
    s.send(
        ANN,
        &[select(SetId::ROOT), FromClient::LayerRequest(xy(1, 0))],
    );
    let heard = s.heard(ANN);
    assert_eq!(heard[0], selected(SetId::ROOT));
    assert_eq!(heard[1], FromServer::LayerStart(xy(1, 0)));
    s.forget();
    s.play(|game, server| {
        game.set_block(server, solid(64, 0), WALL);
        game.set_block(server, on_train(1, 1), WALL);
        game.set_block(server, on_train(2, 1), WALL);
    });
    // Chunk by chunk, whatever the order in which they changed.
    s.expects(
        ANN,
        &[
            selected(TRAIN),
            changed(on_train(1, 1), WALL),
            changed(on_train(2, 1), WALL),
            selected(SetId::ROOT),
            changed(solid(64, 0), WALL),
        ],
    );
}

#[test]
fn cells_of_a_set_are_counted_from_its_corner() {
    let mut s = with_train();
    // Far from the root's zero, near to the player.
    s.act(|_, server| server.move_set(TRAIN, cell(-40_000, 10)));
    s.act(|_, server| server.place_entity(PlayerId(1).entity(), cell(-40_000, 10)));
    s.send(ANN, &[select(TRAIN), FromClient::LayerRequest(xy(0, 0))]);
    s.forget();
    s.send(ANN, &[edit(on_train(63, 0), WALL)]);
    s.expects(ANN, &[changed(on_train(63, 0), WALL)]);
    assert_eq!(s.memory.game.block(on_train(63, 0)), WALL);
}

#[test]
fn a_removed_set_takes_its_chunks_with_it() {
    let mut s = with_train();
    s.send(ANN, &[select(TRAIN), FromClient::LayerRequest(xy(0, 0))]);
    s.forget();
    s.play(|game, server| {
        server.remove_set(TRAIN);
        game.set_block(server, on_train(1, 1), WALL);
    });
    s.expects(ANN, &[FromServer::LayersetRemove { set: TRAIN }]);
    // It is still selected, and means nothing.
    s.send(
        ANN,
        &[
            FromClient::LayerRequest(xy(0, 0)),
            edit(on_train(1, 1), WALL),
        ],
    );
    s.hears_nothing(ANN);
    assert_eq!(s.counters().unknown_set, 2);
    s.send(
        ANN,
        &[select(SetId::ROOT), FromClient::LayerRequest(xy(0, 0))],
    );
    let heard = s.heard(ANN);
    assert_eq!(heard[0], selected(SetId::ROOT));
}

#[test]
fn version_1_has_no_sets() {
    let mut s = with_train();
    s.send(BOB, &[select(TRAIN)]);
    s.expects_end(BOB, &[kick("Unknown packet type!")]);
}

#[test]
fn a_spectator_has_a_number_and_no_entity() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.open(CID);
    s.send(CID, &[login(2, "")]);
    let cid = PlayerId(2);
    s.expects(CID, &[player_id(cid)]);
    s.hears_nothing(ANN);
    assert_eq!(s.state(CID), Some("Watching"));
    assert!(s.session.players().eq([(PlayerId(1), "ann")]));
    assert_eq!(s.session.position(cid.entity()), None);
    s.close(CID);
    s.hears_nothing(ANN);
    assert!(matches!(s.told().last(), Some(ServerEvent::Left { .. })));
}

#[test]
fn a_spectator_watches_and_does_nothing_else() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.join_as(CID, 2, "");
    s.load(CID, xy(0, 0));
    s.expects(CID, &[creation(ann, "ann", cell(0, 0))]);
    s.load(ANN, xy(0, 0));
    s.forget();
    s.send(
        CID,
        &[
            walk(0),
            edit(solid(1, 1), WALL),
            say("hello"),
            FromClient::EntityPosition { at: cell(1, 1) },
        ],
    );
    s.hears_nothing(CID);
    s.hears_nothing(ANN);
    assert_eq!(s.counters().spectator_acted, 4);
    s.send(ANN, &[walk(0), edit(solid(2, 2), WALL), say("hi")]);
    let news = [changed(solid(2, 2), WALL), moved(ann, 0), chat("<ann> hi")];
    s.expects(CID, &news);
    s.send(
        CID,
        &[FromClient::LayerRelease(xy(0, 0)), FromClient::PlayerId],
    );
    s.expects(CID, &[player_id(PlayerId(2)), destruction(ann.entity())]);
}

#[test]
fn two_spectators_may_both_have_no_name() {
    let mut s = Script::begin();
    s.join_as(ANN, 2, "");
    s.join_as(BOB, 2, "");
}
