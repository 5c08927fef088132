//! The command from outside.

mod capture;
mod command;
mod elsewhere;
mod endings;
mod inspect;
mod lag;
mod load;
mod metrics;
mod middle;
mod operation;
mod overlay;
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
