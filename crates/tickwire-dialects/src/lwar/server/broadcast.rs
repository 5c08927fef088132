//! What everybody is sent in one sending: scores, collisions and the state of every entity.
//!
//! Built once, in wire form, then copied into each client's packets. A client whose packet is full of
//! reliable messages is a few records behind another's, so each has its own [`Cursor`].

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_session::Instant;

use tickwire_wire::Messages as _;

use super::entities::{Entities, Shape};
use crate::lwar::limits::{COLLISIONS_WAITING, PLAYERS_MAX, STATS_PERIOD};
use crate::lwar::message::{
    Body, Circle, Collision, Place, PlayerScore, Ray, Record, Records, Unreliable, encode_all,
};
use crate::lwar::{EntityId, Writer};

#[derive(Debug)]
pub(super) struct Broadcast {
    timestamp: u32,
    next_stats: Instant,
    /// Collisions since the last sending.
    collisions: VecDeque<Collision>,
    /// Whole messages, Stats first: the end of each in `messages`.
    ends: Vec<usize>,
    messages: Vec<u8>,
    /// Records of Stats, kept for its room.
    scores: Vec<u8>,
    /// Records of Update, UpdatePos, UpdateRay and UpdateCircle.
    lists: [List; 4],
}

/// A line of the scoreboard for every place that is taken; the server's own is the first.
pub(super) type Scores = [Option<PlayerScore>; PLAYERS_MAX as usize + 1];

/// Records of one message type, in wire form.
#[derive(Debug)]
struct List {
    id: u8,
    record: usize,
    bytes: Vec<u8>,
}

/// How far a client's packets have come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    /// Packets written.
    pub(super) packets: u32,
    /// Messages written.
    pub(super) written: u64,
    message: usize,
    list: usize,
    byte: usize,
}

impl Broadcast {
    pub(super) fn new(now: Instant) -> Self {
        let empty = Records::<Body>::new(&[]);
        let list = |message: Unreliable<'_>, record| List {
            id: message.number(),
            record,
            bytes: Vec::new(),
        };
        Self {
            timestamp: 0,
            next_stats: now,
            collisions: VecDeque::new(),
            ends: Vec::new(),
            messages: Vec::new(),
            scores: Vec::new(),
            lists: [
                list(Unreliable::Update(empty), Body::SIZE),
                list(Unreliable::UpdatePos(Records::new(&[])), Place::SIZE),
                list(Unreliable::UpdateRay(Records::new(&[])), Ray::SIZE),
                list(Unreliable::UpdateCircle(Records::new(&[])), Circle::SIZE),
            ],
        }
    }

    /// When the state that is being sent was taken.
    pub(super) const fn timestamp(&self) -> u32 {
        self.timestamp
    }

    pub(super) fn add_collision(&mut self, collision: Collision) {
        if self.collisions.len() == COLLISIONS_WAITING {
            self.collisions.pop_front();
        }
        self.collisions.push_back(collision);
    }

    /// Whether a collision of this entity waits to be sent.
    pub(super) fn has_collision_of(&self, entity: EntityId) -> bool {
        self.collisions
            .iter()
            .any(|collision| collision.entities.contains(&entity))
    }

    /// Whether this sending carries the scores; says so twice a second.
    pub(super) fn stats_due(&mut self, now: Instant) -> bool {
        let due = now >= self.next_stats;
        if due {
            self.next_stats = now + STATS_PERIOD;
        }
        due
    }

    /// Takes the state of this moment.
    pub(super) fn build(&mut self, timestamp: u32, entities: &Entities, scores: Option<&Scores>) {
        self.timestamp = timestamp;
        self.messages.clear();
        self.ends.clear();
        if let Some(scores) = scores {
            let mut bytes = core::mem::take(&mut self.scores);
            bytes.clear();
            encode_all(scores.iter().flatten().copied(), &mut bytes);
            self.push_message(&Unreliable::Stats(Records::new(&bytes)));
            self.scores = bytes;
        }
        while let Some(collision) = self.collisions.pop_front() {
            self.push_message(&Unreliable::Collision(collision));
        }
        let [bodies, places, rays, circles] = &mut self.lists;
        for list in [&mut *bodies, &mut *places, &mut *rays, &mut *circles] {
            list.bytes.clear();
        }
        for entity in entities.iter() {
            let id = entity.id;
            match entity.shape {
                Shape::Body {
                    x,
                    y,
                    orientation,
                    health,
                } => {
                    bodies.push(&Body {
                        entity: id,
                        x,
                        y,
                        orientation,
                        health,
                    });
                }
                Shape::Place { x, y } => places.push(&Place { entity: id, x, y }),
                Shape::Ray {
                    x,
                    y,
                    orientation,
                    length,
                } => {
                    rays.push(&Ray {
                        entity: id,
                        x,
                        y,
                        orientation,
                        length,
                    });
                }
                Shape::Circle { x, y, radius } => circles.push(&Circle {
                    entity: id,
                    x,
                    y,
                    radius,
                }),
            }
        }
    }

    /// Fills a packet from `cursor` on; whether another packet is needed for the rest.
    pub(super) fn write(&self, cursor: &mut Cursor, w: &mut Writer<'_>) -> bool {
        while let Some(&end) = self.ends.get(cursor.message) {
            let start = cursor
                .message
                .checked_sub(1)
                .and_then(|i| self.ends.get(i))
                .copied();
            let message = self
                .messages
                .get(start.unwrap_or(0)..end)
                .unwrap_or_default();
            if w.whole(|w| w.bytes(message)).is_err() {
                return true;
            }
            cursor.message += 1;
            cursor.written += 1;
        }
        while let Some(list) = self.lists.get(cursor.list) {
            if cursor.byte == list.bytes.len() {
                cursor.list += 1;
                cursor.byte = 0;
                continue;
            }
            match list.write(cursor.byte, w) {
                0 => return true,
                bytes => cursor.byte += bytes,
            }
            cursor.written += 1;
        }
        false
    }

    fn push_message(&mut self, message: &Unreliable<'_>) {
        message.encode(&mut Writer::new(&mut self.messages, usize::MAX));
        self.ends.push(self.messages.len());
    }
}

impl List {
    fn push<T: Record>(&mut self, record: &T) {
        debug_assert_eq!(T::SIZE, self.record, "a record of another list");
        record.encode(&mut Writer::new(&mut self.bytes, usize::MAX));
    }

    /// Writes one message with as many records from byte `from` on as fit; returns their bytes.
    fn write(&self, from: usize, w: &mut Writer<'_>) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        // Id and count stand before the records.
        let fitting = w.room().saturating_sub(2) / self.record;
        let count = (rest.len() / self.record).min(fitting);
        let Ok(count @ 1..) = u8::try_from(count.min(255)) else {
            return 0;
        };
        let records = rest
            .get(..usize::from(count) * self.record)
            .unwrap_or_default();
        w.u8(self.id);
        w.u8(count);
        w.bytes(records);
        records.len()
    }
}
