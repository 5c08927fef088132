//! The command from outside.

mod command;
mod endings;
mod inspect;
mod lag;
mod load;
mod metrics;
mod operation;
mod overlay;
mod pty;
mod quic;
mod readme;
mod reone;
mod replay;
mod saving;
mod serving;
mod terminal;
mod tiles;
