//! Asking for chunks, holding them and losing them.

use tickwire_dialects::pixmess::message::{FromClient, FromServer};
use tickwire_dialects::pixmess::{Block, Layer, ServerConfig, ServerEvent, Tiles, decompress};

use crate::script::{ANN, BOB, Carriage, Script, ms};
use crate::words::{
    Heard, Said, WALL, cell, changed, creation, destruction, moved, position, root, say, solid,
    walk, xy,
};

fn released(x: i32, y: i32) -> Heard {
    FromServer::LayerRelease(xy(x, y))
}

fn request(x: i32, y: i32) -> Said {
    FromClient::LayerRequest(xy(x, y))
}

#[test]
fn a_chunk_comes_whole_and_then_those_who_stand_in_it() {
    let mut s = Script::begin();
    let bob = s.join(BOB, "bob");
    s.join(ANN, "ann");
    s.play(|game, server| game.set_block(server, solid(5, 6), WALL));
    s.send(ANN, &[request(0, 0)]);
    let gzip = s.expects_layer(ANN, xy(0, 0));
    assert_eq!(
        decompress(&gzip).as_ref(),
        Ok(&s.memory.game.tiles[&root(0, 0)])
    );
    // The own entity does not come again.
    s.expects(ANN, &[creation(bob, "bob", cell(0, 0))]);
    s.hears_nothing(BOB);
}

#[test]
fn a_chunk_is_compressed_once_for_everybody() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.join(BOB, "bob");
    for versions in 1..=2 {
        for who in [ANN, BOB, ANN] {
            s.load(who, xy(0, 0));
            s.forget();
        }
        assert_eq!(s.memory.game.compressed, versions);
        s.play(|game, server| game.set_block(server, solid(1, 1), WALL));
        s.forget();
    }
}

#[test]
fn a_chunk_asked_for_again_comes_again_with_its_entities() {
    let mut s = Script::begin();
    let bob = s.join(BOB, "bob");
    s.join(ANN, "ann");
    for _ in 0..2 {
        s.load(ANN, xy(0, 0));
        s.expects(ANN, &[creation(bob, "bob", cell(0, 0))]);
    }
    // And is held once.
    s.play(|game, server| game.set_block(server, solid(1, 1), WALL));
    s.expects(ANN, &[changed(solid(1, 1), WALL)]);
}

#[test]
fn a_released_chunk_is_silent_and_its_entities_go_for_that_client_only() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    let bob = s.join(BOB, "bob");
    for who in [ANN, BOB] {
        s.load(who, xy(0, 0));
    }
    s.forget();
    // Ann releases the very chunk that she stands in.
    s.send(ANN, &[FromClient::LayerRelease(xy(0, 0))]);
    s.expects(ANN, &[destruction(bob.entity())]);
    // The hole that must not be there: Bob still sees her, and sees her walk.
    s.hears_nothing(BOB);
    s.send(ANN, &[walk(0)]);
    s.expects(BOB, &[moved(ann, 0)]);
    s.play(|game, server| game.set_block(server, solid(9, 9), WALL));
    s.expects(BOB, &[changed(solid(9, 9), WALL)]);
    s.hears_nothing(ANN);
    // What is not held cannot be released.
    s.send(ANN, &[FromClient::LayerRelease(xy(0, 0))]);
    s.hears_nothing(ANN);
}

#[test]
fn the_26th_chunk_releases_the_furthest_and_of_those_the_oldest() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    // Distance 3, asked for first; then a ring of distance 2, then what is near.
    let mut chunks = vec![(3, 0), (0, -3)];
    chunks.extend((-2..=2).map(|x| (x, 2)));
    chunks.extend((-2..=2).map(|x| (x, -2)));
    chunks.extend((-1..=1).map(|x| (2 * x, 0)));
    chunks.extend((-1..=1).flat_map(|y| [(-1, y), (1, y)]));
    chunks.extend([(-2, 1), (2, 1), (-2, -1), (2, -1)]);
    assert_eq!(chunks.len(), 25);
    for &(x, y) in &chunks {
        s.load(ANN, xy(x, y));
    }
    s.live(ms(1_000), &[ANN]);
    s.send(ANN, &[request(0, 1)]);
    assert_eq!(s.heard(ANN)[0], released(3, 0));
    s.send(ANN, &[request(0, -1)]);
    assert_eq!(s.heard(ANN)[0], released(0, -3));
    // All are within 2 now. A new one at distance 5 stays, although it is the furthest.
    s.send(ANN, &[request(5, 5)]);
    let heard = s.heard(ANN);
    assert_eq!(heard[0], released(-2, 2));
    assert_eq!(heard[1], FromServer::LayerStart(xy(5, 5)));
    s.send(ANN, &[request(5, 6)]);
    assert_eq!(s.heard(ANN)[0], released(5, 5));
    // The released one is silent.
    s.play(|game, server| game.set_block(server, solid(3 * 64, 0), WALL));
    s.hears_nothing(ANN);
}

