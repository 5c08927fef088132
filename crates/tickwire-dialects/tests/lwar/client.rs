//! The client, state by state: what it says, what it makes of what it hears.

mod connecting;
mod leaving;
mod listening;
mod playing;
mod syncing;
