//! Members, a lobby and relays on a simulated network with routers.

#![allow(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not what they call"
)]

mod faults;
mod paths;
#[path = "../../../tickwire-dialects/tests/harness/recorded.rs"]
mod recorded;
#[path = "../../../tickwire-dialects/tests/harness/seeds.rs"]
mod seeds;
mod sim;
mod world;
