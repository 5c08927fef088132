//! Many who see each other: what each is told is bounded, and right in the end.

use tickwire_dialects::pixmess::limits::{
    ANNOUNCEMENT_REFILL, ANNOUNCEMENTS_AT_ONCE, MOVE_REFILL, NAMES_A_LINE, NEWS_A_TURN,
    NEWS_AT_ONCE, NEWS_COST, NEWS_WAITING_MAX,
};
use tickwire_dialects::pixmess::{Block, EntityId, PlayerId};
use tickwire_session::JOINS;

use crate::knowledge::Knowledge;
use crate::script::{ANN, BOB, Script, ms};
use crate::words::{Heard, WALL, cell, chat, edit, login, solid, walk, xy};

const EAST: u8 = 0;
const WEST: u8 = 1;

/// So many that everybody has more to hear of than a turn tells.
const CROWD: u32 = 200;

fn clients() -> std::ops::Range<u32> {
    10..10 + CROWD
}

/// Everybody stands on the same cell and holds its chunk, and knows it.
fn plaza() -> (Script, Vec<Knowledge>) {
    let mut s = Script::begin();
    for who in clients() {
        s.join(who, format!("walker-{who}").leak());
        s.load(who, xy(0, 0));
    }
    // What was heard before it was forgotten is told again with the chunk.
    s.live(ms(2_000), &clients().collect::<Vec<_>>());
    s.forget();
    for who in clients() {
        s.load(who, xy(0, 0));
    }
    s.pass(ms(1_000));
    let known = clients().map(|who| Knowledge::of(&s.heard(who)));
    let known = known.collect();
    (s, known)
}

/// What everybody has heard, in one list each.
fn heard_by_all(s: &mut Script) -> Vec<Vec<Heard>> {
    clients().map(|who| s.heard(who)).collect()
}

#[test]
fn a_crowd_in_which_everybody_moves_is_told_within_the_budget() {
    let (mut s, mut known) = plaza();
    for round in 0..4 {
        for who in clients() {
            s.send(who, &[walk(if round % 2 == 0 { EAST } else { WEST })]);
        }
        let heard = heard_by_all(&mut s);
        let told: usize = heard.iter().map(Vec::len).sum();
        let budget = NEWS_AT_ONCE.as_micros() / NEWS_COST.as_micros();
        let budget = usize::try_from(budget).unwrap() + 2 * NEWS_A_TURN;
        assert!(told > clients().len() || round > 0, "{told}");
        assert!(
            told <= budget,
            "{told} messages in one moment, {budget} allowed"
        );
        s.pass(MOVE_REFILL);
        for (known, (first, then)) in known.iter_mut().zip(heard.iter().zip(heard_by_all(&mut s))) {
            known.add(first);
            known.add(&then);
        }
    }
    // Then nobody moves, and everybody comes to know where the others are.
    s.send(10, &[walk(EAST)]);
    s.pass(ms(1_000));
    for (known, heard) in known.iter_mut().zip(heard_by_all(&mut s)) {
        known.add(&heard);
    }
    for (known, own) in known.iter().zip(1..) {
        for (&entity, &at) in &known.entities {
            assert_eq!(at, s.at(PlayerId(entity.0)), "{own} sees {entity:?}");
        }
        let others = known.entities.keys().filter(|id| id.0 != own).count();
        assert_eq!(others, clients().len() - 1, "whom {own} sees");
    }
}

/// Two hundred builders, twenty blocks a second each: 800,000 messages a second, if each were told at once.
#[test]
fn a_crowd_in_which_everybody_builds_is_told_within_the_budget() {
    let (mut s, mut known) = plaza();
    let blocks = [WALL, Block { col: 3, ..WALL }];
    for round in 0..40 {
        s.pass(ms(50));
        let mut told = 0;
        for who in clients() {
            let x = i32::try_from(who).unwrap() % 64;
            s.send(who, &[edit(solid(x, 9), blocks[round % 2])]);
        }
        for (known, heard) in known.iter_mut().zip(heard_by_all(&mut s)) {
            told += heard.len();
            known.add(&heard);
        }
        let budget = ms(50).as_micros() / NEWS_COST.as_micros();
        // Everybody is answered at once besides.
        let budget = usize::try_from(budget).unwrap() + clients().len() + 2 * NEWS_A_TURN;
        assert!(told <= budget, "{told} messages, {budget} allowed");
    }
    s.pass(ms(1_000));
    for (known, heard) in known.iter_mut().zip(heard_by_all(&mut s)) {
        known.add(&heard);
        assert_eq!(known.blocks.len(), 64);
        assert!(known.blocks.values().all(|block| *block == blocks[1]));
    }
}

