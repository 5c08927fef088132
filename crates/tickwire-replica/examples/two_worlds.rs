//! A world, a network that loses a third of what it carries, and a replica that follows all the same.

use tickwire_replica::server::{Clients, ClientsConfig, Join, Room, View};
use tickwire_replica::world::{Groups, PlayerId, World, WorldConfig};
use tickwire_replica::{Archetypes, Moment, Replica, ReplicaConfig, Replicate};

#[derive(Clone, Replicate)]
struct Ship {
    #[replicate(step = 0.01, position)]
    at: [f32; 2],
}

#[derive(Archetypes)]
enum Thing {
    Ship(Ship),
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The server: 60 ticks a second, a send every third.
    let mut world = World::<Thing>::new(WorldConfig::default())?;
    let mut ship = Ship { at: [0.0; 2] };
    let id = world.spawn(&Thing::Ship(ship.clone()))?;
    let mut clients = Clients::new(&world, ClientsConfig::default());
    let (player, groups) = (PlayerId(1), Groups(0));
    let client = clients.join(&world, Join { player, groups })?;
    let (at, range) = ([0.0; 2], 100.0);
    clients.set_view(client, Some(View { at, range }));
    let (datagram, path) = (1_200, 12_000);
    let room = Room { datagram, path };

    let (mut network, mut sent) = (Vec::new(), 0);
    let mut replica = Replica::<Thing>::new(ReplicaConfig::default());
    for _ in 0..120 {
        ship.at[0] += 0.5;
        world.set(id, &ship)?;
        let (tick, mut packet) = (world.commit(), Vec::new());
        while (clients.poll_packet(&mut world, client, room, &mut packet)).is_some() {
            network.push(std::mem::take(&mut packet));
        }
        for packet in network.drain(..) {
            sent += 1;
            if sent % 3 != 0
                && let Ok(applied) = replica.apply(&packet)
            {
                clients.acknowledge(client, applied.packet);
            }
        }
        // A tenth of a second behind, there is almost always something to show.
        replica.play(Moment::of(tick.before(6)));
        if let Some(shown) = replica.get::<Ship>(id) {
            println!(
                "tick {tick}: at {:.2}, shown at {:.2}",
                ship.at[0], shown.at[0]
            );
        }
    }
    Ok(())
}
