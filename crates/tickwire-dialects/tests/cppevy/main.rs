//! C++evy, client and server, against its wire document.

mod client;
mod document;
mod payloads;
mod refused;
mod script;
mod server;
mod sim;
mod transitions;
mod vectors;
mod words;

#[path = "../harness/driven.rs"]
mod driven;
#[path = "../harness/golden.rs"]
mod golden;
#[path = "../harness/licence.rs"]
mod licence;
#[path = "../harness/recorded.rs"]
mod recorded;
#[path = "../harness/sabotage.rs"]
mod sabotage;
#[path = "../harness/seeds.rs"]
mod seeds;
