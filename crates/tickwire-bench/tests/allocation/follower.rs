//! A replica that follows bodies moving within and between cells, without one call of the allocator.

use tickwire_replica::server::{Clients, ClientsConfig, Join, Room, View};
use tickwire_replica::world::{Groups, PlayerId, World, WorldConfig};
use tickwire_replica::{Moment, Replica, ReplicaConfig};

use crate::allocations;
use crate::replica::{BODIES, Body, Thing, WARM_UP, body};

#[test]
fn a_replica_allocates_nothing() {
    let config = WorldConfig {
        side: 25.0,
        ..WorldConfig::default()
    };
    let mut world = World::new(config).unwrap();
    let ids: Vec<_> = (0..BODIES)
        .map(|number| world.spawn(&Thing::Body(body(number, 0))).unwrap())
        .collect();
    let mut clients = Clients::new(&world, ClientsConfig::default());
    let join = Join {
        player: PlayerId(1),
        groups: Groups::default(),
    };
    let client = clients.join(&world, join).unwrap();
    let view = View {
        at: [50.0, 0.0],
        range: 100.0,
    };
    clients.set_view(client, Some(view));
    let room = Room {
        datagram: 1_200,
        path: 100_000,
    };
    let mut replica = Replica::<Thing>::new(ReplicaConfig::DEFAULT);
    let mut out = Vec::with_capacity(1_200);
    let mut counted = 0;
    let mut step = |tick: u16| {
        for (number, id) in (0..BODIES).zip(&ids) {
            world.set(*id, &body(number, tick)).unwrap();
        }
        let now = world.commit();
        while clients
            .poll_packet(&mut world, client, room, &mut out)
            .is_some()
        {
            let before = allocations();
            let applied = replica.apply(&out).unwrap();
            counted += allocations() - before;
            clients.acknowledge(client, applied.packet);
            out.clear();
        }
        let before = allocations();
        replica.play(Moment::of(now.before(6)));
        while replica.poll_event().is_some() {}
        assert!(tick < 20 || replica.view::<Body>().count() == ids.len());
        counted += allocations() - before;
        counted
    };
    let warm = (0..WARM_UP).map(&mut step).max();
    let steady = (WARM_UP..2 * WARM_UP).map(&mut step).max();
    assert_eq!(
        steady, warm,
        "calls of the allocator until then, and in all"
    );
}
