//! How it ends, and how it does not begin.

use tickwire_native::{
    Client, ClientConfig, ClientEvent, EndReason, Game, Phase, Role, Server, ServerConfig,
    ServerEvent,
};
use tickwire_replica::{Archetypes, Replicate};
use tickwire_session::{Events as _, Session as _};
use tickwire_sim::{Conditions, Network, addr};

use crate::duel::Table;

fn why(table: &Table, client: usize) -> Option<(EndReason, &str)> {
    table.told[client].iter().find_map(|event| match event {
        ClientEvent::Ended { why, words } => Some((*why, words.as_str())),
        _ => None,
    })
}

#[test]
fn whoever_is_sent_away_reads_why() {
    let mut table = Table::new(1, Conditions::IDEAL);
    let ada = table.join("Ada");
    table.run(30);
    let (player, _) = table.ships[0];
    table.server.kick(table.net.now(), player, "be nice");
    table.run(30);
    assert_eq!(why(&table, ada), Some((EndReason::Kicked, "be nice")));
    assert!(table.clients[ada].is_finished());
    assert!(table.ships.is_empty());
}

#[test]
fn whoever_is_banned_cannot_come_back() {
    let mut table = Table::new(2, Conditions::IDEAL);
    let ada = table.join("Ada");
    table.run(30);
    let (player, _) = table.ships[0];
    table.server.ban(table.net.now(), player, "");
    let eve = table.join("Eve");
    table.run(30);
    for client in [ada, eve] {
        assert_eq!(why(&table, client), Some((EndReason::Banned, "")));
    }
}

#[test]
fn whoever_leaves_is_gone_at_once() {
    let mut table = Table::new(3, Conditions::IDEAL);
    let ada = table.join("Ada");
    table.run(30);
    table.clients[ada].leave(table.net.now());
    table.run(10);
    assert_eq!(why(&table, ada), Some((EndReason::Left, "")));
    let left = |event: &ServerEvent<_>| {
        matches!(
            event,
            ServerEvent::Left {
                why: EndReason::Left,
                ..
            }
        )
    };
    assert!(table.heard.iter().any(left), "{:?}", table.heard);
}

#[test]
fn a_server_that_ends_tells_everybody() {
    let mut table = Table::new(4, Conditions::IDEAL);
    let (ada, bob) = (table.join("Ada"), table.join("Bob"));
    table.run(30);
    table.server.shut_down(table.net.now());
    table.run(30);
    for client in [ada, bob] {
        assert_eq!(why(&table, client), Some((EndReason::ShutDown, "")));
    }
    assert!(table.server.is_finished());
}

#[test]
fn names_are_checked() {
    let mut table = Table::new(5, Conditions::IDEAL);
    let (empty, bell) = (table.join(""), table.join("\u{7}"));
    table.run(30);
    for client in [empty, bell] {
        assert_eq!(why(&table, client), Some((EndReason::BadName, "")));
    }
}

#[test]
fn a_player_who_does_not_come_back_is_gone_after_a_minute() {
    let mut table = Table::new(6, Conditions::IDEAL);
    let ada = table.join("Ada");
    table.run(30);
    table.net.partition(table.server_node(), table.node(ada));
    table.run(60 * 60);
    assert_eq!(table.ships.len(), 1, "there is still time");
    table.run(60 * 20);
    assert!(table.ships.is_empty());
    assert!(matches!(table.clients[ada].phase(), Phase::Ended(_)));
}

#[derive(Clone, Default, Replicate)]
struct Rock {
    #[replicate(position, step = 0.02)]
    at: [f32; 2],
}

#[derive(Archetypes)]
enum Other {
    Rock(Rock),
}

struct OtherGame;

impl Game for OtherGame {
    type Things = Other;
    type Input = ();
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;
}

#[test]
fn another_game_is_told_which_field_differs() {
    let mut net = Network::new(7);
    let here = addr::machine(1, 7_777);
    net.add_node(here);
    net.add_node(addr::machine(2, 5_000));
    let mut server = Server::<crate::duel::Duel>::new(net.now(), [7; 32], ServerConfig::default());
    let config = ClientConfig {
        server: here,
        name: "Ada".into(),
        role: Role::Player,
    };
    let mut client = Client::<OtherGame>::new(net.now(), config);
    net.run_for(
        std::time::Duration::from_secs(1),
        &mut [&mut server, &mut client],
    );
    let Some(ClientEvent::Ended { why, words }) = client.poll_event() else {
        panic!("it goes on");
    };
    assert_eq!(why, EndReason::OtherSchema);
    assert!(words.contains("ours:   Rock"), "{words}");
    assert!(words.contains("theirs: Ship"), "{words}");
}

#[test]
fn nobody_at_the_address_is_told_in_time() {
    let mut net = Network::new(8);
    net.add_node(addr::machine(2, 5_000));
    let config = ClientConfig {
        server: addr::machine(9, 9),
        name: "Ada".into(),
        role: Role::Player,
    };
    let mut client = Client::<OtherGame>::new(net.now(), config);
    net.run_for(std::time::Duration::from_secs(40), &mut [&mut client]);
    let ended = client.poll_event();
    assert!(
        matches!(
            ended,
            Some(ClientEvent::Ended {
                why: EndReason::Unreachable | EndReason::TimedOut,
                ..
            })
        ),
        "{ended:?}"
    );
}
