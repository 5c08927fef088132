//! Shots, animations and effects: told at once, and again until a client has them for sure.
//!
//! A command is sent in a datagram of its own as soon as it is given, and rides in every snapshot after
//! that until the client acknowledges one that held it, or it is too old to be played. Only clients that
//! have its place or its object in range are told. What each of them has is kept with the client.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_state::Vec2;

use tickwire_wire::Messages as _;

use super::limits::{COMMAND_AGE_MAX, COMMAND_MAX, COMMANDS_WAITING};
use super::world::{SlotNumber, World};
use crate::reone::message::{Ballistics, DownElement, PlayAnimation, VisualEffect};
use crate::reone::{ObjectId, SnapshotSeq, Writer};

/// Something that happens once. Its moment, `at`, is for the server to fill in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command<'a> {
    /// A shot. Whoever has the place it began at in range is told.
    Ballistics(Ballistics),
    /// An animation of an object. Whoever has the object in range is told.
    PlayAnimation(PlayAnimation<'a>),
    /// An effect at an object. Whoever has the object in range is told.
    VisualEffect(VisualEffect<'a>),
}

/// Counts commands.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct CommandNumber(u64);

#[derive(Debug, Default)]
pub(super) struct Commands {
    /// The number of the first that waits.
    first: u64,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
pub(super) struct Waiting {
    at: SnapshotSeq,
    pub(super) scene: Scene,
    pub(super) list: u8,
    pub(super) bytes: Box<[u8]>,
}

/// Where something happens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scene {
    Place(Vec2),
    Object {
        id: ObjectId,
        /// While it is in the world.
        slot: Option<SlotNumber>,
    },
}

impl Commands {
    /// Takes a command. Returns whether an older one had to give way.
    pub(super) fn push(&mut self, world: &World, command: Command<'_>) -> bool {
        let at = world.newest();
        let object = |id| Scene::Object {
            id,
            slot: world.find(id),
        };
        let (scene, element) = match command {
            Command::Ballistics(shot) => {
                let place = Vec2 {
                    x: shot.origin.x,
                    y: shot.origin.y,
                };
                let shot = Ballistics { at, ..shot };
                (Scene::Place(place), DownElement::Ballistics(shot))
            }
            Command::PlayAnimation(animation) => {
                let animation = PlayAnimation { at, ..animation };
                let scene = object(animation.id);
                (scene, DownElement::PlayAnimation(animation))
            }
            Command::VisualEffect(effect) => {
                let effect = VisualEffect { at, ..effect };
                (object(effect.id), DownElement::VisualEffect(effect))
            }
        };
        let mut bytes = Vec::new();
        element.encode(&mut Writer::new(&mut bytes, COMMAND_MAX));
        self.waiting.push_back(Waiting {
            at,
            scene,
            list: element.number(),
            bytes: bytes.into(),
        });
        let is_over = self.waiting.len() > COMMANDS_WAITING;
        if is_over {
            self.pop();
        }
        is_over
    }

    /// There is a new snapshot: forgets what is too old, and finds the objects of the rest.
    pub(super) fn begin(&mut self, world: &World) {
        while let Some(oldest) = self.waiting.front()
            && world.newest().since(oldest.at) >= COMMAND_AGE_MAX
        {
            self.pop();
        }
        for waiting in &mut self.waiting {
            if let Scene::Object { id, slot } = &mut waiting.scene {
                *slot = world.find(*id);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.first += self.waiting.len() as u64;
        self.waiting.clear();
    }

    /// The number that the next command will have.
    pub(super) fn next(&self) -> CommandNumber {
        CommandNumber(self.first + self.waiting.len() as u64)
    }

    /// The oldest that waits.
    pub(super) const fn first(&self) -> CommandNumber {
        CommandNumber(self.first)
    }

    pub(super) fn get(&self, number: CommandNumber) -> Option<&Waiting> {
        let at = number.0.checked_sub(self.first)?;
        self.waiting.get(usize::try_from(at).ok()?)
    }

    /// What waits from a number on, oldest first.
    pub(super) fn since(
        &self,
        number: CommandNumber,
    ) -> impl Iterator<Item = (CommandNumber, &Waiting)> {
        let skipped = number.0.saturating_sub(self.first);
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let first = self.first;
        let numbered = (first..).map(CommandNumber).zip(&self.waiting);
        numbered.skip(skipped)
    }

    fn pop(&mut self) {
        self.first += u64::from(self.waiting.pop_front().is_some());
    }
}
