//! Unit quaternions as their smallest three, in integers.
//!
//! Lane 0 is the index of the largest component, and lanes 1 to 3 are the others in order, each from 0 to
//! `M = 2^bits - 1`. Such a lane `c` stands for the component `(2c - M) / (M √2)`. So with components
//! measured in units of `1 / (M √2)` everything is an integer, and their squares add up to `2 M²`, which
//! fits 31 bits.
//!
//! Differences between two quaternions make sense only while both leave out the same component.
//! [`reexpress`] writes one as it would look with another component left out, and [`turn_on`]
//! extrapolates.

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

/// Which component is the largest of a rotation that may have been written with another left out.
pub(super) fn largest(lanes: Lanes, bits: u8) -> u32 {
    let top = (1_i32 << bits) - 1;
    let [from, small @ ..] = lanes;
    let squares = small.map(|lane| (2 * lane.cast_signed() - top).unsigned_abs().pow(2));
    let sum = squares.iter().fold(0_u32, |sum, &n| sum.saturating_add(n));
    let left_out = (2 * top.unsigned_abs().pow(2)).saturating_sub(sum);
    let (mut index, mut most) = (from, left_out);
    for (square, n) in squares.into_iter().zip(0..) {
        if square > most {
            // Those behind the one left out have one more before them.
            (index, most) = (n + u32::from(n >= from), square);
        }
    }
    index
}

/// Where a rotation will be if it turns on as from `previous` to `baseline`, about the same axis; see
/// [`Ages::reach`](crate::coder::Ages). Both leave out the same component.
///
/// With an angle θ between the two, and r for the reach, that is
/// `(baseline sin (r+1)θ - previous sin rθ) / sin θ`. The sines are cut off after their second term, which
/// needs no more than `1 - cos θ`; that is taken from the three components at hand. What turned too far
/// for that is expected to rest.
pub(super) fn turn_on(baseline: Lanes, previous: Lanes, reach: i64, bits: u8) -> Lanes {
    let top = (1_i64 << bits) - 1;
    let [left_out, then @ ..] = baseline;
    let [_, earlier @ ..] = previous;
    let [then, earlier] = [then, earlier].map(|lanes| lanes.map(|lane| 2 * i64::from(lane) - top));
    let pairs = then.into_iter().zip(earlier);
    let distance: i64 = pairs.map(|(then, earlier)| (then - earlier).pow(2)).sum();
    // 1 - cos θ in units of 1/65536. The divisor is 2^bits squared instead of M squared: near enough,
    // and a shift.
    let curve = (distance << 14) >> (2 * bits);
    let third = |square: i64| (((square * curve) >> 16) * 21_845) >> 16;
    let square = (reach * reach) >> 12;
    let bend = third(square + 2 * reach);
    if bend > 2048 {
        return baseline;
    }
    let ahead = ((4096 + reach) * (4096 - bend)) >> 12;
    let behind = (reach * (4096 - third(square - 4096))) >> 12;
    let [a, b, c] = then;
    let [d, e, f] = earlier;
    let [a, b, c] = [(a, d), (b, e), (c, f)].map(|(then, earlier)| {
        let component = (ahead * then - behind * earlier) >> 12;
        let lane = ((component + top + 1) >> 1).clamp(0, top);
        u32::try_from(lane).unwrap_or_default()
    });
    [left_out, a, b, c]
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
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "lanes are small, and not negative"
    )]
    fn turned(degrees: f64) -> Lanes {
        let (sin, cos) = (degrees.to_radians() / 2.0).sin_cos();
        assert!(cos > 0.65, "the last component is the largest");
        let lane =
            |component: f64| ((component * 2_f64.sqrt() + 1.0) / 2.0 * 1023.0).round() as u32;
        [3, lane(0.6 * sin), lane(0.48 * sin), lane(0.64 * sin)]
    }

    #[test]
    fn a_steady_turn_goes_on() {
        for (step, reach, bound) in [(5.0, 2, 2), (20.0, 1, 2), (20.0, 2, 6), (-30.0, 1, 3)] {
            let got = turn_on(turned(20.0), turned(20.0 - step), reach * 4096, 10);
            let right = turned(20.0 + step * reach as f64);
            for (got, right) in got.into_iter().zip(right) {
                assert!(got.abs_diff(right) <= bound, "{step}: {got} is not {right}");
            }
        }
    }

    #[test]
    fn what_turned_very_far_is_expected_to_rest() {
        let then = turned(90.0);
        assert_eq!(turn_on(then, turned(-60.0), 2 * 4096, 10), then);
    }

    #[test]
    fn the_largest_is_found_wherever_it_is() {
        assert_eq!(largest(turned(80.0), 10), 3);
        // Written with another left out, the same rotation has the same largest component.
        for left_out in 0..3 {
            assert_eq!(largest(reexpress(turned(80.0), left_out, 10), 10), 3);
        }
        assert_eq!(largest([1, 1023, 520, 520], 10), 0);
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
