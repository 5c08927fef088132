//! A world and its clients: bodies that move within and between cells, and not one call of the allocator.

use std::collections::VecDeque;
use std::time::Duration;

use tickwire_replica::server::{Clients, ClientsConfig, Join, Room, View};
use tickwire_replica::world::{Groups, PlayerId, World, WorldConfig};
use tickwire_replica::{Archetypes, Replicate};

use crate::allocations;

#[derive(Clone, Copy, Debug, Replicate)]
pub(crate) struct Body {
    #[replicate(step = 0.01, position)]
    position: [f32; 2],
    health: u8,
}

#[derive(Archetypes, Clone, Copy, Debug)]
pub(crate) enum Thing {
    Body(Body),
}

pub(crate) const BODIES: u16 = 500;
const CLIENTS: u32 = 8;

/// By then history is full, and every body has been in every cell that it comes to.
pub(crate) const WARM_UP: u16 = 1_200;

/// A body that walks to and fro along a line of cells.
pub(crate) fn body(number: u16, tick: u16) -> Body {
    let far = (tick.wrapping_add(number * 7)) % 200;
    let near = if far > 100 { 200 - far } else { far };
    Body {
        position: [f32::from(near), f32::from(number % 10)],
        health: 100,
    }
}

#[test]
fn a_world_and_its_clients_allocate_nothing() {
    let config = WorldConfig {
        side: 25.0,
        ..WorldConfig::default()
    };
    let mut world = World::new(config).unwrap();
    let ids: Vec<_> = (0..BODIES)
        .map(|number| world.spawn(&Thing::Body(body(number, 0))).unwrap())
        .collect();
    let mut clients = Clients::new(&world, ClientsConfig::default());
    let followers: Vec<_> = (0..CLIENTS)
        .map(|player| {
            let join = Join {
                player: PlayerId(player),
                groups: Groups::default(),
            };
            let id = clients.join(&world, join).unwrap();
            let view = View {
                at: [50.0, 0.0],
                range: 100.0,
            };
            clients.set_view(id, Some(view));
            clients.set_round_trip(id, Duration::from_millis(100));
            id
        })
        .collect();
    let room = Room {
        datagram: 1_200,
        path: 100_000,
    };
    let mut flying = VecDeque::with_capacity(10_000);
    let mut out = Vec::with_capacity(1_200);
    let mut step = |tick: u16| {
        for (number, id) in (0..BODIES).zip(&ids) {
            world.set(*id, &body(number, tick)).unwrap();
        }
        world.commit();
        for id in &followers {
            while let Some(packet) = clients.poll_packet(&mut world, *id, room, &mut out) {
                flying.push_back((tick + 6, *id, packet));
                out.clear();
            }
        }
        while let Some(&(due, id, packet)) = flying.front()
            && due <= tick
        {
            flying.pop_front();
            clients.acknowledge(id, packet);
        }
    };
    (0..WARM_UP).for_each(&mut step);
    let before = allocations();
    (WARM_UP..2 * WARM_UP).for_each(&mut step);
    assert_eq!(allocations() - before, 0);
}
