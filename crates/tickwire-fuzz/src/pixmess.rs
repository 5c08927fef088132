//! pixmess: its streams, and its two sessions against peers that play by the rules until they do not.

mod client;
mod remote;
mod server;
mod stream;

pub use client::pixmess_client_session;
pub use server::pixmess_server_session;
pub use stream::pixmess_stream;
