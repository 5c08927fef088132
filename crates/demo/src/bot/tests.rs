//! Whether bots are worth watching.

use super::*;
use crate::{Arena, Entity, Event, Kind, PilotId};

/// A game among bots. What they are shown can be made as coarse as a protocol makes it.
struct Match {
    arena: Arena,
    bots: Vec<(PilotId, Bot)>,
    view: View,
    kills: usize,
}

impl Match {
    fn new(seed: u64, bots: u64) -> Self {
        let mut arena = Arena::new(seed);
        let bots = (0..bots)
            .map(|n| {
                let bot = Bot::new(seed * 1_000 + n);
                let pilot = arena.join(&format!("bot {n}")).unwrap();
                arena.select(pilot, bot.loadout());
                (pilot, bot)
            })
            .collect();
        Self {
            view: arena.view(),
            arena,
            bots,
            kills: 0,
        }
    }

    fn step(&mut self) {
        self.view = self.arena.view();
        self.step_with_this_view();
    }

    fn step_with_this_view(&mut self) {
        for (pilot, bot) in &mut self.bots {
            self.view.set_viewer(Some((*pilot).into()));
            self.arena.set_intent(*pilot, bot.think(&self.view));
        }
        self.arena.step();
        let kill = |event: &&Event| matches!(event, Event::Killed { by: Some(_), .. });
        self.kills += self.arena.events().iter().filter(kill).count();
    }

    fn ships(&self) -> impl Iterator<Item = &Entity> {
        self.arena
            .entities()
            .map(|(_, entity)| entity)
            .filter(|entity| entity.kind() == Kind::Ship)
    }
}

const MINUTE: u32 = 60 * rules::STEPS_PER_SECOND;

#[test]
fn six_bots_fight_and_everybody_takes_part() {
    for seed in 0..5 {
        let mut game = Match::new(seed, 6);
        for _ in 0..MINUTE {
            game.step();
        }
        // A kill every two to six seconds: enough to watch, not too much to follow.
        assert!((10..=32).contains(&game.kills), "{seed}: {}", game.kills);
        for (id, pilot) in game.arena.pilots() {
            assert!(
                pilot.kills() + pilot.deaths() > 0,
                "{seed}: {id} did nothing"
            );
        }
    }
}

#[test]
fn nobody_idles_or_clings_to_the_sun() {
    let mut game = Match::new(11, 6);
    let (mut slow, mut burning) = (0, 0);
    let mut seen = 0;
    for _ in 0..2 * MINUTE {
        game.step();
        for ship in game.ships() {
            seen += 1;
            slow += u32::from(ship.velocity.length() < 60.0);
            burning += u32::from(ship.position.length() < rules::SUN_RADIUS + 100.0);
        }
    }
    assert!(slow * 10 < seen, "{slow} of {seen}");
    assert!(burning * 200 < seen, "{burning} of {seen}");
}

#[test]
fn a_lone_bot_wanders_and_comes_to_no_harm() {
    let mut game = Match::new(3, 1);
    game.step();
    let mut places = Vec::new();
    for _ in 0..MINUTE {
        game.step();
        places.extend(game.ships().map(|ship| ship.position));
    }
    let (_, pilot) = game.arena.pilots().next().unwrap();
    assert_eq!(pilot.deaths(), 0);
    let flown: f64 = places.windows(2).map(|way| way[0].distance(way[1])).sum();
    assert!(flown > 15_000.0, "{flown}");
    // Nothing was fired at nothing.
    assert!(game.arena.entities().all(|(_, it)| !it.is_shot()));
}

#[test]
fn bots_fight_through_a_protocol_that_tells_little() {
    // Whole units and degrees, fifteen updates a second, a tenth of a second late, and no owners.
    let mut game = Match::new(2, 6);
    let mut under_way = std::collections::VecDeque::new();
    for step in 0..MINUTE {
        if step % 4 == 0 {
            let mut update = game.arena.view().seen;
            for seen in &mut update {
                seen.position = Vec2::new(seen.position.x.round(), seen.position.y.round());
                seen.heading = Heading::from_degrees(seen.heading.degrees().floor());
                seen.reach = match seen.kind {
                    Kind::Ray | Kind::Shockwave => seen.reach,
                    kind => kind.usual_reach(),
                };
            }
            under_way.push_back((step + 6, update));
        }
        if under_way.front().is_some_and(|&(due, _)| due <= step) {
            game.view.seen = under_way.pop_front().unwrap().1;
        }
        game.view.time = Duration::from_secs(1) * step / rules::STEPS_PER_SECOND;
        game.step_with_this_view();
    }
    assert!(game.kills >= 6, "{}", game.kills);
}

#[test]
fn bots_differ_by_seed_and_repeat_with_it() {
    let digest = |seed| {
        let mut game = Match::new(seed, 4);
        for _ in 0..600 {
            game.step();
        }
        game.arena.digest()
    };
    assert_eq!(digest(1), digest(1));
    let distances: Vec<_> = (0..8).map(|n| Bot::new(n).character.distance).collect();
    let (least, most) = distances
        .iter()
        .fold((f64::MAX, 0.0_f64), |(a, b), &d| (a.min(d), b.max(d)));
    assert!(most - least > 200.0, "{distances:?}");
}

#[test]
fn a_bot_plays_on_when_the_clock_begins_anew() {
    let mut game = Match::new(4, 2);
    game.view.time = Duration::from_secs(1_000_000);
    game.view.seen = game.arena.view().seen;
    game.step_with_this_view();
    // The session was lost and came back: no ship for a moment, then a young clock.
    game.view.seen.clear();
    game.step_with_this_view();
    for _ in 0..MINUTE {
        game.step();
    }
    assert!(game.kills > 0);
}

#[test]
fn a_bot_without_a_ship_holds_nothing() {
    let mut bot = Bot::new(1);
    assert_eq!(bot.think(&View::default()), Intent::default());
}

#[test]
fn skill_decides_between_equals() {
    // Three of each kind against each other, over five arenas.
    let mut kills = [0_u64; 2];
    for seed in 0..5 {
        let mut game = Match::new(seed, 0);
        for n in 0..6 {
            let skill = [Skill::Easy, Skill::Hard][n % 2];
            let bot = Bot::with_skill(seed * 1_000 + n as u64, skill);
            let pilot = game.arena.join(&format!("bot {n}")).unwrap();
            game.arena.select(pilot, bot.loadout());
            game.bots.push((pilot, bot));
        }
        for _ in 0..MINUTE {
            game.step();
        }
        for (n, (_, pilot)) in game.arena.pilots().enumerate() {
            kills[n % 2] += u64::from(pilot.kills());
        }
    }
    let [easy, hard] = kills;
    assert!(hard > 3 * easy, "{easy} against {hard}");
}
