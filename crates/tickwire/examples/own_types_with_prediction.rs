//! A game's own types, and what prediction makes of them at 150 ms: the pilot's tank answers at once, the
//! onlooker sees the same a moment later.
//!
//! `cargo run --package tickwire --example own_types_with_prediction`

use std::error::Error;
use std::time::Duration;

use tickwire::native::{Client, Server};
use tickwire::sim::{Conditions, Network, addr};
use tickwire::{
    Archetypes, ClientConfig, EntityId, Events, Game, Replicate, Role, ServerConfig, ServerEvent,
};

/// An entity: each field says how exactly it travels.
#[derive(Clone, Debug, Default, Replicate)]
struct Tank {
    #[replicate(position, step = 0.01, jump_over = 20.0)]
    at: [f32; 2],
    #[replicate(angle, bits = 10)]
    heading: f32,
    #[replicate(range = 0..=100)]
    fuel: u8,
    gun: Gun,
    #[replicate(max = 16)]
    name: String,
    target: EntityId,
}

/// A field may be a type that derives `Replicate` itself.
#[derive(Clone, Debug, Default, Replicate)]
enum Gun {
    #[default]
    Ready,
    Loading {
        #[replicate(range = 0..=60)]
        ticks: u8,
    },
}

#[derive(Archetypes)]
enum Thing {
    Tank(Tank),
}

#[derive(Clone, Debug, Default, Replicate)]
struct Levers {
    #[replicate(range = -1..=1)]
    turn: i8,
    forward: bool,
    fire: bool,
}

struct Tanks;

impl Game for Tanks {
    type Things = Thing;
    type Input = Levers;
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;

    // Depends on its arguments alone, so server and client come to the same.
    fn step(own: &mut Thing, levers: &Levers) {
        let Thing::Tank(tank) = own;
        tank.heading += f32::from(levers.turn) * 0.05;
        if levers.forward && tank.fuel > 0 {
            tank.at[0] += tank.heading.cos() * 0.2;
            tank.at[1] += tank.heading.sin() * 0.2;
        }
        tank.gun = match tank.gun {
            Gun::Ready if levers.fire => Gun::Loading { ticks: 60 },
            Gun::Ready | Gun::Loading { ticks: 0 } => Gun::Ready,
            Gun::Loading { ticks } => Gun::Loading { ticks: ticks - 1 },
        };
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut net = Network::new(1);
    net.set_conditions(Conditions {
        latency: Duration::from_millis(75),
        ..Conditions::IDEAL
    });
    let here = addr::machine(1, 7_777);
    net.add_node(here);
    let mut server = Server::<Tanks>::new(net.now(), [7; 32], ServerConfig::default());
    let mut clients = Vec::new();
    for (number, role) in [(2, Role::Player), (3, Role::Spectator)] {
        net.add_node(addr::machine(number, 5_000));
        let name = format!("machine {number}");
        let server = here;
        clients.push(Client::<Tanks>::new(
            net.now(),
            ClientConfig { server, name, role },
        ));
    }

    let mut tank = EntityId::default();
    println!("tick   x at the pilot   x at the server   x at the onlooker   the pilot's gun");
    for tick in 0..=150 {
        while let Some(event) = server.poll_event() {
            if let ServerEvent::Joined {
                player,
                name,
                role: Role::Player,
            } = event
            {
                let fuel = 100;
                let new = Tank {
                    name,
                    fuel,
                    ..Tank::default()
                };
                tank = server.spawn_own(player, new)?;
            }
        }
        server.advance_all()?;
        server.end_tick(net.now());
        let [pilot, onlooker] = clients.as_mut_slice() else {
            return Err("two clients were made".into());
        };
        pilot.set_input(Levers {
            forward: tick >= 60,
            fire: tick == 60,
            turn: 0,
        });
        let tick_length = Duration::from_secs(1) / u32::from(Tanks::HZ);
        net.run_for(tick_length, &mut [&mut server, pilot, onlooker]);
        pilot.update(net.now());
        onlooker.update(net.now());
        if tick >= 60 && tick % 6 == 0 {
            let own = pilot.own::<Tank>().map(|(_, tank)| tank);
            let xs = [own.clone(), server.get(tank), onlooker.get(tank)];
            let [own_x, truth, seen] = xs.map(|it| it.unwrap_or_default().at[0]);
            let gun = own.unwrap_or_default().gun;
            println!("{tick:4} {own_x:16.2} {truth:17.2} {seen:19.2}   {gun:?}");
        }
    }
    println!("{:?}", clients[0].prediction());
    Ok(())
}
