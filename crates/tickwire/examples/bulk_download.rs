//! A map of 16 MiB from server to client while the game goes on.
//!
//! `cargo run --release --package tickwire --example bulk_download`

use std::error::Error;
use std::sync::Arc;

use tickwire::{Archetypes, ClientEvent, Game, Replicate, Server, ServerEvent};

#[derive(Clone, Debug, Default, Replicate)]
struct Dot {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
}

#[derive(Archetypes)]
enum Thing {
    Dot(Dot),
}

struct Maps;

impl Game for Maps {
    type Things = Thing;
    type Input = ();
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;

    fn step(own: &mut Thing, (): &()) {
        let Thing::Dot(dot) = own;
        dot.at[0] += 0.1;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let map: Arc<[u8]> = (0..=255).cycle().take(16 << 20).collect();
    let mut server = Server::<Maps>::bind("127.0.0.1:0")?;
    let hash = server.offer("map", Arc::clone(&map))?;
    println!("the server offers map, {} bytes, SHA-256 {hash}", map.len());

    let mut client = server.local_client("Ada")?;
    client.fetch("map");
    client.fetch("no such thing");
    let (mut ended, mut ticks) = (0, 0_u32);
    // Both come to an end; the server's list is asked for first, and says that the second does not exist.
    while ended < 2 {
        while let Some(event) = server.event() {
            if let ServerEvent::Joined { player, .. } = event {
                server.spawn_own(player, Dot::default())?;
            }
        }
        server.advance_all()?;
        server.tick()?;
        client.update()?;
        while let Some(event) = client.event() {
            match event {
                ClientEvent::Fetched { name, bytes } => {
                    ended += 1;
                    println!(
                        "{name} is there after {ticks} ticks, whole: {}",
                        *bytes == *map
                    );
                }
                ClientEvent::NotFetched { name } => {
                    ended += 1;
                    println!("the server has nothing called {name:?}");
                }
                _ => {}
            }
        }
        ticks += 1;
        if ticks.is_multiple_of(15)
            && let (Some(so_far), Some((_, dot))) = (client.fetched(), client.own::<Dot>())
        {
            let (have, of) = (so_far.have >> 10, so_far.of >> 10);
            println!("{have:6} of {of} KiB; the dot moved on to {:.1}", dot.at[0]);
        }
    }
    client.leave()?;
    server.shut_down()?;
    Ok(())
}
