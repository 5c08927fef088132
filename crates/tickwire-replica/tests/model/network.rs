//! Loss, delay, reordering, duplication and outages, in units of sends.

use tickwire_sim::{Chance, Rng};

/// How bad a path is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) loss: Chance,
    pub(crate) duplication: Chance,
    /// The most sends that anything takes.
    pub(crate) delay: u64,
}

impl Weather {
    pub(crate) const FINE: Self = Self {
        loss: Chance::NEVER,
        duplication: Chance::NEVER,
        delay: 1,
    };

    pub(crate) fn random(rng: &mut Rng) -> Self {
        Self {
            loss: Chance::percent(u32::try_from(rng.within(0..=5)).unwrap_or(0) * 10),
            duplication: Chance::percent(10),
            delay: rng.within(0..=8),
        }
    }
}

/// Things on their way, in no order but that of arrival.
pub(crate) struct Path<T> {
    under_way: Vec<(u64, T)>,
}

impl<T: Clone> Path<T> {
    pub(crate) const fn new() -> Self {
        let under_way = Vec::new();
        Self { under_way }
    }

    pub(crate) fn send(&mut self, rng: &mut Rng, weather: Weather, now: u64, thing: T) {
        if rng.happens(weather.duplication) {
            let late = rng.within(0..=70);
            self.under_way.push((now + late, thing.clone()));
        }
        if !rng.happens(weather.loss) {
            let delay = rng.within(0..=weather.delay);
            self.under_way.push((now + delay, thing));
        }
    }

    /// What arrives now, in a random order.
    pub(crate) fn receive(&mut self, rng: &mut Rng, now: u64) -> Vec<T> {
        let mut arrived = Vec::new();
        self.under_way.retain(|(at, thing)| {
            let is_due = *at <= now;
            if is_due {
                arrived.push(thing.clone());
            }
            !is_due
        });
        for last in (1..arrived.len()).rev() {
            let other = rng.within(0..=last as u64);
            arrived.swap(last, usize::try_from(other).unwrap_or(0));
        }
        arrived
    }
}
