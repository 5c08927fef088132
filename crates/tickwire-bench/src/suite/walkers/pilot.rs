//! A pilot in the arena of the same server: how long it hears nothing.
//!
//! It flies over lwar, with a socket and a thread of its own. What is measured is the time from one
//! arrival to the next, first while nobody walks and then while everybody does.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tickwire_demo::Bot;
use tickwire_demo::gateway::{ArenaClient, Connect, Protocol};
use tickwire_net::Driver;
use tickwire_session::Instant;

use super::Signals;
use crate::suite::rounds::Spread;

/// Between two thoughts.
const THOUGHT: Duration = Duration::from_millis(50);

pub(super) struct Pilot {
    driver: Driver,
    bot: Bot,
    client: Box<dyn ArenaClient>,
}

/// The pauses between two arrivals, in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    quiet: Vec<f64>,
    busy: Vec<f64>,
}

impl Gaps {
    /// The pause that one in a hundred exceeds, while everybody walks.
    pub(super) fn busy(&self) -> Spread {
        Spread::exactly(slowest(&self.busy))
    }

    /// The same in terms of what it was before.
    pub(super) fn ratio(&self) -> Spread {
        Spread::exactly(slowest(&self.busy) / slowest(&self.quiet))
    }
}

impl Pilot {
    pub(super) fn new(server: SocketAddr) -> anyhow::Result<Self> {
        let protocol = Protocol::named("lwar").context("the arena speaks lwar")?;
        let Connect::Arena(connect) = protocol.connect else {
            bail!("lwar has no arena");
        };
        let mut driver = Driver::new()?;
        driver.open();
        let bot = Bot::new(1);
        let client = connect(driver.now(), server.into(), "pilot", bot.loadout());
        Ok(Self {
            driver,
            bot,
            client,
        })
    }

    /// Flies until the server has measured enough.
    pub(super) fn fly(mut self, signals: &Signals) -> anyhow::Result<Gaps> {
        let mut gaps = Gaps::default();
        let (mut arrivals, mut last) = (0, None::<Instant>);
        let mut next_thought = self.driver.now();
        while !signals.over.load(Ordering::Relaxed) {
            self.driver
                .turn(next_thought, &mut [self.client.session()])?;
            let now = self.driver.now();
            self.client.collect(now, &mut Vec::new());
            let arrived = self.count_arrivals();
            if arrived > arrivals {
                arrivals = arrived;
                let since = last.replace(now).map(|last| now.since(last));
                let gap = since.map(|gap| gap.as_secs_f64() * 1e3);
                if signals.settled.load(Ordering::Relaxed) {
                    gaps.busy.extend(gap);
                } else if !signals.invited.load(Ordering::Relaxed) {
                    gaps.quiet.extend(gap);
                }
            }
            if now >= next_thought {
                next_thought = now + THOUGHT;
                let view = self.client.view(now);
                self.client.act(&self.bot.think(&view));
            }
        }
        Ok(gaps)
    }

    fn count_arrivals(&self) -> u64 {
        let mut arrivals = 0;
        let session = self.client.figures();
        session.visit_peers(&mut |peer| arrivals += peer.traffic.packets_in);
        arrivals
    }
}

/// What one in a hundred exceeds.
fn slowest(gaps: &[f64]) -> f64 {
    let mut gaps = gaps.to_vec();
    gaps.sort_by(f64::total_cmp);
    let slow = gaps.len().saturating_sub(1) * 99 / 100;
    gaps.get(slow).copied().unwrap_or(f64::NAN)
}
