extern crate std;

use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::{Timeline, Vec2};

const TICK: Duration = Duration::from_millis(50);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(x: f32) -> Vec2 {
    Vec2 { x, y: 0.0 }
}

/// Ticks `first` to `last`; thing 1 is at ten times the tick.
fn run(first: u64, last: u64) -> Rewind<u32, Vec2> {
    let mut rewind = Rewind::new(TICK);
    for tick in first..=last {
        rewind.record(Tick(tick), [(1, at(tick as f32 * 10.0))]);
    }
    rewind
}

#[track_caller]
fn check(rewind: &Rewind<u32, Vec2>, moment: u64, shown: u64, x: f32) {
    let past = rewind.to(ms(moment)).unwrap();
    assert_eq!((past.time(), past.get(1)), (ms(shown), Some(at(x))));
}

#[test]
fn a_moment_lies_between_two_ticks() {
    let rewind = run(1, 20);
    check(&rewind, 900, 900, 180.0);
    check(&rewind, 925, 925, 185.0);
    check(&rewind, 1_000, 1_000, 200.0);
}

#[test]
fn nobody_reaches_farther_back_than_the_bound() {
    let rewind = run(1, 20);
    check(&rewind, 750, 750, 150.0);
    check(&rewind, 749, 750, 150.0);
    check(&rewind, 0, 750, 150.0);
    // A bound between two ticks is still blended from the tick before it.
    let mut rewind = Rewind::new(ms(60));
    for tick in 1..=20 {
        rewind.record(Tick(tick), [(1, at(tick as f32 * 60.0))]);
    }
    check(&rewind, 0, 950, 950.0);
}

#[test]
fn the_future_is_the_present() {
    check(&run(1, 20), 5_000, 1_000, 200.0);
}

#[test]
fn what_did_not_exist_is_not_handed_out() {
    let mut rewind = Rewind::new(TICK);
    rewind.record(Tick(1), [(1, at(0.0)), (2, at(5.0))]);
    rewind.record(Tick(2), [(1, at(10.0)), (3, at(7.0))]);
    let past = rewind.to(ms(99)).unwrap();
    assert_eq!(past.get(3), None, "made at the next tick");
    assert_eq!(past.get(2), Some(at(5.0)), "there until the next tick");
    assert_eq!(past.iter().map(|(id, _)| id).collect::<Vec<_>>(), [1, 2]);
    let past = rewind.to(ms(100)).unwrap();
    assert_eq!((past.get(2), past.get(3)), (None, Some(at(7.0))));
}

#[test]
fn the_past_is_not_rewritten() {
    let mut rewind = run(5, 8);
    rewind.record(Tick(8), [(1, at(-1.0))]);
    rewind.record(Tick(3), [(1, at(-1.0))]);
    check(&rewind, 400, 400, 80.0);
    check(&rewind, 0, 250, 50.0);
}

#[test]
fn ticks_may_be_left_out() {
    let mut rewind = Rewind::new(TICK);
    rewind.record(Tick(3), [(1, at(0.0))]);
    rewind.record(Tick(6), [(1, at(30.0))]);
    check(&rewind, 250, 250, 20.0);
    // After a long gap there is nothing between that could be blended wrongly for long.
    rewind.record(Tick(1_000), [(1, at(5.0))]);
    check(&rewind, 50_000, 50_000, 5.0);
    assert!(rewind.ticks.len() <= 2);
}

#[test]
fn nothing_recorded_is_nothing_to_see() {
    let mut rewind: Rewind<u32, Vec2> = Rewind::new(TICK);
    assert!(rewind.to(ms(0)).is_none());
    rewind.record(Tick(u64::MAX), [(1, at(1.0))]);
    assert_eq!(rewind.to(Duration::MAX).unwrap().get(1), Some(at(1.0)));
    rewind.clear();
    assert!(rewind.to(ms(0)).is_none());
}

#[test]
fn an_hour_of_ticks_holds_a_quarter_of_a_second() {
    let mut rewind = Rewind::new(ms(16));
    for tick in 1..225_000 {
        rewind.record(Tick(tick), [(1, at(0.0))]);
        assert!(rewind.ticks.len() <= 18);
    }
}

proptest! {
    /// A client's timeline and the server's memory of the same ticks agree on what was on the screen.
    #[test]
    fn it_is_what_the_client_showed(
        worlds in proptest::collection::vec(proptest::collection::btree_map(0..5_u32, -1e3..1e3_f32, 0..5), 2..6),
        moment in 0..400_u64,
    ) {
        let mut rewind = Rewind::new(TICK);
        let mut timeline = Timeline::new(16, Duration::ZERO);
        for (tick, world) in (1..).zip(worlds) {
            let world: Vec<(u32, Vec2)> = world.into_iter().map(|(id, x)| (id, at(x))).collect();
            timeline.insert(rewind.moment_of(Tick(tick)), world.clone()).unwrap();
            rewind.record(Tick(tick), world);
        }
        let past = rewind.to(ms(moment)).unwrap();
        let sample = timeline.sample(ms(moment)).unwrap();
        prop_assert_eq!(past.time(), sample.time());
        for id in 0..5 {
            prop_assert_eq!(past.get(id), sample.show(|world| find(world, id)));
        }
        let all: Vec<_> = past.iter().collect();
        let one_by_one: Vec<_> = (0..5).filter_map(|id| Some((id, past.get(id)?))).collect();
        prop_assert_eq!(all, one_by_one);
    }

    #[test]
    fn ids_may_come_in_any_order(ids in proptest::collection::vec(0..9_u32, 0..12)) {
        let mut rewind = Rewind::new(TICK);
        rewind.record(Tick(1), ids.iter().map(|id| (*id, at(*id as f32))));
        let past = rewind.to(ms(50)).unwrap();
        let mut expected = vec![];
        for id in 0..9 {
            let there = ids.contains(&id).then(|| at(id as f32));
            prop_assert_eq!(past.get(id), there);
            expected.extend(there.map(|at| (id, at)));
        }
        prop_assert_eq!(past.iter().collect::<Vec<_>>(), expected);
    }
}
