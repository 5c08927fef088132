//! One difference of a structure, with masks of either width.

use tickwire_dialects::reone::delta::{Delta, Mask, Structure};
use tickwire_dialects::reone::{CreatureStatus, Reader, SpatialStatus, Writer};

/// Reads `bytes`, whose first chooses the table and the width of the mask.
///
/// # Panics
/// If a difference is not written as it was read, touches a field that its mask does not name, or is
/// not found again between the states before and after it; or if it can be read before all of it is there.
pub fn reone_delta(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else {
        return;
    };
    match choice % 4 {
        0 => check::<CreatureStatus, u16>(bytes),
        1 => check::<CreatureStatus, u32>(bytes),
        2 => check::<SpatialStatus, u16>(bytes),
        _ => check::<SpatialStatus, u32>(bytes),
    }
}

fn check<S: Structure + Copy, M: Mask>(bytes: &[u8]) {
    let mut r = Reader::new(bytes);
    let Ok(delta) = Delta::<S, M>::decode(&mut r) else {
        return;
    };
    let mut written = Vec::new();
    delta.encode(&mut Writer::new(&mut written, bytes.len()));
    assert_eq!(written, &bytes[..r.position()]);
    for length in 0..written.len() {
        assert!(Delta::<S, M>::decode(&mut Reader::new(&written[..length])).is_err());
    }

    // What follows, if it is a difference too, makes the state before.
    let mut before = S::default();
    if let Ok(first) = Delta::<S, M>::decode(&mut r) {
        first.apply(&mut before);
    }
    let mut after = before;
    delta.apply(&mut after);
    assert_eq!(after.changed_since(&before) & !delta.mask(), 0);
    let again = Delta::<S, M>::between(&before, &after);
    let mut found = before;
    again.apply(&mut found);
    assert_eq!(found.changed_since(&after), 0);
    assert_eq!(again.mask() & !delta.mask(), 0);
}
