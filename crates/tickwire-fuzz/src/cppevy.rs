//! C++evy: its payloads, and its two sessions against peers that play by the rules until they do not.

mod client;
mod payload;
mod remote;
mod server;

pub use client::cppevy_client_session;
pub use payload::cppevy_payload;
pub use server::cppevy_server_session;
