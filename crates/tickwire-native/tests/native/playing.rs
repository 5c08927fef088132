//! Joining, flying, talking.

use std::time::Duration;

use tickwire_native::{ClientEvent, Phase};
use tickwire_sim::{Chance, Conditions};

use crate::duel::{Rock, Ship, Stick, Table, Word};

const FAR: Conditions = Conditions {
    latency: Duration::from_millis(75),
    ..Conditions::IDEAL
};

const BAD: Conditions = Conditions {
    jitter: Duration::from_millis(20),
    loss: Chance::percent(5),
    ..FAR
};

#[test]
fn a_client_joins_and_sees_the_world() {
    let mut table = Table::new(1, Conditions::IDEAL);
    let rock = Rock { at: [3.0, 4.0] };
    let id = table.server.spawn(rock.clone()).unwrap();
    let ada = table.join("Ada");
    table.run(60);
    let client = &table.clients[ada];
    assert_eq!(client.phase(), Phase::Playing);
    assert_eq!(client.view::<Rock>().collect::<Vec<_>>(), [(id, rock)]);
    let own = client.own::<Ship>().map(|(id, _)| id);
    assert_eq!(own, Some(table.ships[0].1));
    assert!(matches!(table.told[ada][0], ClientEvent::Joined { .. }));
}

#[test]
fn on_a_network_without_loss_predictions_are_right_to_the_bit() {
    for conditions in [Conditions::IDEAL, FAR] {
        let mut table = Table::new(2, conditions);
        let ada = table.join("Ada");
        table.run(90);
        let before = table.clients[ada].prediction();
        for turn in 0..40_i8 {
            let stick = Stick {
                right: turn % 3 - 1,
                up: turn % 2,
            };
            table.clients[ada].set_input(stick);
            table.run(7);
        }
        let client = &table.clients[ada];
        assert_eq!(client.prediction(), before, "{conditions:?}");
        let (_, ship) = client.own::<Ship>().unwrap();
        assert!(ship.at[1] > 50.0, "{ship:?}");
    }
}

#[test]
fn on_a_bad_network_ships_are_where_they_belong() {
    let mut table = Table::new(3, BAD);
    let (ada, bob) = (table.join("Ada"), table.join("Bob"));
    table.run(120);
    table.clients[ada].set_input(Stick { right: 1, up: 0 });
    table.run(300);
    table.clients[ada].set_input(Stick::default());
    table.run(200);
    let (_, ship) = table.ships[0];
    let truth: Ship = table.server.get(ship).unwrap();
    let (_, own) = table.clients[ada].own::<Ship>().unwrap();
    let seen: Ship = table.clients[bob].get(ship).unwrap();
    assert!(truth.at[0] > 1_000.0, "{truth:?}");
    assert_eq!(own, truth);
    assert_eq!(seen, truth);
}

#[test]
fn what_is_said_arrives_once_and_in_order() {
    let mut table = Table::new(4, BAD);
    let (ada, bob) = (table.join("Ada"), table.join("Bob"));
    for number in 0..50 {
        table.clients[ada].say(&Word(number)).unwrap();
        table.run(2);
    }
    table.run(120);
    for client in [ada, bob] {
        let said: Vec<_> = table.told[client]
            .iter()
            .filter_map(|event| match event {
                ClientEvent::Said(Word(number)) => Some(*number),
                _ => None,
            })
            .collect();
        // Whoever joins later hears less.
        let first = *said.first().expect("something was said");
        assert!(said.iter().copied().eq(first..50), "{said:?}");
        assert!(said.len() > 30, "{said:?}");
    }
}

#[test]
fn every_question_is_answered_once() {
    let mut table = Table::new(5, BAD);
    let ada = table.join("Ada");
    table.run(60);
    let mut asked = Vec::new();
    for number in 0..20 {
        let now = table.net.now();
        asked.push(table.clients[ada].ask(now, &Word(number)).unwrap());
        table.run(1);
    }
    table.run(120);
    let answers: Vec<_> = table.told[ada]
        .iter()
        .filter_map(|event| match event {
            ClientEvent::Answered { asked, answer } => Some((*asked, answer.clone())),
            _ => None,
        })
        .collect();
    let expected = asked.into_iter().zip(0..);
    let expected: Vec<_> = expected
        .map(|(asked, number)| (asked, (number % 2 == 0).then_some(Word(number))))
        .collect();
    assert_eq!(answers, expected);
}

#[test]
fn a_broken_connection_is_resumed_by_the_same_player() {
    let mut table = Table::new(6, FAR);
    let ada = table.join("Ada");
    table.run(120);
    let player = table.clients[ada].player();
    let (server, node) = (table.server_node(), table.node(ada));
    table.net.partition(server, node);
    table.clients[ada].say(&Word(1)).unwrap();
    table.run(60 * 20);
    assert_eq!(table.clients[ada].phase(), Phase::Interrupted);
    table.clients[ada].say(&Word(2)).unwrap();
    table.net.heal(server, node);
    table.run(60 * 12);
    assert_eq!(table.clients[ada].phase(), Phase::Playing);
    assert_eq!(table.clients[ada].player(), player);
    assert_eq!(table.clients[ada].counters().resumed, 1);
    let said: Vec<_> = table.told[ada]
        .iter()
        .filter_map(|event| match event {
            ClientEvent::Said(word) => Some(word.0),
            _ => None,
        })
        .collect();
    assert_eq!(said, [1, 2], "{:?}", table.told[ada]);
}
