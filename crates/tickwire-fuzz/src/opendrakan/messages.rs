//! Messages on any path, however broken.

use tickwire_dialects::opendrakan::message::{Message, Way};
use tickwire_dialects::opendrakan::{self, Reader, Writer};
use tickwire_wire::FieldLog;

use crate::trace::traced_end;

/// Decodes what follows the first byte, on the path that it chooses, with and without a trace, and
/// encodes what was decoded.
///
/// # Panics
/// If the two disagree, if the trace leaves a hole, if what is written is not read as the same, or if
/// a part of a message is taken for a whole one.
pub fn opendrakan_messages(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else {
        return;
    };
    let (from_client, on_stream) = (choice & 1 == 1, choice & 2 == 2);
    let way = Way::new(from_client, on_stream);
    let mut log = FieldLog::default();
    let verdict = opendrakan::inspect(from_client, on_stream, bytes, &mut log);
    let end = traced_end(&log) as usize / 8;
    if verdict.is_ok() {
        assert_eq!(end, bytes.len());
    }
    let mut r = Reader::new(bytes);
    while !r.is_empty() {
        let start = r.position();
        let message = match Message::decode(&mut r, way) {
            Ok(message) => message,
            Err(error) => {
                assert_eq!(verdict, Err(error));
                return;
            }
        };
        check_parts(&bytes[start..r.position()], way);
        let once = encoded(&message);
        let mut again = Reader::new(&once);
        let same = Message::decode(&mut again, way).expect("what was written is read");
        assert!(again.is_empty());
        // Bytes, because a number that is none does not equal itself.
        assert_eq!(encoded(&same), once);
    }
    assert_eq!(verdict, Ok(()));
}

/// No beginning of a message is one, and a stream waits for the rest of it.
fn check_parts(message: &[u8], way: Way) {
    let cut = &message[..message.len() - 1];
    assert!(Message::decode(&mut Reader::new(cut), way).is_err());
    let waits = Message::decode_arrived(&mut Reader::new(cut), way);
    assert!(matches!(waits, Ok(None)), "{waits:?}");
}

fn encoded(message: &Message<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut w = Writer::new(&mut out, usize::MAX / 2);
    message.encode(&mut w).expect("it came in one payload");
    out
}
