extern crate std;

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

const STEP: Duration = Duration::from_millis(50);
const SHAPE: Prediction = Prediction {
    step: STEP,
    snap: 100.0,
};

/// A ship on a line that has thrust and drag; there may be a wall.
#[derive(Clone, Debug)]
struct Ship {
    wall: f32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flight {
    x: f32,
    speed: f32,
}

impl Blend for Flight {
    fn blend(&self, next: &Self, share: f32) -> Self {
        Self {
            x: self.x.blend(&next.x, share),
            speed: self.speed.blend(&next.speed, share),
        }
    }
}

impl Motion for Ship {
    type State = Flight;
    type Input = f32;

    fn step(&self, state: &Flight, input: &f32) -> Flight {
        let speed = state.speed * 0.9 + input;
        let x = (state.x + speed).min(self.wall);
        Flight { x, speed }
    }

    fn distance(&self, shown: &Flight, truth: &Flight) -> f32 {
        (shown.x - truth.x).abs()
    }
}

const FREE: Ship = Ship { wall: f32::MAX };

/// The moment of a step.
fn step_at(number: u32) -> Instant {
    Instant::ZERO + STEP * number
}

fn predictor() -> Predictor<Ship> {
    let none = InputNumber(0);
    Predictor::new(FREE, SHAPE, Instant::ZERO, none, Flight::default())
}

/// What the server's own steps lead to.
fn server(ship: &Ship, inputs: &[f32]) -> Flight {
    inputs
        .iter()
        .fold(Flight::default(), |state, input| ship.step(&state, input))
}

/// A predictor after so many inputs of 10, none of them answered.
fn flown(inputs: u32) -> Predictor<Ship> {
    let mut own = predictor();
    for number in 1..=inputs {
        own.apply_input(step_at(number), InputNumber(number), 10.0)
            .unwrap();
    }
    own
}

#[test]
fn an_input_shows_at_once() {
    let mut own = predictor();
    own.apply_input(step_at(1), InputNumber(1), 10.0).unwrap();
    assert_eq!(own.current().x, 10.0);
    let x_after = |millis| own.sample(step_at(1) + Duration::from_millis(millis)).x;
    assert_eq!(
        [0, 10, 25, 50, 500].map(x_after),
        [0.0, 2.0, 5.0, 10.0, 10.0]
    );
}

#[test]
fn the_last_answer_counts() {
    let mut own = flown(3);
    let truth = server(&FREE, &[10.0; 2]);
    own.apply_answer(step_at(3), InputNumber(2), truth);
    let shown = own.current().x;
    own.apply_answer(step_at(3), InputNumber(1), Flight::default());
    assert_eq!(own.current().x, shown);
    assert_eq!(own.figures(), PredictionFigures::default());
    assert_eq!(own.waiting().collect::<Vec<_>>(), [(InputNumber(3), &10.0)]);
}

#[test]
fn what_waits_is_replayed_on_the_answer() {
    let mut own = flown(3);
    // The server's wall was nearer than the client knew.
    let truth = Flight { x: 4.0, speed: 0.0 };
    own.apply_answer(step_at(3), InputNumber(1), truth);
    let expected = FREE.step(&FREE.step(&truth, &10.0), &10.0);
    assert_eq!(*own.current(), expected);
    assert_eq!(own.figures().corrections, 1);
    assert_eq!(own.figures().last_error, 6.0);
}

#[test]
fn a_mistake_fades_and_is_gone_after_its_time() {
    let mut own = flown(2);
    let now = step_at(3);
    let shown = own.sample(now).x;
    own.apply_answer(now, InputNumber(2), Flight { x: 9.0, speed: 0.0 });
    assert_eq!(own.sample(now).x, shown, "nothing jumps");
    let half = own.sample(now + CORRECTION / 2).x;
    assert!((half - (shown + 9.0) / 2.0).abs() < 1e-4, "{half}");
    assert_eq!(own.sample(now + CORRECTION).x, 9.0);
    assert_eq!(own.figures().snaps, 0);
}

#[test]
fn an_answer_within_a_step_lets_the_step_go_on() {
    let mut own = flown(1);
    let millis = |millis| step_at(1) + Duration::from_millis(millis);
    own.apply_answer(
        millis(25),
        InputNumber(1),
        Flight {
            x: 14.0,
            speed: 0.0,
        },
    );
    // What was shown moves from 0 to 10 within the step and fades into 14.
    let shown = [25, 50, 75, 125].map(|at| own.sample(millis(at)).x);
    assert_eq!(shown, [5.0, 11.0, 12.0, 14.0]);
}

#[test]
fn a_new_place_is_a_jump() {
    let mut own = flown(2);
    let far = Flight {
        x: 5_000.0,
        speed: 0.0,
    };
    own.apply_answer(step_at(3), InputNumber(2), far);
    assert_eq!(own.sample(step_at(3)).x, 5_000.0);
    assert_eq!((own.figures().corrections, own.figures().snaps), (1, 1));
    let nowhere = Flight {
        x: f32::NAN,
        speed: 0.0,
    };
    own.apply_answer(step_at(3), InputNumber(2), nowhere);
    assert_eq!(own.figures().snaps, 2);
    own.apply_answer(step_at(3), InputNumber(2), Flight { x: 1.0, speed: 0.0 });
    assert_eq!(
        own.sample(step_at(3)).x,
        1.0,
        "what is no number does not stay"
    );
}

#[test]
fn inputs_beyond_the_bound_are_refused() {
    let bound = u32::try_from(INPUTS_WAITING).unwrap();
    let mut own = flown(bound);
    let next = InputNumber(bound + 1);
    let stuck = *own.current();
    assert_eq!(
        own.apply_input(step_at(bound + 1), next, 10.0),
        Err(InputError::TooMany)
    );
    assert_eq!(*own.current(), stuck);
    let truth = server(&FREE, &[10.0]);
    own.apply_answer(step_at(bound + 1), InputNumber(1), truth);
    assert_eq!(own.apply_input(step_at(bound + 1), next, 10.0), Ok(()));
    assert_eq!(own.figures(), PredictionFigures::default());
}

#[test]
fn numbers_ascend_and_may_leave_gaps() {
    let mut own = predictor();
    own.apply_input(step_at(1), InputNumber(4), 10.0).unwrap();
    for number in [0, 3, 4] {
        assert_eq!(
            own.apply_input(step_at(2), InputNumber(number), 10.0),
            Err(InputError::NotNewer)
        );
    }
    own.apply_input(step_at(2), InputNumber(9), 10.0).unwrap();
    // 7 was something else than an input.
    own.apply_answer(step_at(2), InputNumber(7), server(&FREE, &[10.0]));
    assert_eq!(own.waiting().count(), 1);
    assert_eq!(own.figures(), PredictionFigures::default());
}

#[test]
fn the_same_answer_twice_changes_nothing_and_a_hit_between_inputs_counts() {
    let mut own = flown(1);
    let truth = server(&FREE, &[10.0]);
    own.apply_answer(step_at(2), InputNumber(1), truth);
    own.apply_answer(step_at(2), InputNumber(1), truth);
    assert_eq!(own.figures(), PredictionFigures::default());
    own.apply_answer(step_at(2), InputNumber(1), Flight { x: 12.0, ..truth });
    assert_eq!(own.figures().corrections, 1);
    assert_eq!(own.current().x, 12.0);
}

#[test]
fn a_respawn_begins_anew() {
    let mut own = flown(5);
    own.apply_answer(step_at(5), InputNumber(5), Flight { x: 9.0, speed: 0.0 });
    let there = Flight {
        x: -300.0,
        speed: 0.0,
    };
    own.reset(step_at(6), InputNumber(5), there);
    assert_eq!(own.sample(step_at(6)), there);
    assert_eq!(own.waiting().count(), 0);
    assert_eq!(
        own.apply_input(step_at(6), InputNumber(5), 1.0),
        Err(InputError::NotNewer)
    );
    own.apply_input(step_at(7), InputNumber(6), 1.0).unwrap();
    assert_eq!(own.current().x, -299.0);
}

/// Flies for a while with answers `late` steps behind, of which some are lost, against a server that
/// has a wall. Returns the largest step on the screen between two frames, and the predictor.
fn fly(
    inputs: &[f32],
    late: usize,
    lost: impl Fn(usize) -> bool,
    wall: f32,
) -> (f32, Predictor<Ship>) {
    let mut own = predictor();
    let mut largest = 0.0_f32;
    let mut last = own.sample(Instant::ZERO).x;
    for (at, input) in inputs.iter().enumerate() {
        let number = u32::try_from(at + 1).unwrap();
        let moment = step_at(number);
        own.apply_input(moment, InputNumber(number), *input)
            .unwrap();
        if at >= late && !lost(at) {
            let answered = at + 1 - late;
            let truth = server(&Ship { wall }, &inputs[..answered]);
            let answered = InputNumber(u32::try_from(answered).unwrap());
            own.apply_answer(moment, answered, truth);
        }
        // Frames at a rate that has nothing to do with the steps.
        for frame in 0..7 {
            let x = own.sample(moment + STEP * frame / 7).x;
            largest = largest.max((x - last).abs());
            last = x;
        }
    }
    (largest, own)
}

#[test]
fn a_wall_that_only_the_server_knows_does_not_make_the_ship_jump() {
    let inputs = vec![2.0; 100];
    let (largest, mut own) = fly(&inputs, 3, |at| at % 20 == 7, 500.0);
    assert!(own.figures().corrections > 10);
    assert_eq!(own.figures().snaps, 0);
    // At its fastest the ship makes 20 units a step, 2.9 a frame; a correction of the three steps
    // that were wrong takes two steps to fade.
    assert!(largest < 8.0, "{largest}");
    let end = step_at(100);
    own.apply_answer(
        end,
        InputNumber(100),
        server(&Ship { wall: 500.0 }, &inputs),
    );
    assert_eq!(own.sample(end + CORRECTION).x, 500.0);
}

proptest! {
    #[test]
    fn a_server_that_agrees_corrects_nothing(
        inputs in proptest::collection::vec(-20.0..20.0_f32, 1..120),
        late in 0..10_usize,
        lost in 1..9_usize,
    ) {
        let (_, answered) = fly(&inputs, late, |at| at % 9 < lost, f32::MAX);
        let (_, alone) = fly(&inputs, late, |_| true, f32::MAX);
        prop_assert_eq!(answered.figures(), PredictionFigures::default());
        let number = u32::try_from(inputs.len()).unwrap();
        for part in 0..10 {
            let moment = step_at(number) + STEP * part / 10;
            prop_assert_eq!(answered.sample(moment), alone.sample(moment));
        }
    }

    #[test]
    fn after_any_answer_the_newest_state_is_the_servers_and_the_rest(
        inputs in proptest::collection::vec(-20.0..20.0_f32, 1..60),
        answered in 0..60_usize,
        x in -50.0..50.0_f32,
        speed in -9.0..9.0_f32,
    ) {
        let (_, mut own) = fly(&inputs, 0, |_| true, f32::MAX);
        let answered = answered.min(inputs.len());
        let truth = Flight { x, speed };
        let now = step_at(u32::try_from(inputs.len()).unwrap() + 1);
        let shown = own.sample(now);
        own.apply_answer(now, InputNumber(u32::try_from(answered).unwrap()), truth);
        let expected = inputs[answered..].iter().fold(truth, |state, input| FREE.step(&state, input));
        prop_assert_eq!(*own.current(), expected);
        prop_assert_eq!(own.sample(now + CORRECTION), expected);
        if own.figures().snaps == 0 {
            prop_assert!((own.sample(now).x - shown.x).abs() < 1e-2);
        }
    }
}
