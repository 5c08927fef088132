//! OpenDrakan, client and server, against its documents and the bytes of the original encoder.

mod bundle;
mod client;
mod hostile;
mod properties;
mod savegame;
mod script;
mod server;
mod sim;
mod vectors;

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
