//! The command from outside.

mod command;
mod inspect;
mod lossy;
mod serving;
mod terminal;
mod tiles;
