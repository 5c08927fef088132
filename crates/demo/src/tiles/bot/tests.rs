//! A town of bots: they get about, build, clean up and talk, all by the rules.

use std::collections::BTreeSet;

use super::*;
use crate::tiles::{EntityId, Look, STEP, TileWorld};

/// What a town has done.
#[derive(Debug, Default, Eq, PartialEq)]
struct Deeds {
    steps: u32,
    refused: u32,
    built: u32,
    taken_down: u32,
    said: u32,
}

fn live(world: &mut TileWorld, bots: &mut [(EntityId, Bot)], seconds: u32) -> Deeds {
    let mut deeds = Deeds::default();
    for _ in 0..seconds * 20 {
        let time = Duration::from_secs(world.tick().0) / 20;
        for (id, bot) in &mut *bots {
            let others = world.neighbours(*id, 40);
            let view = TileView {
                time,
                position: world.entity(*id).unwrap().position(),
                sight: world,
                others: &others,
            };
            match bot.think(&view) {
                Some(Act::Walk(way)) => {
                    deeds.steps += 1;
                    deeds.refused += u32::from(world.walk(*id, way).is_err());
                }
                Some(Act::Build { at, block }) => {
                    deeds.taken_down += u32::from(block.is_empty());
                    deeds.built += u32::from(!block.is_empty());
                    // On the railway, for instance, nothing can be built.
                    world.set_block(*id, at, block).ok();
                }
                Some(Act::Say(words)) => {
                    assert!(!words.is_empty() && words.len() < 100);
                    deeds.said += 1;
                }
                None => {}
            }
        }
        world.step();
    }
    deeds
}

fn town(seed: u64) -> (TileWorld, Vec<(EntityId, Bot)>) {
    let mut world = TileWorld::new(seed);
    let bots = (0..20)
        .map(|n| {
            let id = world.join("a bot", Look::default()).unwrap();
            (id, Bot::new(seed + n))
        })
        .collect();
    (world, bots)
}

#[test]
fn a_town_of_bots_is_alive() {
    let (mut world, mut bots) = town(3);
    let mut places: Vec<BTreeSet<Cell>> = vec![BTreeSet::new(); bots.len()];
    let mut sum = Deeds::default();
    for _ in 0..30 {
        let deeds = live(&mut world, &mut bots, 10);
        sum.steps += deeds.steps;
        sum.refused += deeds.refused;
        sum.built += deeds.built;
        sum.taken_down += deeds.taken_down;
        sum.said += deeds.said;
        for (places, (id, _)) in places.iter_mut().zip(&bots) {
            places.insert(world.entity(*id).unwrap().position());
        }
    }
    // Five minutes, twenty bots.
    assert!(sum.steps > 20_000, "{sum:?}");
    assert!(sum.refused < sum.steps / 50, "{sum:?}");
    assert!(sum.built > 100 && sum.taken_down > sum.built / 3, "{sum:?}");
    assert!((10..200).contains(&sum.said), "{sum:?}");
    assert!(places.iter().all(|places| places.len() > 15), "{places:?}");
    // They clean up after themselves. Pushed boulders count as two.
    assert!(world.edited_blocks() < 20 * KEPT * 2 + 100);
}

#[test]
fn the_same_town_lives_the_same_life() {
    let [(mut a, mut in_a), (mut b, mut in_b)] = [town(4), town(4)];
    assert_eq!(live(&mut a, &mut in_a, 60), live(&mut b, &mut in_b, 60));
    assert_eq!(a.digest(), b.digest());
}

#[test]
fn a_bot_that_sees_nothing_still_tries() {
    let mut bot = Bot::new(1);
    let blind = |_: Cell| None;
    let acts = (0..400).filter_map(|tick| {
        bot.think(&TileView {
            time: STEP * tick,
            position: Cell::default(),
            sight: &blind,
            others: &[],
        })
    });
    assert!(acts.filter(|act| matches!(act, Act::Walk(_))).count() > 10);
}

#[test]
fn a_younger_clock_does_not_stop_a_bot() {
    let mut bot = Bot::new(1);
    let meadow = |_: Cell| Some(Tile::default());
    for session in [1_000, 0] {
        let acts = (0..400).filter_map(|tick| {
            bot.think(&TileView {
                time: Duration::from_secs(session) + STEP * tick,
                position: Cell::default(),
                sight: &meadow,
                others: &[],
            })
        });
        assert!(acts.filter(|act| matches!(act, Act::Walk(_))).count() > 10);
    }
}
