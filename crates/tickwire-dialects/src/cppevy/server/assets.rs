//! The assets that clients may fetch.
//!
//! They are resources on a [`Shelf`], whose manifest is the asset `index`; what C++evy adds are tighter
//! bounds on name and size.

use tickwire_session::bulk::{RESOURCES_MAX, Shelf, ShelfError};
use tickwire_wire::display_enum;

use crate::cppevy::limits::{ASSET_MAX, ASSET_NAME_MAX};

/// The name under which the list of all others is fetched.
pub(crate) const INDEX: &str = "index";

display_enum! {
    /// Why something cannot be an asset.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum BadAsset: Error {
        /// The name is empty, too long, no relative path, or the index's own.
        Name => "an asset's name is a relative path of 1 to {ASSET_NAME_MAX} bytes, and not \"{INDEX}\"",
        /// It is larger than a client takes.
        Size => "an asset has at most {ASSET_MAX} bytes",
        /// There are as many as an index lists.
        TooMany => "there are {RESOURCES_MAX} assets already",
    }
}

/// Puts an asset on the shelf, in place of one that had this name.
pub(super) fn insert(shelf: &mut Shelf, name: &str, bytes: &[u8]) -> Result<(), BadAsset> {
    if name.len() > ASSET_NAME_MAX {
        return Err(BadAsset::Name);
    }
    if u32::try_from(bytes.len()).map_or(true, |size| size > ASSET_MAX) {
        return Err(BadAsset::Size);
    }
    match shelf.insert(name, bytes.into()) {
        Ok(_) => Ok(()),
        Err(ShelfError::Name) => Err(BadAsset::Name),
        Err(ShelfError::Size) => Err(BadAsset::Size),
        Err(ShelfError::TooMany) => Err(BadAsset::TooMany),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_client_would_not_take_are_refused() {
        let mut shelf = Shelf::new(INDEX);
        let longest = "x".repeat(ASSET_NAME_MAX);
        assert_eq!(insert(&mut shelf, &longest, b""), Ok(()));
        for name in ["", "index", "two\nlines", &"x".repeat(ASSET_NAME_MAX + 1)] {
            assert_eq!(
                insert(&mut shelf, name, b""),
                Err(BadAsset::Name),
                "{name:?}"
            );
        }
    }
}
