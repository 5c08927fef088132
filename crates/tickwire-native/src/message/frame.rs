//! Frames on a stream: a kind, a length, a body.

use alloc::vec::Vec;

use tickwire_wire::DecodeError;

use super::{Reader, Writer};
use crate::limits::FRAME_MAX;

/// Puts frames together from bytes that are cut anywhere. It holds less than one whole frame.
#[derive(Clone, Debug, Default)]
pub struct FrameReader {
    bytes: Vec<u8>,
}

impl FrameReader {
    /// Takes bytes, and hands the kind and the body of every frame that is whole to `handle`, until that
    /// fails. After an error the stream cannot be read any further.
    pub fn receive<E: From<DecodeError>>(
        &mut self,
        bytes: &[u8],
        mut handle: impl FnMut(u8, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.bytes.extend_from_slice(bytes);
        let mut r = Reader::new(&self.bytes);
        let mut read = 0;
        while let Some((kind, body)) = next_frame(&mut r)? {
            read = r.position();
            handle(kind, body)?;
        }
        self.bytes.drain(..read);
        Ok(())
    }
}

/// The next frame, if it is whole.
fn next_frame<'a>(r: &mut Reader<'a>) -> Result<Option<(u8, &'a [u8])>, DecodeError> {
    // A head of one byte more than the shortest, because its length may not have arrived.
    let mut head = Reader::new(r.peek(HEAD_MAX));
    let Ok(kind) = head.u8("kind") else {
        return Ok(None);
    };
    let length = match head.varint("length") {
        Ok(length) => length as usize,
        Err(DecodeError::Truncated { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    if length > FRAME_MAX {
        return Err(head.refuse("length", length as u64));
    }
    if r.remaining() < head.position() + length {
        return Ok(None);
    }
    r.bytes("head", head.position())?;
    Ok(Some((kind, r.bytes("body", length)?)))
}

/// Bytes of a kind and the longest length.
const HEAD_MAX: usize = 6;

/// Appends a frame whose body `encode` writes.
pub(super) fn write_frame(out: &mut Vec<u8>, kind: u8, encode: impl FnOnce(&mut Writer<'_>)) {
    let mut body = Vec::new();
    let mut w = Writer::new(&mut body, FRAME_MAX);
    encode(&mut w);
    debug_assert!(w.finish().is_ok(), "a frame beyond its bound");
    let mut w = Writer::new(out, HEAD_MAX);
    w.u8(kind);
    w.varint(u32::try_from(body.len()).unwrap_or(u32::MAX));
    out.extend(body);
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn read(reader: &mut FrameReader, bytes: &[u8]) -> Result<Vec<(u8, Vec<u8>)>, DecodeError> {
        let mut frames = Vec::new();
        reader.receive(bytes, |kind, body| {
            frames.push((kind, body.to_vec()));
            Ok::<_, DecodeError>(())
        })?;
        Ok(frames)
    }

    #[test]
    fn frames_are_whole_wherever_the_bytes_are_cut() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, 3, |w| w.bytes(&[7; 300]));
        write_frame(&mut bytes, 5, |_| ());
        let whole = vec![(3, vec![7; 300]), (5, vec![])];
        assert_eq!(read(&mut FrameReader::default(), &bytes), Ok(whole.clone()));
        for cut in 0..bytes.len() {
            let mut reader = FrameReader::default();
            let mut frames = read(&mut reader, &bytes[..cut]).unwrap();
            frames.extend(read(&mut reader, &bytes[cut..]).unwrap());
            assert_eq!(frames, whole, "cut at {cut}");
            assert!(reader.bytes.is_empty());
        }
    }

    #[test]
    fn a_frame_beyond_the_bound_is_refused_before_it_arrives() {
        let mut bytes = vec![1];
        Writer::new(&mut bytes, HEAD_MAX).varint(65_537);
        let error = read(&mut FrameReader::default(), &bytes).unwrap_err();
        assert!(matches!(
            error,
            DecodeError::Forbidden {
                field: "length",
                value: 65_537,
                ..
            }
        ));
    }
}
