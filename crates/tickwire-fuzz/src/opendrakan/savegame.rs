//! Savegames: any bytes, and bytes whose checksums are right.

use tickwire_dialects::opendrakan::savegame::Savegame;
use tickwire_dialects::opendrakan::{Server, Tick};
use tickwire_session::Instant;

use super::remote::{config, registry};
use crate::script::Script;

/// Reads a savegame, and loads it into a server if it is one.
///
/// # Panics
/// If what is written is not read as the same, or a server that took it up does not save its world.
pub fn opendrakan_savegame(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let bytes = match script.u8() & 1 {
        0 => script.rest().to_vec(),
        _ => checked(&mut script),
    };
    let Ok(save) = Savegame::decode(&bytes, &registry()) else {
        return;
    };
    let written = save.encode();
    let again = Savegame::decode(&written, &registry()).expect("what was written is read");
    // Bytes, because a number that is none does not equal itself.
    assert_eq!(again.encode(), written);

    let mut server = Server::new(config(4), [1; 32]).expect("the level is good");
    if server.restore(&save).is_err() {
        return;
    }
    // The first tick of a server that goes on is the one that was saved.
    let tick = server.commit(Instant::ZERO);
    assert_eq!(tick, save.tick.max(Tick(1)));
    let saved = server.save();
    assert!(saved.objects.len() <= save.objects.len());
    assert!(saved.next_object >= save.next_object);
    let mut other = Server::new(config(4), [2; 32]).expect("the level is good");
    other
        .restore(&saved)
        .expect("a server saves what can be loaded");
    other.commit(Instant::ZERO);
    // What was set back to what the level has is not saved again.
    assert!(other.save().objects.len() <= saved.objects.len());
    assert_eq!(other.snapshot().digest(), server.snapshot().digest());
}

/// A header and records of the script's bytes, each with its checksum: no fuzzer guesses one.
fn checked(script: &mut Script<'_>) -> Vec<u8> {
    let level = b"a.lvl";
    let mut out = b"ODSAVE\x01\x00".to_vec();
    out.extend(u64::from(script.u32()).to_le_bytes());
    out.extend(script.u32().to_le_bytes());
    let records = script.u8() % 8;
    out.extend(u32::from(records).to_le_bytes());
    let length = u16::try_from(level.len()).expect("five bytes");
    out.extend(length.to_le_bytes());
    out.extend(level);
    out.extend(crc32fast::hash(&out).to_le_bytes());
    for _ in 0..records {
        let record = script.blob();
        out.extend(record);
        out.extend(crc32fast::hash(record).to_le_bytes());
    }
    out
}
