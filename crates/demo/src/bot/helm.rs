//! From a wish to move to held keys.

use crate::{Heading, Intent, Vec2};

/// Holds the keys that change the velocity by `change` and turn the ship to `facing`.
pub(super) fn steer(intent: &mut Intent, heading: Heading, change: Vec2, facing: Option<Heading>) {
    let ahead = heading.unit();
    let (along, aside) = (change.dot(ahead), change.dot(ahead.left()));
    intent.forward = along > ENOUGH;
    intent.backward = along < -ENOUGH;
    intent.strafe_left = aside > ENOUGH;
    intent.strafe_right = aside < -ENOUGH;
    let turn = facing.map_or(0.0, |facing| heading.turn_to(facing));
    intent.turn_left = turn > STRAIGHT;
    intent.turn_right = turn < -STRAIGHT;
}

/// A difference in speed that is not worth a key.
const ENOUGH: f64 = 70.0;
/// An angle that is not worth a key: more than a ship turns in a step or two, or it would tremble.
const STRAIGHT: f64 = 0.12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_the_ship_and_not_the_screen() {
        let mut intent = Intent::default();
        let north = Heading::from_degrees(90.0);
        steer(
            &mut intent,
            north,
            Vec2::new(-300.0, -300.0),
            Some(Heading::EAST),
        );
        let expected = Intent {
            backward: true,
            strafe_left: true,
            turn_right: true,
            ..Intent::default()
        };
        assert_eq!(intent, expected);
    }
}
