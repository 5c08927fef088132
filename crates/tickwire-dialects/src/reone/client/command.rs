//! Commands: shots, animations and effects, each of which comes several times.
//!
//! In: commands as they arrive, and the newest snapshot's number, from which their age follows. Out:
//! each command once, an animation as much faster as it is late, and the shots that are in the air.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use core::time::Duration;

use super::limits::{
    COMMAND_AGE_MAX, COMMANDS_REMEMBERED, EXTRAPOLATION_MAX, SHOT_LIFE, SHOT_LIFE_MAX, SHOTS_MAX,
};
use super::showing::Pace;
use crate::reone::message::{Ballistics, PlayAnimation, Speed, VisualEffect};
use crate::reone::{ObjectId, SnapshotSeq};

/// How long shots fly, by their kind.
#[derive(Clone, Debug, Default)]
pub struct ShotLives {
    by_kind: BTreeMap<u8, Duration>,
}

impl ShotLives {
    /// Sets how long shots of a kind fly; at most [`SHOT_LIFE_MAX`].
    pub fn set(&mut self, kind: u8, life: Duration) {
        self.by_kind.insert(kind, life.min(SHOT_LIFE_MAX));
    }

    /// How long shots of a kind fly.
    pub fn of(&self, kind: u8) -> Duration {
        self.by_kind.get(&kind).copied().unwrap_or(SHOT_LIFE)
    }
}

/// A shot in the air.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Flight {
    /// What was shot, from where and whither.
    pub shot: Ballistics,
    /// How long ago, at the moment that is asked for.
    pub age: Duration,
}

/// What a command is known by.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Identity {
    /// The place, by its bits; with the moment it is all that tells shots apart.
    Shot([u32; 3]),
    Animation(ObjectId, u32, u32, Box<str>),
    Effect(ObjectId, Box<str>),
}

/// What is not told to the application.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Dropped {
    /// It came before.
    Duplicate,
    /// Its moment is long over.
    Late,
}

#[derive(Debug)]
pub(super) struct Commands {
    lives: ShotLives,
    /// Those that came, by their moment.
    seen: BTreeSet<(SnapshotSeq, Identity)>,
    shots: VecDeque<Ballistics>,
}

impl Commands {
    pub(super) const fn new(lives: ShotLives) -> Self {
        Self {
            lives,
            seen: BTreeSet::new(),
            shots: VecDeque::new(),
        }
    }

    /// How long shots fly from now on.
    pub(super) fn set_lives(&mut self, lives: ShotLives) {
        self.lives = lives;
    }

    /// Takes a shot.
    pub(super) fn add_shot(
        &mut self,
        newest: SnapshotSeq,
        shot: Ballistics,
    ) -> Result<(), Dropped> {
        let origin = shot.origin;
        let place = [origin.x, origin.y, origin.z].map(f32::to_bits);
        self.remember(newest, shot.at, Identity::Shot(place))?;
        if self.shots.len() >= SHOTS_MAX {
            self.shots.pop_front();
        }
        self.shots.push_back(shot);
        Ok(())
    }

    /// Takes an animation; returns the speed at which it catches up.
    pub(super) fn add_animation(
        &mut self,
        newest: SnapshotSeq,
        animation: &PlayAnimation<'_>,
    ) -> Result<Speed, Dropped> {
        let factor = catch_up(newest.since(animation.at)).ok_or(Dropped::Late)?;
        let PlayAnimation {
            id, flags, speed, ..
        } = *animation;
        let resref = animation.resref.as_str().into();
        let identity = Identity::Animation(id, flags, speed.0, resref);
        self.remember(newest, animation.at, identity)?;
        Ok(speed.times(factor))
    }

    /// Takes an effect.
    pub(super) fn add_effect(
        &mut self,
        newest: SnapshotSeq,
        effect: &VisualEffect<'_>,
    ) -> Result<(), Dropped> {
        let identity = Identity::Effect(effect.id, effect.resref.as_str().into());
        self.remember(newest, effect.at, identity)
    }

    /// The shots in the air at a moment of the server's clock.
    pub(super) fn shots_at(&self, pace: Pace, time: Duration) -> impl Iterator<Item = Flight> {
        self.shots.iter().filter_map(move |&shot| {
            let age = time.checked_sub(pace.time_of(shot.at))?;
            (age < self.lives.of(shot.kind)).then_some(Flight { shot, age })
        })
    }

    /// Drops the shots that will not be shown again, however late the picture is.
    pub(super) fn drop_old_shots(&mut self, pace: Pace, newest: SnapshotSeq) {
        let Self { lives, shots, .. } = self;
        shots.retain(|shot| {
            let age = pace.interval().saturating_mul(newest.since(shot.at));
            age <= lives.of(shot.kind) + pace.lerp + EXTRAPOLATION_MAX
        });
    }

    /// Drops the shots that are over.
    pub(super) fn drop_shots(&mut self, mut is_over: impl FnMut(&Ballistics) -> bool) {
        self.shots.retain(|shot| !is_over(shot));
    }

    pub(super) fn clear(&mut self) {
        self.seen.clear();
        self.shots.clear();
    }

    fn remember(
        &mut self,
        newest: SnapshotSeq,
        at: SnapshotSeq,
        identity: Identity,
    ) -> Result<(), Dropped> {
        if newest.since(at) > COMMAND_AGE_MAX {
            return Err(Dropped::Late);
        }
        if !self.seen.insert((at, identity)) {
            return Err(Dropped::Duplicate);
        }
        while let Some((oldest, _)) = self.seen.first()
            && (self.seen.len() > COMMANDS_REMEMBERED || newest.since(*oldest) > COMMAND_AGE_MAX)
        {
            self.seen.pop_first();
        }
        Ok(())
    }
}

/// How many times as fast an animation plays that is so many snapshots behind; `None` if it is not
/// played at all.
const fn catch_up(behind: u32) -> Option<u32> {
    match behind {
        0..=10 => Some(1),
        11..=20 => Some(2),
        21..=30 => Some(3),
        _ => None,
    }
}
