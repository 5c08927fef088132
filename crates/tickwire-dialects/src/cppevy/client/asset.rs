//! An asset on its way, and what the server's index says of it.
//!
//! In: the answer to the Asset action, then pieces in any order and repeated. Out: progress, and the
//! whole asset if it is as listed. Which asset is asked for next is [`fetch`](super::fetch)'s.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::bulk::{Assembly, ContentHash, Listed, Manifest};
use tickwire_session::{Failure, Instant};
use tickwire_wire::display_enum;

use crate::cppevy::limits::{ACTION_PATIENCE, ASSET_MAX};
use crate::cppevy::message::Piece;

display_enum! {
    /// Why an asset is not there.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum AssetFailure {
        /// The server's index has no such asset.
        NotListed => "the server has no such asset",
        /// The server did not send it.
        Action(failure: Failure) => "{failure}",
        /// It is larger than is taken.
        TooLarge => "the asset has more than {ASSET_MAX} bytes",
        /// It is not what the index says: damaged, or replaced since the index was fetched. The next fetch
        /// fetches the index again.
        Mismatch => "the asset is not what the server's index says",
        /// Its size or one of its pieces makes no sense.
        Garbled => "the asset came in pieces that do not fit",
        /// The pieces stopped coming.
        Stalled => "the server stopped sending the asset",
    }
}

/// What the text of an index says of an asset. A line that makes no sense lists nothing.
pub(super) fn find_listed(index: &[u8], name: &str) -> Option<Listed> {
    index
        .split(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(name.as_bytes()))
        .filter_map(|line| Manifest::parse(line).ok())
        .flat_map(Manifest::into_listed)
        .find(|listed| listed.name == name)
}

/// An asset that is being fetched.
#[derive(Debug)]
pub(super) struct Asset {
    pub(super) name: String,
    /// What it should be; the index itself is not listed.
    listed: Option<Listed>,
    /// What is fetched when this, the index, is complete.
    pub(super) then: Option<String>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The server has not told its size.
    Asked,
    Receiving {
        assembly: Assembly,
        last_progress: Instant,
        /// The percentage that was last reported.
        reported: usize,
    },
}

/// What a piece, or the size, has brought.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// Nothing worth telling.
    Nothing,
    /// Another percent.
    Progress { received: u32, total: u32 },
    /// All of it is there, and it is right.
    Complete(Vec<u8>),
}

/// A piece before the size: a repeated one of the asset before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct NotReceiving;

impl Asset {
    pub(super) fn new(name: &str, listed: Option<Listed>) -> Self {
        Self {
            name: name.into(),
            listed,
            then: None,
            stage: Stage::Asked,
        }
    }

    /// The server will send this many bytes.
    pub(super) fn handle_size(
        &mut self,
        now: Instant,
        message: &[u8],
    ) -> Result<Step, AssetFailure> {
        let size: [u8; 4] = message.try_into().map_err(|_| AssetFailure::Garbled)?;
        let size = u32::from_le_bytes(size);
        if size > ASSET_MAX {
            return Err(AssetFailure::TooLarge);
        }
        let listed = self.listed.as_ref();
        if listed.is_some_and(|listed| listed.size != u64::from(size)) {
            return Err(AssetFailure::Mismatch);
        }
        self.stage = Stage::Receiving {
            assembly: Assembly::new(usize::try_from(size).unwrap_or(usize::MAX)),
            last_progress: now,
            reported: 0,
        };
        self.step()
    }

    /// A piece arrived. The inner error ends the fetch.
    pub(super) fn handle_piece(
        &mut self,
        now: Instant,
        piece: &Piece<'_>,
    ) -> Result<Result<Step, AssetFailure>, NotReceiving> {
        let Stage::Receiving {
            assembly,
            last_progress,
            ..
        } = &mut self.stage
        else {
            return Err(NotReceiving);
        };
        let had = assembly.have();
        let offset = usize::try_from(piece.offset).unwrap_or(usize::MAX);
        if assembly.handle_piece(offset, piece.bytes).is_err() {
            return Ok(Err(AssetFailure::Garbled));
        }
        // A server that repeats a piece for ever makes no progress.
        if assembly.have() > had {
            *last_progress = now;
        }
        Ok(self.step())
    }

