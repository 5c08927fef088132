//! Fingerprints, the same on every machine.

/// FNV-1a, but for whole words: not for secrets, good enough to tell two worlds apart, or a record
/// from a damaged one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digest(pub(super) u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    pub(super) const fn add(&mut self, word: u64) {
        // Rotating brings high bits down, which the multiplication alone never does.
        self.0 = (self.0 ^ word)
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(29);
    }

    /// Eight bytes a word; the last may be shorter.
    pub(super) fn add_bytes(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.add(u64::from_le_bytes(word));
        }
        self.add(bytes.len() as u64);
    }
}
