//! reone: its datagrams, deltas, coding and frames, and its two sessions against peers that play by the
//! rules until they do not.

mod client;
mod datagram;
mod delta;
mod frames;
mod huffman;
mod remote;
mod server;

pub use client::reone_client_session;
pub use datagram::reone_datagram;
pub use delta::reone_delta;
pub use frames::reone_frames;
pub use huffman::reone_huffman;
pub use server::reone_server_session;
