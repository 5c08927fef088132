//! lwar: its datagrams, and its two sessions against peers that play by the rules until they do not.

mod client;
mod datagram;
mod remote;
mod server;

pub use client::lwar_client_session;
pub use datagram::lwar_datagram;
pub use server::lwar_server_session;
