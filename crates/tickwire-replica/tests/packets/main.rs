//! The bytes of packets, as golden files.

#[path = "../../../tickwire-dialects/tests/harness/golden.rs"]
mod golden;
mod vectors;
