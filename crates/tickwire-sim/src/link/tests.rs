use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::Rng;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn link(conditions: Conditions) -> Link<u64> {
    Link::new(conditions, Rng::new(11))
}

/// Pushes `count` numbered items of 100 bytes, one each `every`, and returns what arrives when.
fn exchange(link: &mut Link<u64>, count: u64, every: Duration) -> Vec<(Instant, u64)> {
    let mut now = Instant::ZERO;
    for number in 0..count {
        link.push(now, number, 100);
        now += every;
    }
    pop_all(link)
}

fn pop_all(link: &mut Link<u64>) -> Vec<(Instant, u64)> {
    let mut arrived = Vec::new();
    while let Some(moment) = link.next_moment() {
        arrived.push((moment, link.pop(moment).unwrap()));
    }
    arrived
}

#[track_caller]
fn check_share(count: u64, of: u64, percent: core::ops::Range<f64>) {
    let share = count as f64 / of as f64 * 100.0;
    assert!(
        percent.contains(&share),
        "{share} percent is not in {percent:?}"
    );
}

#[test]
fn an_ideal_link_delivers_everything_in_order_after_the_shortest_time() {
    let mut link = link(Conditions::IDEAL);
    link.push(Instant::ZERO, 1, 100);
    link.push(Instant::ZERO, 2, 100);
    assert_eq!(link.pop(Instant::ZERO), None);
    let soon = Instant::ZERO + SHORTEST;
    assert_eq!(link.next_moment(), Some(soon));
    assert_eq!((link.pop(soon), link.pop(soon)), (Some(1), Some(2)));
    assert_eq!((link.pop(soon), link.next_moment()), (None, None));
}

#[test]
fn jitter_spreads_arrivals_over_its_range_and_keeps_the_order() {
    let conditions = Conditions {
        latency: ms(50),
        jitter: ms(20),
        ..Conditions::IDEAL
    };
    let mut link = link(conditions);
    let arrived = exchange(&mut link, 2_000, ms(5));
    assert!(arrived.is_sorted_by_key(|(_, number)| *number));
    assert_eq!(link.counters().reordered, 0);
    let delays: Vec<_> = arrived
        .iter()
        .map(|(at, number)| at.since(Instant::from_millis(number * 5)))
        .collect();
    assert!(delays.iter().all(|d| (ms(50)..=ms(70)).contains(d)));
    // Waiting behind the one in front raises the mean; the ends of the range are still met.
    assert!(delays.iter().min().unwrap() < &ms(52));
    assert!(delays.iter().max().unwrap() > &ms(69));
}

#[test]
fn independent_loss_meets_its_share_and_rarely_two_in_a_row() {
    let mut link = link(Conditions {
        loss: Chance::percent(5),
        ..Conditions::IDEAL
    });
    let arrived = exchange(&mut link, 50_000, ms(1));
    check_share(link.counters().lost, 50_000, 4.7..5.3);
    assert_eq!(arrived.len() as u64, 50_000 - link.counters().lost);
    let mean = mean_gap(&arrived);
    assert!((1.0..1.15).contains(&mean), "{mean}");
}

#[test]
fn bursts_lose_the_share_and_the_length_that_the_model_says() {
    let mut link = link(Conditions {
        bursts: Some(Bursts {
            begin: Chance::percent(1),
            end: Chance::percent(20),
            loss: Chance::ALWAYS,
        }),
        ..Conditions::IDEAL
    });
    let arrived = exchange(&mut link, 50_000, ms(1));
    // 1 / (1 + 20) of all, in bouts of 1 / 20 %.
    check_share(link.counters().lost, 50_000, 4.2..5.3);
    let mean = mean_gap(&arrived);
    assert!((4.4..5.6).contains(&mean), "{mean}");
}

/// How many are missing in a row, where any are.
fn mean_gap(arrived: &[(Instant, u64)]) -> f64 {
    let gaps: Vec<u64> = arrived
        .windows(2)
        .map(|pair| pair[1].1 - pair[0].1 - 1)
        .filter(|gap| *gap > 0)
        .collect();
    gaps.iter().sum::<u64>() as f64 / gaps.len() as f64
}

#[test]
fn a_burst_ends_with_the_conditions_that_brought_it() {
    let mut link = link(Conditions {
        bursts: Some(Bursts {
            begin: Chance::ALWAYS,
            end: Chance::NEVER,
            loss: Chance::ALWAYS,
        }),
        ..Conditions::IDEAL
    });
    assert_eq!(link.push(Instant::ZERO, 1, 1), Fate::Lost);
    link.set_conditions(Conditions::IDEAL);
    assert_eq!(link.push(Instant::ZERO, 2, 1), Fate::Carried);
}

