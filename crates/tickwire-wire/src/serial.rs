//! Comparing numbers that wrap: sequences, timestamps, ticks.

/// A number that counts on past its maximum to zero.
///
/// Of two values the newer is the one that is less than half the range ahead, so the order holds as
/// long as no two values in use are further apart than that. Exactly half the range apart, neither
/// is newer.
pub trait Serial: Copy + Eq {
    /// Steps from `older` to `self`; negative if `self` is the older one.
    fn steps_since(self, older: Self) -> i64;

    /// The value after this one.
    #[must_use]
    fn next(self) -> Self;

    /// Whether `self` comes after `other`.
    #[inline]
    fn is_newer_than(self, other: Self) -> bool {
        self.steps_since(other) > 0
    }

    /// Whether `self` comes before `other`.
    #[inline]
    fn is_older_than(self, other: Self) -> bool {
        other.is_newer_than(self)
    }
}

macro_rules! serial {
    ($($unsigned:ty),*) => {$(
        impl Serial for $unsigned {
            #[inline]
            fn steps_since(self, older: Self) -> i64 {
                let steps = self.wrapping_sub(older);
                // Half the range is as far ahead as behind: counting it as behind in both
                // directions keeps `is_newer_than` antisymmetric.
                i64::from(steps.cast_signed())
            }

            #[inline]
            fn next(self) -> Self {
                self.wrapping_add(1)
            }
        }
    )*};
}

serial!(u8, u16, u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_crosses_the_wrap() {
        assert!(0_u16.is_newer_than(65_535));
        assert!(65_535_u16.is_older_than(0));
        assert!(u32::MAX.next().is_newer_than(u32::MAX));
        assert_eq!(3_u8.steps_since(250), 9);
        assert_eq!(250_u8.steps_since(3), -9);
    }

    #[test]
    fn order_is_antisymmetric_and_total_but_for_the_antipode() {
        for a in 0..=u8::MAX {
            for b in 0..=u8::MAX {
                let (newer, older) = (a.is_newer_than(b), a.is_older_than(b));
                let antipode = a.wrapping_sub(b) == 128;
                assert_eq!(!newer && !older, a == b || antipode, "{a} {b}");
                assert!(!(newer && older), "{a} {b}");
            }
        }
    }
}
