//! OpenDrakan: its bundles, messages and savegames, and its two sessions against peers that play by the
//! rules until they do not.

mod bundle;
mod client;
mod messages;
mod remote;
mod savegame;
mod server;

pub use bundle::opendrakan_bundle;
pub use client::opendrakan_client_session;
pub use messages::opendrakan_messages;
pub use savegame::opendrakan_savegame;
pub use server::opendrakan_server_session;
