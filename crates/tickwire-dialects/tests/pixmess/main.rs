//! pixmess, client and server, against its wire document.

mod client;
mod conformance;
mod documents;
mod game;
mod knowledge;
mod script;
mod server;
mod sim;
mod vectors;
mod words;

#[path = "../harness/golden.rs"]
mod golden;
#[path = "../harness/sabotage.rs"]
mod sabotage;
#[path = "../harness/seeds.rs"]
mod seeds;
