//! The server, state by state: what it answers, what it tells the others, what it refuses.

mod input;
mod joining;
mod leaving;
mod limits;
mod playing;
mod proving;
mod shutdown;
mod stranger;
mod syncing;
mod updates;
mod violations;
