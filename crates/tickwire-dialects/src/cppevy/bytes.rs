//! Bytes that are kept where they are, because they are mostly few and come in masses.

use alloc::boxed::Box;
use core::fmt;
use core::ops::Deref;

/// Some bytes; up to `N` of them without an allocation.
#[derive(Clone)]
pub struct Bytes<const N: usize>(Held<N>);

#[derive(Clone)]
enum Held<const N: usize> {
    Short { length: u8, bytes: [u8; N] },
    Long(Box<[u8]>),
}

impl<const N: usize> Bytes<N> {
    /// Puts other bytes in place of these.
    #[inline]
    pub(super) fn set(&mut self, new: &[u8]) {
        if let Held::Short { length, bytes } = &mut self.0
            && let Ok(new_length) = u8::try_from(new.len())
            && let Some(place) = bytes.get_mut(..new.len())
        {
            *length = new_length;
            // The usual lengths, a vector and a number, are copied without a call.
            match (place.as_mut_array::<8>(), new.as_array::<8>()) {
                (Some(place), Some(new)) => *place = *new,
                _ => match (place.as_mut_array::<4>(), new.as_array::<4>()) {
                    (Some(place), Some(new)) => *place = *new,
                    _ => place.copy_from_slice(new),
                },
            }
        } else {
            *self = new.into();
        }
    }
}

impl<const N: usize> From<&[u8]> for Bytes<N> {
    #[inline]
    fn from(from: &[u8]) -> Self {
        let mut bytes = [0; N];
        match (bytes.get_mut(..from.len()), u8::try_from(from.len())) {
            (Some(place), Ok(length)) => {
                place.copy_from_slice(from);
                Self(Held::Short { length, bytes })
            }
            _ => Self(Held::Long(from.into())),
        }
    }
}

impl<const N: usize> Deref for Bytes<N> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Held::Short { length, bytes } => bytes.get(..usize::from(*length)).unwrap_or(bytes),
            Held::Long(bytes) => bytes,
        }
    }
}

impl<const N: usize> Default for Bytes<N> {
    fn default() -> Self {
        Self::from(&[][..])
    }
}

impl<const N: usize> PartialEq for Bytes<N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<const N: usize> Eq for Bytes<N> {}

impl<const N: usize> fmt::Debug for Bytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn long_and_short_replace_each_other() {
        let mut bytes = Bytes::<22>::default();
        for length in [0, 1, 4, 8, 22, 23, 255, 1, 8] {
            let new = vec![7; length];
            bytes.set(&new);
            assert_eq!(*bytes, new);
            assert_eq!(bytes, Bytes::from(&new[..]));
        }
    }
}
