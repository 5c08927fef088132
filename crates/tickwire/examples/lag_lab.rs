//! One game on four networks at once, in the terminal: where the server has a ship, where its pilot sees it,
//! and where another player does.
//!
//! `cargo run --release --package tickwire --example lag_lab`, optionally with `-- SECONDS`

use std::fmt::Write as _;
use std::time::Duration;
use std::{env, error, thread};

use tickwire::native::{Client, Server};
use tickwire::sim::{Conditions, Network, addr};
use tickwire::{
    Archetypes, ClientConfig, EntityId, Events as _, Game, Replicate, Role, ServerConfig,
    ServerEvent,
};

/// Cells of the track.
const TRACK: u8 = 64;

#[derive(Clone, Debug, Default, Replicate)]
struct Ship {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
    #[replicate(step = 0.001)]
    speed: f32,
}

#[derive(Archetypes)]
enum Thing {
    Ship(Ship),
}

#[derive(Clone, Default, Replicate)]
struct Stick {
    #[replicate(range = -1..=1)]
    right: i8,
}

struct Lag;

impl Game for Lag {
    type Things = Thing;
    type Input = Stick;
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;

    fn step(own: &mut Thing, stick: &Stick) {
        let Thing::Ship(ship) = own;
        ship.speed = ship.speed * 0.95 + f32::from(stick.right) * 0.05;
        ship.at[0] = (ship.at[0] + ship.speed).clamp(0.0, f32::from(TRACK) - 1.0);
    }
}

/// A server, a pilot and an onlooker on a network of their own.
struct Lab {
    title: &'static str,
    net: Network,
    server: Server<Lag>,
    pilot: Client<Lag>,
    onlooker: Client<Lag>,
    ship: EntityId,
}

impl Lab {
    fn new(title: &'static str, conditions: Conditions) -> Self {
        let mut net = Network::new(7);
        net.set_conditions(conditions);
        let [here, ada, bob] = [1, 2, 3].map(|number| addr::machine(number, 7_777));
        for node in [here, ada, bob] {
            net.add_node(node);
        }
        let now = net.now();
        let join = |name: &str, role| {
            let name = name.into();
            let server = here;
            Client::new(now, ClientConfig { server, name, role })
        };
        Self {
            title,
            server: Server::new(now, [7; 32], ServerConfig::default()),
            pilot: join("pilot", Role::Player),
            onlooker: join("onlooker", Role::Spectator),
            ship: EntityId::default(),
            net,
        }
    }

    fn tick(&mut self, stick: Stick) -> Result<(), Box<dyn error::Error>> {
        while let Some(event) = self.server.poll_event() {
            if let ServerEvent::Joined {
                player,
                role: Role::Player,
                ..
            } = event
            {
                self.ship = self.server.spawn_own(player, Ship::default())?;
            }
        }
        self.server.advance_all()?;
        self.server.end_tick(self.net.now());
        self.pilot.set_input(stick);
        self.net.run_for(
            Duration::from_secs(1) / u32::from(Lag::HZ),
            &mut [&mut self.server, &mut self.pilot, &mut self.onlooker],
        );
        for client in [&mut self.pilot, &mut self.onlooker] {
            client.update(self.net.now());
            while client.poll_event().is_some() {}
        }
        Ok(())
    }

    fn draw(&self, out: &mut String) -> std::fmt::Result {
        let figures = self.pilot.prediction();
        let delay = self.onlooker.delay().unwrap_or_default();
        writeln!(
            out,
            "{}: {} corrections, {} jumps; the onlooker sees the world {} ms late, on top of the way\x1b[K",
            self.title,
            figures.corrections,
            figures.snaps,
            delay.as_millis()
        )?;
        let lanes = [
            ("pilot", self.pilot.own::<Ship>().map(|(_, ship)| ship)),
            ("server", self.server.get(self.ship)),
            ("onlooker", self.onlooker.get(self.ship)),
        ];
        for (who, ship) in lanes {
            let x = ship.map(|ship| ship.at[0]);
            let is_at = |cell| x.is_some_and(|x| (0.0..1.0).contains(&(x - f32::from(cell))));
            let lane = (0..TRACK).map(|cell| if is_at(cell) { '>' } else { '.' });
            writeln!(out, "{who:>9} {}\x1b[K", lane.collect::<String>())?;
        }
        writeln!(out, "\x1b[K")
    }
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let seconds = env::args().nth(1).map_or(Ok(15), |it| it.parse::<u32>())?;
    let mut labs = [
        Lab::new("the same room", Conditions::IDEAL),
        Lab::new("a line at home", Conditions::HOME),
        Lab::new("a phone on the move", Conditions::MOBILE),
        Lab::new("terrible", Conditions::TERRIBLE),
    ];
    print!("\x1b[2J");
    for tick in 0..seconds * u32::from(Lag::HZ) {
        // Right and left by turns, with rests in between.
        let right = [1, 0, -1, 0][usize::try_from(tick / 60 % 4)?];
        let mut out = String::from("\x1b[H");
        for lab in &mut labs {
            lab.tick(Stick { right })?;
            lab.draw(&mut out)?;
        }
        print!("{out}");
        thread::sleep(Duration::from_secs(1) / u32::from(Lag::HZ));
    }
    Ok(())
}