#[test]
fn copies_arrive_as_often_as_the_chance_says() {
    let mut link = link(Conditions {
        duplication: Chance::percent(10),
        jitter: ms(3),
        ..Conditions::IDEAL
    });
    let mut arrived = exchange(&mut link, 20_000, ms(1));
    check_share(link.counters().duplicated, 20_000, 9.5..10.5);
    assert_eq!(arrived.len() as u64, 20_000 + link.counters().duplicated);
    assert!(link.counters().reordered > 500, "copies fall behind");
    arrived.sort_by_key(|(_, number)| *number);
    arrived.dedup_by_key(|(_, number)| *number);
    assert_eq!(arrived.len(), 20_000);
}

#[test]
fn only_those_held_back_are_overtaken() {
    let mut link = link(Conditions {
        latency: ms(10),
        reordering: Chance::percent(10),
        reordering_delay: ms(50),
        ..Conditions::IDEAL
    });
    let arrived = exchange(&mut link, 10_000, ms(1));
    assert_eq!(arrived.len(), 10_000);
    let longest = arrived
        .iter()
        .map(|(at, number)| at.since(Instant::from_millis(*number)));
    assert!(longest.max().unwrap() <= ms(60));
    // Who is held back for less than the millisecond to the next is not overtaken.
    check_share(link.counters().reordered, 10_000, 9.0..10.6);
}

const NARROW: Bottleneck = Bottleneck {
    bytes_per_second: 100_000,
    queue_bytes: 5_000,
};

#[test]
fn a_bottleneck_passes_exactly_its_rate() {
    let mut link = link(Conditions {
        bottleneck: Some(NARROW),
        ..Conditions::IDEAL
    });
    // Twice what fits: 100 bytes each half millisecond.
    let arrived = exchange(&mut link, 20_000, Duration::from_micros(500));
    let (first, last) = (arrived[0].0, arrived[arrived.len() - 1].0);
    let bytes = (arrived.len() as u128 - 1) * 100;
    assert_eq!(bytes * 1_000_000 / last.since(first).as_micros(), 100_000);
    assert_eq!(
        link.counters().overflowed,
        20_000 - arrived.len() as u64,
        "what did not fit was dropped at the queue"
    );
}

#[test]
fn a_fast_bottleneck_does_not_suffer_from_rounding() {
    let mut link = link(Conditions {
        bottleneck: Some(Bottleneck {
            bytes_per_second: 1_000_000_000,
            queue_bytes: 1_000_000,
        }),
        ..Conditions::IDEAL
    });
    // A tenth of a microsecond each, all at once.
    let arrived = exchange(&mut link, 10_000, Duration::ZERO);
    let last = arrived[arrived.len() - 1].0;
    assert_eq!(last, Instant::from_millis(1) + SHORTEST);
}

#[test]
fn a_full_queue_drops_the_newest() {
    let mut link = link(Conditions {
        bottleneck: Some(NARROW),
        ..Conditions::IDEAL
    });
    let fates: Vec<_> = (0..60).map(|n| link.push(Instant::ZERO, n, 100)).collect();
    assert!(fates[..50].iter().all(|fate| *fate == Fate::Carried));
    assert!(fates[50..].iter().all(|fate| *fate == Fate::Overflowed));
    // 1 ms later one has passed, and there is one place.
    let later = Instant::from_millis(1);
    assert_eq!(link.push(later, 60, 100), Fate::Carried);
    assert_eq!(link.push(later, 61, 100), Fate::Overflowed);
    let numbers: Vec<_> = pop_all(&mut link).into_iter().map(|(_, n)| n).collect();
    assert_eq!(numbers, (0..50).chain([60]).collect::<Vec<_>>());
}

#[test]
fn the_room_of_a_queue_is_what_it_still_takes() {
    assert_eq!(link(Conditions::IDEAL).room(Instant::ZERO), None);
    let mut link = link(Conditions {
        bottleneck: Some(NARROW),
        ..Conditions::IDEAL
    });
    assert_eq!(link.half_empty_at(), None);
    for number in 0..49 {
        link.push(Instant::ZERO, number, 100);
    }
    assert_eq!(link.room(Instant::ZERO), Some(100));
    // 2,400 bytes have to pass, each in 10 microseconds.
    let half = Instant::from_millis(24);
    assert_eq!(link.half_empty_at(), Some(half));
    assert_eq!(link.room(half), Some(2_500));
    assert_eq!(link.half_empty_at(), None);
}

#[test]
fn an_idle_bottleneck_takes_what_exceeds_its_queue() {
    let mut link = link(Conditions {
        bottleneck: Some(NARROW),
        ..Conditions::IDEAL
    });
    assert_eq!(link.push(Instant::ZERO, 1, 6_000), Fate::Carried);
    assert_eq!(link.push(Instant::ZERO, 2, 1), Fate::Overflowed);
}

