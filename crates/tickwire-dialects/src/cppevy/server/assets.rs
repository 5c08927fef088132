//! The assets that clients may fetch, and a transfer of one of them.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt::{self, Write as _};

use sha2::{Digest, Sha256};

use super::super::limits::{ASSET_MAX, ASSET_NAME_MAX, PIECE_MAX};
use super::super::message::Piece;

/// The name under which the list of all others is fetched.
pub(crate) const INDEX: &str = "index";

/// Why something cannot be an asset.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadAsset {
    /// The name is empty, too long, holds a line break, or is the list's own.
    Name,
    /// It is larger than a client takes.
    Size,
}

impl fmt::Display for BadAsset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => write!(
                f,
                "an asset's name has 1 to {ASSET_NAME_MAX} bytes, no line break, and is not \"{INDEX}\""
            ),
            Self::Size => write!(f, "an asset has at most {ASSET_MAX} bytes"),
        }
    }
}

impl core::error::Error for BadAsset {}

#[derive(Debug)]
pub(super) struct Assets {
    by_name: BTreeMap<String, Asset>,
    index: Arc<[u8]>,
}

#[derive(Debug)]
struct Asset {
    bytes: Arc<[u8]>,
    hash: [u8; 32],
}

impl Assets {
    pub(super) fn new() -> Self {
        Self {
            by_name: BTreeMap::new(),
            index: Arc::new([]),
        }
    }

    pub(super) fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), BadAsset> {
        let length = 1..=ASSET_NAME_MAX;
        if !length.contains(&name.len()) || name.contains(['\n', '\r']) || name == INDEX {
            return Err(BadAsset::Name);
        }
        if u32::try_from(bytes.len()).map_or(true, |size| size > ASSET_MAX) {
            return Err(BadAsset::Size);
        }
        let hash = Sha256::digest(bytes).into();
        let bytes = bytes.into();
        self.by_name.insert(name.into(), Asset { bytes, hash });
        self.index = self.build_index().into_bytes().into();
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<[u8]>> {
        if name == INDEX {
            return Some(&self.index);
        }
        self.by_name.get(name).map(|asset| &asset.bytes)
    }

    fn build_index(&self) -> String {
        let mut index = String::new();
        for (name, asset) in &self.by_name {
            for byte in asset.hash {
                write!(index, "{byte:02x}").expect("a String grows");
            }
            let size = asset.bytes.len();
            writeln!(index, " {size} {name}").expect("a String grows");
        }
        index
    }
}

/// An asset on its way to a client. It stays what it was when the client asked.
#[derive(Debug)]
pub(super) struct Transfer {
    bytes: Arc<[u8]>,
    offset: u32,
}

impl Transfer {
    /// What is left of an asset from `offset` on; `None` if nothing is.
    pub(super) fn new(bytes: Arc<[u8]>, offset: u32) -> Option<Self> {
        let transfer = Self { bytes, offset };
        transfer.piece().is_some().then_some(transfer)
    }

    /// The next piece; `None` when everything was taken.
    pub(super) fn piece(&self) -> Option<Piece<'_>> {
        let rest = self.bytes.get(usize::try_from(self.offset).ok()?..)?;
        let bytes = rest.get(..PIECE_MAX).unwrap_or(rest);
        (!bytes.is_empty()).then_some(Piece {
            offset: self.offset,
            bytes,
        })
    }

    /// Goes on behind the next piece.
    pub(super) fn advance(&mut self) {
        let length = self.piece().map_or(0, |piece| piece.bytes.len());
        self.offset += u32::try_from(length).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_index_lists_the_others_by_name() {
        let mut assets = Assets::new();
        assert_eq!(&**assets.get(INDEX).unwrap(), b"");
        assets.add("b", b"abc").unwrap();
        assets.add("a", b"").unwrap();
        let index = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 0 a\n\
                     ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 3 b\n";
        assert_eq!(&**assets.get(INDEX).unwrap(), index.as_bytes());
        for name in ["", "index", "two\nlines", &"x".repeat(252)] {
            assert_eq!(assets.add(name, b""), Err(BadAsset::Name), "{name:?}");
        }
    }

    #[test]
    fn pieces_cover_the_asset_from_the_offset_on() {
        let bytes: Arc<[u8]> = (0..=255).cycle().take(1_000).collect();
        for offset in [0, 1, 239, 240, 241, 760, 999] {
            let mut transfer = Transfer::new(bytes.clone(), offset).unwrap();
            let mut got = Vec::new();
            while let Some(piece) = transfer.piece() {
                assert_eq!(piece.offset as usize, offset as usize + got.len());
                got.extend_from_slice(piece.bytes);
                transfer.advance();
            }
            assert_eq!(got, &bytes[offset as usize..]);
        }
        for offset in [1_000, 1_001, u32::MAX] {
            assert!(Transfer::new(bytes.clone(), offset).is_none());
        }
    }
}