    /// What there is to tell of what has arrived.
    fn step(&mut self) -> Result<Step, AssetFailure> {
        let Stage::Receiving {
            assembly, reported, ..
        } = &mut self.stage
        else {
            return Ok(Step::Nothing);
        };
        let (have, size) = (assembly.have(), assembly.size());
        if have < size {
            let percent = have * 100 / size;
            let before = core::mem::replace(reported, percent);
            return Ok(match percent > before {
                true => Step::Progress {
                    received: u32::try_from(have).unwrap_or(u32::MAX),
                    total: u32::try_from(size).unwrap_or(u32::MAX),
                },
                false => Step::Nothing,
            });
        }
        let assembly = core::mem::replace(assembly, Assembly::new(0));
        let bytes = assembly.into_bytes().unwrap_or_default();
        match &self.listed {
            Some(listed) if ContentHash::of(&bytes) != listed.hash => Err(AssetFailure::Mismatch),
            _ => Ok(Step::Complete(bytes)),
        }
    }

    /// When it counts as stalled; until its size is told, the action's own patience counts.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Asked => None,
            Stage::Receiving { last_progress, .. } => Some(last_progress + ACTION_PATIENCE),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    const NOW: Instant = Instant::from_millis(5);
    const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn lines_that_make_no_sense_list_nothing() {
        let text = format!("{HASH} 3 two words\n{HASH} x bad\nshort 3 bad\n\n{HASH} 3\n");
        let find = |name| find_listed(text.as_bytes(), name).map(|listed| listed.size);
        assert_eq!(find("two words"), Some(3));
        assert_eq!([find("words"), find("bad"), find("")], [None; 3]);
        assert_eq!(find_listed(&[0xff, 0xfe], "bad"), None);
    }

    fn fetch_abc() -> Asset {
        let listed = find_listed(format!("{HASH} 3 abc").as_bytes(), "abc");
        let mut fetch = Asset::new("abc", listed);
        let nothing = Ok(Step::Nothing);
        assert_eq!(fetch.handle_size(NOW, &3_u32.to_le_bytes()), nothing);
        fetch
    }

    #[track_caller]
    fn add(fetch: &mut Asset, offset: u32, bytes: &[u8]) -> Result<Step, AssetFailure> {
        let piece = Piece { offset, bytes };
        fetch.handle_piece(NOW, &piece).expect("its size is known")
    }

    #[test]
    fn the_right_bytes_are_accepted_and_no_others() {
        let mut fetch = fetch_abc();
        let progress = Step::Progress {
            received: 1,
            total: 3,
        };
        assert_eq!(add(&mut fetch, 2, b"c"), Ok(progress));
        assert_eq!(add(&mut fetch, 2, b"c"), Ok(Step::Nothing));
        let complete = Step::Complete(b"abc".into());
        assert_eq!(add(&mut fetch, 0, b"ab"), Ok(complete));
        let wrong = add(&mut fetch_abc(), 0, b"abd");
        assert_eq!(wrong, Err(AssetFailure::Mismatch));
    }

    #[test]
    fn a_piece_beyond_the_end_is_garbled() {
        for (offset, bytes) in [(2, &b"cd"[..]), (0, b"abcd"), (u32::MAX, b"x")] {
            let got = add(&mut fetch_abc(), offset, bytes);
            assert_eq!(got, Err(AssetFailure::Garbled), "{offset}");
        }
    }

    #[test]
    fn a_wrong_size_is_noticed_before_the_first_piece() {
        let mut fetch = fetch_abc();
        let changed = fetch.handle_size(NOW, &4_u32.to_le_bytes());
        assert_eq!(changed, Err(AssetFailure::Mismatch));
        let huge = Asset::new("x", None).handle_size(NOW, &u32::MAX.to_le_bytes());
        assert_eq!(huge, Err(AssetFailure::TooLarge));
        let short = Asset::new("x", None).handle_size(NOW, &[1, 2]);
        assert_eq!(short, Err(AssetFailure::Garbled));
    }
}
