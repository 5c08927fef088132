//! An asset on its way, and the list that tells what it should be.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use sha2::{Digest, Sha256};
use tickwire_session::{Failure, Instant};

use super::super::limits::{ACTION_PATIENCE, ASSET_MAX};
use super::super::message::Piece;

/// Why an asset is not there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AssetFailure {
    /// The server's list has no such asset.
    NotListed,
    /// The server did not send it.
    Action(Failure),
    /// It is larger than is taken.
    TooLarge,
    /// It is not what the list says: damaged, or replaced since the list was fetched. The next fetch
    /// fetches the list again.
    Mismatch,
    /// The pieces did not fit together.
    Garbled,
    /// The pieces stopped coming.
    Stalled,
}

impl fmt::Display for AssetFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotListed => f.write_str("the server has no such asset"),
            Self::Action(failure) => failure.fmt(f),
            Self::TooLarge => write!(f, "the asset has more than {ASSET_MAX} bytes"),
            Self::Mismatch => f.write_str("the asset is not what the server's list says"),
            Self::Garbled => f.write_str("the asset came in pieces that do not fit"),
            Self::Stalled => f.write_str("the server stopped sending the asset"),
        }
    }
}

/// What the index says of an asset.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Listed {
    hash: [u8; 32],
    size: u32,
}

/// The server's list of assets.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    assets: BTreeMap<String, Listed>,
}

impl Index {
    /// Reads the list. A line that makes no sense lists nothing.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let text = core::str::from_utf8(bytes).unwrap_or_default();
        Self {
            assets: text.lines().filter_map(parse_line).collect(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Listed> {
        self.assets.get(name).copied()
    }
}

fn parse_line(line: &str) -> Option<(String, Listed)> {
    let mut words = line.splitn(3, ' ');
    let (digits, size, name) = (words.next()?, words.next()?, words.next()?);
    let mut hash = [0; 32];
    if digits.len() != 2 * hash.len() {
        return None;
    }
    for (byte, at) in hash.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?;
    }
    let size = size.parse().ok()?;
    Some((name.into(), Listed { hash, size }))
}

/// An asset that is on its way.
#[derive(Debug)]
pub(super) struct Asset {
    pub(super) name: String,
    /// What it should be; the list itself is not listed.
    listed: Option<Listed>,
    /// What is fetched when this, the list, is there.
    pub(super) then: Option<String>,
    /// Its size, once the server has told.
    total: Option<u32>,
    bytes: Vec<u8>,
    last_progress: Instant,
    /// Percent that were last reported.
    reported: u64,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// Nothing worth telling.
    Nothing,
    /// Another percent.
    Progress { received: u32, total: u32 },
    /// All of it is there, and it is right.
    Complete,
}

impl Asset {
    pub(super) fn new(now: Instant, name: &str, listed: Option<Listed>) -> Self {
        Self {
            name: name.into(),
            listed,
            then: None,
            total: None,
            bytes: Vec::new(),
            last_progress: now,
            reported: 0,
        }
    }

    /// The server will send this many bytes.
    pub(super) fn begin(&mut self, now: Instant, message: &[u8]) -> Result<Step, AssetFailure> {
        let size: [u8; 4] = message.try_into().map_err(|_| AssetFailure::Garbled)?;
        let total = u32::from_le_bytes(size);
        if total > ASSET_MAX {
            return Err(AssetFailure::TooLarge);
        }
        if self.listed.is_some_and(|listed| listed.size != total) {
            return Err(AssetFailure::Mismatch);
        }
        self.total = Some(total);
        self.last_progress = now;
        self.step()
    }

    /// The next piece came.
    pub(super) fn add(&mut self, now: Instant, piece: &Piece<'_>) -> Result<Step, AssetFailure> {
        let total = self.total.ok_or(AssetFailure::Garbled)?;
        let end = self.bytes.len() + piece.bytes.len();
        if usize::try_from(piece.offset) != Ok(self.bytes.len()) || end as u64 > total.into() {
            return Err(AssetFailure::Garbled);
        }
        self.bytes.extend_from_slice(piece.bytes);
        self.last_progress = now;
        self.step()
    }

