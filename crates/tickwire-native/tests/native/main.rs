//! Servers and clients of a small game, on simulated networks.

mod conversation;
mod duel;
mod ends;
mod figures;
#[path = "../../../tickwire-dialects/tests/harness/golden.rs"]
mod golden;
mod hostile;
mod own;
mod playing;
mod prior;
mod provisional;
#[path = "../../../tickwire-dialects/tests/harness/recorded.rs"]
mod recorded;
#[path = "../../../tickwire-dialects/tests/harness/sabotage.rs"]
mod sabotage;
#[path = "../../../tickwire-dialects/tests/harness/seeds.rs"]
mod seeds;
mod sim;
mod talking;
mod things;
#[path = "../../../tickwire-replica/tests/model/truth.rs"]
#[allow(dead_code, reason = "the engine's own model asks more of it")]
mod truth;
mod vectors;
