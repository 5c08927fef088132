//! How to test a game under loss: its rules know a session and no socket, so a test runs them on a network
//! that loses every third datagram, twenty times over, in virtual time.
//!
//! `cargo test --package tickwire --example lossy_test`

use std::error::Error;

use tickwire::native::Server;
use tickwire::{Archetypes, Events as _, Game, Replicate, ServerEvent};

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
struct Walker {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
    coins: u16,
}

#[derive(Archetypes)]
enum Thing {
    Walker(Walker),
}

#[derive(Clone, Default, Replicate)]
struct Legs {
    #[replicate(range = -1..=1)]
    right: i8,
}

/// Pays coins. One that is lost, or counted twice, would show.
#[derive(Clone, Debug, Replicate)]
struct Pay(u16);

struct Market;

impl Game for Market {
    type Things = Thing;
    type Input = Legs;
    type ToServer = Pay;
    type ToClient = ();
    const HZ: u16 = 60;

    fn step(own: &mut Thing, legs: &Legs) {
        let Thing::Walker(walker) = own;
        walker.at[0] += f32::from(legs.right) * 0.1;
    }
}

/// One tick of the rules.
fn tick(server: &mut Server<Market>) -> Result<(), Box<dyn Error>> {
    while let Some(event) = server.poll_event() {
        match event {
            ServerEvent::Joined { player, .. } => {
                let at = [0.0; 2];
                server.spawn_own(player, Walker { at, coins: 100 })?;
            }
            ServerEvent::Said { player, message } => {
                let id = server.own(player).ok_or("the player has a walker")?;
                let mut walker: Walker = server.get(id).ok_or("the walker is there")?;
                walker.coins = walker.coins.saturating_sub(message.0);
                server.set(id, &walker)?;
            }
            _ => {}
        }
    }
    server.advance_all()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut server = tickwire::Server::<Market>::bind("127.0.0.1:7777")?;
    loop {
        tick(server.session_mut())?;
        server.tick()?;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tickwire::native::Client;
    use tickwire::sim::{Chance, Conditions, Network, addr};
    use tickwire::{ClientConfig, Role, ServerConfig};

    use super::*;

    const LOSSY: Conditions = Conditions {
        latency: Duration::from_millis(60),
        jitter: Duration::from_millis(30),
        loss: Chance::percent(33),
        duplication: Chance::percent(5),
        reordering: Chance::percent(5),
        reordering_delay: Duration::from_millis(40),
        ..Conditions::IDEAL
    };

    struct Table {
        net: Network,
        server: Server<Market>,
        ada: Client<Market>,
        bob: Client<Market>,
    }

    impl Table {
        fn new(seed: u64) -> Self {
            let mut net = Network::new(seed);
            net.set_conditions(Conditions::HOME);
            let [server, ada, bob] = [1, 2, 3].map(|number| addr::machine(number, 7_777));
            for node in [server, ada, bob] {
                net.add_node(node);
            }
            let now = net.now();
            let join = |name: &str| {
                let name = name.into();
                let role = Role::Player;
                Client::new(now, ClientConfig { server, name, role })
            };
            Self {
                server: Server::new(now, [7; 32], ServerConfig::default()),
                ada: join("Ada"),
                bob: join("Bob"),
                net,
            }
        }

        fn run(&mut self, ticks: u32) {
            for _ in 0..ticks {
                tick(&mut self.server).expect("the rules hold");
                self.server.end_tick(self.net.now());
                let sessions: &mut [&mut dyn tickwire::Session] =
                    &mut [&mut self.server, &mut self.ada, &mut self.bob];
                self.net
                    .run_for(Duration::from_secs(1) / u32::from(Market::HZ), sessions);
                self.ada.update(self.net.now());
                self.bob.update(self.net.now());
            }
        }
    }

    #[test]
    fn everybody_agrees_on_who_is_where_and_has_what() {
        for seed in 0..20 {
            let mut table = Table::new(seed);
            table.run(240);
            let (id, _) = table.ada.own::<Walker>().expect("Ada joined");

            table.net.set_conditions(LOSSY);
            for step in 0..10 {
                let right = [1, 1, -1][step % 3];
                table.ada.set_input(Legs { right });
                table.ada.say(&Pay(3)).expect("there is room");
                table.run(12);
            }

            // Nobody can agree while it gets worse; when it is better, everybody has to.
            table.net.set_conditions(Conditions::HOME);
            table.ada.set_input(Legs::default());
            table.run(240);
            let truth = table.server.get::<Walker>(id).expect("Ada is still there");
            assert_eq!(truth.coins, 70, "seed {seed}");
            assert_eq!(table.ada.get(id), Some(truth.clone()), "seed {seed}");
            assert_eq!(table.bob.get(id), Some(truth), "seed {seed}");
        }
    }
}
