//! A large world and a small budget: the first snapshot takes a quarter of a minute to send.
//!
//! Ten thousand objects, of which a thousand move and some are destroyed and created all the while, and
//! 64 KiB a second. The client must come in all the same, with losses too, and then follow.

use std::time::Duration;

use tickwire_dialects::opendrakan::message::Lifecycle;
use tickwire_dialects::opendrakan::{
    Client, ClientConfig, ClientEvent, ObjectId, PORT, Phase, Server, ServerConfig, State,
};
use tickwire_session::{Events as _, Instant};
use tickwire_sim::{Chance, Conditions, addr};
use tickwire_state::{Tick, Vec3};

use crate::script::{PROTOTYPE, config, loaded, registry};

const OBJECTS: u32 = 10_000;
const MOVING: u32 = 1_000;
const BYTES_PER_SECOND: u32 = 64 * 1_024;

/// What a client saw of the slow path.
struct Seen {
    /// Seconds until its first complete snapshot.
    first: f64,
    /// Snapshots completed in the ten seconds after.
    followed: usize,
}

fn watch(seed: u64, loss: Chance) -> Seen {
    let mut net = crate::recorded::network(seed);
    net.add_node(addr::machine(1, PORT));
    net.add_node(addr::machine(10, 5_000));
    let server = Server::new(
        ServerConfig {
            bytes_per_second: BYTES_PER_SECOND,
            ..config(OBJECTS)
        },
        [3; 32],
    );
    let mut server = server.expect("the level is good");
    let client = ClientConfig::new(addr::machine(1, PORT), registry());
    let mut client = Client::new(net.now(), client);
    net.set_conditions(Conditions {
        latency: Duration::from_millis(60),
        ..Conditions::IDEAL
    });
    let mut digests = std::collections::BTreeMap::new();
    let (mut first, mut followed) = (None, 0);
    let mut clone = None;
    for tick in 1..=60 * 180_u64 {
        if tick == 60 {
            // The stream is open and everything loaded.
            assert_eq!(client.phase(), Phase::Waiting);
            net.set_conditions(Conditions {
                latency: Duration::from_millis(60),
                loss,
                ..Conditions::IDEAL
            });
        }
        play(&mut server, tick, &mut clone);
        net.run_until(
            Instant::from_micros(tick * 1_000_000 / 60),
            &mut [&mut server, &mut client],
        );
        let tick = server.commit(net.now());
        if tick.0.is_multiple_of(3) {
            digests.insert(tick, server.snapshot().digest());
        }
        net.run_until(net.now(), &mut [&mut server, &mut client]);
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Load { .. } => client.loaded(loaded()).expect("all is there"),
                ClientEvent::Completed { tick: completed } => {
                    let own = client.snapshot(completed).map(|own| own.digest());
                    assert_eq!(own.as_ref(), digests.get(&completed), "{completed}");
                    first.get_or_insert(tick);
                    followed += 1;
                }
                ClientEvent::Ended(why) => panic!("{why}"),
                _ => {}
            }
        }
        if let Some(Tick(first)) = first
            && tick.0 >= first + 600
        {
            return Seen {
                first: first as f64 / 60.0,
                followed: followed - 1,
            };
        }
    }
    panic!("it never came in");
}

fn play(server: &mut Server, tick: u64, clone: &mut Option<ObjectId>) {
    #[expect(clippy::cast_precision_loss, reason = "any number will do")]
    let x = tick as f32;
    for id in 2..2 + MOVING {
        let place = State::Translation(Vec3 { x, ..Vec3::ZERO });
        server.set(ObjectId(id), place).expect("it is there");
    }
    if tick.is_multiple_of(20) {
        let made = server.create(PROTOTYPE).expect("there is room");
        if let Some(old) = clone.replace(made) {
            let end = server.set_lifecycle(old, Lifecycle::Destroyed);
            end.expect("it is there");
        }
        // Once the client has the full snapshot, this one is gone.
        let level = ObjectId(5_000 + u32::try_from(tick / 20).expect("three minutes"));
        let end = server.set_lifecycle(level, Lifecycle::Destroyed);
        end.expect("it is there");
    }
}

#[test]
fn a_large_world_is_told_over_a_slow_path() {
    let seen = watch(1, Chance::percent(0));
    // A megabyte at 64 KiB a second.
    assert!((14.0..18.0).contains(&seen.first), "{}", seen.first);
    // Deltas of 30 kB each.
    assert!(seen.followed >= 12, "{}", seen.followed);
}

#[test]
fn a_large_world_is_told_over_a_slow_and_lossy_path() {
    for seed in 0..2 {
        let seen = watch(seed, Chance::percent(2));
        // Twice or thrice, since of 850 datagrams some are lost each time.
        assert!((14.0..80.0).contains(&seen.first), "{}", seen.first);
        assert!(seen.followed >= 4, "{}", seen.followed);
    }
}
