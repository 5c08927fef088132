//! Under any budget, whatever has changed is sent within a bounded number of sends.

use std::collections::BTreeMap;

use tickwire_replica::packet::Header;
use tickwire_replica::server::{ClientsConfig, Join, Room, View};
use tickwire_replica::world::{Groups, PlayerId};
use tickwire_replica::{Clients, EntityId, SendIndex, World, WorldConfig};
use tickwire_sim::Rng;

use crate::packets::Codec;
use crate::things::{SIDE, Thing};
use crate::truth::{Truth, occupants};

const ROOM: Room = Room {
    datagram: 1_200,
    path: 1 << 20,
};

/// The longest that anything waits in a world where everything changes all the time, in sends, and how
/// many bytes it took to enter that world.
fn longest_wait(seed: u64, budget: Option<usize>) -> (u64, usize) {
    let mut rng = Rng::new(seed);
    let world = World::<Thing>::new(WorldConfig {
        side: SIDE,
        ticks_per_send: 1,
        ..WorldConfig::default()
    });
    let mut world = world.expect("a good configuration");
    for _ in 0..300 {
        world.spawn(&Thing::random(&mut rng)).expect("it fits");
    }
    let mut clients = Clients::new(&world, ClientsConfig::default());
    let join = Join {
        player: PlayerId(1),
        groups: Groups(0),
    };
    let client = clients.join(&world, join).expect("there are few");
    let view = View {
        at: [0.0; 2],
        range: 1_000.0,
    };
    clients.set_view(client, Some(view));
    let (mut truth, mut codec) = (Truth::default(), Codec::new());
    // Since when what has changed waits.
    let mut waiting = BTreeMap::<EntityId, SendIndex>::new();
    let (mut longest, mut entering) = (0, 0);
    for step in 0..600 {
        let ids: Vec<_> = world.ids().collect();
        for id in ids {
            let before = world.get_any(id).expect("it is there");
            let mut thing = before.clone();
            thing.disturb(&mut rng, id);
            world.set_any(id, &thing).expect("it fits");
            if world.get_any(id) != Some(before) {
                waiting.entry(id).or_insert_with(|| world.send().next());
            }
        }
        world.commit();
        truth.remember(&world, &BTreeMap::new());
        let send = world.send();
        // Until everything was sent once, there is no budget to be under.
        if step == 20 {
            clients.set_budget(client, budget.unwrap_or(usize::MAX));
        }
        let mut packet = Vec::new();
        while let Some(number) = clients.poll_packet(&mut world, client, ROOM, &mut packet) {
            let contents = codec.read(&truth, Header { number, send }, &packet);
            for block in contents
                .expect("it can be read")
                .records
                .iter()
                .flat_map(|(_, blocks)| blocks)
            {
                for id in occupants(block.contents.view()) {
                    waiting.remove(&id);
                }
            }
            if !clients.is_ready(client) {
                entering += packet.len();
            }
            clients.acknowledge(client, number);
            packet.clear();
        }
        if step > 20 {
            let waits = waiting.values().map(|since| send.since(*since) + 1);
            longest = longest.max(waits.max().unwrap_or(0));
        }
    }
    (longest, entering)
}

#[test]
fn nothing_waits_for_ever_under_any_budget() {
    let (at_once, whole) = longest_wait(1, None);
    assert_eq!(at_once, 0);
    for budget in [50, 200, 800, 3_000] {
        let (longest, _) = longest_wait(1, Some(budget));
        // As long as it takes to send everything anew, three times over: blocks that entities move
        // to go first.
        let bound = 3 * (whole / budget) as u64 + 8;
        assert!(
            longest <= bound,
            "{longest} sends with {budget} bytes, not {bound}"
        );
    }
}
