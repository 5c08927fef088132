//! reone, client and server, against its wire document and what the original's own code wrote.

mod client;
mod delta;
mod document;
mod huffman;
mod line;
mod messages;
mod server;
mod sim;
mod states;
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
