//! The network of a scenario, which may be recorded.
//!
//! With `TICKWIRE_SIM_RECORD`, what the first session sees, a scenario's server, is written to that file as
//! `tickwire serve --record` does: `cargo xtask sim --record FILE` sets it.

use std::fs::File;
use std::io::Write as _;

use tickwire_session::tap::{About, Recorded, Recorder};
use tickwire_session::{Addr, Host, Instant};
use tickwire_sim::Network;

/// The network of a scenario. Its first node is the server's.
pub(crate) fn network(seed: u64) -> Network {
    let mut network = Network::new(seed);
    if let Some(path) = std::env::var_os("TICKWIRE_SIM_RECORD") {
        let mut file = File::create(&path).unwrap_or_else(|why| panic!("{path:?}: {why}"));
        let mut recorder = Recorder::new(move |record| {
            file.write_all(record).expect("the disk takes it");
        });
        let nobody = Addr {
            host: Host::Link(u64::MAX),
            port: 0,
        };
        recorder.about(
            Instant::ZERO,
            &About {
                side: Recorded::Server,
                peer: nobody,
                protocol: env!("CARGO_CRATE_NAME"),
                words: &[],
            },
        );
        network.watch(0, Box::new(recorder));
    }
    network
}
