//! Chunks, blocks and layer sets, and servers that send what is none.

use tickwire_dialects::pixmess::limits::SETS_MAX;
use tickwire_dialects::pixmess::message::FromClient;
use tickwire_dialects::pixmess::{
    ActError, BlockId, ChunkId, ClientEvent, EndReason, Layer, Phase, SetId, Spot, Sublayer, Tiles,
    Version,
};

use super::script::{ClientScript, OWN};
use crate::words::{Heard, Said, WALL, cell, changed, edit, login, player_id, root, solid, xy};

fn walled() -> Tiles {
    let mut tiles = Tiles::default();
    tiles.set_block(Sublayer::Solid, Spot::new(1, 2), WALL);
    tiles
}

/// Playing at (0, 0), and waiting for chunk (0, 0).
fn waiting() -> ClientScript {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    c.act(|now, client| client.request(now, root(0, 0)))
        .expect("playing");
    c.expects(&[FromClient::LayerRequest(xy(0, 0))]);
    c
}

fn loaded() -> ClientScript {
    let mut c = waiting();
    c.send_layer(xy(0, 0), &walled());
    assert_eq!(c.events(), [ClientEvent::ChunkLoaded(root(0, 0))]);
    c
}

#[test]
fn a_chunk_is_held_as_it_was_sent() {
    let c = loaded();
    assert_eq!(c.session.chunk(root(0, 0)), Some(&walled()));
    assert_eq!(c.session.block(solid(1, 2)), Some(WALL));
    assert_eq!(c.session.block(solid(64, 0)), None);
}

#[test]
fn blocks_change_where_the_server_says() {
    let mut c = loaded();
    c.send(&[changed(solid(63, 63), WALL), changed(solid(64, 0), WALL)]);
    assert_eq!(c.events(), [ClientEvent::BlockChanged(solid(63, 63), WALL)]);
    assert_eq!(c.session.block(solid(63, 63)), Some(WALL));
    assert_eq!(c.session.counters().unknown_chunk, 1);
}

#[test]
fn low_bits_mean_the_cell_nearest_to_the_own_position() {
    let mut c = ClientScript::playing(Version::One, cell(65_530, -3));
    for at in [xy(1_024, -1), xy(1_023, -1)] {
        c.act(|now, client| client.request(now, ChunkId::root(at)))
            .unwrap();
        c.send_layer(at, &Tiles::default());
    }
    c.send(&[
        changed(solid(65_540, -1), WALL),
        changed(solid(65_535, -64), WALL),
    ]);
    assert_eq!(c.session.block(solid(65_540, -1)), Some(WALL));
    assert_eq!(c.session.block(solid(65_535, -64)), Some(WALL));
}

#[test]
fn a_released_chunk_is_gone() {
    let mut c = loaded();
    c.send(&[Heard::LayerRelease(xy(0, 0)), Heard::LayerRelease(xy(9, 9))]);
    assert_eq!(c.events(), [ClientEvent::ChunkReleased(root(0, 0))]);
    assert_eq!(c.session.chunks().count(), 0);
    let mut c = loaded();
    c.act(|_, client| client.release(root(0, 0))).unwrap();
    c.expects(&[FromClient::LayerRelease(xy(0, 0))]);
    assert_eq!(c.session.chunks().count(), 0);
    // What was on its way is ignored.
    c.send(&[changed(solid(1, 1), WALL)]);
    c.send_layer(xy(0, 0), &walled());
    assert_eq!(c.events(), []);
    assert_eq!(c.session.counters().unwanted_layer, 1);
}

#[test]
fn a_chunk_that_is_not_to_be_had_is_answered() {
    let mut c = waiting();
    c.send(&[Heard::LayerRelease(xy(0, 0))]);
    assert_eq!(c.events(), [ClientEvent::ChunkReleased(root(0, 0))]);
}

#[track_caller]
fn check_broken(mut c: ClientScript) {
    assert_eq!(*c.session.phase(), Phase::Ended(EndReason::Broken));
    c.expects(&[FromClient::Kick {
        reason: b"Bad packet!",
    }]);
}

#[test]
fn a_layer_that_inflates_to_more_than_a_chunk_is_refused() {
    // Compressed by another implementation: 16 MiB of zeros would be 16 KiB; here 64 KiB will do.
    let bomb = include_bytes!("bomb.gz");
    let mut c = waiting();
    c.send_gzip(xy(0, 0), bomb);
    check_broken(c);
}

#[test]
fn a_layer_that_is_cut_or_damaged_is_refused() {
    let gzip = Layer::new(&walled()).as_bytes().to_vec();
    for cut in [0, 1, 10, gzip.len() / 2, gzip.len() - 1] {
        let mut c = waiting();
        c.send_gzip(xy(0, 0), &gzip[..cut]);
        check_broken(c);
    }
    let mut damaged = gzip.clone();
    damaged[20] ^= 0x10;
    let mut c = waiting();
    c.send_gzip(xy(0, 0), &damaged);
    check_broken(c);
}

