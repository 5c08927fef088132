//! The command from outside.

mod command;
mod endings;
mod inspect;
mod lag;
mod operation;
mod pty;
mod quic;
mod readme;
mod rendezvous;
mod reone;
mod replay;
mod saving;
mod serving;
mod terminal;
mod tiles;
