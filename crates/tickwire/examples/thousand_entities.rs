//! A thousand entities that all move, and eight clients that each see some of them: what it costs.
//!
//! `cargo run --release --package tickwire --example thousand_entities`

use std::error::Error;
use std::f32::consts::TAU;

use tickwire::replica::server::Sharing;
use tickwire::{Archetypes, Client, Game, Replicate, Server, ServerEvent, Session as _};

/// The world is a square with this side.
const SIDE: f32 = 400.0;
const ENTITIES: u16 = 1_000;
const CLIENTS: u8 = 8;
const SECONDS: u32 = 5;

#[derive(Clone, Debug, Default, Replicate)]
struct Fish {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
    #[replicate(angle, bits = 8)]
    heading: f32,
}

#[derive(Archetypes)]
enum Thing {
    Fish(Fish),
}

struct Sea;

impl Game for Sea {
    type Things = Thing;
    type Input = ();
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;
    const SIGHT: f32 = 100.0;
}

/// Swims on, and turns back at the border.
fn swim(fish: &mut Fish, tick: u16) {
    fish.heading += 0.02 * (f32::from(tick) / 30.0 - 1.0);
    if fish.at.iter().any(|at| !(0.0..=SIDE).contains(at)) {
        let [x, y] = fish.at.map(|at| SIDE / 2.0 - at);
        fish.heading = y.atan2(x);
    }
    fish.at[0] += fish.heading.cos() * 0.1;
    fish.at[1] += fish.heading.sin() * 0.1;
}

/// Spread by the golden ratio, which leaves no holes.
fn fish(number: u16) -> Fish {
    let number = f32::from(number);
    Fish {
        at: [number / f32::from(ENTITIES), (number * 0.618_034).fract()].map(|it| it * SIDE),
        heading: (number * 2.4).rem_euclid(TAU),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut server = Server::<Sea>::bind("127.0.0.1:0")?;
    // The game keeps its own state, exact; the server is told what is to be seen of it, rounded.
    let mut all = Vec::new();
    for fish in (0..ENTITIES).map(fish) {
        all.push((server.spawn(fish.clone())?, fish));
    }
    let clients = (0..CLIENTS).map(|number| server.local_client(&format!("client {number}")));
    let mut clients: Vec<Client<Sea>> = clients.collect::<Result<_, _>>()?;

    let mut before = (0, Sharing::default());
    for second in 1..=SECONDS {
        for tick in 0..Sea::HZ {
            while let Some(event) = server.event() {
                if let ServerEvent::Joined { player, .. } = event {
                    // Everybody looks from a fish of its own, somewhere else.
                    let number = u16::try_from(player.0)? * 119 % ENTITIES;
                    server.spawn_own(player, fish(number))?;
                }
            }
            for (id, fish) in &mut all {
                swim(fish, tick);
                server.set(*id, fish)?;
            }
            server.tick()?;
            for client in &mut clients {
                client.update()?;
                while client.event().is_some() {}
            }
        }
        before = report(second, &server, &clients, before);
    }
    server.shut_down()?;
    Ok(())
}

/// Prints what this second cost; returns the sums so far.
fn report(
    second: u32,
    server: &Server<Sea>,
    clients: &[Client<Sea>],
    (bytes_before, before): (u64, Sharing),
) -> (u64, Sharing) {
    let mut bytes = 0;
    let visit = &mut |peer: &tickwire::session::PeerStats<'_>| bytes += peer.traffic.bytes_out;
    server.session().visit_peers(visit);
    let sharing = server.session().sharing();
    let (encoded, shared) = (
        sharing.encoded - before.encoded,
        sharing.shared - before.shared,
    );
    let in_view: usize = clients.iter().map(|it| it.view::<Fish>().count()).sum();
    println!(
        "second {second}: {:6} bytes and {:3} entities in view per client; {encoded} records encoded, \
         {shared} more sent that were encoded for somebody else",
        (bytes - bytes_before) / u64::from(CLIENTS),
        in_view / clients.len(),
    );
    (bytes, sharing)
}
