//! A client or a server that feels a bad network, on loopback.

use std::time::Duration;

use tickwire::session::Session as _;
use tickwire::sim::{Conditions, Lag};
use tickwire::{Archetypes, Client, Game, Phase, Replicate, Server};

#[derive(Clone, Default, Replicate)]
struct Rock {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
}

#[derive(Archetypes)]
enum Thing {
    Rock(Rock),
}

struct Still;

impl Game for Still {
    type Things = Thing;
    type Input = ();
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;
}

const DELAY: Duration = Duration::from_millis(40);

fn lag() -> Lag {
    let late = Conditions {
        latency: DELAY,
        ..Conditions::IDEAL
    };
    Lag::new(late, late, 1)
}

/// Plays until the server has measured the round trip to the client.
fn round_trip(
    mut server: Server<Still>,
    client: impl Fn(Client<Still>) -> Client<Still>,
) -> Duration {
    server.spawn(Rock::default()).expect("the system takes it");
    let mut client = client(server.local_client("Ada").expect("the system takes it"));
    loop {
        client.update().expect("the system takes it");
        while client.event().is_some() {}
        while server.event().is_some() {}
        server.tick().expect("the system takes it");
        let mut measured = None;
        server
            .session()
            .visit_peers(&mut |peer| measured = peer.round_trip);
        if let Some(measured) = measured.filter(|_| client.phase() == Phase::Playing) {
            client.leave().expect("the system takes it");
            server.shut_down().expect("the system takes it");
            return measured;
        }
    }
}

#[test]
fn a_client_with_conditions_is_as_far_away_as_asked() {
    let server = Server::<Still>::bind_insecure("127.0.0.1:0").unwrap();
    let measured = round_trip(server, |client| client.with_conditions(lag()));
    assert!(measured >= DELAY * 2, "{measured:?}");
}

#[test]
fn the_clients_of_a_server_with_conditions_are_as_far_away_as_asked() {
    let server = Server::<Still>::bind("127.0.0.1:0").unwrap();
    let measured = round_trip(server.with_conditions(lag()), |client| client);
    assert!(measured >= DELAY * 2, "{measured:?}");
}
