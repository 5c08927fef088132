//! A datagram, or a stretch of a stream, of either side, however broken.

use tickwire_dialects::cppevy::limits::{HEADER, PADDING, PAYLOAD_MAX};
use tickwire_dialects::cppevy::message::{Payload, PayloadWriter, Sender};
use tickwire_dialects::cppevy::{self};
use tickwire_wire::{DecodeError, FieldLog};

use crate::trace::traced_end;

/// Decodes `bytes` behind the first, which says who sent them and by which path, with and without a
/// trace, and encodes what was decoded.
///
/// # Panics
/// If the two disagree, if a payload is not encoded as it was read, if it can be read before or after its
/// last byte, or if the trace leaves a hole.
pub fn cppevy_payload(bytes: &[u8]) {
    let Some((&mode, bytes)) = bytes.split_first() else {
        return;
    };
    let sender = match mode & 1 {
        0 => Sender::Client,
        _ => Sender::Server,
    };
    let on_stream = mode & 2 == 2;
    let mut log = FieldLog::default();
    let verdict = cppevy::inspect(sender == Sender::Client, on_stream, bytes, &mut log);
    let end = traced_end(&log) as usize / 8;
    assert!(end <= bytes.len());
    let read = if on_stream {
        check_stream(bytes, sender)
    } else {
        check_payload(bytes, sender)
    };
    assert_eq!(read.is_ok(), verdict.is_ok(), "{read:?}, {verdict:?}");
    if verdict.is_ok() {
        assert_eq!(end, bytes.len());
    }
}

/// Payloads one after another; the first is always there, if broken.
fn check_stream(mut bytes: &[u8], sender: Sender) -> Result<(), DecodeError> {
    loop {
        let length = match bytes.get(HEADER - 1) {
            Some(half) => HEADER + 2 * usize::from(*half),
            None => bytes.len(),
        };
        let (payload, rest) = bytes.split_at(length.min(bytes.len()));
        check_payload(payload, sender)?;
        bytes = rest;
        if bytes.is_empty() {
            return Ok(());
        }
    }
}

/// One payload, which is written back as it was read.
fn check_payload(bytes: &[u8], sender: Sender) -> Result<(), DecodeError> {
    let payload = Payload::decode(bytes, sender)?;
    assert!(bytes.len() <= PAYLOAD_MAX);
    let mut written = Vec::new();
    let mut w = PayloadWriter::new(&mut written, payload.timestamp);
    for object in payload.objects() {
        assert_eq!(object.sender(), sender);
        w.push(&object).expect("it fitted before");
    }
    w.finish();
    assert_eq!(written, bytes);
    for length in 0..bytes.len() {
        assert!(Payload::decode(&bytes[..length], sender).is_err());
    }
    written.push(PADDING);
    assert!(Payload::decode(&written, sender).is_err());
    Ok(())
}
