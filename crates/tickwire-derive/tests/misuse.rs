//! What the compiler says to those who use the derives wrongly, word for word.
//!
//! One file with all mistakes that tokens show, because each file is a run of the compiler. Settings that
//! contradict each other only in numbers are tested where they are computed, in `quantise`. After a
//! change of words: `TRYBUILD=overwrite cargo test -p tickwire-derive --test misuse`, and read the
//! difference.

#[test]
fn mistakes_are_answered_with_what_to_write() {
    trybuild::TestCases::new().compile_fail("tests/misuse/attributes.rs");
}
