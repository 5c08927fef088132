//! The command from outside.

mod command;
mod endings;
mod inspect;
mod lossy;
mod operation;
mod pty;
mod quic;
mod readme;
mod reone;
mod saving;
mod serving;
mod terminal;
mod tiles;