#[test]
fn the_number_in_flight_is_bounded() {
    let mut link = link(Conditions {
        latency: ms(1_000),
        duplication: Chance::ALWAYS,
        ..Conditions::IDEAL
    });
    for number in 0..IN_FLIGHT as u64 {
        link.push(Instant::ZERO, number, 1);
    }
    assert!((IN_FLIGHT - 1..=IN_FLIGHT).contains(&link.in_flight()));
    assert_eq!(link.push(Instant::ZERO, 0, 1), Fate::Overflowed);
}

#[test]
fn a_cut_lets_nothing_in_and_what_is_on_the_way_out() {
    let mut link = link(Conditions {
        latency: ms(10),
        ..Conditions::IDEAL
    });
    link.push(Instant::ZERO, 1, 1);
    link.cut();
    assert_eq!(link.push(Instant::from_millis(1), 2, 1), Fate::Cut);
    link.heal();
    link.push(Instant::from_millis(2), 3, 1);
    let numbers: Vec<_> = pop_all(&mut link).into_iter().map(|(_, n)| n).collect();
    assert_eq!(numbers, [1, 3]);
}

#[test]
fn changing_one_property_leaves_what_the_others_draw() {
    let lossy = Conditions {
        loss: Chance::percent(20),
        ..Conditions::IDEAL
    };
    let lossy_and_more = Conditions {
        latency: ms(40),
        jitter: ms(10),
        duplication: Chance::percent(30),
        reordering: Chance::percent(30),
        reordering_delay: ms(30),
        ..lossy
    };
    let survivors = |conditions| {
        let arrived = exchange(&mut link(conditions), 1_000, ms(1));
        let mut numbers: Vec<_> = arrived.into_iter().map(|(_, number)| number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    };
    assert_eq!(survivors(lossy), survivors(lossy_and_more));
}

fn any_conditions() -> impl Strategy<Value = Conditions> {
    any::<u64>().prop_map(|seed| Conditions::random(&mut Rng::new(seed), &Conditions::TERRIBLE))
}

proptest! {
    #[test]
    fn nothing_is_early_invented_or_unaccounted_for(
        conditions in any_conditions(),
        seed: u64,
        pushes in prop::collection::vec((0_u64..20_000, 1_usize..1_500), 1..200),
    ) {
        let mut link = Link::new(conditions, Rng::new(seed));
        let mut now = Instant::ZERO;
        let mut pushed = Vec::new();
        let mut delivered = 0_u64;
        for (number, (pause, size)) in pushes.into_iter().enumerate() {
            now += Duration::from_micros(pause);
            link.push(now, number, size);
            pushed.push(now);
            while let Some(number) = link.pop(now) {
                delivered += 1;
                prop_assert!(now >= pushed[number] + conditions.latency.max(SHORTEST));
            }
        }
        let counters = *link.counters();
        prop_assert_eq!(counters.delivered, delivered);
        let gone = counters.delivered + counters.lost + counters.overflowed;
        prop_assert_eq!(
            counters.pushed + counters.duplicated,
            gone + link.in_flight() as u64
        );
    }

    #[test]
    fn nobody_waits_longer_than_the_queue_and_the_delays_together(
        conditions in any_conditions(),
        seed: u64,
        pushes in prop::collection::vec((0_u64..20_000, 1_usize..1_500), 1..200),
    ) {
        let mut link = Link::new(conditions, Rng::new(seed));
        let in_queue = conditions.bottleneck.map_or(Duration::ZERO, |bottleneck| {
            // At least one of 1,500 is always taken.
            let bytes = u64::from(bottleneck.queue_bytes.max(1_500));
            Duration::from_secs(bytes) / bottleneck.bytes_per_second
        });
        let bound = in_queue + conditions.slowest()
            + conditions.reordering_delay.max(conditions.jitter)
            + Duration::from_micros(2);
        let mut now = Instant::ZERO;
        let mut pushed = Vec::new();
        for (number, (pause, size)) in pushes.into_iter().enumerate() {
            now += Duration::from_micros(pause);
            link.push(now, number, size);
            pushed.push(now);
        }
        while let Some(moment) = link.next_moment() {
            let number = link.pop(moment).unwrap();
            prop_assert!(moment.since(pushed[number]) <= bound);
        }
    }

    #[test]
    fn without_reordering_originals_keep_their_order(
        conditions in any_conditions(),
        seed: u64,
        pauses in prop::collection::vec(0_u64..20_000, 1..200),
    ) {
        let conditions = Conditions { reordering: Chance::NEVER, ..conditions };
        let mut link = Link::new(conditions, Rng::new(seed));
        let mut now = Instant::ZERO;
        for (number, pause) in pauses.into_iter().enumerate() {
            now += Duration::from_micros(pause);
            link.push(now, number, 100);
        }
        let mut seen = Vec::new();
        while let Some(moment) = link.next_moment() {
            let number = link.pop(moment).unwrap();
            if !seen.contains(&number) {
                prop_assert!(seen.iter().all(|earlier| *earlier < number));
                seen.push(number);
            }
        }
    }
}
