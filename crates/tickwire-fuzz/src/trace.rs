//! What a trace must be like: the fields in the order of the bytes, none skipped, none twice.

use tickwire_wire::FieldLog;

/// The bit at which the traced fields end.
///
/// # Panics
/// If a field does not begin where the one before it ends.
pub(crate) fn traced_end(log: &FieldLog) -> u32 {
    let mut end = 0;
    for entry in log.entries() {
        if let Some((place, _)) = &entry.field {
            assert_eq!(place.at_bit, end, "{} leaves a hole", entry.name);
            end = place.at_bit + place.bits;
        }
    }
    end
}
