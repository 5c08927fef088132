//! The server, state by state: what it answers, what it tells the others, what it refuses.

mod actions;
mod assets;
mod attaching;
mod crowds;
mod events;
mod joining;
mod leaving;
mod states;
mod uploads;
