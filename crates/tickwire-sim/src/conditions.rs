//! Network conditions: latency, jitter, loss, duplication, reordering, bandwidth.
//!
//! [`Conditions`] are plain numbers, the same for a simulated link and for a proxy over real sockets.
//! [`Conditions::random`] draws a set of them from a seed, so that every seed is another network.
//! What they do is in [`Link`](crate::Link).

use core::ops::RangeInclusive;
use core::time::Duration;

use crate::{Chance, Rng};

/// How one direction of a link behaves.
///
/// What crosses it, an *item*, meets the properties in this order: the bottleneck's queue, loss,
/// delay, duplication.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Conditions {
    /// The least time an item takes.
    pub latency: Duration,
    /// What is added to it, evenly from nothing up to this. Jitter alone keeps the order, as the
    /// queues of routers do: who would overtake waits behind the one in front.
    pub jitter: Duration,
    /// Loss of each item by itself.
    pub loss: Chance,
    /// Loss of many in a row, on top of [`loss`](Self::loss).
    pub bursts: Option<Bursts>,
    /// An item arrives a second time, later by up to another [`jitter`](Self::jitter).
    pub duplication: Chance,
    /// An item is held back, so that later ones overtake it.
    pub reordering: Chance,
    /// For how long it is held back, evenly from nothing up to this.
    pub reordering_delay: Duration,
    /// How much fits through; `None`: everything.
    pub bottleneck: Option<Bottleneck>,
    /// Short and frequent pauses, so that items arrive in clumps, as on a busy Wi-Fi.
    pub clumps: Option<Pauses>,
    /// Long and rare pauses: a radio that changes its cell, a laptop that looks for networks.
    pub stalls: Option<Pauses>,
}

/// Times at which nothing arrives; what would have, arrives together at their end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pauses {
    /// From the end of one to the beginning of the next, on average: evenly from nothing up to twice
    /// this.
    pub every: Duration,
    /// How long one lasts, evenly from nothing up to this.
    pub longest: Duration,
}

/// Loss in bursts: the model of Gilbert and Elliott.
///
/// The link is in a burst or not. With each item a burst begins by the chance `begin` or ends by the
/// chance `end`; during it, each item is lost by the chance `loss`. So a burst lasts 1 / `end` items
/// on average, and `begin` / (`begin` + `end`) of all items meet one. It is counted
/// in items, not in time: a link that nobody uses stays as it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bursts {
    /// That a burst begins with this item.
    pub begin: Chance,
    /// That the burst ended before this item.
    pub end: Chance,
    /// Loss during a burst.
    pub loss: Chance,
}

/// The narrowest place of the way, and the queue in front of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bottleneck {
    /// How fast it passes bytes on; at least 1.
    pub bytes_per_second: u32,
    /// Bytes that wait there, the item being passed on included. One that would exceed this is
    /// dropped (drop-tail); a bottleneck with nothing to do takes an item of any size.
    pub queue_bytes: u32,
}

impl Conditions {
    /// Nothing is lost, and what is sent arrives at once.
    pub const IDEAL: Self = Self {
        latency: Duration::ZERO,
        jitter: Duration::ZERO,
        loss: Chance::NEVER,
        bursts: None,
        duplication: Chance::NEVER,
        reordering: Chance::NEVER,
        reordering_delay: Duration::ZERO,
        bottleneck: None,
        clumps: None,
        stalls: None,
    };

    /// A wired line at home, to a server on the same continent.
    pub const HOME: Self = Self {
        latency: Duration::from_millis(20),
        jitter: Duration::from_millis(4),
        loss: Chance::per_million(1_000),
        ..Self::IDEAL
    };

    /// A phone on the move: slow, uneven, losing several items at a time.
    pub const MOBILE: Self = Self {
        latency: Duration::from_millis(60),
        jitter: Duration::from_millis(40),
        loss: Chance::percent(1),
        bursts: Some(Bursts {
            begin: Chance::per_million(5_000),
            end: Chance::percent(20),
            loss: Chance::percent(80),
        }),
        duplication: Chance::per_million(1_000),
        reordering: Chance::percent(1),
        reordering_delay: Duration::from_millis(30),
        bottleneck: Some(Bottleneck {
            bytes_per_second: 250_000,
            queue_bytes: 64 * 1_024,
        }),
        ..Self::IDEAL
    };

    /// As bad as a game has to bear: the usual bound of [`random`](Self::random).
    pub const TERRIBLE: Self = Self {
        latency: Duration::from_millis(250),
        jitter: Duration::from_millis(150),
        loss: Chance::percent(15),
        bursts: Some(Bursts {
            begin: Chance::percent(3),
            end: Chance::percent(10),
            loss: Chance::percent(90),
        }),
        duplication: Chance::percent(10),
        reordering: Chance::percent(15),
        reordering_delay: Duration::from_millis(200),
        bottleneck: Some(Bottleneck {
            bytes_per_second: 32_000,
            queue_bytes: 16 * 1_024,
        }),
        ..Self::IDEAL
    };

