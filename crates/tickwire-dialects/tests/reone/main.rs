//! reone, client and server, against its wire document and what the original's own code wrote.

mod client;
mod delta;
mod document;
mod hostile;
mod huffman;
mod properties;
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
