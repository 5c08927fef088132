extern crate std;

use alloc::collections::BTreeMap;
use alloc::vec;

use proptest::prelude::*;

use super::*;

fn at(x: f32, y: f32) -> Vec2 {
    Vec2 { x, y }
}

#[track_caller]
fn check(grid: &Grid<u32>, center: Vec2, radius: f32, expected: &[u32]) {
    let mut found = vec![];
    grid.collect_within(Circle { center, radius }, &mut found);
    assert_eq!(found, expected, "within {radius} of {center:?}");
}

fn grid(things: &[(u32, Vec2)]) -> Grid<u32> {
    let mut grid = Grid::new(10.0);
    for &(id, at) in things {
        grid.insert(id, at);
    }
    grid
}

#[test]
fn the_border_is_within() {
    let grid = grid(&[(1, at(3.0, 4.0)), (2, at(3.0, 4.1)), (3, at(-5.0, 0.0))]);
    check(&grid, at(0.0, 0.0), 5.0, &[3, 1]);
}

#[test]
fn things_come_by_row_and_column_and_id() {
    let grid = grid(&[
        (9, at(1.0, 1.0)),
        (2, at(5.0, 5.0)),
        (7, at(-1.0, 1.0)),
        (1, at(1.0, 11.0)),
        (8, at(1.0, -1.0)),
    ]);
    check(&grid, at(0.0, 0.0), 100.0, &[8, 7, 2, 9, 1]);
}

#[test]
fn what_moved_or_went_is_not_found_where_it_was() {
    let mut grid = grid(&[(1, at(0.0, 0.0)), (2, at(1.0, 0.0))]);
    assert_eq!(grid.insert(1, at(55.0, 0.0)), Some(at(0.0, 0.0)));
    check(&grid, at(0.0, 0.0), 5.0, &[2]);
    check(&grid, at(55.0, 0.0), 5.0, &[1]);
    assert_eq!(grid.remove(1), Some(at(55.0, 0.0)));
    assert_eq!(grid.remove(1), None);
    check(&grid, at(55.0, 0.0), 5.0, &[]);
    assert_eq!((grid.len(), grid.position(2)), (1, Some(at(1.0, 0.0))));
    grid.clear();
    assert!(grid.is_empty());
    check(&grid, at(0.0, 0.0), 5.0, &[]);
}

#[test]
fn what_is_nowhere_is_within_no_circle() {
    let nowhere = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let mut grid = grid(&[(0, at(0.0, 0.0))]);
    for (id, x) in (1..).zip(nowhere) {
        grid.insert(id, at(x, 0.0));
        grid.insert(id + 10, at(0.0, x));
    }
    check(&grid, at(0.0, 0.0), f32::MAX, &[0]);
    check(&grid, at(0.0, 0.0), f32::INFINITY, &[0]);
    for x in nowhere {
        check(&grid, at(x, 0.0), 1e9, &[]);
        check(&grid, at(0.0, x), 1e9, &[]);
    }
    for radius in [f32::NAN, f32::NEG_INFINITY, -1.0] {
        check(&grid, at(0.0, 0.0), radius, &[]);
    }
    assert_eq!(grid.remove(1).map(|at| at.x.is_nan()), Some(true));
    assert_eq!(grid.len(), 6);
}

#[test]
fn what_is_far_out_is_found_there() {
    let far = at(3e38, -3e38);
    let grid = grid(&[(1, far), (2, at(1e12, 0.0)), (3, at(1e12, 50.0))]);
    check(&grid, far, 1.0, &[1]);
    check(&grid, at(1e12, 0.0), 1.0, &[2]);
    check(&grid, at(1e12, 25.0), 30.0, &[2, 3]);
}

/// Positions in a few cells, on their borders, and anywhere a number can be.
fn positions() -> impl Strategy<Value = Vec2> {
    let number = prop_oneof![
        8 => -40.0..40.0_f32,
        2 => (-4..4_i8).prop_map(|cell| f32::from(cell) * 10.0),
        1 => any::<u32>().prop_map(f32::from_bits),
    ];
    (number.clone(), number).prop_map(|(x, y)| at(x, y))
}

fn radii() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => 0.0..50.0_f32,
        1 => any::<u32>().prop_map(f32::from_bits),
    ]
}

proptest! {
    #[test]
    fn it_finds_what_a_look_at_everything_finds(
        changes in proptest::collection::vec((0..12_u32, proptest::option::weighted(0.8, positions())), 0..60),
        searches in proptest::collection::vec((positions(), radii()), 1..8),
    ) {
        let mut grid = Grid::new(10.0);
        let mut model = BTreeMap::new();
        for (id, at) in changes {
            match at {
                Some(at) => {
                    grid.insert(id, at);
                    model.insert(id, at);
                }
                None => {
                    grid.remove(id);
                    model.remove(&id);
                }
            }
        }
        prop_assert_eq!((grid.len(), grid.cells.len()), (model.len(), model.len()));
        for (center, radius) in searches {
            let circle = Circle { center, radius };
            let mut found = vec![];
            grid.collect_within(circle, &mut found);
            found.sort_unstable();
            let expected: Vec<_> =
                model.iter().filter(|(_, at)| circle.has(**at)).map(|(id, _)| *id).collect();
            prop_assert_eq!(found, expected, "within {:?}", circle);
        }
    }

    #[test]
    fn the_order_does_not_tell_how_things_came(
        mut things in proptest::collection::vec((-40.0..40.0_f32, -40.0..40.0_f32), 0..20),
    ) {
        let things: Vec<_> = (0..).zip(things.drain(..)).map(|(id, (x, y))| (id, at(x, y))).collect();
        let mut forwards = Grid::new(10.0);
        let mut backwards = Grid::new(10.0);
        for (id, at) in &things {
            forwards.insert(*id, *at);
        }
        for (id, at) in things.iter().rev() {
            backwards.insert(*id, Vec2 { x: at.y, y: at.x });
            backwards.insert(*id, *at);
        }
        let (mut first, mut second) = (vec![], vec![]);
        let circle = Circle { center: at(0.0, 0.0), radius: 45.0 };
        forwards.collect_within(circle, &mut first);
        backwards.collect_within(circle, &mut second);
        prop_assert_eq!(first, second);
    }
}
