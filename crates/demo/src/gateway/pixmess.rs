//! The tile world over pixmess.
//!
//! The world is made of pixmess's cells, chunks and blocks, so nothing is converted. The train is a layer
//! set of version 2; animals are entities without a client.

mod client;
mod layers;
mod server;

use tickwire_dialects::pixmess;

use super::{Connect, Inspect, Paths, Protocol, Side};

/// The entry of [`PROTOCOLS`](super::PROTOCOLS).
pub(super) const PROTOCOL: Protocol = Protocol {
    name: "pixmess",
    about: "a world of tiles to walk and build in, over TCP alone",
    port: pixmess::PORT,
    paths: Paths::Streams,
    places: None,
    // Nothing in pixmess is secret.
    serve: |_| Box::new(server::Gateway::new()),
    connect: Connect::Tiles(|now, server, name, look| {
        Ok(Box::new(client::Gateway::new(now, server, name, look)?))
    }),
    inspect: Inspect {
        datagram: None,
        stream: Some(|from| {
            let mut inspector = pixmess::Inspector::new(from == Side::Client);
            Box::new(move |bytes, trace| inspector.next(bytes, trace))
        }),
        words: 1,
        snapshots: &[],
        counts: &[],
    },
};

#[cfg(test)]
mod tests;
