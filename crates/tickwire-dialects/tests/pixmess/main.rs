//! pixmess, client and server, against its wire document.

mod client;
mod documents;
mod game;
mod properties;
mod script;
mod server;
mod sim;
mod vectors;
mod words;

#[path = "../harness/golden.rs"]
mod golden;
#[path = "../harness/seeds.rs"]
mod seeds;
