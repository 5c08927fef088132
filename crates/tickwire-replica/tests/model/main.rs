//! Random histories of a world, its clients and their networks, against a naive model that keeps whole
//! worlds.
//!
//! What must be true: every block that a replica holds at a send equals the server's at that send; a
//! complete send makes the whole view equal; nobody is sent what it may not see; nobody who can be seen
//! all the time disappears; and when nothing happens any more, everybody catches up.

mod bugs;
mod follower;
mod history;
mod network;
mod packets;
mod priority;
mod secrecy;
#[path = "../../../tickwire-dialects/tests/harness/seeds.rs"]
mod seeds;
mod sim;
mod things;
mod truth;
