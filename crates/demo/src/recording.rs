//! Recordings of players, and how they are played back.
//!
//! A player is recorded by a client that passes every call on and writes it down: what the network told its
//! session and took from it ([`tap`](tickwire_session::tap)), and what the player did and looked at
//! (`Deed`). A [`Replay`] makes the same client again and lets it go through the same, so that it shows the
//! same; at every look it compares. A server's recording has what it sent to each of its clients; a [`Replay`]
//! of it shows what one of them could see.

mod client;
mod deed;
mod peer;
mod replay;
mod start;
mod train;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tickwire_session::tap::{About, Input, Observer, Recorder};
use tickwire_session::{Instant, Transmit};

use crate::gateway::{ArenaClient, ClientGateway, TileClient};
pub use client::record;
use deed::Deed;
pub use replay::{Compared, Replay};
pub use start::{Kit, Start};
pub(crate) use train::train_as;
pub use train::{NotTrained, Row, Trained, train};

/// A client's half, whichever the game.
pub enum Player {
    /// It flies in the arena.
    Arena(Box<dyn ArenaClient>),
    /// It walks in the tile world.
    Tiles(Box<dyn TileClient>),
}

impl Player {
    /// What both games' clients have.
    pub fn gateway(&self) -> &dyn ClientGateway {
        match self {
            Self::Arena(client) => &**client,
            Self::Tiles(client) => &**client,
        }
    }

    /// The same, to be driven.
    pub fn gateway_mut(&mut self) -> &mut dyn ClientGateway {
        match self {
            Self::Arena(client) => &mut **client,
            Self::Tiles(client) => &mut **client,
        }
    }
}

/// Where a recording goes: a handle, of which there may be several.
#[derive(Clone)]
pub struct Log(Arc<Mutex<Recorder<Sink>>>);

/// Gets whole records.
pub type Sink = Box<dyn FnMut(&[u8]) + Send>;

impl Log {
    /// Begins a recording.
    pub fn new(sink: Sink) -> Self {
        Self(Arc::new(Mutex::new(Recorder::new(sink))))
    }

    /// Says what is recorded. Comes first.
    pub fn about(&self, now: Instant, about: &About<'_>) {
        self.lock().about(now, about);
    }

    /// Says that from here on everything is told anew.
    pub fn mark(&self, now: Instant) {
        self.lock().mark(now);
    }

    /// Ends the recording. Nothing may follow.
    pub fn finish(&self, now: Instant) {
        self.lock().finish(now);
    }

    fn deed(&self, now: Instant, deed: &Deed) {
        self.lock().game(now, &deed.encode());
    }

    fn lock(&self) -> MutexGuard<'_, Recorder<Sink>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Log {
    fn input(&mut self, now: Instant, input: Input<'_>) {
        self.lock().input(now, input);
    }

    fn output(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]) {
        self.lock().output(now, transmit, bytes);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arena(_) => "Arena",
            Self::Tiles(_) => "Tiles",
        })
    }
}

#[cfg(test)]
mod tests;
