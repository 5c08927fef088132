//! Members, a lobby and relays on a simulated network with routers.

mod faults;
mod paths;
#[path = "../../../tickwire-dialects/tests/harness/seeds.rs"]
mod seeds;
mod sim;
mod world;
