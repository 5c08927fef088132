//! The same conversation, however its bytes are cut.

use tickwire_dialects::pixmess::message::FromClient;
use tickwire_dialects::pixmess::{Block, ServerConfig};

use super::super::script::{ANN, BOB, Carriage, Script};
use super::super::words::{Heard, Said, WALL, cell, edit, login, say, solid, walk, xy};

/// Everything that Ann and Bob hear in a conversation that has something of everything.
fn conversation(carriage: Carriage) -> [Vec<Heard>; 2] {
    let mut s = Script::with(ServerConfig::default(), carriage);
    s.game.wall_in(-5, 5);
    s.game.spawn = cell(60, 0);
    s.open(ANN);
    s.open(BOB);
    s.send(BOB, &[login(2, "bob"), FromClient::LayerRequest(xy(0, 0))]);
    s.send(
        ANN,
        &[
            Said::Ping,
            login(1, "ann"),
            FromClient::LayerRequest(xy(0, 0)),
            FromClient::LayerRequest(xy(1, 0)),
            edit(solid(61, 1), WALL),
            edit(solid(61, 2), WALL),
            edit(solid(61, 2), Block::EMPTY),
            walk(0),
            walk(0),
            walk(0),
            walk(4),
            walk(0),
            say("hello"),
            say("/who"),
            Said::PlayerId,
            FromClient::EntityPosition { at: cell(0, 0) },
            FromClient::LayerRequest(xy(99, 0)),
            FromClient::LayerRelease(xy(0, 0)),
            walk(9),
        ],
    );
    s.send(BOB, &[say("bye")]);
    s.send(BOB, &[FromClient::Kick { reason: b"home" }]);
    let heard = [ANN, BOB].map(|who| s.heard(who));
    assert!(!s.is_open(BOB) && s.is_open(ANN));
    heard
}

/// What is urgent may come sooner when there is little room, so it is looked at apart.
fn without_pongs(heard: &[Heard]) -> Vec<Heard> {
    let pong = |message: &&Heard| !matches!(message, Heard::Pong);
    heard.iter().filter(pong).copied().collect()
}

#[test]
fn any_cut_of_the_bytes_says_the_same() {
    let whole = conversation(Carriage::WHOLE);
    assert!(whole[0].len() > 20 && whole[1].len() > 15);
    for piece in 1..40 {
        let cut = Carriage {
            piece,
            ..Carriage::WHOLE
        };
        assert_eq!(conversation(cut), whole, "pieces of {piece}");
    }
}

#[test]
fn any_room_says_the_same() {
    let whole = conversation(Carriage::WHOLE).map(|heard| without_pongs(&heard));
    for room in 1..40 {
        let tight = Carriage {
            room,
            ..Carriage::WHOLE
        };
        let heard = conversation(tight).map(|heard| without_pongs(&heard));
        assert_eq!(heard, whole, "room for {room}");
    }
}
