//! A client written from the rules alone always holds what the server believes it holds.
//!
//! Objects come, go, move and change their kind; snapshots get lost and are acknowledged late, or never;
//! the budget is too small. Whatever the client puts together is compared with the server's record.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use tickwire_dialects::reone::message::{Base, Compression, Down, DownElement, Packet};
use tickwire_dialects::reone::{AnyStatus, Object, ObjectId, ServerConfig, SnapshotSeq};
use tickwire_state::SightRange;

use super::script::{ANN, Script, config, creature, door};

type Held = BTreeMap<ObjectId, AnyStatus>;

/// A client that keeps everything it ever had.
#[derive(Default)]
struct Model {
    base: Held,
    whole: BTreeMap<SnapshotSeq, Held>,
}

impl Model {
    /// Puts a snapshot together from all its datagrams.
    fn apply(&mut self, datagrams: &[Vec<u8>], is_coded: bool) -> SnapshotSeq {
        let mut now = Held::new();
        let mut of = SnapshotSeq::NONE;
        for bytes in datagrams {
            let mut scratch = Vec::new();
            let packet = match is_coded {
                true => Packet::<Down>::decode_coded(bytes, &mut scratch),
                false => Packet::<Down>::decode(bytes),
            };
            let packet = packet.expect("it decodes");
            of = packet.header.sequence;
            let before = match packet.header.acknowledged {
                SnapshotSeq::NONE => &self.base,
                other => &self.whole[&other],
            };
            for element in packet.elements() {
                let (id, status) = match element {
                    DownElement::CreatureFull { id, status } => {
                        assert!(!matches!(before.get(&id), Some(AnyStatus::Creature(_))));
                        (id, AnyStatus::Creature(status))
                    }
                    DownElement::SpatialFull { id, status } => {
                        assert!(!matches!(before.get(&id), Some(AnyStatus::Spatial(_))));
                        (id, AnyStatus::Spatial(status))
                    }
                    DownElement::CreatureDiff { id, delta } => {
                        let AnyStatus::Creature(mut status) = before[&id] else {
                            panic!("{id} is no creature");
                        };
                        delta.apply(&mut status);
                        (id, AnyStatus::Creature(status))
                    }
                    DownElement::SpatialDiff { id, delta } => {
                        let AnyStatus::Spatial(mut status) = before[&id] else {
                            panic!("{id} is a creature");
                        };
                        delta.apply(&mut status);
                        (id, AnyStatus::Spatial(status))
                    }
                    DownElement::KeepAlive { id } => (id, before[&id]),
                    _ => continue,
                };
                assert!(now.insert(id, status).is_none(), "{id} twice");
            }
        }
        self.whole.insert(of, now);
        of
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Move { id: u32, x: i16 },
    Change { id: u32, to: u8 },
    Remove { id: u32 },
    Transform { id: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    let id = 1..40_u32;
    prop_oneof![
        6 => (id.clone(), any::<i16>()).prop_map(|(id, x)| Step::Move { id, x }),
        3 => (id.clone(), any::<u8>()).prop_map(|(id, to)| Step::Change { id, to }),
        1 => id.clone().prop_map(|id| Step::Remove { id }),
        1 => id.prop_map(|id| Step::Transform { id }),
    ]
}

/// What happens between two snapshots, whether the snapshot arrives, and how late it is acknowledged.
fn turn() -> impl Strategy<Value = (Vec<Step>, bool, usize)> {
    (
        prop::collection::vec(step(), 0..12),
        prop::bool::weighted(0.7),
        prop_oneof![8 => 0..6_usize, 1 => 25..40_usize],
    )
}

fn apply(world: &mut Held, step: Step) {
    let put = |world: &mut Held, Object { id, status, .. }| world.insert(id, status);
    match step {
        Step::Move { id, x } => match world.get_mut(&ObjectId(id)) {
            Some(AnyStatus::Creature(status)) => status.pos.x = x.into(),
            Some(AnyStatus::Spatial(status)) => status.x = x.into(),
            None => {
                put(world, creature(id, x.into()));
            }
        },
        Step::Change { id, to } => match world.get_mut(&ObjectId(id)) {
            Some(AnyStatus::Creature(status)) => status.equipment3 = to.into(),
            Some(AnyStatus::Spatial(status)) => status.hit_points = to.into(),
            None => {
                put(world, door(id, to.into(), 1));
            }
        },
        Step::Remove { id } => {
            world.remove(&ObjectId(id));
        }
        Step::Transform { id } => {
            let other = match world.get(&ObjectId(id)) {
                Some(AnyStatus::Creature(_)) => door(id, 0.0, 5),
                _ => creature(id, 0.0),
            };
            put(world, other);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_client_holds_what_the_server_believes(
        turns in prop::collection::vec(turn(), 1..120),
        snapshot_bytes in prop_oneof![Just(40_usize), Just(150), Just(6_000)],
        radius in prop_oneof![Just(f32::INFINITY), Just(10_000.0)],
        is_coded in any::<bool>(),
    ) {
        let mut config = ServerConfig {
            snapshot_bytes,
            sight: SightRange { radius, margin: 0.1 },
            compression: if is_coded { Compression::Huffman } else { Compression::None },
            ..config()
        };
        config.module.base = (1..10).map(|id| creature(id, 1.0)).collect();
        let base = config.module.base.clone();
        let (mut script, ann) = Script::playing(config);
        let mut model = Model { base: base.iter().map(|o| (o.id, o.status)).collect(), ..Model::default() };
        let mut world: Held = model.base.clone();
        let mut acks: VecDeque<(usize, u32)> = VecDeque::new();
        for (at, (steps, arrives, delay)) in turns.into_iter().enumerate() {
            steps.into_iter().for_each(|step| apply(&mut world, step));
            let objects: Vec<_> = world.iter().map(|(&id, &status)| Object::new(id, status)).collect();
            let seq = script.publish(&objects);
            let datagrams = script.taken(ANN);
            if arrives {
                let of = model.apply(&datagrams, is_coded);
                prop_assert_eq!(of.0, seq);
                let believed = script.session.view(ann.client, of).expect("it was sent");
                let held = &model.whole[&of];
                prop_assert!(believed.keys().eq(held.keys()), "{:?} {:?}", believed, held);
                for (id, status) in believed {
                    if let Some(status) = status {
                        prop_assert_eq!(status, held[&id]);
                    }
                }
                // With room for everything, what is in range is shown as it is.
                if snapshot_bytes == 6_000 && radius == f32::INFINITY {
                    prop_assert_eq!(held, &world);
                }
                acks.push_back((at + delay, seq));
            }
            while let Some(&(due, seq)) = acks.front() && due <= at {
                acks.pop_front();
                script.say(&ann, seq, &[]);
            }
        }
        prop_assert_eq!(script.session.counters().ack_never_sent, 0);
    }
}

#[test]
fn the_base_that_is_sent_is_the_base_that_is_meant() {
    let mut config = config();
    config.module.base = vec![creature(1, 1.0), door(2, 3.0, 4)];
    config.module.variables.clear();
    let mut script = Script::begin(config.clone());
    let ann = script.greet(0, ANN);
    let (name, offset) = (super::script::text("base"), 0);
    let fetch = tickwire_dialects::reone::message::UpFrame::Fetch { name, offset };
    script.write(ann.on, &[fetch]);
    let frames = script.frames(ann.on);
    let Some(super::script::Said::Piece { bytes, .. }) = frames.first() else {
        panic!("{frames:?}");
    };
    let base = Base::decode(bytes).unwrap();
    let objects = base.elements().map(|element| match element {
        DownElement::CreatureFull { id, status } => (id, AnyStatus::Creature(status)),
        DownElement::SpatialFull { id, status } => (id, AnyStatus::Spatial(status)),
        other => panic!("{other:?} in a base"),
    });
    let expected = config.module.base.iter().map(|o| (o.id, o.status));
    assert!(objects.eq(expected));
}
