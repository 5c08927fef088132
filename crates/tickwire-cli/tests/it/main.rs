//! The command from outside.

mod command;
mod inspect;
mod lossy;
mod quic;
mod reone;
mod saving;
mod serving;
mod terminal;
mod tiles;
