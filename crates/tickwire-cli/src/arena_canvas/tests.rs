use ratatui::layout::Position;
use tickwire_demo::{OwnerId, Score, SeenId};

use super::*;

/// One of everything, around the middle: also what other tests of screens look at.
pub(crate) fn scene() -> View {
    let thing = |id, kind: Kind, (x, y), degrees, owner: Option<u32>, reach| Seen {
        id: SeenId(id),
        kind,
        position: Vec2::new(x, y),
        heading: Heading::from_degrees(degrees),
        health: 60,
        owner: owner.map(OwnerId),
        own: false,
        reach,
    };
    View {
        seen: vec![
            thing(0, Kind::Sun, (0.0, 0.0), 0.0, None, rules::SUN_RADIUS),
            thing(1, Kind::Planet, (-2_500.0, 900.0), 0.0, None, 240.0),
            thing(2, Kind::Ship, (1_500.0, 1_500.0), 90.0, Some(1), 60.0),
            thing(3, Kind::Ship, (1_000.0, -2_000.0), 225.0, Some(2), 60.0),
            thing(4, Kind::Rocket, (1_900.0, 1_200.0), 0.0, Some(2), 22.0),
            thing(5, Kind::Bullet, (1_500.0, 2_100.0), 0.0, Some(1), 10.0),
            thing(6, Kind::Ray, (1_000.0, -2_000.0), 180.0, Some(2), 900.0),
            thing(
                7,
                Kind::Shockwave,
                (-2_000.0, -2_000.0),
                0.0,
                Some(1),
                600.0,
            ),
        ],
        ..View::default()
    }
}

/// Who plays there.
pub(crate) fn scores() -> Vec<Score> {
    let score = |owner, name: &str, kills, deaths| Score {
        owner: OwnerId(owner),
        name: name.into(),
        kills,
        deaths,
        ping: None,
    };
    vec![score(1, "Ada", 3, 1), score(2, "Grace", 2, 4)]
}

const AREA: Rect = Rect::new(3, 1, 60, 20);

#[test]
fn a_place_and_its_cell_agree() {
    let camera = Camera::around(Vec2::new(123.0, -456.0), Zoom::default());
    for cell in AREA.positions() {
        assert_eq!(camera.cell(AREA, camera.place(AREA, cell)), Some(cell));
    }
    assert_eq!(camera.cell(AREA, Vec2::new(9_999.0, 0.0)), None);
}

#[test]
fn the_whole_arena_fits() {
    for area in [AREA, Rect::new(0, 0, 20, 40), Rect::new(0, 0, 200, 10)] {
        let camera = Camera::whole(area);
        for degrees in 0..360 {
            let edge = Heading::from_degrees(f64::from(degrees)).unit() * rules::ARENA_RADIUS;
            assert!(camera.cell(area, edge).is_some(), "{degrees} {area:?}");
        }
    }
}

#[test]
fn what_is_out_of_sight_is_hinted_at_on_its_side() {
    let camera = Camera::around(Vec2::ZERO, Zoom::default());
    let at = |x, y| camera.border(AREA, Vec2::new(x, y));
    assert_eq!(at(0.0, 0.0), None);
    assert!(at(9_000.0, 10.0).is_some_and(|cell| cell.x == AREA.right() - 1));
    assert!(at(-9_000.0, 10.0).is_some_and(|cell| cell.x == AREA.x));
    assert!(at(0.0, 9_000.0).is_some_and(|cell| cell.y == AREA.y));
    assert!(at(10.0, -9_000.0).is_some_and(|cell| cell.y == AREA.bottom() - 1));
}

#[test]
fn arrows_point_where_ships_do() {
    let arrows = [0.0, 44.0, 91.0, 180.0, 270.0, 359.0];
    let arrows = arrows.map(|degrees| arrow(Heading::from_degrees(degrees)));
    assert_eq!(arrows, ['▶', '◥', '▲', '◀', '▼', '▶']);
}

#[test]
fn every_size_can_be_drawn_on() {
    let view = scene();
    for (width, height) in [(0, 0), (1, 1), (1, 40), (200, 1), (3, 3)] {
        let area = Rect::new(0, 0, width, height);
        for camera in [
            Camera::whole(area),
            Camera::around(Vec2::ZERO, Zoom::default()),
        ] {
            let mut buf = Buffer::empty(area);
            let canvas = ArenaCanvas {
                view: &view,
                scores: &scores(),
                blasts: &[],
                flashes: &[],
                camera,
                tints: Tints::Owners,
            };
            canvas.render(area, &mut buf);
        }
    }
}

#[test]
fn names_stand_beside_ships_and_not_over_each_other() {
    let mut view = scene();
    let area = Rect::new(0, 0, 60, 20);
    // Two ships in one place: one name.
    view.seen[3].position = view.seen[2].position;
    view.seen.retain(|seen| seen.kind == Kind::Ship);
    let mut buf = Buffer::empty(area);
    let camera = Camera::whole(area);
    let canvas = ArenaCanvas {
        view: &view,
        scores: &scores(),
        blasts: &[],
        flashes: &[],
        camera,
        tints: Tints::Owners,
    };
    canvas.render(area, &mut buf);
    let Position { x, y } = camera.cell(area, view.seen[0].position).unwrap();
    let row: String = (x..area.right()).map(|x| buf[(x, y)].symbol()).collect();
    assert!(row.contains("Ada") && !row.contains("Grace"), "{row}");
}
