//! Captures from anybody: a file that was cut, damaged or made up.

use tickwire_capture::{Annotator, Conversations, Event, Frames, Next, Said, Sliced};

/// Reads `bytes` as a capture, follows its conversations, and writes it again with comments.
///
/// # Panics
/// If more comes out than went in, if a cut changes more than the packet it goes through, or if what was written again
/// does not read as the same packets.
pub fn capture(bytes: &[u8]) {
    let Some((whole, again)) = read(bytes) else {
        return;
    };
    if let Some((written, _)) = read(&again) {
        assert_eq!(written, whole);
    }
    if let Some(&cut) = bytes.last() {
        let cut = usize::from(cut) * bytes.len() / 256;
        if let Some((begun, _)) = read(&bytes[..cut]) {
            assert_eq!(begun, whole[..begun.len()]);
        }
    }
}

/// The packets of a file, and the file with a comment on each. Nothing, if it does not begin as a capture does.
fn read(bytes: &[u8]) -> Option<(Vec<Vec<u8>>, Vec<u8>)> {
    let mut frames = Frames::new(bytes).ok()?;
    let mut packets = Vec::new();
    let mut again = Vec::new();
    let mut out = Annotator::new(&mut again).expect("memory takes everything");
    let mut conversations = Conversations::<usize>::default();
    let mut told = 0;
    let mut tell = |count: &mut usize, said: Said<'_>| {
        *count += 1;
        told += match said.event {
            Event::Datagram(bytes, _) | Event::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
    };
    loop {
        match frames.next() {
            Next::Frame(frame) => {
                if let Sliced::Segment(segment) = Sliced::of(&frame) {
                    conversations.add(&segment, &mut tell);
                }
                packets.push(frame.bytes.to_vec());
                out.write_frame(frame, "comment").ok()?;
            }
            // What cannot be written as it was is left out, and says so.
            Next::Block(block) => drop(out.write_block(&block)),
            Next::Broken(_) => {}
            Next::Cut(_) | Next::End => break,
        }
        assert!(packets.len() <= bytes.len(), "packets out of nothing");
    }
    conversations.finish(&mut tell);
    assert!(told <= bytes.len(), "bytes out of nothing");
    out.finish().expect("memory takes everything");
    Some((packets, again))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn no_byte_of_a_capture_can_break_the_reader() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/capture");
        for file in std::fs::read_dir(corpus).expect("the corpus is there") {
            let whole = std::fs::read(file.expect("a file").path()).expect("it can be read");
            for at in 0..whole.len().min(2_000) {
                for change in [0x01, 0x80, 0xff] {
                    let mut changed = whole.clone();
                    changed[at] ^= change;
                    capture(&changed);
                }
            }
        }
    }
}
