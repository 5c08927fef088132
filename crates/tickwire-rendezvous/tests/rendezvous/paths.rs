//! Which path is used between which routers, and how soon.

use std::time::Duration;

use tickwire_rendezvous::PathKind;
use tickwire_sim::{Conditions, NatKind};

use crate::world::{Behind, World};

const HOME: Behind = Behind::Nat(NatKind::FullCone);
const RESTRICTED: Behind = Behind::Nat(NatKind::PortRestricted);
const SYMMETRIC: Behind = Behind::Nat(NatKind::Symmetric);
const BLOCKED: Behind = Behind::Nat(NatKind::UdpBlocked);

/// A line at home without loss, 20 ms each way: the table is about routers.
const LINE: Conditions = Conditions {
    latency: Duration::from_millis(20),
    ..Conditions::IDEAL
};

/// The host's router, the joiner's, the path, and the milliseconds from "join" to the path at most.
///
/// 20 ms each way: STUN and the control stream take 40 ms, the code another 40, a probe and its answer 40.
/// `docs/BENCHMARKS.md` has the same table.
const TABLE: &[(Behind, Behind, Option<PathKind>, u128)] = &[
    (
        Behind::Nothing,
        Behind::Nothing,
        Some(PathKind::Public),
        150,
    ),
    (Behind::Nothing, HOME, Some(PathKind::Public), 150),
    (Behind::Nothing, RESTRICTED, Some(PathKind::Public), 150),
    (Behind::Nothing, SYMMETRIC, Some(PathKind::Public), 150),
    (HOME, Behind::Nothing, Some(PathKind::Punched), 150),
    (HOME, HOME, Some(PathKind::Punched), 150),
    (HOME, RESTRICTED, Some(PathKind::Punched), 150),
    (HOME, SYMMETRIC, Some(PathKind::Punched), 150),
    (RESTRICTED, Behind::Nothing, Some(PathKind::Punched), 200),
    (RESTRICTED, HOME, Some(PathKind::Punched), 200),
    (RESTRICTED, RESTRICTED, Some(PathKind::Punched), 200),
    (RESTRICTED, SYMMETRIC, Some(PathKind::Relayed), 650),
    (SYMMETRIC, Behind::Nothing, Some(PathKind::Punched), 200),
    (SYMMETRIC, HOME, Some(PathKind::Punched), 200),
    (SYMMETRIC, RESTRICTED, Some(PathKind::Relayed), 650),
    (SYMMETRIC, SYMMETRIC, Some(PathKind::Relayed), 650),
    (RESTRICTED, Behind::HostsNat, Some(PathKind::Local), 150),
    (SYMMETRIC, Behind::HostsNat, Some(PathKind::Local), 150),
    (Behind::Nothing, BLOCKED, None, 0),
    (BLOCKED, Behind::Nothing, None, 0),
];

#[test]
fn the_table_of_routers_holds() {
    let mut rows = Vec::new();
    for &(host, joiner, path, within) in TABLE {
        let mut world = World::new(1, LINE, host, joiner);
        world.join().unwrap();
        let began = world.net.now();
        let found = world.until("a path", 13, |world| {
            world.joiner.path().is_some()
                || world.joiner.member.path().is_none()
                    && world.net.now().since(began).as_secs() > 5
        });
        let kind = world.joiner.path().map(|(kind, _)| kind);
        let took = found.map_or(0, |took| took.as_millis());
        rows.push(format!("{host:?} {joiner:?} {kind:?} {took} ms"));
        assert_eq!(kind, path, "{}", rows.join("\n"));
        if kind.is_some() {
            assert!(took <= within, "{}", rows.join("\n"));
            world.talk().unwrap();
        }
    }
    println!("{}", rows.join("\n"));
}
