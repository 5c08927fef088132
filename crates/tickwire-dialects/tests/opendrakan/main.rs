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

#[path = "../harness/golden.rs"]
mod golden;
#[path = "../harness/sabotage.rs"]
mod sabotage;
#[path = "../harness/seeds.rs"]
mod seeds;
#[path = "../harness/states.rs"]
mod states;
