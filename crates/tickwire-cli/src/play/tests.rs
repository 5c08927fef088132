use std::collections::VecDeque;
use std::time::Duration;

use super::netgraph::NetGraph;
use super::seat::Stage;
use super::*;
use crate::arena_canvas::tests::{scene, scores};
use crate::snapshot;
use tickwire_demo::gateway::{Carried, Flash};
use tickwire_demo::{Effect, OwnerId};

fn picture() -> Picture {
    let mut view = scene();
    view.set_viewer(Some(OwnerId(1)));
    let own = view.own_ship().unwrap().position;
    Picture {
        margin: Margin {
            server: "proto 127.0.0.1:7777".into(),
            name: "Ada".into(),
            time: Duration::from_secs(9),
            stage: Stage::Playing,
            net: NetGraph::default(),
            notices: VecDeque::from([
                (Duration::ZERO, "too old to be shown".into()),
                (Duration::from_secs(5), "<Grace> hello".into()),
            ]),
            line: None,
            shows_help: false,
            tape: None,
        },
        aim: Aim::Enemy(own + Vec2::new(300.0, 200.0)),
        camera: Camera::around(own, Zoom::default()),
        view,
        scores: scores(),
        blasts: Vec::new(),
        flashes: Vec::new(),
        moments: Moments::default(),
        inventory: None,
        loadout: Loadout::STANDARD,
        fires: [true, false, false, false],
        shows_scores: false,
        loss: String::new(),
    }
}

#[test]
fn a_small_window_is_enough_to_play() {
    let text = snapshot::text(&picture(), (80, 24), panels::draw);
    snapshot::check("play-80x24", &text);
}

#[test]
fn scores_and_a_line_go_over_the_arena() {
    let mut picture = picture();
    picture.shows_scores = true;
    picture.margin.line = Some("good fight".into());
    let text = snapshot::text(&picture, (120, 40), panels::draw);
    snapshot::check("play-120x40", &text);
}

#[test]
fn a_long_line_shows_its_end() {
    let mut picture = picture();
    picture.margin.line = Some("x".repeat(150) + "the end");
    let text = snapshot::text(&picture, (60, 20), panels::draw);
    assert!(text.contains("the end█"), "{text}");
}

#[test]
fn a_long_notice_is_read_to_its_end() {
    let mut picture = picture();
    let said = format!(
        "<Grace> {} or{} omega",
        "many words".repeat(9),
        "r".repeat(70)
    );
    picture.margin.notices = [(picture.margin.time, said)].into();
    for width in [40, 80, 100] {
        let text = snapshot::text(&picture, (width, 24), panels::draw);
        assert!(
            text.contains("<Grace> many") && text.contains("omega"),
            "{text}"
        );
    }
}

#[test]
fn no_key_of_the_help_is_cut() {
    let mut picture = picture();
    picture.margin.shows_help = true;
    let text = snapshot::text(&picture, (80, 24), panels::draw);
    for (key, does) in panels::HELP {
        assert!(text.contains(key) && text.contains(does), "{does}: {text}");
    }
}

#[test]
fn the_wait_for_a_server_is_shown() {
    let mut picture = picture();
    picture.margin.stage = Stage::Connecting;
    let lost = "the connection was lost, and is tried again";
    let notice = (Duration::ZERO, lost.into());
    picture.margin.notices.push_back(notice);
    let text = snapshot::text(&picture, (80, 24), panels::draw);
    assert!(text.contains(lost), "{text}");
    assert!(text.contains("connecting… (9 s)"), "{text}");
    assert!(text.contains("q give up"), "{text}");
}

#[test]
fn every_size_can_be_drawn_on() {
    let mut picture = picture();
    picture.shows_scores = true;
    for (width, height) in [(1, 1), (2, 50), (20, 5), (39, 60), (300, 3), (40, 12)] {
        let text = snapshot::text(&picture, (width, height), panels::draw);
        if (width, height) == (20, 5) {
            assert!(text.contains("too small"), "{text}");
        }
    }
}

#[test]
fn scores_are_sorted_and_a_question_mark_shows_every_key() {
    let mut picture = picture();
    picture.shows_scores = true;
    picture.scores.sort_by_key(|score| score.kills);
    let text = snapshot::text(&picture, (100, 30), panels::draw);
    let mut best: Vec<_> = picture.scores.iter().collect();
    best.sort_by_key(|score| std::cmp::Reverse(score.kills));
    let places: Vec<_> = best
        .iter()
        .map(|score| text.rfind(&format!("{} ", score.name)).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");

    picture.shows_scores = false;
    picture.margin.shows_help = true;
    let text = snapshot::text(&picture, (80, 24), panels::draw);
    assert!(text.contains("strafe") && text.contains("zoom"), "{text}");
}

#[test]
fn what_a_protocol_tells_of_slots_counts_and_flashes_are_seen() {
    let carried = |name: &str, count| {
        let name = name.into();
        Some(Carried { name, count })
    };
    let mut picture = picture();
    picture.inventory = Some([carried("gun", 1), None, carried("rockets", 4), None]);
    let own = picture.view.own_ship().unwrap().position;
    let what = "launch ×2".into();
    let position = own + Vec2::new(0.0, -300.0);
    picture.flashes = vec![Flash { position, what }];
    let text = snapshot::text(&picture, (80, 24), panels::draw);
    assert!(text.contains("Space gun  2 –  3 rockets ×4  4 –"), "{text}");
    assert!(text.contains("✸ launch ×2"), "{text}");
}

#[test]
fn whoever_lost_a_ship_reads_why() {
    let mut picture = picture();
    picture.view.own_ship = None;
    picture.loss = "Grace destroyed your ship".into();
    let text = snapshot::text(&picture, (80, 24), panels::draw);
    assert!(
        text.contains("Grace destroyed your ship: the next one"),
        "{text}"
    );
}

#[test]
fn what_happens_is_shown_for_a_moment() {
    let mut picture = picture();
    let ship = *picture.view.own_ship().unwrap();
    let effects = vec![
        Effect::Impact {
            at: ship.position + Vec2::new(200.0, -100.0),
        },
        Effect::Muzzle {
            at: ship.position,
            heading: ship.heading,
        },
        Effect::Heard { what: "gun" },
        Effect::Hit { by: "Grace".into() },
    ];
    let signs = ["✶", "✹", "♪ gun", "hit by Grace"];
    picture.moments.update(Instant::ZERO, effects);
    let text = snapshot::text(&picture, (80, 24), panels::draw);
    assert!(signs.iter().all(|sign| text.contains(sign)), "{text}");
    picture
        .moments
        .update(Instant::from_millis(400), Vec::new());
    let text = snapshot::text(&picture, (80, 24), panels::draw);
    assert!(!signs.iter().any(|sign| text.contains(sign)), "{text}");
}
