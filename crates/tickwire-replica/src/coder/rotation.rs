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

/// All four components, in units of `1 / (M √2)`.
pub(super) type Whole = [i32; 4];

/// The same rotation with component `largest` left out, as nearly as it can be said.
///
/// The components that are then in lanes may be larger than a lane can hold: they are cut off, since
/// what is asked for is a prediction.
pub(super) fn reexpress(lanes: Lanes, largest: u32, bits: u8) -> Lanes {
    let [from, ..] = lanes;
    if from == largest {
        return lanes;
    }
    let [a, b, c] = narrow(whole(lanes, bits), largest, bits);
    [largest, a, b, c]
}

/// The components that lanes stand for.
pub(super) fn whole(lanes: Lanes, bits: u8) -> Whole {
    let [from, a, b, c] = lanes;
    let top = (1_i32 << bits) - 1;
    let [a, b, c] = [a, b, c].map(|lane| 2 * lane.cast_signed() - top);
    // Lanes that are no rotation may have longer squares than there is room for.
    let square = |component: i32| component.unsigned_abs().pow(2);
    let rest = (2 * square(top)).saturating_sub(square(a).saturating_add(square(b)));
    let w = rest.saturating_sub(square(c)).isqrt().cast_signed();
    match from {
        0 => [w, a, b, c],
        1 => [a, w, b, c],
        2 => [a, b, w, c],
        _ => [a, b, c, w],
    }
}

/// The lanes of a rotation with component `largest` left out.
pub(super) fn narrow(whole: Whole, largest: u32, bits: u8) -> [u32; 3] {
    let top = (1_i32 << bits) - 1;
    let [x, y, z, w] = whole;
    let (left_out, others) = match largest {
        0 => (x, [y, z, w]),
        1 => (y, [x, z, w]),
        2 => (z, [x, y, w]),
        _ => (w, [x, y, z]),
    };
    // A quaternion and its negative are the same rotation, and the component left out counts as
    // positive.
    let sign = if left_out < 0 { -1 } else { 1 };
    others.map(|component| {
        ((sign * component + top + 1) >> 1)
            .clamp(0, top)
            .cast_unsigned()
    })
}

/// The index of the component with the largest size; of equals, the first.
pub(super) fn largest(whole: Whole) -> u32 {
    let (mut index, mut most) = (0, 0);
    for (component, n) in whole.into_iter().zip(0..) {
        if component.unsigned_abs() > most {
            (index, most) = (n, component.unsigned_abs());
        }
    }
    index
}

/// Where a rotation will be if it turns on as from `previous` to `baseline`, about the same axis; see
/// [`Ages::reach`](crate::coder::Ages).
///
/// With an angle θ between the two, and r for the reach, that is
/// `(baseline sin (r+1)θ - previous sin rθ) / sin θ`. The sines are cut off after their second term, which
/// needs no more than `1 - cos θ`. What has turned too far for that is expected to rest.
pub(super) fn turn_on(baseline: Whole, previous: Whole, reach: i64, bits: u8) -> Whole {
    let pairs = || baseline.into_iter().zip(previous);
    let dot: i64 = pairs().map(|(b, p)| i64::from(b) * i64::from(p)).sum();
    let sign = if dot < 0 { -1 } else { 1 };
    let distance: i64 = pairs().map(|(b, p)| i64::from(b - sign * p).pow(2)).sum();
    // 1 - cos θ in units of 1/65536: at most 1, since the shorter way is taken.
    let top = (1_i64 << bits) - 1;
    let curve = (distance << 14) / (top * top);
    let third = |square: i64| (((square * curve) >> 16) * 21_845) >> 16;
    let square = (reach * reach) >> 12;
    let bend = third(square + 2 * reach);
    if bend > 2048 {
        return baseline;
    }
    let ahead = ((4096 + reach) * (4096 - bend)) >> 12;
    let behind = (reach * (4096 - third(square - 4096))) >> 12;
    let mut turned = baseline;
    for (component, p) in turned.iter_mut().zip(previous) {
        let to = ahead * i64::from(*component) - behind * i64::from(sign * p);
        *component = i32::try_from((to + 2048) >> 12).unwrap_or(*component);
    }
    turned
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

    /// A turn by `degrees` about an axis that is none of the coordinates'.
    #[expect(clippy::cast_possible_truncation, reason = "components are small")]
    fn turned(degrees: f64) -> Whole {
        let (sin, cos) = (degrees.to_radians() / 2.0).sin_cos();
        let unit = 1023.0 * 2_f64.sqrt();
        [0.6 * sin, 0.48 * sin, 0.64 * sin, cos].map(|component| (component * unit).round() as i32)
    }

    #[test]
    fn a_steady_turn_goes_on() {
        for (step, reach, bound) in [(5.0, 2, 3), (20.0, 1, 4), (20.0, 2, 12), (-30.0, 1, 12)] {
            let then = turned(70.0);
            let earlier = turned(70.0 - step).map(|component| -component);
            let got = turn_on(then, earlier, reach * 4096, 10);
            let right = turned(70.0 + step * reach as f64);
            for (got, right) in got.into_iter().zip(right) {
                assert!((got - right).abs() <= bound, "{step}: {got} is not {right}");
            }
        }
    }

    #[test]
    fn what_turned_very_far_is_expected_to_rest() {
        let then = turned(170.0);
        assert_eq!(turn_on(then, turned(0.0), 2 * 4096, 10), then);
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
