//! The arena over our own protocol: its things as a game's own types.
//!
//! There are no codes and no bytes here: what travels is what [`game`] derives. The own ship is predicted by
//! the arena's own rule of flight, without what pulls at it, which is small and corrected; the bullets of its gun are
//! fired ahead of the server, which confirms them.

mod client;
mod game;
mod server;

use tickwire_native::Role;
use tickwire_session::tap::Recording;
use tickwire_session::{Addr, Instant};

use super::{Connect, Inspect, Paths, Protocol, Side, Spectator};
use crate::recording::{NotTrained, Trained, train_as};

/// The entry of [`PROTOCOLS`](super::PROTOCOLS).
pub(super) const PROTOCOL: Protocol = Protocol {
    name: "native",
    about: "our own: quantised, delta-coded, predicted, resumed",
    port: 7_777,
    places: None,
    paths: Paths::Both,
    serve: |opening| Box::new(server::Gateway::new(opening.now, opening.secret)),
    connect: Connect::Arena(|now, server, name, loadout| {
        let mut client = client::Gateway::new(now, server, name, Role::Player);
        client.select(loadout);
        Box::new(client)
    }),
    inspect: Inspect {
        datagram: Some(|from, bytes, trace| {
            tickwire_native::inspect(from == Side::Client, false, bytes, trace)
        }),
        stream: Some(|from| {
            let from_client = from == Side::Client;
            Box::new(move |bytes, trace| tickwire_native::inspect_next(from_client, bytes, trace))
        }),
        words: 1,
        snapshots: &["State"],
        counts: &[(Side::Server, "number")],
    },
};

/// What a recorded arena costs on the wire.
pub(crate) fn train(recording: Recording<'_>) -> Result<Trained, NotTrained> {
    train_as::<game::ArenaGame>(recording)
}

/// Connects somebody who only looks on.
pub(super) fn watch(now: Instant, server: Addr) -> Box<dyn Spectator> {
    Box::new(client::Gateway::new(now, server, "camera", Role::Spectator))
}

#[cfg(test)]
mod tests;
