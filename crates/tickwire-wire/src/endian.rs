//! The byte order of a protocol, as a type.
//!
//! A protocol uses one order throughout, so it is chosen once, where the dialect names its reader
//! and writer, and cannot be mixed up field by field.

use core::fmt::Debug;

/// How numbers of several bytes lie on the wire.
#[expect(
    missing_docs,
    reason = "each pair is a number and its bytes in this order"
)]
pub trait Endian: Copy + Debug + 'static {
    fn u16(bytes: [u8; 2]) -> u16;
    fn u32(bytes: [u8; 4]) -> u32;
    fn u64(bytes: [u8; 8]) -> u64;
    fn bytes16(value: u16) -> [u8; 2];
    fn bytes32(value: u32) -> [u8; 4];
    fn bytes64(value: u64) -> [u8; 8];
}

/// Most significant byte first.
#[derive(Clone, Copy, Debug)]
pub enum BigEndian {}

/// Least significant byte first.
#[derive(Clone, Copy, Debug)]
pub enum LittleEndian {}

impl Endian for BigEndian {
    #[inline]
    fn u16(bytes: [u8; 2]) -> u16 {
        u16::from_be_bytes(bytes)
    }
    #[inline]
    fn u32(bytes: [u8; 4]) -> u32 {
        u32::from_be_bytes(bytes)
    }
    #[inline]
    fn u64(bytes: [u8; 8]) -> u64 {
        u64::from_be_bytes(bytes)
    }
    #[inline]
    fn bytes16(value: u16) -> [u8; 2] {
        value.to_be_bytes()
    }
    #[inline]
    fn bytes32(value: u32) -> [u8; 4] {
        value.to_be_bytes()
    }
    #[inline]
    fn bytes64(value: u64) -> [u8; 8] {
        value.to_be_bytes()
    }
}

impl Endian for LittleEndian {
    #[inline]
    fn u16(bytes: [u8; 2]) -> u16 {
        u16::from_le_bytes(bytes)
    }
    #[inline]
    fn u32(bytes: [u8; 4]) -> u32 {
        u32::from_le_bytes(bytes)
    }
    #[inline]
    fn u64(bytes: [u8; 8]) -> u64 {
        u64::from_le_bytes(bytes)
    }
    #[inline]
    fn bytes16(value: u16) -> [u8; 2] {
        value.to_le_bytes()
    }
    #[inline]
    fn bytes32(value: u32) -> [u8; 4] {
        value.to_le_bytes()
    }
    #[inline]
    fn bytes64(value: u64) -> [u8; 8] {
        value.to_le_bytes()
    }
}
