//! Conversations with a client: the script speaks for its server, in raw messages.

mod layers;
pub(crate) mod script;
mod session;
mod walking;
