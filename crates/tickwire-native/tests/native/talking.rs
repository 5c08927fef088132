//! Messages beyond plain ones: of which the newest counts, of a tick, of any size; and paths without
//! datagrams.

use tickwire_native::{ClientEvent, EndReason, Phase, SayError, ServerEvent, To};
use tickwire_session::Session;
use tickwire_sim::{Chance, Conditions, Way};

use crate::duel::{Rock, Ship, Stick, Table, Word};

#[test]
fn of_a_channel_the_newest_arrives() {
    let conditions = Conditions {
        loss: Chance::percent(30),
        ..Conditions::IDEAL
    };
    let mut table = Table::new(1, Conditions::IDEAL);
    let ada = table.join("Ada");
    table.run(60);
    table.net.set_conditions(conditions);
    for number in 1..=20 {
        table.clients[ada].say_latest(3, &Word(number)).unwrap();
        table.server.say_latest(To::All, 4, &Word(number)).unwrap();
        table.run(1);
    }
    table.run(30);
    let up = table.heard.iter().filter_map(|event| match event {
        ServerEvent::Latest {
            channel: 3,
            message,
            ..
        } => Some(message.0),
        _ => None,
    });
    let up: Vec<u32> = up.collect();
    let down = table.told[ada].iter().filter_map(|event| match event {
        ClientEvent::Latest {
            channel: 4,
            message,
        } => Some(message.0),
        _ => None,
    });
    let down: Vec<u32> = down.collect();
    for (heard, way) in [(up, "up"), (down, "down")] {
        assert!(heard.is_sorted(), "{heard:?}");
        assert_eq!(heard.last(), Some(&20), "{way}: {heard:?}");
    }
    assert_eq!(
        table.clients[ada].say_latest(16, &Word(0)),
        Err(SayError::NoSuchChannel)
    );
}

#[test]
fn events_happen_when_their_tick_is_shown() {
    let conditions = Conditions {
        latency: std::time::Duration::from_millis(50),
        ..Conditions::IDEAL
    };
    let mut table = Table::new(2, conditions);
    let ada = table.join("Ada");
    table.run(60);
    let rock = table.server.spawn(Rock::default()).unwrap();
    table.run(60);
    // In the same tick the rock moves, and that is told.
    table.server.set(rock, &Rock { at: [50.0, 0.0] }).unwrap();
    table.server.happen(To::All, &Word(7)).unwrap();
    table.told[ada].clear();
    let mut seen = None;
    for _ in 0..60 {
        table.run(1);
        let moved = table.clients[ada].get::<Rock>(rock).unwrap().at[0] > 0.0;
        let told = table.told[ada]
            .iter()
            .any(|event| matches!(event, ClientEvent::Happened(Word(7))));
        if told && seen.is_none() {
            seen = Some(moved);
        }
    }
    assert_eq!(
        seen,
        Some(true),
        "the event comes when the movement has begun"
    );
}

#[test]
fn resources_arrive_whole_and_verified() {
    let mut table = Table::new(3, Conditions::IDEAL);
    let map: Vec<u8> = (0..200_000_u32)
        .map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1])
        .collect();
    table.server.offer("map", map.clone().into()).unwrap();
    let ada = table.join("Ada");
    table.clients[ada].fetch("map");
    table.clients[ada].fetch("no such thing");
    table.run(60);
    let fetched = table.told[ada].iter().find_map(|event| match event {
        ClientEvent::Fetched { name, bytes } if name == "map" => Some(bytes),
        _ => None,
    });
    assert_eq!(fetched, Some(&map));
    let failed = |event: &ClientEvent<_>| matches!(event, ClientEvent::NotFetched { name } if name == "no such thing");
    assert!(table.told[ada].iter().any(failed));
}

