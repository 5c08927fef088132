//! The same conversation, however its bytes are cut.

use tickwire_dialects::pixmess::message::FromClient;
use tickwire_dialects::pixmess::{Block, ServerConfig};

use crate::knowledge::Knowledge;
use crate::script::{ANN, BOB, Carriage, Script};
use crate::words::{Heard, Said, WALL, cell, edit, login, say, solid, walk, xy};

/// Everything that Ann and Bob hear in a conversation that has something of everything.
fn conversation(carriage: Carriage) -> [Vec<Heard>; 2] {
    let mut s = Script::with(ServerConfig::default(), carriage);
    s.memory.game.wall_in(-5, 5);
    s.memory.game.spawn = cell(60, 0);
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

#[track_caller]
fn check(carriage: Carriage) {
    let whole = conversation(Carriage::WHOLE).map(|heard| Knowledge::of(&heard));
    assert!(whole.iter().all(|known| known.entities.len() == 1));
    assert!(whole[0].chats.len() > 4 && whole[1].blocks.len() == 2);
    assert_eq!(
        conversation(carriage).map(|heard| Knowledge::of(&heard)),
        whole
    );
}

#[test]
fn any_cut_of_the_bytes_says_the_same() {
    for piece in 1..40 {
        check(Carriage {
            piece,
            ..Carriage::WHOLE
        });
    }
}

#[test]
fn any_room_says_the_same() {
    for room in 1..40 {
        check(Carriage {
            room,
            ..Carriage::WHOLE
        });
    }
}
