//! Networks that have a name: what a tester picks instead of ten numbers.
//!
//! Each has two directions, as a player's line has. The figures are of the usual kind that operators
//! and measurements publish, rounded; they are meant to feel like the network, not to predict one.

use core::time::Duration;

use crate::{Bottleneck, Bursts, Chance, Conditions, Lag, Pauses};

/// A network with a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Preset {
    /// What people type.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// From a client to its server.
    pub up: Conditions,
    /// From the server to the client.
    pub down: Conditions,
}

impl Preset {
    /// The preset of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// What a client on this network feels.
    pub fn client_lag(&self, seed: u64) -> Lag {
        Lag::new(self.up, self.down, seed)
    }

    /// What a server feels whose clients are each on such a network.
    pub fn server_lag(&self, seed: u64) -> Lag {
        Lag::new(self.down, self.up, seed)
    }
}

/// All presets, from good to bad.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "lan",
        about: "a cable in the same house: half a millisecond, nothing lost",
        up: LAN,
        down: LAN,
    },
    Preset {
        name: "wifi",
        about: "a shared radio at home: packets come in clumps, some are lost",
        up: Conditions {
            bottleneck: rate_and_queue(2_500_000, 256 * 1_024),
            ..WIFI
        },
        down: Conditions {
            bottleneck: rate_and_queue(6_000_000, 256 * 1_024),
            ..WIFI
        },
    },
    Preset {
        name: "transatlantic",
        about: "a good line to another continent: 90 ms round trip",
        up: TRANSATLANTIC,
        down: TRANSATLANTIC,
    },
    Preset {
        name: "4g",
        about: "a phone on the move: uneven, with bursts of loss and stalls between cells",
        up: Conditions {
            bottleneck: rate_and_queue(600_000, 128 * 1_024),
            ..MOBILE
        },
        down: Conditions {
            bottleneck: rate_and_queue(2_000_000, 256 * 1_024),
            ..MOBILE
        },
    },
    Preset {
        name: "satellite",
        about: "a geostationary satellite: 600 ms round trip",
        up: Conditions {
            bottleneck: rate_and_queue(375_000, 256 * 1_024),
            ..SATELLITE
        },
        down: Conditions {
            bottleneck: rate_and_queue(2_500_000, 512 * 1_024),
            ..SATELLITE
        },
    },
    Preset {
        name: "bad-hotel",
        about: "everybody streams films: slow, long queues, loss, stalls",
        up: Conditions {
            bottleneck: rate_and_queue(40_000, 32 * 1_024),
            ..BAD_HOTEL
        },
        down: Conditions {
            bottleneck: rate_and_queue(125_000, 96 * 1_024),
            ..BAD_HOTEL
        },
    },
];

const LAN: Conditions = Conditions {
    latency: Duration::from_micros(250),
    ..Conditions::IDEAL
};

const WIFI: Conditions = Conditions {
    latency: Duration::from_millis(8),
    jitter: Duration::from_millis(3),
    loss: Chance::per_million(5_000),
    reordering: Chance::per_million(1_000),
    reordering_delay: Duration::from_millis(5),
    clumps: Some(Pauses {
        every: Duration::from_millis(60),
        longest: Duration::from_millis(40),
    }),
    ..Conditions::IDEAL
};

const TRANSATLANTIC: Conditions = Conditions {
    latency: Duration::from_millis(45),
    jitter: Duration::from_millis(4),
    loss: Chance::per_million(2_000),
    ..Conditions::IDEAL
};

const MOBILE: Conditions = Conditions {
    latency: Duration::from_millis(30),
    jitter: Duration::from_millis(25),
    loss: Chance::per_million(5_000),
    bursts: Some(Bursts {
        begin: Chance::per_million(3_000),
        end: Chance::percent(20),
        loss: Chance::percent(70),
    }),
    duplication: Chance::per_million(500),
    reordering: Chance::per_million(5_000),
    reordering_delay: Duration::from_millis(20),
    clumps: Some(Pauses {
        every: Duration::from_millis(80),
        longest: Duration::from_millis(30),
    }),
    stalls: Some(Pauses {
        every: Duration::from_secs(15),
        longest: Duration::from_millis(400),
    }),
    ..Conditions::IDEAL
};

const SATELLITE: Conditions = Conditions {
    latency: Duration::from_millis(300),
    jitter: Duration::from_millis(15),
    loss: Chance::per_million(5_000),
    bursts: Some(Bursts {
        begin: Chance::per_million(500),
        end: Chance::percent(5),
        loss: Chance::percent(50),
    }),
    ..Conditions::IDEAL
};

const BAD_HOTEL: Conditions = Conditions {
    latency: Duration::from_millis(45),
    jitter: Duration::from_millis(35),
    loss: Chance::percent(3),
    bursts: Some(Bursts {
        begin: Chance::percent(1),
        end: Chance::percent(15),
        loss: Chance::percent(80),
    }),
    duplication: Chance::per_million(2_000),
    reordering: Chance::percent(1),
    reordering_delay: Duration::from_millis(30),
    clumps: Some(Pauses {
        every: Duration::from_millis(100),
        longest: Duration::from_millis(60),
    }),
    stalls: Some(Pauses {
        every: Duration::from_secs(12),
        longest: Duration::from_millis(900),
    }),
    ..Conditions::IDEAL
};

const fn rate_and_queue(bytes_per_second: u32, queue_bytes: u32) -> Option<Bottleneck> {
    Some(Bottleneck {
        bytes_per_second,
        queue_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_found_by_name_and_differ() {
        for (position, preset) in PRESETS.iter().enumerate() {
            assert_eq!(Preset::named(preset.name), Some(preset));
            let others = &PRESETS[position + 1..];
            assert!(
                others.iter().all(|other| other.up != preset.up),
                "{preset:?}"
            );
        }
        assert_eq!(Preset::named("carrier-pigeon"), None);
    }
}
