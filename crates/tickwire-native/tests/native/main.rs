//! Servers and clients of a small game, on simulated networks.

mod duel;
mod ends;
mod hostile;
mod own;
mod playing;
#[path = "../../../tickwire-dialects/tests/harness/seeds.rs"]
mod seeds;
mod sim;
mod talking;