    fn step(&mut self) -> Result<Step, AssetFailure> {
        let total = self.total.unwrap_or_default();
        let received = u32::try_from(self.bytes.len()).unwrap_or(total);
        if received < total {
            let percent = u64::from(received) * 100 / u64::from(total);
            let step = match percent > self.reported {
                true => Step::Progress { received, total },
                false => Step::Nothing,
            };
            self.reported = percent;
            return Ok(step);
        }
        match self.listed {
            Some(listed) if <[u8; 32]>::from(Sha256::digest(&self.bytes)) != listed.hash => {
                Err(AssetFailure::Mismatch)
            }
            _ => Ok(Step::Complete),
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// When it counts as stalled; until its size is told, the action's own patience counts.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.total.map(|_| self.last_progress + ACTION_PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    const NOW: Instant = Instant::from_millis(5);

    #[test]
    fn lines_that_make_no_sense_list_nothing() {
        let good = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let text = format!("{good} 3 two words\n{good} x bad\nshort 3 bad\n\n{good} 3\n");
        let index = Index::parse(text.as_bytes());
        assert_eq!(index.assets.len(), 1);
        assert_eq!(index.get("two words").unwrap().size, 3);
        assert!(Index::parse(&[0xff, 0xfe]).assets.is_empty());
        let not_ascii = format!("{}é{} 3 x", &good[..31], &good[..31]);
        assert!(Index::parse(not_ascii.as_bytes()).assets.is_empty());
    }

    fn fetch_abc() -> Asset {
        let line = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 3 abc";
        let listed = Index::parse(line.as_bytes()).get("abc");
        let mut fetch = Asset::new(NOW, "abc", listed);
        let progress = Step::Nothing;
        assert_eq!(fetch.begin(NOW, &3_u32.to_le_bytes()), Ok(progress));
        fetch
    }

    fn piece(offset: u32, bytes: &[u8]) -> Piece<'_> {
        Piece { offset, bytes }
    }

    #[test]
    fn the_right_bytes_are_accepted_and_no_others() {
        let mut fetch = fetch_abc();
        let progress = Step::Progress {
            received: 1,
            total: 3,
        };
        assert_eq!(fetch.add(NOW, &piece(0, b"a")), Ok(progress));
        assert_eq!(fetch.add(NOW, &piece(1, b"bc")), Ok(Step::Complete));
        let wrong = fetch_abc().add(NOW, &piece(0, b"abd"));
        assert_eq!(wrong, Err(AssetFailure::Mismatch));
    }

    #[test]
    fn pieces_out_of_place_are_garbled() {
        for bad in [piece(1, b"bc"), piece(0, b"abcd"), piece(u32::MAX, b"x")] {
            let got = fetch_abc().add(NOW, &bad);
            assert_eq!(got, Err(AssetFailure::Garbled), "{bad:?}");
        }
        let mut unasked = Asset::new(NOW, "x", None);
        let got = unasked.add(NOW, &piece(0, b"x"));
        assert_eq!(got, Err(AssetFailure::Garbled));
    }

    #[test]
    fn a_wrong_size_is_noticed_before_the_first_piece() {
        let mut fetch = fetch_abc();
        let changed = fetch.begin(NOW, &4_u32.to_le_bytes());
        assert_eq!(changed, Err(AssetFailure::Mismatch));
        let huge = Asset::new(NOW, "x", None).begin(NOW, &u32::MAX.to_le_bytes());
        assert_eq!(huge, Err(AssetFailure::TooLarge));
        let short = Asset::new(NOW, "x", None).begin(NOW, &[1, 2]);
        assert_eq!(short, Err(AssetFailure::Garbled));
    }
}
