//! gzip (RFC 1952): one member, around a deflate stream.
//!
//! In: bytes of a peer that nobody trusts, and the exact length that they must inflate to. Out: that
//! many bytes, or why not. No output beyond that length is ever made, so a bomb costs no more than an
//! honest stream.

use alloc::vec;
use alloc::vec::Vec;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress as inflate};
use tickwire_wire::DecodeError;

use super::Reader;

/// zlib's own default: higher ones are slower and gain little on tiles.
const LEVEL: u8 = 6;

/// First bytes of every member, then the only method there is.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// Flags of the header; bit 0, "probably text", changes nothing.
mod flag {
    pub(super) const HEADER_CRC: u8 = 1 << 1;
    pub(super) const EXTRA: u8 = 1 << 2;
    pub(super) const NAME: u8 = 1 << 3;
    pub(super) const COMMENT: u8 = 1 << 4;
    pub(super) const RESERVED: u8 = 0b1110_0000;
}

/// Bytes of checksum and length at the end.
const TRAILER: usize = 8;

/// A member that holds `plain`, always the same bytes for the same input.
pub(super) fn compress(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(MAGIC);
    // No flags, no time, no extra flags, unknown system.
    out.extend([0, 0, 0, 0, 0, 0, 255]);
    out.extend(compress_to_vec(plain, LEVEL));
    out.extend(crc32fast::hash(plain).to_le_bytes());
    // The length modulo 2^32, as the format has it.
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32")]
    out.extend((plain.len() as u32).to_le_bytes());
    out
}

/// What a member holds, which must have exactly `length` bytes.
pub(super) fn decompress(gzip: &[u8], length: usize) -> Result<Vec<u8>, DecodeError> {
    let mut r = Reader::new(gzip);
    skip_header(&mut r)?;
    let deflate = r.bytes("deflate", r.remaining().saturating_sub(TRAILER))?;
    let mut plain = vec![0; length];
    let (status, taken, made) = inflate(
        &mut DecompressorOxide::new(),
        deflate,
        &mut plain,
        0,
        TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
    );
    match status {
        TINFLStatus::Done if made == length && taken == deflate.len() => {}
        TINFLStatus::HasMoreOutput => {
            // How much more is not known: finding out is what a bomb wants.
            let length = length as u64;
            r.limit("layer", length + 1, length)?;
        }
        _ => return Err(r.refuse("deflate", made as u64)),
    }
    let checksum = r.u32("crc32")?;
    if checksum != crc32fast::hash(&plain) {
        return Err(r.refuse("crc32", checksum.into()));
    }
    let announced = r.u32("isize")?;
    if usize::try_from(announced) != Ok(length) {
        return Err(r.refuse("isize", announced.into()));
    }
    r.finish()?;
    Ok(plain)
}

fn skip_header(r: &mut Reader<'_>) -> Result<(), DecodeError> {
    for (field, expected) in ["id1", "id2", "method"].into_iter().zip(MAGIC) {
        let byte = r.u8(field)?;
        if byte != expected {
            return Err(r.refuse(field, byte.into()));
        }
    }
    let flags = r.u8("flags")?;
    if flags & flag::RESERVED != 0 {
        return Err(r.refuse("flags", flags.into()));
    }
    r.bytes("time, extra flags, system", 6)?;
    if flags & flag::EXTRA != 0 {
        let length = r.u16("extra length")?;
        r.bytes("extra", length.into())?;
    }
    for (flag, field) in [(flag::NAME, "name"), (flag::COMMENT, "comment")] {
        if flags & flag != 0 {
            while r.u8(field)? != 0 {}
        }
    }
    if flags & flag::HEADER_CRC != 0 {
        r.u16("header crc")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "hello hello hello", compressed by another implementation, with a file name in its header.
    const FOREIGN: &[u8] = &[
        0x1f, 0x8b, 0x08, 0x08, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, b'h', b'i', 0x00, 0xcb, 0x48,
        0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x90, 0x00, 0x80, 0x88, 0xf9, 0xe5, 0x11, 0x00, 0x00,
        0x00,
    ];

    #[test]
    fn another_implementation_s_member_is_read() {
        assert_eq!(decompress(FOREIGN, 17).unwrap(), b"hello hello hello");
    }

    #[test]
    fn every_cut_and_every_surplus_is_refused() {
        let whole = compress(&[7; 1_000]);
        assert_eq!(decompress(&whole, 1_000).unwrap(), [7; 1_000]);
        for cut in 0..whole.len() {
            assert!(decompress(&whole[..cut], 1_000).is_err(), "cut at {cut}");
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert!(decompress(&longer, 1_000).is_err());
    }

    #[test]
    fn more_or_less_than_announced_is_refused() {
        let whole = compress(&[7; 1_000]);
        assert!(decompress(&whole, 1_001).is_err());
        assert!(matches!(
            decompress(&whole, 999),
            Err(DecodeError::TooLong { limit: 999, .. })
        ));
        // A megabyte of zeros in a kilobyte.
        assert!(decompress(&compress(&vec![0; 1 << 20]), 999).is_err());
    }

    #[test]
    fn a_flipped_bit_anywhere_that_matters_is_noticed() {
        let plain: Vec<u8> = (0..=255).cycle().take(3_000).collect();
        let whole = compress(&plain);
        for at in 0..whole.len() {
            // Whether it is text, time, extra flags and system mean nothing here.
            if (3..10).contains(&at) {
                continue;
            }
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            assert!(decompress(&flipped, plain.len()).is_err(), "byte {at}");
        }
    }
}
