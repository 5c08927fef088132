//! From any world to any other, over any mess: a snapshot is either complete and equal, or not
//! complete.

use proptest::prelude::*;
use tickwire_dialects::opendrakan::message::Lifecycle;
use tickwire_dialects::opendrakan::{ObjectId, ServerConfig, State, Value};
use tickwire_state::{Quat, Tick, Vec3};

use crate::script::{ClientScript, PROTOTYPE, SERVER, ServerScript, config, machine};

const ANN: tickwire_session::Addr = machine(2, 5_000);
const OBJECTS: u32 = 30;

/// Something that a game does.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Set(u32, State, bool),
    Lifecycle(u32, Lifecycle),
    Create,
}

fn deed() -> impl Strategy<Value = Deed> {
    let object = 1..OBJECTS + 10;
    let number = -1e6..1e6_f32;
    let vec3 =
        [number.clone(), number.clone(), number.clone()].prop_map(|[x, y, z]| Vec3 { x, y, z });
    let quat = [number.clone(), number.clone(), number.clone(), number]
        .prop_map(|[x, y, z, w]| Quat { x, y, z, w });
    let state = prop_oneof![
        vec3.clone().prop_map(State::Translation),
        quat.prop_map(State::Rotation),
        vec3.prop_map(State::Scale),
        any::<bool>().prop_map(State::Visibility),
        any::<bool>().prop_map(State::Running),
        any::<u8>().prop_map(|value| State::Extra(0, Value::U8(value))),
        any::<u32>().prop_map(|value| State::Extra(1, Value::U32(value))),
        any::<bool>().prop_map(|value| State::Extra(2, Value::Bool(value))),
    ];
    let lifecycle = proptest::sample::select(vec![
        Lifecycle::Loaded,
        Lifecycle::Spawned,
        Lifecycle::Running,
        Lifecycle::Destroyed,
    ]);
    prop_oneof![
        6 => (object.clone(), state, any::<bool>())
            .prop_map(|(object, state, jump)| Deed::Set(object, state, jump)),
        1 => (object, lifecycle).prop_map(|(object, to)| Deed::Lifecycle(object, to)),
        1 => Just(Deed::Create),
    ]
}

/// What became of a datagram: how many copies arrive, and how late.
fn fates() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let copies = prop_oneof![1 => Just(0), 4 => Just(1), 1 => Just(2)];
    proptest::collection::vec((copies, any::<u8>()), 1..40)
}

fn play(script: &mut ServerScript, deeds: &[Deed]) {
    for &deed in deeds {
        // What is gone or was never there stays so: the game is told, and nothing changes.
        match deed {
            Deed::Set(object, state, false) => script.session.set(ObjectId(object), state).ok(),
            Deed::Set(object, state, true) => script.session.jump(ObjectId(object), state).ok(),
            Deed::Lifecycle(object, to) => script.session.set_lifecycle(ObjectId(object), to).ok(),
            Deed::Create => script.session.create(PROTOTYPE).ok().map(|_| ()),
        };
    }
}

fn server() -> ServerScript {
    let mut script = ServerScript::with(ServerConfig {
        bytes_per_second: u32::MAX,
        ..config(OBJECTS)
    });
    script.attach(0, ANN);
    script
}

/// Delivers the datagrams of one snapshot as `fates` say; returns what the client acknowledged.
fn deliver(client: &mut ClientScript, server: &ServerScript, fates: &[(usize, u8)]) -> Vec<Tick> {
    let mut arrivals: Vec<_> = server
        .datagrams
        .iter()
        .zip(fates.iter().cycle())
        .flat_map(|((_, bytes), &(copies, late))| std::iter::repeat_n((late, bytes), copies))
        .collect();
    arrivals.sort_by_key(|(late, _)| *late);
    for (_, bytes) in arrivals {
        client.send_bytes(SERVER, bytes);
    }
    client.acknowledged().into_iter().map(Tick).collect()
}

proptest! {
    #[test]
    fn any_world_becomes_any_other(
        first in proptest::collection::vec(deed(), 0..60),
        second in proptest::collection::vec(deed(), 0..60),
    ) {
        let (mut server, mut client) = (server(), ClientScript::loaded());
        for deeds in [first, second] {
            play(&mut server, &deeds);
            let tick = server.next_send_tick();
            let acknowledged = deliver(&mut client, &server, &[(1, 0)]);
            prop_assert_eq!(&acknowledged[..], &[tick]);
            let own = client.session.snapshot(tick).expect("it is complete");
            let truth = server.session.snapshot();
            prop_assert_eq!(own.digest(), truth.digest());
            prop_assert_eq!(own.len(), truth.len());
            server.acknowledge(ANN, tick);
        }
        // The second one was a delta.
        prop_assert_eq!(server.confirmed()[0].0.reference, Tick(3));
    }

    #[test]
    fn through_any_mess_a_snapshot_is_equal_or_not_there(
        story in proptest::collection::vec(
            (proptest::collection::vec(deed(), 0..20), fates(), any::<bool>()), 1..25,
        ),
    ) {
        let (mut server, mut client) = (server(), ClientScript::loaded());
        for (deeds, fates, ack_arrives) in story {
            play(&mut server, &deeds);
            let tick = server.next_send_tick();
            let truth = server.session.snapshot().digest();
            let repeats = server.confirmed().iter().all(|(confirm, _)| confirm.tick < tick);
            for tick in deliver(&mut client, &server, &fates) {
                if ack_arrives {
                    server.acknowledge(ANN, tick);
                }
            }
            if let Some(own) = client.session.snapshot(tick) {
                prop_assert!(!repeats, "{} was not sent", tick);
                prop_assert_eq!(own.digest(), truth);
            }
            // A snapshot of which everything arrived is there.
            let all = server.datagrams.iter().zip(fates.iter().cycle()).all(|(_, fate)| fate.0 > 0);
            if all && !repeats {
                prop_assert!(client.session.snapshot(tick).is_some());
            }
        }
    }
}