    /// Draws conditions nowhere worse than `worst`.
    ///
    /// Each property is left out half of the time (swarm testing): a bug that needs a fast link that
    /// loses nothing but reorders would hardly be met if every run had a little of everything.
    #[must_use]
    pub fn random(rng: &mut Rng, worst: &Self) -> Self {
        Self {
            latency: random_span(rng, worst.latency),
            jitter: random_span(rng, worst.jitter),
            loss: random_chance(rng, worst.loss),
            bursts: random_option(rng, worst.bursts, |rng, worst| Bursts {
                begin: random_between(rng, Chance::NEVER..=worst.begin),
                end: random_between(rng, worst.end..=Chance::ALWAYS),
                loss: random_between(rng, Chance::NEVER..=worst.loss),
            }),
            duplication: random_chance(rng, worst.duplication),
            reordering: random_chance(rng, worst.reordering),
            reordering_delay: random_span(rng, worst.reordering_delay),
            bottleneck: random_option(rng, worst.bottleneck, |rng, worst| Bottleneck {
                bytes_per_second: up_to_eightfold(rng, worst.bytes_per_second),
                queue_bytes: up_to_eightfold(rng, worst.queue_bytes),
            }),
            clumps: random_pauses(rng, worst.clumps),
            stalls: random_pauses(rng, worst.stalls),
        }
    }

    /// The longest an item takes, not counting the bottleneck's queue and being held back.
    pub fn slowest(&self) -> Duration {
        self.latency.saturating_add(self.jitter)
    }
}

impl Default for Conditions {
    /// [`Conditions::IDEAL`].
    fn default() -> Self {
        Self::IDEAL
    }
}

const HALF: Chance = Chance::percent(50);

fn random_option<T>(rng: &mut Rng, worst: Option<T>, make: fn(&mut Rng, T) -> T) -> Option<T> {
    let present = rng.happens(HALF);
    worst.filter(|_| present).map(|worst| make(rng, worst))
}

fn random_pauses(rng: &mut Rng, worst: Option<Pauses>) -> Option<Pauses> {
    // Most worsts have none, and seeds that were found with them are to be found again.
    let worst = worst?;
    rng.happens(HALF).then(|| Pauses {
        every: worst.every.saturating_add(rng.span(worst.every)),
        longest: rng.span(worst.longest),
    })
}

fn random_span(rng: &mut Rng, worst: Duration) -> Duration {
    if rng.happens(HALF) {
        rng.span(worst)
    } else {
        Duration::ZERO
    }
}

fn random_chance(rng: &mut Rng, worst: Chance) -> Chance {
    if rng.happens(HALF) {
        random_between(rng, Chance::NEVER..=worst)
    } else {
        Chance::NEVER
    }
}

fn random_between(rng: &mut Rng, range: RangeInclusive<Chance>) -> Chance {
    let (low, high) = (range.start().as_per_million(), range.end().as_per_million());
    Chance::per_million(draw(rng, low..=high))
}

/// Beyond eight times the worst, a bottleneck is hardly felt.
fn up_to_eightfold(rng: &mut Rng, worst: u32) -> u32 {
    draw(rng, worst..=worst.saturating_mul(8))
}

fn draw(rng: &mut Rng, range: RangeInclusive<u32>) -> u32 {
    let (low, high) = range.into_inner();
    u32::try_from(rng.within(low.into()..=high.into())).unwrap_or(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_conditions_are_never_worse_than_the_worst() {
        let worst = Conditions::TERRIBLE;
        let (worst_bursts, worst_bottleneck) = (worst.bursts.unwrap(), worst.bottleneck.unwrap());
        let mut rng = Rng::new(5);
        for _ in 0..1_000 {
            let drawn = Conditions::random(&mut rng, &worst);
            assert!(drawn.latency <= worst.latency && drawn.jitter <= worst.jitter);
            assert!(drawn.loss <= worst.loss && drawn.duplication <= worst.duplication);
            assert!(drawn.reordering <= worst.reordering);
            assert!(drawn.reordering_delay <= worst.reordering_delay);
            if let Some(bursts) = drawn.bursts {
                assert!(bursts.begin <= worst_bursts.begin && bursts.loss <= worst_bursts.loss);
                assert!(bursts.end >= worst_bursts.end);
            }
            if let Some(bottleneck) = drawn.bottleneck {
                assert!(bottleneck.bytes_per_second >= worst_bottleneck.bytes_per_second);
                assert!(bottleneck.queue_bytes >= worst_bottleneck.queue_bytes);
            }
        }
    }

    #[test]
    fn every_property_is_sometimes_there_and_sometimes_not() {
        let mut rng = Rng::new(6);
        let drawn = core::array::from_fn::<_, 200, _>(|_| {
            Conditions::random(&mut rng, &Conditions::TERRIBLE)
        });
        let has: [fn(&Conditions) -> bool; 6] = [
            |c| c.latency > Duration::ZERO,
            |c| c.loss > Chance::NEVER,
            |c| c.bursts.is_some(),
            |c| c.duplication > Chance::NEVER,
            |c| c.reordering > Chance::NEVER,
            |c| c.bottleneck.is_some(),
        ];
        for (property, has) in has.iter().enumerate() {
            let count = drawn.iter().filter(|c| has(c)).count();
            assert!((60..140).contains(&count), "property {property}: {count}");
        }
    }

    #[test]
    fn what_the_worst_lacks_is_never_drawn() {
        let mut rng = Rng::new(7);
        for _ in 0..100 {
            let drawn = Conditions::random(&mut rng, &Conditions::IDEAL);
            assert_eq!(drawn, Conditions::IDEAL);
        }
    }
}
