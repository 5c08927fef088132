//! Servers and clients of a small game, on simulated networks.

mod conversation;
mod duel;
mod ends;
#[path = "../../../tickwire-dialects/tests/harness/golden.rs"]
mod golden;
mod hostile;
mod own;
mod playing;
#[path = "../../../tickwire-dialects/tests/harness/seeds.rs"]
mod seeds;
mod sim;
mod talking;
mod vectors;
