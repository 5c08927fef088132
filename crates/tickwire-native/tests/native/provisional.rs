//! Shots that a client shows before its server has fired them.

use std::time::Duration;

use tickwire_native::{
    Client, ClientConfig, ClientEvent, EntityId, Game, PlayerId, ProvisionalId, Role, Server,
    ServerConfig, ServerEvent,
};
use tickwire_replica::{Archetypes, Replicate};
use tickwire_session::Events as _;
use tickwire_sim::{Chance, Conditions, Network, addr};

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
struct Gun {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
}

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
struct Shot {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
}

#[derive(Archetypes)]
enum Thing {
    Gun(Gun),
    Shot(Shot),
}

#[derive(Clone, Debug, Default, Replicate)]
struct Trigger {
    fire: bool,
}

/// Units that a shot flies in a tick.
const SPEED: f32 = 1.0;

struct Range;

impl Game for Range {
    type Things = Thing;
    type Input = Trigger;
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;

    fn spawns(own: &Thing, input: &Trigger) -> Option<Thing> {
        match own {
            Thing::Gun(gun) if input.fire => Some(Thing::Shot(Shot { at: gun.at })),
            _ => None,
        }
    }

    fn coast(thing: &mut Thing) {
        if let Thing::Shot(shot) = thing {
            shot.at[0] += SPEED;
        }
    }
}

const TICK: Duration = Duration::from_micros(16_667);

struct Table {
    net: Network,
    server: Server<Range>,
    client: Client<Range>,
    player: Option<PlayerId>,
    shots: Vec<EntityId>,
    /// Whether the server fires, too.
    is_loaded: bool,
    told: Vec<ClientEvent<Range>>,
}

impl Table {
    fn new(conditions: Conditions) -> Self {
        let mut net = Network::new(4);
        net.set_conditions(conditions);
        let [server, there] = [1, 2].map(|number| addr::machine(number, 7_777));
        net.add_node(server);
        net.add_node(there);
        let (name, role) = ("Ada".into(), Role::Player);
        let mut table = Self {
            server: Server::new(net.now(), [7; 32], ServerConfig::default()),
            client: Client::new(net.now(), ClientConfig { server, name, role }),
            net,
            player: None,
            shots: Vec::new(),
            is_loaded: true,
            told: Vec::new(),
        };
        (0..180).for_each(|_| table.tick(false));
        assert!(table.client.own::<Gun>().is_some());
        table
    }

    fn tick(&mut self, fire: bool) {
        while let Some(event) = self.server.poll_event() {
            if let ServerEvent::Joined { player, .. } = event {
                let gun = self.server.spawn_own(player, Gun::default());
                gun.expect("a gun fits the world");
                self.player = Some(player);
            }
        }
        self.server.advance_all().expect("a gun can be stepped");
        self.fly();
        if let Some(player) = self.player
            && self.server.input(player).fire
            && self.is_loaded
        {
            let shot = self.server.spawn_from_input(player, Shot::default());
            self.shots.push(shot.expect("a shot fits the world"));
        }
        self.server.end_tick(self.net.now());
        self.client.set_input(Trigger { fire });
        self.net
            .run_for(TICK, &mut [&mut self.server, &mut self.client]);
        self.client.update(self.net.now());
        while let Some(event) = self.client.poll_event() {
            self.told.push(event);
        }
    }

    /// Shots fly, up to a wall.
    fn fly(&mut self) {
        let server = &mut self.server;
        self.shots.retain(|id| {
            let Some(mut shot) = server.get::<Shot>(*id) else {
                return false;
            };
            shot.at[0] += SPEED;
            if shot.at[0] > 100.0 {
                server.despawn(*id).expect("the shot is there");
                return false;
            }
            server.set(*id, &shot).expect("a shot can be set");
            true
        });
    }

    /// Where shots are shown, ahead of the server or not.
    fn shown(&self) -> Vec<f32> {
        let provisional = self.client.provisional::<Shot>().map(|(_, shot)| shot);
        let confirmed = self.client.view::<Shot>().map(|(_, shot)| shot);
        provisional
            .chain(confirmed)
            .map(|shot| shot.at[0])
            .collect()
    }

    fn replaced(&self) -> Vec<(ProvisionalId, EntityId)> {
        let told = self.told.iter();
        told.filter_map(|event| match event {
            ClientEvent::Replaced { provisional, by } => Some((*provisional, *by)),
            _ => None,
        })
        .collect()
    }
}

/// A shot is there within the tick that it was fired in, is one thing all the time, moves on evenly although what
/// shows it changes, and goes when the server's goes.
#[test]
fn a_shot_is_shown_at_once_and_flies_on_as_the_servers() {
    let mut table = Table::new(Conditions {
        latency: Duration::from_millis(75),
        jitter: Duration::from_millis(10),
        ..Conditions::IDEAL
    });
    table.tick(true);
    let mut last = None;
    for tick in 0..120 {
        let shown = table.shown();
        if let [at] = shown[..] {
            if let Some(last) = last {
                let moved = at - last;
                assert!(
                    (0.0..=2.5 * SPEED).contains(&moved),
                    "at tick {tick} it moves by {moved}"
                );
            }
            last = Some(at);
        } else {
            assert_eq!(shown, [], "at tick {tick}");
            assert!(tick <= 1 || last > Some(90.0), "at tick {tick}, {last:?}");
        }
        table.tick(false);
    }
    assert!(last > Some(90.0), "{last:?}");
    assert_eq!(table.shown(), []);
    let replaced = table.replaced();
    assert_eq!(replaced.len(), 1, "{replaced:?}");
}

/// The server's entity and what ties it to the shot go different ways, so for a moment there may be both; never
/// neither.
#[test]
fn where_much_is_lost_a_shot_is_not() {
    let mut table = Table::new(Conditions {
        latency: Duration::from_millis(75),
        loss: Chance::percent(10),
        ..Conditions::IDEAL
    });
    table.tick(true);
    table.tick(false);
    let mut farthest = 0.0_f32;
    for tick in 0..160 {
        let shown = table.shown();
        let at = shown.iter().copied().fold(0.0, f32::max);
        assert!(at > 0.0 || farthest > 85.0, "none at tick {tick}");
        farthest = farthest.max(at);
        table.tick(false);
    }
    assert_eq!(table.shown(), []);
    assert_eq!(table.replaced().len(), 1);
}

#[test]
fn a_shot_that_the_server_does_not_fire_goes() {
    let mut table = Table::new(Conditions::HOME);
    table.is_loaded = false;
    table.tick(true);
    table.tick(false);
    assert_eq!(table.shown().len(), 1);
    (0..90).for_each(|_| table.tick(false));
    assert_eq!(table.shown(), []);
    assert_eq!(table.replaced(), []);
}

/// Fired in every tick, each is replaced by its own; more than may be ahead wait for the server's.
#[test]
fn shots_of_many_inputs_are_not_mixed_up() {
    let mut table = Table::new(Conditions::HOME);
    for _ in 0..30 {
        table.tick(true);
    }
    (0..60).for_each(|_| table.tick(false));
    let mut replaced = table.replaced();
    assert_eq!(replaced.len(), table.shots.len(), "{replaced:?}");
    assert!(replaced.len() >= 29, "{replaced:?}");
    // The first was fired first, on both sides.
    replaced.sort_unstable();
    assert!(replaced.is_sorted_by_key(|(_, by)| *by), "{replaced:?}");
}