#[test]
fn who_does_not_read_is_told_where_everybody_is_and_not_how_they_got_there() {
    let mut s = Script::begin();
    let ann = s.join(ANN, "ann");
    s.join(BOB, "bob");
    s.load(BOB, xy(0, 0));
    let mut known = Knowledge::of(&s.heard(BOB));
    s.set_deaf(BOB, true);
    for step in 0..NEWS_WAITING_MAX {
        s.send(ANN, &[walk(if step % 4 < 3 { EAST } else { WEST })]);
        if step % 10 == 9 {
            s.live(MOVE_REFILL * 10, &[ANN, BOB]);
        }
        if step == 100 {
            s.hears_nothing(BOB);
        }
        if s.at(ann).x > 50 {
            s.act(|_, server| server.place_entity(ann.entity(), cell(0, 0)));
        }
    }
    s.set_deaf(BOB, false);
    let heard = s.heard(BOB);
    assert!(
        heard.len() < NEWS_WAITING_MAX / 2,
        "{} messages",
        heard.len()
    );
    known.add(&heard);
    assert_eq!(known.entities[&ann.entity()], s.at(ann));
}

#[test]
fn many_who_join_at_once_share_a_line() {
    let mut s = Script::begin();
    s.join(ANN, "ann");
    for who in clients() {
        s.open(who);
        s.send(who, &[login(1, format!("{who}").leak())]);
    }
    // Ann's own line was the first.
    let at_once = usize::try_from(ANNOUNCEMENTS_AT_ONCE).unwrap() - 1;
    let alone = clients().take(at_once);
    let alone: Vec<_> = alone
        .map(|who| chat(&format!("* {who} has joined")))
        .collect();
    s.expects(ANN, &alone);
    s.pass(ANNOUNCEMENT_REFILL);
    let shown: Vec<_> = clients().skip(at_once).take(NAMES_A_LINE).collect();
    let shown = shown
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    let more = clients().len() - at_once - NAMES_A_LINE;
    s.expects(
        ANN,
        &[chat(&format!("* {shown} and {more} more have joined"))],
    );
}

/// Logins from a host each, 389 a second: 3,500 in nine seconds, of which these are the first three.
#[test]
fn a_storm_of_logins_costs_those_who_play_little() {
    let mut s = Script::begin();
    for who in [ANN, BOB] {
        s.join(who, format!("{who}").leak());
        s.load(who, xy(0, 0));
    }
    let (logins, seconds) = (1_167, 3);
    for who in 1_000..1_000 + logins {
        s.open(who);
        s.send(who, &[login(1, format!("{who}").leak())]);
        s.pass(ms(1_000) * seconds / logins);
    }
    let lines = |heard: &[Heard]| {
        let lines = heard.iter().filter(|it| matches!(it, Heard::Chat { .. }));
        u32::try_from(lines.count()).unwrap()
    };
    let joined = s.session.players().count();
    assert!(joined <= (JOINS + 128 * seconds + 3) as usize, "{joined}");
    for who in [ANN, BOB] {
        let heard = s.heard(who);
        let most = ANNOUNCEMENTS_AT_ONCE + 2 * seconds + 1;
        assert!(lines(&heard) <= most, "{} lines", lines(&heard));
        // Each of those who joined stands there, and nothing else was told.
        assert!(heard.len() <= joined + most as usize, "{}", heard.len());
    }
}

#[test]
fn who_has_left_is_said_behind_the_destruction_however_many_leave() {
    let (mut s, mut known) = plaza();
    let watcher = 10;
    s.forget();
    for who in clients().skip(1) {
        s.close(who);
    }
    let mut lines = 0;
    for _ in 0..20 {
        s.pass(ANNOUNCEMENT_REFILL);
        for message in s.heard(watcher) {
            known[0].add(&[message]);
            if let Heard::Chat { text } = message {
                lines += 1;
                let text = str::from_utf8(text).unwrap();
                let name = text
                    .strip_prefix("* ")
                    .and_then(|text| text.split([' ', ',']).next());
                let number: u16 = name
                    .unwrap()
                    .strip_prefix("walker-")
                    .unwrap()
                    .parse()
                    .unwrap();
                // Numbers are given in the order of joining.
                let gone = EntityId(number - 9);
                assert!(!known[0].entities.contains_key(&gone), "{text}");
            }
        }
    }
    assert!((1..30).contains(&lines), "{lines}");
    assert_eq!(known[0].entities.len(), 0);
}
