//! A patch as bytes.
//!
//! Eight bytes of checksum over the rest, then eight bytes a change: its place (little-endian), the
//! block that was, the block that is. The database guards its own structure; the checksum guards
//! what is in it, since a bit that flips there would otherwise become a block.

use crate::tiles::Block;
use crate::tiles::digest::Digest;
use crate::tiles::edits::{Change, Patch, Place};

pub(super) fn encode(patch: &Patch) -> Vec<u8> {
    let mut bytes = vec![0; CHECKSUM];
    for change in patch.changes() {
        bytes.extend(change.place.number().to_le_bytes());
        bytes.extend(change.was.to_bytes());
        bytes.extend(change.is.to_bytes());
    }
    let (checksum, changes) = bytes.split_at_mut(CHECKSUM);
    checksum.copy_from_slice(&checksum_of(changes));
    bytes
}

/// `None` if these are not the bytes of a patch.
pub(super) fn decode(bytes: &[u8]) -> Option<Patch> {
    let (checksum, changes) = bytes.split_at_checked(CHECKSUM)?;
    let (changes, rest) = changes.as_chunks::<CHANGE>();
    if !rest.is_empty() || changes.is_empty() || checksum_of(changes.as_flattened()) != checksum {
        return None;
    }
    let changes = changes.iter().map(|&[low, high, a, b, c, d, e, f]| {
        Some(Change {
            place: Place::of_number(u16::from_le_bytes([low, high]))?,
            was: Block::of_bytes([a, b, c]),
            is: Block::of_bytes([d, e, f]),
        })
    });
    Patch::of_stored(changes.collect::<Option<_>>()?)
}

fn checksum_of(changes: &[u8]) -> [u8; CHECKSUM] {
    let mut digest = Digest::default();
    digest.add_bytes(changes);
    digest.0.to_le_bytes()
}

const CHECKSUM: usize = 8;
const CHANGE: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiles::Sublayer;
    use crate::tiles::place::Spot;

    fn patch() -> Patch {
        let change = |sublayer, x, y, is| Change {
            place: Place {
                sublayer,
                spot: Spot::new(x, y),
            },
            was: Block::EMPTY,
            is,
        };
        Patch::of_stored(vec![
            change(Sublayer::Walkable, 0, 0, Block::fixed(-1, b'a')),
            change(Sublayer::Walkable, 63, 63, Block::fixed(2, 0xff)),
            change(Sublayer::Solid, 5, 0, Block::pushable(3, b'o')),
        ])
        .unwrap()
    }

    #[test]
    fn a_patch_comes_back() {
        let patch = patch();
        let decoded = decode(&encode(&patch)).unwrap();
        assert_eq!(decoded.changes(), patch.changes());
    }

    #[test]
    fn every_damaged_byte_is_noticed() {
        let bytes = encode(&patch());
        for len in 0..bytes.len() {
            assert!(decode(&bytes[..len]).is_none(), "cut to {len}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&damaged).is_none(), "bit {bit}");
        }
    }
}
