//! The Huffman coding, both ways.

use tickwire_dialects::reone::huffman::{decode, encode};
use tickwire_dialects::reone::limits::PLAIN_MAX;

use crate::script::Script;

/// Unfolds `bytes` to a length that they begin with, and codes them as they are.
///
/// # Panics
/// If more unfolds than was said, if what unfolded is not coded as it came, or if what was coded does
/// not unfold to itself.
pub fn reone_huffman(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let length = usize::from(script.u16()) % (PLAIN_MAX + 1);
    let coded = script.rest();
    let mut plain = Vec::new();
    if decode(coded, length, &mut plain).is_ok() {
        assert_eq!(plain.len(), length);
        check(&plain, |again| {
            assert_eq!(again, coded, "there is one way to code it")
        });
    }
    check(&coded[..coded.len().min(PLAIN_MAX)], |_| ());
}

fn check(plain: &[u8], see: impl FnOnce(&[u8])) {
    let (mut coded, mut again) = (Vec::new(), Vec::new());
    encode(plain, &mut coded);
    see(&coded);
    decode(&coded, plain.len(), &mut again).expect("it was coded");
    assert_eq!(again, plain);
}
