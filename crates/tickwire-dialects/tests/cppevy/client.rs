//! The client, phase by phase: what it says, what it shows, how everything ends.

mod actions;
mod assets;
mod connecting;
mod playing;
mod uploads;
