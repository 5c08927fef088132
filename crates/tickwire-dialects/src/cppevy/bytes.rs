//! Bytes that are kept where they are, because they are mostly few and come in masses.

use alloc::boxed::Box;
use core::fmt;
use core::ops::Deref;

/// Some bytes, without an allocation if they are few.
#[derive(Clone)]
pub struct Bytes(Held);

/// What a busy game says of an event a thousand times a second, such as where a shot is and flies to,
/// is not longer.
const SHORT: usize = 30;

#[derive(Clone)]
enum Held {
    Short { length: u8, bytes: [u8; SHORT] },
    Long(Box<[u8]>),
}

impl From<&[u8]> for Bytes {
    #[inline]
    fn from(from: &[u8]) -> Self {
        let mut bytes = [0; SHORT];
        match (bytes.get_mut(..from.len()), u8::try_from(from.len())) {
            (Some(place), Ok(length)) => {
                place.copy_from_slice(from);
                Self(Held::Short { length, bytes })
            }
            _ => Self(Held::Long(from.into())),
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Held::Short { length, bytes } => bytes.get(..usize::from(*length)).unwrap_or(bytes),
            Held::Long(bytes) => bytes,
        }
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn long_and_short_are_the_same_to_read() {
        for length in [0, 1, SHORT, SHORT + 1, 255] {
            let bytes = vec![7; length];
            assert_eq!(*Bytes::from(&bytes[..]), bytes);
        }
    }
}
