//! A whole replica, fed by a server whose packets are lost, repeated, cut and changed, and by anything
//! else.

use tickwire_replica::packet::Form;
use tickwire_replica::server::{ClientId, Clients, ClientsConfig, Join, Room, View};
use tickwire_replica::world::{Groups, PlayerId, World, WorldConfig};
use tickwire_replica::{Archetypes, EntityId, Moment, Replica, ReplicaConfig, Replicate, limits};

use crate::script::Script;

#[derive(Clone, Replicate)]
struct Ship {
    #[replicate(step = 0.5, position)]
    at: [f32; 2],
    #[replicate(quaternion, bits = 5)]
    turn: [f32; 4],
    target: EntityId,
}

#[derive(Clone, Replicate)]
struct Sign {
    lit: bool,
    #[replicate(max = 5)]
    text: Vec<u8>,
}

#[derive(Archetypes, Clone)]
enum Thing {
    Ship(Ship),
    Sign(Sign),
}

struct Scene {
    world: World<Thing>,
    clients: Clients,
    client: ClientId,
    replica: Replica<Thing>,
    /// Packets that were sent, of which any may arrive.
    packets: Vec<Vec<u8>>,
}

/// Packets that may still arrive.
const PACKETS: usize = 64;

/// Lets a world, its packets and its replica do what a script says. Whatever arrives, a packet that is
/// not applied changes nothing, and what is held stays within its bounds.
///
/// # Panics
/// If something of that does not hold.
pub fn replica(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let mut scene = Scene::new(script.u8());
    while let Some(choice) = script.choice() {
        match choice % 8 {
            0 => scene.spawn(&mut script),
            1 => scene.change(&mut script),
            2 => scene.look(&mut script),
            3 | 4 => scene.send(),
            5 => scene.deliver(&mut script),
            6 => scene.apply(script.blob()),
            _ => scene.play(script.u16()),
        }
    }
}

impl Scene {
    fn new(settings: u8) -> Self {
        let world = World::<Thing>::new(WorldConfig {
            ticks_per_send: 1,
            ..WorldConfig::default()
        });
        let world = world.expect("a good configuration");
        let form = match settings % 2 {
            0 => Form::Packed,
            _ => Form::Coded,
        };
        let config = ClientsConfig {
            form,
            ..ClientsConfig::default()
        };
        let mut clients = Clients::new(&world, config);
        let join = Join {
            player: PlayerId(1),
            groups: Groups(1),
        };
        let client = clients.join(&world, join).expect("it is the first");
        let config = ReplicaConfig {
            ticks_per_send: 1,
            ticks_per_second: 20,
            ..ReplicaConfig::DEFAULT
        };
        Self {
            world,
            clients,
            client,
            replica: Replica::new(config),
            packets: Vec::new(),
        }
    }

    fn thing(script: &mut Script<'_>) -> Thing {
        match script.u8() % 4 {
            0 => Thing::Sign(Sign {
                lit: script.u8() % 2 == 1,
                text: script.bytes(5).to_vec(),
            }),
            largest => {
                let mut turn = [0.0; 4];
                turn[usize::from(largest)] = 1.0;
                Thing::Ship(Ship {
                    at: [0; 2].map(|_| f32::from(script.u8())),
                    turn,
                    target: EntityId(script.u8().into()),
                })
            }
        }
    }

    fn spawn(&mut self, script: &mut Script<'_>) {
        self.world.spawn(&Self::thing(script)).ok();
    }

    fn change(&mut self, script: &mut Script<'_>) {
        let which = usize::from(script.u8());
        let Some(id) = self.world.ids().nth(which % 16) else {
            return;
        };
        match script.u8() % 8 {
            0 => self.world.despawn(id).expect("it is there"),
            // Another archetype's value is refused.
            _ => self
                .world
                .set_any(id, &Self::thing(script))
                .unwrap_or_default(),
        }
    }

    fn look(&mut self, script: &mut Script<'_>) {
        let view = View {
            at: [0; 2].map(|_| f64::from(script.u8())),
            range: f64::from(script.u8()),
        };
        self.clients.set_view(self.client, Some(view));
    }

    fn send(&mut self) {
        self.world.commit();
        let room = Room {
            datagram: 1_200,
            path: 4_800,
        };
        let mut packet = Vec::new();
        while (self.clients)
            .poll_packet(&mut self.world, self.client, room, &mut packet)
            .is_some()
        {
            if self.packets.len() == PACKETS {
                self.packets.remove(0);
            }
            self.packets.push(core::mem::take(&mut packet));
        }
    }

    /// Any packet arrives, sometimes changed or cut.
    fn deliver(&mut self, script: &mut Script<'_>) {
        let which = usize::from(script.u8()) % PACKETS;
        let Some(mut packet) = self.packets.get(which).cloned() else {
            return;
        };
        match script.u8() % 4 {
            0 => {
                let at = usize::from(script.u16()) % packet.len();
                packet[at] ^= script.u8();
            }
            1 => packet.truncate(usize::from(script.u16()) % packet.len()),
            _ => {}
        }
        self.apply(&packet);
    }

    fn apply(&mut self, packet: &[u8]) {
        let before = (self.replica.newest(), self.replica.version_bytes());
        match self.replica.apply(packet) {
            Ok(applied) => self.clients.acknowledge(self.client, applied.packet),
            Err(_) => {
                let after = (self.replica.newest(), self.replica.version_bytes());
                assert_eq!(
                    before, after,
                    "a packet that was not applied changed something"
                );
            }
        }
        if self.replica.poll_forget() {
            self.clients.forget(self.client);
        }
        assert!(self.replica.version_bytes() <= limits::VERSION_BYTES_MAX);
        assert!(self.replica.blocks().count() <= limits::BLOCKS_HELD_MAX);
    }

    fn play(&mut self, parts: u16) {
        self.replica
            .play(Moment(self.replica.now().0 + u64::from(parts)));
        while self.replica.poll_event().is_some() {}
        for (id, ship) in self.replica.view::<Ship>() {
            assert!(ship.at.iter().all(|at| at.is_finite()), "{id} is nowhere");
        }
        for (id, sign) in self.replica.view::<Sign>() {
            assert!(sign.text.len() <= 5, "{id} says too much");
        }
    }
}
