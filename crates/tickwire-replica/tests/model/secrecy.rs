//! Who may see an entity stands in the entity's own values, so that whatever is found in a packet tells by
//! itself whether it should be there.

use std::collections::BTreeMap;

use tickwire_replica::packet::Header;
use tickwire_replica::record::Held;
use tickwire_replica::server::{ClientId, ClientsConfig, Join, Room, View};
use tickwire_replica::world::{Audience, Groups, PlayerId, Spawn};
use tickwire_replica::{
    BlockView, Clients, EntityId, Replica, ReplicaConfig, Replicate, RowReader, SLOTS, World,
    WorldConfig,
};
use tickwire_sim::Rng;

use crate::packets::Codec;
use crate::things::{Score, Thing};
use crate::truth::Truth;

/// An audience as a number that an entity carries.
fn canary(audience: Audience) -> u16 {
    match audience {
        Audience::Everyone => 0,
        Audience::Groups(groups) => 100 + u16::try_from(groups.0).expect("it is small"),
        Audience::Player(player) => 200 + u16::try_from(player.0).expect("it is small"),
    }
}

fn admits(canary: u16, player: PlayerId, groups: Groups) -> bool {
    match canary {
        0 => true,
        100..200 => u64::from(canary - 100) & groups.0 != 0,
        _ => u32::from(canary - 200) == player.0,
    }
}

fn random_audience(rng: &mut Rng) -> Audience {
    match rng.within(0..=2) {
        0 => Audience::Everyone,
        1 => Audience::Groups(Groups(rng.within(1..=7))),
        _ => Audience::Player(PlayerId(
            u32::try_from(rng.within(1..=3)).expect("it is small"),
        )),
    }
}

fn score(audience: Audience) -> Score {
    let points = canary(audience);
    let name = points.to_string();
    Score { points, name }
}

/// The canaries of a block, by entity.
fn canaries(block: BlockView<'_>) -> BTreeMap<EntityId, u16> {
    let occupied = (0..SLOTS).filter(|slot| block.occupied >> slot & 1 == 1);
    let values = occupied.map(|slot| {
        let score = Score::load(&mut RowReader::slot(block, slot));
        assert_eq!(score.name, score.points.to_string());
        (EntityId(block.ids[slot]), score.points)
    });
    values.collect()
}

struct Player {
    id: ClientId,
    player: PlayerId,
    groups: Groups,
    replica: Replica<Thing>,
}

struct Room3 {
    rng: Rng,
    world: World<Thing>,
    clients: Clients,
    truth: Truth,
    codec: Codec,
    players: Vec<Player>,
}

impl Room3 {
    fn new(seed: u64) -> Self {
        let world = World::<Thing>::new(WorldConfig {
            ticks_per_send: 1,
            ..WorldConfig::default()
        });
        let world = world.expect("a good configuration");
        let clients = Clients::new(&world, ClientsConfig::default());
        let mut room = Self {
            rng: Rng::new(seed),
            world,
            clients,
            truth: Truth::default(),
            codec: Codec::new(),
            players: Vec::new(),
        };
        for player in 1..=3 {
            let (player, groups) = (PlayerId(player), Groups(0));
            let join = Join { player, groups };
            let id = room.clients.join(&room.world, join).expect("there are few");
            let view = View {
                at: [0.0; 2],
                range: 1e6,
            };
            room.clients.set_view(id, Some(view));
            let config = ReplicaConfig {
                ticks_per_send: 1,
                ..ReplicaConfig::DEFAULT
            };
            room.players.push(Player {
                id,
                player,
                groups,
                replica: Replica::new(config),
            });
        }
        room
    }

    /// Entities come, go, and are shown to others; players change groups.
    fn disturb(&mut self) {
        let rng = &mut self.rng;
        let audience = random_audience(rng);
        let owner = (rng.within(0..=3) == 0).then_some(PlayerId(1));
        let spawn = Spawn {
            audience,
            owner,
            ..Spawn::default()
        };
        let thing = Thing::Score(score(audience));
        self.world.spawn_with(&thing, spawn).expect("it fits");
        let ids: Vec<_> = self.world.ids().collect();
        for id in ids {
            match rng.within(0..=30) {
                0 => {
                    let audience = random_audience(rng);
                    self.world.set_audience(id, audience).expect("it fits");
                    self.world.set(id, &score(audience)).expect("it fits");
                }
                1 => self.world.despawn(id).expect("it is there"),
                _ => {}
            }
        }
        for player in &mut self.players {
            if rng.within(0..=10) == 0 {
                player.groups = Groups(rng.within(0..=7));
                self.clients.set_groups(player.id, player.groups);
            }
        }
    }

    /// Everybody is sent what is due; a third of it is lost.
    fn send(&mut self) {
        self.world.commit();
        self.truth.remember(&self.world, &BTreeMap::new());
        let send = self.world.send();
        let room = Room {
            datagram: 1_200,
            path: 12_000,
        };
        for player in &mut self.players {
            let mut packet = Vec::new();
            while let Some(number) =
                self.clients
                    .poll_packet(&mut self.world, player.id, room, &mut packet)
            {
                let header = Header { number, send };
                let contents = self
                    .codec
                    .read(&self.truth, header, &packet)
                    .expect("it can be read");
                for block in contents.records.iter().flat_map(|(_, blocks)| blocks) {
                    for (id, canary) in canaries(block.contents.view()) {
                        let may_see = admits(canary, player.player, player.groups);
                        assert!(may_see, "{id} leaks {canary} to {:?}", player.player);
                    }
                }
                if self.rng.within(0..=2) != 0 && player.replica.apply(&packet).is_ok() {
                    self.clients.acknowledge(player.id, number);
                }
                packet.clear();
            }
        }
    }

    /// Whoever is up to date holds exactly what it may see. Returns how many are.
    fn check(&self) -> usize {
        let send = self.world.send();
        let mut complete = 0;
        for player in &self.players {
            if player.replica.newest_complete() != Some(send) {
                continue;
            }
            complete += 1;
            let blocks = player.replica.blocks();
            let blocks = blocks.filter_map(|name| player.replica.block_at(name, send));
            let held: BTreeMap<_, _> = blocks.flat_map(|(_, block)| canaries(block)).collect();
            let all = self.world.ids().map(|id| {
                let score = self.world.get::<Score>(id).expect("it is there");
                (id, score.points)
            });
            let may_see = all.filter(|(_, canary)| admits(*canary, player.player, player.groups));
            assert_eq!(held, may_see.collect());
        }
        complete
    }
}

#[test]
fn everybody_is_sent_exactly_what_it_may_see() {
    for seed in 0..50 {
        let mut room = Room3::new(seed);
        let mut complete = 0;
        for _ in 0..60 {
            room.disturb();
            room.send();
            complete += room.check();
        }
        assert!(complete > 10, "seed {seed} checks little: {complete}");
    }
}
