//! The server, state by state: what it sends, what it takes, what it refuses.

mod acting;
mod attaching;
mod crowds;
mod ending;
mod snapshots;
mod transitions;
