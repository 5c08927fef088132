//! The server, state by state: what it answers, what it tells the game, what it refuses.

mod calls;
mod commands;
mod events;
mod handshake;
mod initialising;
mod invalid;
mod leaving;
mod loading;
mod model;
mod scopes;
mod script;
mod snapshots;
mod staying;
mod transitions;
