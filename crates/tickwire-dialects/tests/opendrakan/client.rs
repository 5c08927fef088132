//! The client, state by state: what it loads, what it puts together, what it shows.

mod assembling;
mod connecting;
mod loading;
mod showing;
mod transitions;
