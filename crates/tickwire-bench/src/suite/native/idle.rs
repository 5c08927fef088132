//! What a tick costs in which nothing changed: no record is encoded, and each client is sent a packet's head.
//!
//! The world and its clients are in memory, so that no socket is in the figures. Clients with a longer sight have more
//! places in it, and nothing else differs: so the cost of a place is told from that of a client.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::ensure;
use tickwire_native::{Client, ClientConfig, Role, Server, ServerConfig, ServerEvent};
use tickwire_session::{Events as _, Session};
use tickwire_sim::{Network, addr};

use super::{BODIES, Body, Field};
use crate::suite::clock::timed;
use crate::suite::rounds::Spread;

/// As many as one host may do at once.
const CLIENTS: u8 = 200;

const TICK: Duration = Duration::from_millis(50);

const ROUNDS: usize = 21;

/// Ticks that are measured together: ten sends, after which acknowledgements are due.
const TICKS: u32 = 10;

pub(super) struct Idle {
    /// Nanoseconds of a tick.
    pub(super) a_client: Spread,
    pub(super) a_place: Spread,
}

pub(super) fn run() -> anyhow::Result<Idle> {
    let mut table = Table::new()?;
    let (mut a_client, mut a_place) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let [near, far] = [25.0, 100.0].map(|sight| table.measure(sight));
        let ((near, few), (far, many)) = (near?, far?);
        let slope = (far - near) / (many - few);
        a_place.push(slope);
        a_client.push(near - slope * few);
    }
    Ok(Idle {
        a_client: Spread::of(a_client),
        a_place: Spread::of(a_place),
    })
}

struct Table {
    net: Network,
    server: Server<Field>,
    clients: Vec<Client<Field>>,
}

impl Table {
    fn new() -> anyhow::Result<Self> {
        let mut net = Network::new(1);
        let here = addr::machine(1, 7_777);
        net.add_node(here);
        let mut server = Server::new(net.now(), [7; 32], ServerConfig::default());
        for number in 0..BODIES {
            server.spawn(Body::lying(number))?;
        }
        let clients = (0..CLIENTS).map(|number| {
            net.add_node(addr::machine(number + 2, 5_000));
            let config = ClientConfig {
                server: here,
                name: "bot".into(),
                role: Role::Player,
            };
            Client::new(net.now(), config)
        });
        let clients = clients.collect();
        let mut table = Self {
            net,
            server,
            clients,
        };
        table.run(60)?;
        ensure!(table.server.players().count() == usize::from(CLIENTS));
        Ok(table)
    }

    fn run(&mut self, ticks: u32) -> anyhow::Result<()> {
        for _ in 0..ticks {
            while let Some(event) = self.server.poll_event() {
                if let ServerEvent::Joined { player, .. } = event {
                    self.server
                        .spawn_own(player, Body::lying(BODIES + player.0))?;
                }
            }
            self.server.end_tick(self.net.now());
            let mut sessions: Vec<&mut dyn Session> = vec![&mut self.server];
            sessions.extend(self.clients.iter_mut().map(|it| it as &mut dyn Session));
            self.net.run_for(TICK, &mut sessions);
            for client in &mut self.clients {
                while client.poll_event().is_some() {}
            }
        }
        Ok(())
    }

    /// Nanoseconds of a tick for one client, and how many places it has in sight.
    fn measure(&mut self, sight: f32) -> anyhow::Result<(f64, f64)> {
        let players: Vec<_> = self.server.players().map(|(player, ..)| player).collect();
        for player in players {
            self.server.set_sight(player, sight);
        }
        self.run(40)?;
        let now = self.net.now();
        let mut out = Vec::new();
        let (time, ()) = timed(|| {
            for _ in 0..TICKS {
                self.server.end_tick(now);
                while self.server.poll_transmit(now, &mut out).is_some() {
                    out.clear();
                }
            }
        });
        let places: usize = self.clients.iter().map(places_held).sum();
        let clients = f64::from(CLIENTS);
        Ok((
            time.as_nanos() as f64 / f64::from(TICKS) / clients,
            places as f64 / clients,
        ))
    }
}

/// Places of which the client has something that it has not left since.
fn places_held(client: &Client<Field>) -> usize {
    let Some(replica) = client.replica() else {
        return 0;
    };
    let is_there = |name| matches!(replica.versions(name).last(), Some((_, Some(_))));
    let held = replica.blocks().filter(|name| is_there(*name));
    held.map(|name| name.place).collect::<BTreeSet<_>>().len()
}
