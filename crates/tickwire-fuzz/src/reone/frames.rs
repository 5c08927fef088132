//! One direction of a stream of frames, however broken and however cut.

use tickwire_dialects::reone::message::{Direction, Down, Up, decode_arrived, encode_frame};
use tickwire_dialects::reone::{Inbox, Reader, inspect};
use tickwire_wire::FieldLog;

use crate::trace::traced_end;

/// Reads `bytes`, of which the first says who sent the others and the second how they are cut.
///
/// # Panics
/// If the pieces change what is read, if a frame is not written as it was read or does not wait until all
/// of it is there, or if a trace changes the verdict or leaves a hole.
pub fn reone_frames(bytes: &[u8]) {
    let [side, cut, stream @ ..] = bytes else {
        return;
    };
    let cut = usize::from(*cut) + 1;
    let is_good = match side & 1 {
        0 => check::<Up>(stream, cut),
        _ => check::<Down>(stream, cut),
    };
    let mut log = FieldLog::default();
    let inspected = inspect(side & 1 == 0, true, stream, &mut log);
    assert!(is_good || inspected.is_err(), "a trace found nothing wrong");
    if inspected.is_ok() {
        assert_eq!(traced_end(&log) as usize, stream.len() * 8);
    }
}

/// Returns whether nothing is wrong with what has arrived.
fn check<D: Direction>(stream: &[u8], cut: usize) -> bool {
    let mut whole = Vec::new();
    let mut r = Reader::new(stream);
    let verdict = loop {
        let start = r.position();
        match decode_arrived::<D>(&mut r) {
            Ok(Some(frame)) => {
                let before = whole.len();
                assert!(
                    encode_frame::<D>(&frame, &mut whole).is_ok(),
                    "it was as long"
                );
                assert_eq!(whole[before..], stream[start..r.position()]);
                check_cuts::<D>(&whole[before..]);
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    let (mut inbox, mut pieces) = (Inbox::<D>::new(), Vec::new());
    let heard = stream.chunks(cut).try_for_each(|piece| {
        inbox.receive(piece, |frame| {
            assert!(
                encode_frame::<D>(&frame, &mut pieces).is_ok(),
                "it was as long"
            );
        })
    });
    assert_eq!(heard.is_err(), verdict.is_err());
    assert_eq!(pieces, whole);
    verdict.is_ok()
}

/// A frame that is cut is not wrong: the rest may come.
fn check_cuts<D: Direction>(frame: &[u8]) {
    for length in (0..frame.len()).take(FRAME_CUTS) {
        let cut = decode_arrived::<D>(&mut Reader::new(&frame[..length]));
        assert!(cut.is_ok_and(|cut| cut.is_none()), "{length} bytes");
    }
}

/// Places at which a frame is cut.
const FRAME_CUTS: usize = 600;
