extern crate std;

use alloc::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const RANGE: SightRange = SightRange {
    radius: 100.0,
    margin: 0.1,
};

fn at(x: f32) -> Vec2 {
    Vec2 { x, y: 0.0 }
}

/// A watcher at the origin.
#[derive(Default)]
struct Script {
    grid: Option<Grid<u32>>,
    sight: Sight<u32>,
}

impl Script {
    fn grid(&mut self) -> &mut Grid<u32> {
        self.grid.get_or_insert_with(|| Grid::new(100.0))
    }

    #[track_caller]
    fn looks(&mut self, entered: &[u32], left: &[u32], seen: &[u32]) {
        self.grid();
        let grid = self.grid.as_ref().unwrap();
        self.sight.look(grid, at(0.0), RANGE);
        let sight = &self.sight;
        assert_eq!(
            (sight.entered(), sight.left(), sight.seen()),
            (entered, left, seen)
        );
    }
}

#[test]
fn what_walks_along_the_border_does_not_flicker() {
    let mut script = Script::default();
    script.grid().insert(1, at(105.0));
    script.looks(&[], &[], &[]);
    script.grid().insert(1, at(100.0));
    script.looks(&[1], &[], &[1]);
    for x in [100.5, 99.5, 109.0, 110.0] {
        script.grid().insert(1, at(x));
        script.looks(&[], &[], &[1]);
    }
    script.grid().insert(1, at(110.5));
    script.looks(&[], &[1], &[]);
    script.grid().insert(1, at(105.0));
    script.looks(&[], &[], &[]);
}

#[test]
fn what_is_gone_has_left() {
    let mut script = Script::default();
    for id in [4, 2, 9] {
        script.grid().insert(id, at(1.0));
    }
    script.looks(&[2, 4, 9], &[], &[2, 4, 9]);
    script.grid().remove(2);
    script.grid().remove(9);
    script.grid().insert(5, at(2.0));
    script.looks(&[5], &[2, 9], &[4, 5]);
    assert!(script.sight.has(4) && !script.sight.has(9));
}

#[test]
fn a_cleared_sight_begins_anew() {
    let mut script = Script::default();
    script.grid().insert(1, at(50.0));
    script.looks(&[1], &[], &[1]);
    script.grid().insert(1, at(105.0));
    script.sight.clear();
    assert!(script.sight.seen().is_empty());
    script.looks(&[], &[], &[]);
}

#[test]
fn a_margin_below_nothing_is_none() {
    let mut grid = Grid::new(100.0);
    grid.insert(1, at(99.0));
    let mut sight = Sight::new();
    for margin in [-5.0, f32::NAN] {
        let range = SightRange { margin, ..RANGE };
        sight.look(&grid, at(0.0), range);
        assert_eq!(sight.seen(), [1]);
    }
}

proptest! {
    #[test]
    fn each_look_follows_the_two_circles(
        looks in proptest::collection::vec(
            proptest::collection::vec((0..8_u32, proptest::option::of(0.0..140.0_f32)), 0..6),
            1..12,
        ),
    ) {
        let mut grid = Grid::new(70.0);
        let mut sight = Sight::new();
        let mut model = BTreeSet::new();
        for changes in looks {
            for (id, x) in changes {
                match x {
                    Some(x) => grid.insert(id, at(x)),
                    None => grid.remove(id),
                };
            }
            sight.look(&grid, at(0.0), RANGE);
            let before = model.clone();
            for id in 0..8 {
                match grid.position(id).map(|at| at.x) {
                    Some(x) if x <= 100.0 => model.insert(id),
                    Some(x) if x <= 100.0 * (1.0 + RANGE.margin) => false,
                    _ => model.remove(&id),
                };
            }
            prop_assert!(sight.seen().iter().eq(&model));
            prop_assert!(sight.entered().iter().eq(model.difference(&before)));
            prop_assert!(sight.left().iter().eq(before.difference(&model)));
        }
    }
}
