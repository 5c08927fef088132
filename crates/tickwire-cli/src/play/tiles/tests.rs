use std::collections::VecDeque;
use std::time::Duration;

use super::*;
use crate::play::netgraph::NetGraph;
use crate::play::seat::Stage;
use crate::snapshot;
use tickwire_demo::tiles::{Sight, TileWorld};

/// The plaza of a real world, with somebody on it.
fn picture() -> Picture {
    let mut world = TileWorld::new(7);
    let ada = world.join("Ada", LOOK).unwrap();
    let position = world.entity(ada).unwrap().position();
    for x in [-64, 0, 64] {
        for y in [-64, 0, 64] {
            world.tile(position.offset(x, y).unwrap());
        }
    }
    Picture {
        margin: Margin {
            server: "proto 127.0.0.1:7777".into(),
            name: "Ada".into(),
            time: Duration::from_secs(9),
            stage: Stage::Playing,
            net: NetGraph::default(),
            notices: VecDeque::from([(Duration::from_secs(5), "<Grace> hello".into())]),
            line: None,
            shows_help: false,
            tape: None,
        },
        land: Land::around(position, 40, 20, |cell| world.look(cell)),
        others: vec![Other {
            at: position.offset(3, 1).unwrap(),
            look: Look {
                chr: u16::from(b'f'),
                col: 12,
            },
            name: "fox".into(),
        }],
        position,
        facing: Direction::North,
        ware: 1,
        watches: false,
    }
}

#[test]
fn a_small_window_shows_the_world() {
    let text = snapshot::text(&picture(), (80, 24), panels::draw);
    snapshot::check("tiles-80x24", &text);
}

#[test]
fn the_player_stands_in_the_middle_and_others_where_they_are() {
    let picture = picture();
    assert_eq!(picture.land.place(picture.position), Some((20, 10)));
    assert_eq!(picture.land.place(picture.others[0].at), Some((23, 11)));
    let beyond = picture.position.offset(20, 0).unwrap();
    assert_eq!(picture.land.place(beyond), None);
    let text = snapshot::text(&picture, (80, 24), panels::draw);
    let row: Vec<char> = text.lines().nth(11).unwrap().chars().collect();
    assert_eq!(row[40], '@');
}

#[test]
fn what_peers_draw_cannot_command_a_terminal() {
    let mut picture = picture();
    let bell = Block::fixed(7, 7);
    for tile in &mut picture.land.tiles {
        *tile = Some(Tile {
            walkable: bell,
            solid: bell,
        });
    }
    picture.others[0].look.chr = 0x1b;
    let text = snapshot::text(&picture, (80, 24), panels::draw);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
    assert!(text.contains("????"), "{text}");
}

#[test]
fn every_size_can_be_drawn_on() {
    let mut picture = picture();
    picture.margin.line = Some("good morning".into());
    for (width, height) in [
        (1, 1),
        (2, 50),
        (20, 5),
        (39, 60),
        (300, 3),
        (40, 12),
        (200, 60),
    ] {
        let text = snapshot::text(&picture, (width, height), panels::draw);
        if (width, height) == (20, 5) {
            assert!(text.contains("too small"), "{text}");
        }
    }
}
