//! Conversations with a server.

mod chat;
mod chunks;
mod crowds;
mod edits;
mod entities;
mod limits;
mod login;
mod sets;
mod silence;
mod splits;
