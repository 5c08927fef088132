//! Whose an entity is, and who looks from it.

use std::time::Duration;

use tickwire_native::{Client, ClientConfig, Game, Role, Server, ServerConfig, ServerEvent};
use tickwire_replica::{Archetypes, Replicate};
use tickwire_session::Events as _;
use tickwire_sim::{Conditions, Network, addr};

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
struct Tree {
    #[replicate(position, step = 0.1)]
    at: [f32; 2],
}

#[derive(Archetypes)]
enum Thing {
    Tree(Tree),
}

struct Fog;

impl Game for Fog {
    type Things = Thing;
    type Input = ();
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;
    const SIGHT: f32 = 20.0;
}

struct Forest {
    net: Network,
    server: Server<Fog>,
    spectator: Client<Fog>,
}

impl Forest {
    fn new() -> Self {
        let mut net = Network::new(1);
        net.set_conditions(Conditions::HOME);
        let [server, spectator] = [1, 2].map(|number| addr::machine(number, 7_777));
        net.add_node(server);
        net.add_node(spectator);
        let (name, role) = ("Ada".into(), Role::Spectator);
        Self {
            server: Server::new(net.now(), [7; 32], ServerConfig::default()),
            spectator: Client::new(net.now(), ClientConfig { server, name, role }),
            net,
        }
    }

    /// Runs a second and a half, in which whatever is near has arrived; returns where trees are seen.
    fn run(&mut self) -> Vec<f32> {
        for _ in 0..90 {
            self.server.end_tick(self.net.now());
            let length = Duration::from_secs(1) / u32::from(Fog::HZ);
            self.net
                .run_for(length, &mut [&mut self.server, &mut self.spectator]);
            self.spectator.update(self.net.now());
        }
        let trees = self.spectator.view::<Tree>();
        trees.map(|(_, tree)| tree.at[0]).collect()
    }
}

#[test]
fn a_spectator_looks_from_the_entity_that_the_game_chose() {
    let mut forest = Forest::new();
    let spawned = [0.0, 500.0].map(|x| forest.server.spawn(Tree { at: [x, 0.0] }));
    let [near, far] = spawned.map(|tree| tree.expect("a tree fits the world"));
    assert_eq!(forest.run(), [], "nobody said from where");
    let joined = forest.server.poll_event();
    let Some(ServerEvent::Joined { player, .. }) = joined else {
        panic!("{joined:?}");
    };

    forest.server.look_from(player, near);
    assert_eq!(forest.run(), [0.0]);
    forest.server.look_from(player, far);
    assert_eq!(forest.run(), [500.0]);
    forest.server.despawn(far).expect("the tree is there");
    forest
        .server
        .spawn(Tree { at: [510.0, 0.0] })
        .expect("a tree fits the world");
    assert_eq!(forest.run(), [510.0], "it stays where it was");
}

#[test]
fn what_a_player_owns_goes_when_the_game_hears_that_it_left() {
    let mut forest = Forest::new();
    forest.run();
    forest.spectator.leave(forest.net.now());
    forest.run();
    // The game hears of both only now.
    let joined = forest.server.poll_event();
    let Some(ServerEvent::Joined { player, .. }) = joined else {
        panic!("{joined:?}");
    };
    let tree = forest.server.spawn_own(player, Tree::default());
    let tree = tree.expect("a tree fits the world");
    assert_eq!(forest.server.get(tree), Some(Tree::default()));
    let left = forest.server.poll_event();
    assert!(matches!(left, Some(ServerEvent::Left { .. })), "{left:?}");
    assert_eq!(forest.server.get::<Tree>(tree), None);
}
