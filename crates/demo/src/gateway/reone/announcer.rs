//! What is fired and what ends, as commands.
//!
//! A bullet is announced once, and clients fly it on until it is over. A rocket turns and a ray swings,
//! so each is announced again before the last announcement is over, and is gone when that stops.

use std::collections::BTreeMap;

use tickwire_dialects::reone::message::{Ballistics, PlayAnimation, Speed, VisualEffect};
use tickwire_dialects::reone::{Command, ObjectId, Server, SnapshotSeq, Vec3};

use super::{
    DESTROYED, EXPLOSION, LAUNCH, ROCKET_SNAPSHOTS, SHOCKWAVE, SHOTS, Shot, creature, word,
};
use crate::flight::narrow;
use crate::{Arena, Entity, EntityId, Event, Kind, rules};

#[derive(Debug)]
pub(super) struct Announcer {
    /// Steps from one snapshot to the next.
    steps: u32,
    /// When each rocket was announced last.
    rockets: BTreeMap<EntityId, SnapshotSeq>,
}

impl Announcer {
    pub(super) const fn new(steps: u32) -> Self {
        Self {
            steps,
            rockets: BTreeMap::new(),
        }
    }

    /// Tells what happened in the last step. To be called after the snapshot of that step, if it has
    /// one.
    pub(super) fn tell_events(&mut self, server: &mut Server, arena: &Arena) {
        for event in arena.events() {
            match *event {
                Event::Added { entity } => {
                    if let Some(shot) = arena.entity(entity) {
                        self.tell_shot(server, arena, shot);
                    }
                }
                Event::Killed { victim, by, .. } => {
                    let id = creature(victim);
                    let flags = by.map_or(0, |by| creature(by).0);
                    tell_animation(server, id, flags, DESTROYED);
                    tell_effect(server, id, EXPLOSION);
                }
                _ => {}
            }
        }
    }

    /// Tells where rockets and rays are. To be called after every snapshot.
    pub(super) fn tell_flying(&mut self, server: &mut Server, arena: &Arena) {
        let newest = server.newest();
        self.rockets.retain(|id, _| arena.entity(*id).is_some());
        for (id, entity) in arena.entities() {
            match entity.kind() {
                Kind::Ray => {}
                Kind::Rocket => {
                    let last = self.rockets.get(&id);
                    if last.is_some_and(|last| newest.since(*last) < ROCKET_SNAPSHOTS) {
                        continue;
                    }
                    self.rockets.insert(id, newest);
                }
                _ => continue,
            }
            tell_ballistics(server, entity, 0);
        }
    }

    /// Something was fired.
    fn tell_shot(&self, server: &mut Server, arena: &Arena, shot: &Entity) {
        let ship = shot.owner.map(creature);
        match (shot.kind(), ship) {
            (Kind::Bullet, _) => {
                // Its moment is the snapshot's, so its place is where it would have been then.
                let since = arena.tick().0 % u64::from(self.steps);
                let since = u32::try_from(since).unwrap_or_default();
                tell_ballistics(server, shot, since);
            }
            (Kind::Rocket, Some(id)) => tell_animation(server, id, 0, LAUNCH),
            (Kind::Shockwave, Some(id)) => tell_effect(server, id, SHOCKWAVE),
            _ => {}
        }
    }
}

/// An animation of a ship begins.
pub(super) fn tell_animation(
    server: &mut Server,
    id: ObjectId,
    flags: u32,
    animation: &'static str,
) {
    server.command(Command::PlayAnimation(PlayAnimation {
        id,
        at: SnapshotSeq::NONE,
        flags,
        speed: Speed::NORMAL,
        resref: word(animation),
    }));
}

fn tell_effect(server: &mut Server, id: ObjectId, effect: &'static str) {
    server.command(Command::VisualEffect(VisualEffect {
        id,
        at: SnapshotSeq::NONE,
        resref: word(effect),
    }));
}

/// Tells of a shot as it was so many steps ago.
fn tell_ballistics(server: &mut Server, shot: &Entity, steps_ago: u32) {
    // Of the kinds that fit, the one whose speed is nearest.
    let speed = shot.velocity.length();
    let kinds = SHOTS.iter().filter(|kind| kind.kind == shot.kind());
    let off = |kind: &&Shot| (kind.speed - speed).abs();
    let kind = kinds.min_by(|a, b| off(a).total_cmp(&off(b)));
    let (Some(kind), Some(owner)) = (kind, shot.owner) else {
        return;
    };
    let back = f64::from(steps_ago) * rules::STEP_SECONDS;
    let place = shot.position - shot.velocity * back;
    server.command(Command::Ballistics(Ballistics {
        kind: kind.code,
        origin: Vec3 {
            x: narrow(place.x),
            y: narrow(place.y),
            z: 0.0,
        },
        at: SnapshotSeq::NONE,
        owner: creature(owner),
        heading: narrow(shot.heading.radians()),
    }));
}
