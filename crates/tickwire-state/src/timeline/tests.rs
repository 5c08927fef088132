extern crate std;

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::blend_unless;

const BOUND: Duration = ms(250);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A place on a line, and whether it jumped there.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spot {
    x: f32,
    jumped: bool,
}

impl Blend for Spot {
    fn blend(&self, next: &Self, share: f32) -> Self {
        let x = blend_unless(next.jumped, &self.x, &next.x, share);
        Self { x, jumped: false }
    }
}

type Line = Timeline<Option<Spot>>;

fn line(spots: &[(u64, Option<f32>)]) -> Line {
    let mut line = Line::new(8, BOUND);
    for &(at, x) in spots {
        let spot = x.map(|x| Spot { x, jumped: false });
        line.insert(ms(at), spot).expect("not too late");
    }
    line
}

fn x_at(line: &mut Line, at: u64) -> Option<f32> {
    line.sample(ms(at))?.show(Option::as_ref).map(|spot| spot.x)
}

#[track_caller]
fn check(line: &mut Line, at: u64, x: f32) {
    let shown = x_at(line, at).expect("it is there");
    assert!((shown - x).abs() < 1e-3, "{shown} at {at} ms, not {x}");
}

#[test]
fn between_two_snapshots_it_is_between() {
    let mut line = line(&[(100, Some(0.0)), (200, Some(10.0)), (300, Some(0.0))]);
    check(&mut line, 100, 0.0);
    check(&mut line, 150, 5.0);
    check(&mut line, 200, 10.0);
    check(&mut line, 225, 7.5);
}

#[test]
fn nothing_is_shown_of_nothing() {
    assert!(line(&[]).sample(ms(5)).is_none());
}

#[test]
fn before_the_first_snapshot_it_shows_the_first() {
    let mut line = line(&[(100, Some(3.0)), (200, Some(4.0))]);
    check(&mut line, 20, 3.0);
    check(&mut line, 150, 3.5);
}

#[test]
fn beyond_the_newest_it_moves_on_to_the_bound() {
    let mut line = line(&[(100, Some(0.0)), (200, Some(10.0))]);
    check(&mut line, 300, 20.0);
    check(&mut line, 450, 35.0);
    check(&mut line, 10_000, 35.0);
    assert_eq!(line.sample(ms(20_000)).unwrap().time(), ms(450));
}

#[test]
fn one_snapshot_alone_stands_still() {
    let mut line = line(&[(100, Some(7.0))]);
    check(&mut line, 300, 7.0);
    assert_eq!(line.sample(ms(400)).unwrap().time(), ms(100));
}

#[test]
fn an_earlier_moment_than_shown_is_not_shown_again() {
    let mut line = line(&[(100, Some(0.0)), (200, Some(10.0))]);
    check(&mut line, 180, 8.0);
    check(&mut line, 120, 8.0);
    assert_eq!(line.sample(ms(0)).unwrap().time(), ms(180));
}

#[test]
fn a_snapshot_of_the_past_is_too_late() {
    let mut line = line(&[(100, Some(0.0)), (300, Some(10.0))]);
    check(&mut line, 310, 10.5);
    assert_eq!(line.insert(ms(200), None), Err(TooLate));
    assert_eq!(line.insert(ms(300), None), Err(TooLate));
    // Later than the newest reached, though not than what is shown: better than moving on blindly.
    check(&mut line, 400, 15.0);
    let spot = Spot {
        x: 11.0,
        jumped: false,
    };
    assert_eq!(line.insert(ms(350), Some(spot)), Ok(()));
    check(&mut line, 400, 12.0);
}

#[test]
fn what_comes_and_goes_does_so_at_its_snapshot() {
    let mut line = line(&[(100, None), (200, Some(1.0)), (300, None)]);
    assert_eq!(x_at(&mut line, 150), None);
    assert_eq!(x_at(&mut line, 250), Some(1.0));
    assert_eq!(x_at(&mut line, 320), None);
}

#[test]
fn two_snapshots_at_almost_one_moment_do_not_fling_things_away() {
    let mut line = Line::new(8, BOUND);
    for (at, x) in [(0, 0.0), (1, 1.0)] {
        let spot = Spot { x, jumped: false };
        line.insert(ms(100) + Duration::from_nanos(at), Some(spot))
            .unwrap();
    }
    assert!(x_at(&mut line, 300).unwrap() <= 1.0 + SHARE_MAX);
}

#[test]
fn the_oldest_gives_way() {
    let mut line = Line::new(2, BOUND);
    for at in 1..=5 {
        line.insert(ms(at * 100), None).unwrap();
    }
    assert_eq!(line.snapshots.len(), 2);
    assert_eq!(line.sample(ms(0)).unwrap().time(), ms(400));
}

/// Snapshots in some order, moments to sample in between, and where things are.
fn story() -> impl Strategy<Value = Vec<(u64, f32, bool, u64)>> {
    proptest::collection::vec(
        (0..60_u64, -1e3..1e3_f32, any::<bool>(), 0..4_000_u64),
        1..80,
    )
}

proptest! {
    /// Whatever arrives and whatever is asked for: time does not go back, and every place shown lies
    /// between two places that were, or is one that jumped, or moves on within the bound.
    #[test]
    fn what_is_shown_is_licensed(story in story()) {
        let mut line = Timeline::new(8, BOUND);
        let mut before = Duration::ZERO;
        for (number, x, jumped, at) in story {
            // One that is too late changes nothing.
            line.insert(ms(number * 50), Spot { x, jumped }).ok();
            let held: Vec<_> = line.snapshots.iter().copied().collect();
            let sample = line.sample(ms(at)).expect("there is one");
            prop_assert!(sample.time() >= before);
            before = sample.time();
            let shown = sample.show(Some).expect("it is in all of them").x;
            let (newest, last) = held[held.len() - 1];
            prop_assert!(before <= newest.max(held[0].0) + BOUND);
            let next = held.iter().find(|(time, _)| *time > before);
            let base = held.iter().rev().find(|(time, _)| *time <= before);
            match (base, next) {
                (Some((_, base)), Some((_, next))) if next.jumped => prop_assert_eq!(shown, base.x),
                (Some((_, base)), Some((_, next))) => {
                    let (low, high) = (base.x.min(next.x), base.x.max(next.x));
                    prop_assert!(shown >= low - 0.01 && shown <= high + 0.01);
                }
                (Some(_), None) if last.jumped => prop_assert_eq!(shown, last.x),
                _ => {}
            }
        }
    }
}
