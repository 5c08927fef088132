//! C++evy, client and server, against its wire document.

mod client;
mod document;
mod properties;
mod refused;
mod script;
mod server;
mod sim;
mod vectors;
mod words;

#[path = "../harness/golden.rs"]
mod golden;
#[path = "../harness/seeds.rs"]
mod seeds;