#[test]
fn far_chunks_and_chunks_beyond_the_edge_are_not_to_be_had() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.load(ANN, xy(16, -16));
    for (x, y) in [
        (17, 0),
        (0, -17),
        (i32::MAX, 0),
        (i32::MIN, i32::MIN),
        (1 << 25, 0),
        (-(1 << 25), 0),
    ] {
        s.send(ANN, &[request(x, y)]);
        s.expects(ANN, &[released(x, y)]);
    }
    assert_eq!(s.counters().far_requests, 6);
}

#[test]
fn the_last_chunk_before_the_edge_has_a_layer() {
    let edge = (1 << 25) - 1;
    let mut s = Script::begin();
    s.memory.game.spawn = cell(i32::MAX, -(edge * 64));
    let ann = s.join(ANN, "ann");
    s.load(ANN, xy(edge, -edge));
    for beyond in [xy(edge + 1, -edge), xy(edge, -edge - 1)] {
        s.send(ANN, &[FromClient::LayerRequest(beyond)]);
        s.expects(ANN, &[FromServer::LayerRelease(beyond)]);
    }
    s.play(|game, server| game.set_block(server, solid(i32::MAX, -(edge * 64)), WALL));
    s.expects(ANN, &[changed(solid(i32::MAX, -(edge * 64)), WALL)]);
    // Nobody walks off the world.
    let before = s.at(ann);
    s.send(ANN, &[walk(0)]);
    s.expects(ANN, &[position(ann, before)]);
}

#[test]
fn the_game_may_have_no_such_chunk() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.memory.game.silent = true;
    s.send(ANN, &[request(1, 1)]);
    let asked = ServerEvent::ChunkAsked {
        player: ann,
        chunk: root(1, 1),
    };
    assert_eq!(s.told(), [asked]);
    s.act(|now, server| server.refuse_chunk(now, ann));
    s.expects(ANN, &[released(1, 1)]);
}

#[test]
fn a_player_who_is_far_away_by_the_time_of_the_answer_does_not_get_it() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.memory.game.silent = true;
    s.send(ANN, &[request(1, 1)]);
    let far = cell(300 * 64, 0);
    s.act(|now, server| {
        server.place_entity(ann.entity(), far);
        server.provide_chunk(now, ann, &Layer::new(&Tiles::default()));
    });
    s.expects(ANN, &[position(ann, far), released(1, 1)]);
    s.play(|game, server| game.set_block(server, solid(64, 64), WALL));
    s.hears_nothing(ANN);
}

#[test]
fn at_most_50_requests_in_any_second() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    s.load(ANN, xy(0, 0));
    for n in 0..60 {
        s.send(ANN, &[request(1 + n % 10, 1 + n / 10)]);
    }
    let heard = s.heard(ANN);
    let layers = heard
        .iter()
        .filter(|message| matches!(message, FromServer::LayerStart(_)));
    assert_eq!(layers.count(), 49);
    assert_eq!(s.counters().too_many_requests, 11);
    // Each refused one is answered, so nobody waits for it.
    assert_eq!(heard.last(), Some(&released(10, 6)));
    s.pass(ms(1_000));
    s.send(ANN, &[request(10, 6)]);
    assert!(s.heard(ANN).contains(&FromServer::LayerStart(xy(10, 6))));
}

#[test]
fn between_start_and_end_there_is_nothing_but_ping_pong_and_kick() {
    let mut s = Script::with(
        ServerConfig::default(),
        Carriage {
            piece: usize::MAX,
            room: 7,
        },
    );
    // Noise does not compress: many pieces.
    let mut state = 1_u32;
    for x in 0..64 {
        for y in 0..64 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [typ, col, ch, _] = state.to_be_bytes().map(u8::cast_signed);
            let block = Block { typ, col, ch };
            s.play(|game, server| game.set_block(server, solid(x, y), block));
        }
    }
    s.join(ANN, "ann");
    let ann = s.join(BOB, "bob");
    s.load(BOB, xy(0, 0));
    s.forget();
    // All in one piece: while the layer goes out, others chat and blocks change.
    s.send(ANN, &[request(0, 0), Said::Ping, say("hi"), Said::Ping]);
    s.play(|game, server| {
        game.set_block(server, solid(1, 1), WALL);
        server.place_entity(ann.entity(), cell(3, 3));
    });
    let heard = s.heard(ANN);
    let at = |wanted: &Heard| heard.iter().position(|message| message == wanted).unwrap();
    let (start, end) = (
        at(&FromServer::LayerStart(xy(0, 0))),
        at(&FromServer::LayerEnd),
    );
    assert!(end - start > 10, "the layer has many pieces");
    for message in &heard[start + 1..end] {
        assert!(
            matches!(
                message,
                FromServer::LayerData { .. } | FromServer::Ping | FromServer::Pong
            ),
            "{message:?}"
        );
    }
    assert!(at(&changed(solid(1, 1), WALL)) > end);
}
