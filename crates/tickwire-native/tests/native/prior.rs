//! Priors of a game's own: what they save, and that both sides must have the same.

use tickwire_native::{
    Client, ClientConfig, ClientEvent, EndReason, Game, Role, Server, ServerConfig, Training,
};
use tickwire_replica::{Archetypes, Replicate};
use tickwire_session::Events as _;
use tickwire_sim::{Conditions, Network, addr};

use crate::duel::{Duel, Stick, TICK, Table};

#[test]
fn a_fitted_prior_makes_a_game_cost_less_field_by_field() {
    let mut table = Table::new(3, Conditions::HOME);
    for name in ["Ada", "Bob", "Eve"] {
        table.join(name);
    }
    let mut training = Training::<Duel>::default();
    for tick in 0..600_u32 {
        for (number, client) in (0..).zip(&mut table.clients) {
            let way = |n: u32| i8::try_from((tick / 20 + number * n) % 3).expect("small") - 1;
            client.set_input(Stick {
                right: way(1),
                up: way(2),
            });
        }
        table.run(1);
        if let Some(replica) = table.clients[0].replica() {
            training.observe(replica);
        }
    }
    assert!(training.sends() > 150, "{} sends", training.sends());
    let bits = |prior| -> f64 { training.costs(prior).iter().map(|cost| cost.bits).sum() };
    let (general, fitted) = (bits(&training.general()), bits(&training.fit()));
    assert!(fitted < general * 0.9, "{general} bits, fitted {fitted}");
    // A ship's place and speed are told; rocks are not there.
    let told = training.costs(&training.general());
    let cost_of = |archetype, field| {
        let mut costs = told.iter();
        costs.find(|it| it.archetype == archetype && it.field == Some(field))
    };
    assert!(
        cost_of(0, "at").is_some_and(|cost| cost.bits > 1_000.0),
        "{told:?}"
    );
    assert!(
        cost_of(1, "at").is_some_and(|cost| cost.bits == 0.0),
        "{told:?}"
    );
}

#[derive(Clone, Debug, Default, Replicate)]
struct Rock {
    #[replicate(position, step = 0.5)]
    at: [f32; 2],
}

#[derive(Archetypes)]
enum Thing {
    Rock(Rock),
}

struct Plain;

impl Game for Plain {
    type Things = Thing;
    type Input = ();
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;
}

struct Trained;

impl Game for Trained {
    type Things = Thing;
    type Input = ();
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;
    // Three columns of 64 models: entities, and two lanes.
    const PRIOR: &'static [u8] = &[0; 3 * 64 * 2];
}

#[test]
fn another_prior_is_told_by_name() {
    let mut net = Network::new(1);
    let [here, there] = [1, 2].map(|number| addr::machine(number, 7_777));
    net.add_node(here);
    net.add_node(there);
    let mut server = Server::<Plain>::new(net.now(), [7; 32], ServerConfig::default());
    let config = ClientConfig {
        server: here,
        name: "Ada".into(),
        role: Role::Player,
    };
    let mut client = Client::<Trained>::new(net.now(), config);
    for _ in 0..60 {
        server.end_tick(net.now());
        net.run_for(TICK, &mut [&mut server, &mut client]);
    }
    let ended = std::iter::from_fn(|| client.poll_event()).last();
    let Some(ClientEvent::Ended { why, words }) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(why, EndReason::OtherSchema);
    assert!(words.contains("Game::PRIOR"), "{words}");
}
