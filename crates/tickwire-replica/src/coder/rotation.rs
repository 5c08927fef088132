//! Unit quaternions as their smallest three, in integers.
//!
//! Lane 0 is the index of the largest component, and lanes 1 to 3 are the others in order, each from 0 to
//! `M = 2^bits - 1`. Such a lane `c` stands for the component `(2c - M) / (M √2)`. So with components
//! measured in units of `1 / (M √2)` everything is an integer, and their squares add up to `2 M²`, which
//! fits 31 bits.
//!
//! Differences between two quaternions make sense only while both leave out the same component.
//! [`reexpress`] writes one as it would look with another component left out.

/// The four lanes of a quaternion.
pub(super) type Lanes = [u32; 4];

/// The same rotation with component `largest` left out, as nearly as it can be said.
///
/// The components that are then in lanes may be larger than a lane can hold: they are cut off, since
/// what is asked for is a prediction.
pub(super) fn reexpress(lanes: Lanes, largest: u32, bits: u8) -> Lanes {
    let [from, a, b, c] = lanes;
    if from == largest {
        return lanes;
    }
    let top = (1_i32 << bits) - 1;
    let [a, b, c] = [a, b, c].map(|lane| 2 * lane.cast_signed() - top);
    // Lanes that are no rotation may have longer squares than there is room for.
    let square = |component: i32| component.unsigned_abs().pow(2);
    let rest = (2 * square(top)).saturating_sub(square(a).saturating_add(square(b)));
    let w = rest.saturating_sub(square(c)).isqrt().cast_signed();
    let mut whole = match from {
        0 => [w, a, b, c],
        1 => [a, w, b, c],
        2 => [a, b, w, c],
        _ => [a, b, c, w],
    };
    // A quaternion and its negative are the same rotation, and the component left out counts as
    // positive.
    let [x, y, z, w] = whole;
    let left_out = match largest {
        0 => x,
        1 => y,
        2 => z,
        _ => w,
    };
    if left_out < 0 {
        whole = whole.map(|component| -component);
    }
    let [x, y, z, w] = whole;
    let others = match largest {
        0 => [y, z, w],
        1 => [x, z, w],
        2 => [x, y, w],
        _ => [x, y, z],
    };
    let [a, b, c] =
        others.map(|component| ((component + top + 1) >> 1).clamp(0, top).cast_unsigned());
    [largest, a, b, c]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_out_the_same_is_unchanged() {
        assert_eq!(reexpress([2, 5, 900, 1023], 2, 10), [2, 5, 900, 1023]);
    }

    #[test]
    fn two_equal_components_change_places() {
        // x and y are both 1/√2, the others nearly 0.
        let x_left_out = [0, 1023, 511, 511];
        let y_left_out = reexpress(x_left_out, 1, 10);
        assert_eq!(y_left_out, [1, 1023, 511, 511]);
        assert_eq!(reexpress(y_left_out, 0, 10), x_left_out);
    }

    #[test]
    fn a_negative_component_turns_the_signs() {
        // x is 1/√2 and y is -1/√2: with y left out, and positive, x is negative.
        assert_eq!(reexpress([0, 0, 530, 511], 1, 10), [1, 1, 493, 512]);
    }

    #[test]
    fn lanes_that_are_no_rotation_stay_in_range() {
        for from in 0..4 {
            for to in 0..4 {
                for lane in [0, 1 << 14, (1 << 15) - 1] {
                    let lanes = reexpress([from, lane, lane, lane], to, 15);
                    assert!(lanes.iter().all(|&lane| lane < 1 << 15), "{lanes:?}");
                    assert_eq!(lanes[0], to);
                }
            }
        }
    }
}
