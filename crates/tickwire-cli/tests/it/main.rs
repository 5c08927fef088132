//! The command from outside.

mod capture;
mod command;
mod endings;
mod inspect;
mod lag;
mod middle;
mod operation;
mod pty;
mod quic;
mod readme;
mod rendezvous;
mod reone;
mod replay;
mod saving;
mod serving;
mod table;
mod terminal;
mod tiles;
mod train;