#[test]
fn pieces_without_end_are_refused() {
    let mut c = waiting();
    c.send(&[Heard::LayerStart(xy(0, 0))]);
    for _ in 0..64 {
        c.send(&[Heard::LayerData { data: &[7; 512] }]);
    }
    assert_eq!(*c.session.phase(), Phase::Playing);
    c.send(&[Heard::LayerData { data: &[7; 1] }]);
    check_broken(c);
}

#[test]
fn layer_packets_out_of_order_are_refused() {
    let orders: [&[Heard]; 3] = [
        &[Heard::LayerData { data: b"x" }],
        &[Heard::LayerEnd],
        &[Heard::LayerStart(xy(0, 0)), Heard::LayerStart(xy(0, 0))],
    ];
    for order in orders {
        let mut c = waiting();
        c.send(order);
        check_broken(c);
    }
}

const TRAIN: SetId = SetId(3);

const fn on_train(x: i32, y: i32) -> BlockId {
    BlockId {
        set: TRAIN,
        ..solid(x, y)
    }
}

#[test]
fn sets_come_move_and_go_with_their_chunks() {
    let mut c = ClientScript::playing(Version::Two, cell(1_000, 0));
    let at = cell(990, -5);
    let chunk = ChunkId {
        set: TRAIN,
        at: xy(0, 0),
    };
    c.send(&[Heard::LayersetCreate { set: TRAIN, at }]);
    c.act(|now, client| client.request(now, chunk)).unwrap();
    c.act(|now, client| client.request(now, root(15, 0)))
        .unwrap();
    c.expects(&[
        FromClient::LayersetSelect { set: TRAIN },
        FromClient::LayerRequest(xy(0, 0)),
        FromClient::LayersetSelect { set: SetId::ROOT },
        FromClient::LayerRequest(xy(15, 0)),
    ]);
    c.send(&[Heard::LayersetSelect { set: TRAIN }]);
    c.send_layer(xy(0, 0), &Tiles::default());
    c.send(&[changed(on_train(3, 4), WALL)]);
    assert_eq!(c.session.block(on_train(3, 4)), Some(WALL));
    let at = cell(995, -5);
    c.send(&[Heard::LayersetMove { set: TRAIN, at }]);
    assert!(c.session.sets().eq([(TRAIN, at)]));
    // It moved, and what is on it did not.
    c.send(&[changed(on_train(5, 4), WALL)]);
    assert_eq!(c.session.block(on_train(5, 4)), Some(WALL));
    c.act(|now, client| client.edit(now, on_train(7, 7), WALL))
        .unwrap();
    c.expects(&[
        FromClient::LayersetSelect { set: TRAIN },
        edit(on_train(7, 7), WALL),
    ]);
    c.send(&[Heard::LayersetRemove { set: TRAIN }]);
    assert_eq!(c.session.chunks().count(), 0);
    assert_eq!(c.session.request(c.now, chunk), Err(ActError::UnknownSet));
}

#[test]
fn a_client_of_version_1_does_not_believe_in_sets() {
    let mut c = ClientScript::playing(Version::One, cell(0, 0));
    let at = cell(0, 0);
    c.send(&[Heard::LayersetCreate { set: TRAIN, at }]);
    assert_eq!(c.session.sets().count(), 0);
    assert_eq!(c.session.counters().violations, 1);
}

#[test]
fn only_so_many_sets_are_believed_in() {
    let mut c = ClientScript::playing(Version::Two, cell(0, 0));
    let at = cell(5, 5);
    let sets = (1..=60_000).map(SetId);
    let created: Vec<_> = sets.map(|set| Heard::LayersetCreate { set, at }).collect();
    c.send(&created);
    assert_eq!(c.session.sets().count(), SETS_MAX);
    assert_eq!(c.session.counters().violations, 60_000 - SETS_MAX as u64);
    // Those that are known may come again, and one that goes leaves its place.
    let (first, last) = (SetId(1), SetId(60_000));
    c.send(&[
        Heard::LayersetCreate {
            set: first,
            at: cell(7, 7),
        },
        Heard::LayersetRemove { set: SetId(2) },
        Heard::LayersetCreate { set: last, at },
    ]);
    assert_eq!(c.session.corner(first), Some(cell(7, 7)));
    assert_eq!(
        (c.session.corner(SetId(2)), c.session.corner(last)),
        (None, Some(at))
    );
}

#[test]
fn a_spectator_knows_cells_by_the_chunks_it_holds() {
    let mut c = ClientScript::dial(Version::Two, "");
    c.open();
    c.expects(&[login(2, "")]);
    c.send(&[player_id(OWN)]);
    assert_eq!(
        c.act(|now, client| client.chat(now, "hi")),
        Err(ActError::NotPlaying)
    );
    for at in [xy(1_024, -1), xy(1_023, -1)] {
        c.act(|now, client| client.request(now, ChunkId::root(at)))
            .unwrap();
        c.send_layer(at, &Tiles::default());
    }
    c.expects(&[xy(1_024, -1), xy(1_023, -1)].map(Said::LayerRequest));
    c.send(&[
        changed(solid(65_540, -1), WALL),
        changed(solid(65_535, -64), WALL),
    ]);
    assert_eq!(c.session.block(solid(65_540, -1)), Some(WALL));
    assert_eq!(c.session.block(solid(65_535, -64)), Some(WALL));
}
