//! Servers and clients of a small game, on simulated networks.

mod duel;
mod playing;
