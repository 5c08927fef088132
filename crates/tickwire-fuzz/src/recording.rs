//! Recordings from anybody: a file that was cut, damaged or made up.

use tickwire_session::Instant;
use tickwire_session::tap::{Index, Observer, Record, Recorder, Recording};

/// Reads `bytes` as what follows the magic number of a recording.
///
/// # Panics
/// If a record that reads is not recorded as the same bytes again, or if a cut changes more than the
/// record it goes through.
pub fn recording(bytes: &[u8]) {
    let file = [Recording::MAGIC, bytes].concat();
    let whole: Vec<_> = open(&file).collect();
    let mut at = 0;
    for record in &whole {
        let length = bytes[at..].first_chunk().copied().map(u32::from_le_bytes);
        let length = length.expect("a record was read behind it") as usize;
        let of_record = &bytes[at..at + 4 + length];
        assert_eq!(Record::decode(&of_record[4..]), *record);
        if let Ok((now, record)) = *record
            && length <= Recording::RECORD_MAX
            && let Some(again) = recorded(now, record)
        {
            assert_eq!(again, of_record);
        }
        at += of_record.len();
    }
    if let Some(&cut) = bytes.last() {
        let cut = Recording::MAGIC.len() + usize::from(cut) % bytes.len();
        let begun: Vec<_> = open(&file[..cut]).collect();
        assert_eq!(begun, whole[..begun.len()]);
    }
}

fn open(file: &[u8]) -> Recording<'_> {
    Recording::new(file).expect("it begins with the magic number")
}

/// The bytes that a recorder makes of `record`; nothing, if that depends on what it recorded before.
fn recorded(now: Instant, record: Record<'_>) -> Option<Vec<u8>> {
    let mut file = Vec::new();
    let mut recorder = Recorder::new(|bytes| file.extend_from_slice(bytes));
    match record {
        Record::Input(input) => recorder.input(now, input),
        Record::Output(transmit, bytes) => recorder.output(now, transmit, bytes),
        Record::About(about) => recorder.about(now, &about),
        Record::Game(words) => recorder.game(now, words),
        Record::Mark => recorder.mark(now),
        Record::Index(bytes) => {
            Index::decode(bytes).ok();
            return None;
        }
        Record::End { .. } => return None,
    }
    Some(file.split_off(Recording::MAGIC.len()))
}
