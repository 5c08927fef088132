//! One datagram, however broken.

use std::mem::discriminant;

use tickwire_dialects::lwar::message::{Framed, Unframed};
use tickwire_dialects::lwar::{self, Header, Reader, Writer};
use tickwire_wire::{DecodeError, FieldLog};

use crate::trace::traced_end;

/// Decodes `bytes` with and without a trace, and encodes what was decoded.
///
/// # Panics
/// If the two disagree, if a message is not encoded as it was read or can be read before all of it is
/// there, or if the trace leaves a hole.
pub fn lwar_datagram(bytes: &[u8]) {
    let mut log = FieldLog::default();
    let verdict = lwar::inspect(bytes, &mut log);
    let end = traced_end(&log) as usize / 8;
    match verdict {
        Ok(()) => assert_eq!(end, bytes.len()),
        Err(error) => check_place(error, &log, end),
    }

    let mut unwatched = FieldLog::default();
    let mut traced = Reader::traced(bytes, &mut unwatched);
    let mut r = Reader::new(bytes);
    let header = Header::decode(&mut r);
    assert_eq!(header, Header::decode(&mut traced));
    let Ok(header) = header else {
        assert_eq!(header.map(drop), verdict);
        return;
    };
    check_canonical(bytes, 0, r.position(), |out| {
        header.begin(out);
    });
    let mut first_fault = Ok(());
    while !r.is_empty() {
        let at = r.position();
        let framed = match (Framed::decode(&mut r), Framed::decode(&mut traced)) {
            (Ok(framed), Ok(again)) => {
                assert_eq!(framed, again);
                assert_eq!(r.position(), traced.position());
                framed
            }
            (Err(unframed), Err(again)) => {
                check_unframed(unframed, again);
                assert_eq!(verdict, Err(again.error));
                return;
            }
            (one, other) => panic!("{one:?} without a trace, {other:?} with one"),
        };
        check_prefixes(&bytes[at..r.position()]);
        if let Framed::Reliable {
            content: Err(text), ..
        } = framed
        {
            first_fault = first_fault.and_then(|()| Err(text.error()));
        } else {
            check_canonical(bytes, at, r.position(), |out| {
                framed.encode(&mut Writer::new(out, usize::MAX));
            });
        }
    }
    assert_eq!(verdict, first_fault);
    assert_eq!(end, bytes.len());
}

/// An error points at a field that was read, or at where reading ended.
fn check_place(error: DecodeError, log: &FieldLog, end: usize) {
    let at_bit = error.at_bit();
    let is_traced = |name: Option<&str>| {
        let mut entries = log.entries().iter();
        entries.any(|entry| {
            name.is_none_or(|name| entry.name == name)
                && matches!(&entry.field, Some((place, _)) if place.at_bit == at_bit)
        })
    };
    match error {
        DecodeError::Truncated { .. } | DecodeError::Trailing { .. } => {
            assert_eq!(at_bit as usize, end * 8, "{error}");
        }
        DecodeError::Forbidden { field, .. } | DecodeError::NotUtf8 { field, .. } => {
            assert!(is_traced(Some(field)), "{error}");
        }
        // It is the length that is pointed at, which has a name of its own.
        _ => assert!(is_traced(None), "{error}"),
    }
}

/// A list is checked as a whole without a trace, field by field with one: the place may differ, the
/// fault may not.
fn check_unframed(plain: Unframed, traced: Unframed) {
    assert_eq!(plain.seq, traced.seq);
    assert_eq!(discriminant(&plain.error), discriminant(&traced.error));
    assert!(traced.error.at_bit() >= plain.error.at_bit());
    if !matches!(plain.error, DecodeError::Truncated { .. }) {
        assert_eq!(plain, traced);
    }
}

/// No message ends before its last byte.
fn check_prefixes(message: &[u8]) {
    for length in 0..message.len() {
        let cut = Framed::decode(&mut Reader::new(&message[..length]));
        let error = cut.expect_err("it is not whole").error;
        assert!(matches!(error, DecodeError::Truncated { .. }), "{error}");
    }
}

/// What was read between two positions is written as the same bytes.
fn check_canonical(bytes: &[u8], from: usize, to: usize, encode: impl FnOnce(&mut Vec<u8>)) {
    let mut written = Vec::new();
    encode(&mut written);
    assert_eq!(written, bytes[from..to]);
}
