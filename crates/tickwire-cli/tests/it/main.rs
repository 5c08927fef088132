//! The command from outside.

mod command;
mod inspect;
mod lossy;
mod saving;
mod serving;
mod terminal;
mod tiles;
