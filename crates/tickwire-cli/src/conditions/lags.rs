//! A bad network around sessions of this program, without a second process.
//!
//! In: the sessions that a driver is about to be given. Out: the same for that turn, each behind a [`Lag`] of its
//! own. Without conditions they are passed on as they are.

use std::ops::Range;

use tickwire_session::Session;
use tickwire_sim::{Lag, Lagged};

use super::{Network, NetworkArgs};

/// The lags of as many sessions as there are.
#[derive(Debug)]
pub(crate) struct Lags {
    network: Option<Network>,
    side: Side,
    seed: u64,
    /// In the sessions' order; one is made when its session is first driven.
    lags: Vec<Lag>,
    /// How often one took another's place.
    renewed: u64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Side {
    Clients,
    Servers,
}

impl Side {
    fn lag(self, network: &Network, seed: u64) -> Lag {
        match self {
            Self::Clients => Lag::new(network.up, network.down, seed),
            Self::Servers => Lag::new(network.down, network.up, seed),
        }
    }
}

impl Lags {
    /// For sessions that are clients.
    pub(crate) fn of_clients(args: &NetworkArgs) -> Self {
        Self::new(args, Side::Clients)
    }

    /// For sessions that are servers: each of their clients has a line of its own.
    pub(crate) fn of_servers(args: &NetworkArgs) -> Self {
        Self::new(args, Side::Servers)
    }

    fn new(args: &NetworkArgs, side: Side) -> Self {
        Self {
            network: args.network(),
            side,
            seed: args.seed(),
            lags: Vec::new(),
            renewed: 0,
        }
    }

    /// What everybody feels, if anything.
    pub(crate) const fn network(&self) -> Option<&Network> {
        self.network.as_ref()
    }

    /// Runs something with the sessions, of which those in `range` feel the network. Sessions may be added from
    /// turn to turn, but keep their order.
    pub(crate) fn run<R>(
        &mut self,
        sessions: &mut [&mut dyn Session],
        range: Range<usize>,
        run: impl FnOnce(&mut [&mut dyn Session]) -> R,
    ) -> R {
        let Some(network) = self.network else {
            return run(sessions);
        };
        let (before, rest) = sessions.split_at_mut(range.start);
        let (lagged, after) = rest.split_at_mut(range.len());
        while self.lags.len() < lagged.len() {
            let seed = self.seed.wrapping_add(self.lags.len() as u64);
            self.lags.push(self.side.lag(&network, seed));
        }
        let mut lagged: Vec<Lagged<'_>> = self
            .lags
            .iter_mut()
            .zip(lagged)
            .map(|(lag, session)| lag.around(&mut **session))
            .collect();
        let mut all: Vec<&mut dyn Session> = Vec::new();
        all.extend(
            before
                .iter_mut()
                .map(|session| &mut **session as &mut dyn Session),
        );
        all.extend(lagged.iter_mut().map(|session| session as &mut dyn Session));
        all.extend(
            after
                .iter_mut()
                .map(|session| &mut **session as &mut dyn Session),
        );
        run(&mut all)
    }

    /// Another session takes the place of this one: nothing of the old one arrives at it.
    pub(crate) fn renew(&mut self, session: usize) {
        if let (Some(network), Some(lag)) = (self.network, self.lags.get_mut(session)) {
            self.renewed += 1;
            // Beyond the seeds of those that were never replaced.
            let seed = self.seed.wrapping_add(self.renewed << 32);
            *lag = self.side.lag(&network, seed);
        }
    }

    /// Whether nothing that a session sent is still on its way.
    pub(crate) fn is_idle(&self) -> bool {
        self.lags.iter().all(Lag::is_idle)
    }
}