#[test]
fn a_path_without_datagrams_plays_by_stream() {
    let mut table = Table::new(4, Conditions::IDEAL);
    let ada = table.join("Ada");
    let (server, client) = (table.server_node(), table.node(ada));
    for way in [
        Way {
            from: server,
            to: client,
        },
        Way {
            from: client,
            to: server,
        },
    ] {
        table.net.set_largest_datagram(way, 0);
    }
    table.run(60);
    table.clients[ada].set_input(Stick { right: 1, up: 0 });
    table.run(120);
    table.clients[ada].set_input(Stick::default());
    table.run(120);
    let (_, ship) = table.ships[0];
    let truth: Ship = table.server.get(ship).unwrap();
    let (_, own) = table.clients[ada].own::<Ship>().unwrap();
    assert_eq!(own, truth);
    assert!(truth.at[0] > 100.0, "{truth:?}");
}

#[test]
fn datagrams_that_cease_are_made_up_for_by_the_stream() {
    let mut table = Table::new(5, Conditions::IDEAL);
    let ada = table.join("Ada");
    table.run(120);
    let (server, client) = (table.server_node(), table.node(ada));
    for way in [
        Way {
            from: server,
            to: client,
        },
        Way {
            from: client,
            to: server,
        },
    ] {
        table.net.set_largest_datagram(way, 0);
    }
    table.run(240);
    table.clients[ada].set_input(Stick { right: 1, up: 0 });
    table.run(120);
    table.clients[ada].set_input(Stick::default());
    table.run(120);
    let (_, ship) = table.ships[0];
    let truth: Ship = table.server.get(ship).unwrap();
    assert!(truth.at[0] > 100.0, "{truth:?}");
    assert_eq!(table.clients[ada].own::<Ship>().unwrap().1, truth);
}

#[test]
fn a_client_that_slept_goes_on_without_a_new_connection() {
    let mut table = Table::new(6, Conditions::IDEAL);
    let (ada, bob) = (table.join("Ada"), table.join("Bob"));
    table.run(120);
    let (server, client) = (table.server_node(), table.node(ada));
    // Ten seconds, in which more happens than 64 sends hold.
    table.net.partition(server, client);
    table.clients[bob].set_input(Stick { right: 1, up: 0 });
    table.run(600);
    table.net.heal(server, client);
    table.clients[bob].set_input(Stick::default());
    table.run(300);
    assert_eq!(table.clients[ada].phase(), Phase::Playing);
    assert_eq!(table.clients[ada].counters().resumed, 0);
    let (_, ship) = table.ships[1];
    let truth: Ship = table.server.get(ship).unwrap();
    assert_eq!(table.clients[ada].get::<Ship>(ship), Some(truth));
}

#[test]
fn whoever_says_too_much_is_sent_away_by_name() {
    let mut table = Table::new(7, Conditions::IDEAL);
    let (ada, bob) = (table.join("Ada"), table.join("Bob"));
    table.run(60);
    for number in 0..200 {
        table.clients[ada].say(&Word(number)).unwrap();
    }
    table.run(60);
    let ended = table.told[ada].iter().any(|event| {
        matches!(
            event,
            ClientEvent::Ended {
                why: EndReason::TooManyMessages,
                ..
            }
        )
    });
    assert!(ended, "{:?}", table.told[ada].last());
    assert_eq!(table.clients[bob].phase(), Phase::Playing);
}

#[test]
fn a_game_that_takes_no_events_ends_before_it_fills_the_memory() {
    let mut table = Table::new(8, Conditions::IDEAL);
    let ada = table.join("Ada");
    table.run(60);
    for _ in 0..700 {
        for number in 0..100 {
            table.server.say(To::All, &Word(number)).unwrap();
        }
        let until = table.net.now() + crate::duel::TICK;
        table.server.end_tick(table.net.now());
        let mut sessions: [&mut dyn Session; 2] = [&mut table.server, &mut table.clients[ada]];
        table.net.run_until(until, &mut sessions);
    }
    let phase = table.clients[ada].phase();
    assert_eq!(phase, Phase::Ended(EndReason::FellBehind));
}
