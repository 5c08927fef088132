//! The client's side: a world that follows the server's.
//!
//! In: packets, in any order, some lost, some twice, from a server that nobody trusts; and the moment to
//! show. Out: for each packet that was applied its number, to be acknowledged; the entities of each
//! archetype at that moment; and events when one appears or is gone.
//!
//! ```text
//!  packet ─▶ staging ─▶ history: versions of blocks ─▶ entities: who is where ─▶ view, events
//!               │           ▲ baselines                      ▲ play(moment)
//!               └───────────┘
//! ```
//!
//! A packet is applied whole or not at all. Acknowledging, asking to be sent everything anew, and the
//! clock by which moments are chosen are the session's.

mod entities;
mod history;
mod moment;
mod notices;
mod received;
mod sample;

use core::fmt;
use core::marker::PhantomData;

use tickwire_wire::{DecodeError, Reader};

use crate::archetype::{Archetype, Archetypes, Schema};
use crate::block::BlockView;
use crate::coder::Prior;
use crate::id::EntityId;
use crate::limits;
use crate::number::{PacketNumber, SendIndex};
use crate::packet::{Header, PacketReader};
use crate::record::{self, BlockName, Coding, Held, Reading, RecordError, Staging};
use entities::{Cue, Entities, Entity};
use history::{Block, History};
use moment::SendClock;
use notices::StagedNotices;
use received::{Arrival, Received};
use sample::{Sample, Sampler};

pub use moment::Moment;

/// How time passes in the world that a replica follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReplicaConfig {
    /// How many ticks lie between two sends. Send `n` is tick `n` times this.
    pub ticks_per_send: u32,
    /// How many ticks a second has.
    pub ticks_per_second: u32,
    /// For how many ticks entities move on when nothing follows.
    pub extrapolation_ticks: u32,
    /// A send that is less than half a billion sends away from the first packet's.
    pub near: SendIndex,
}

impl ReplicaConfig {
    /// A world of 60 ticks a second, three to a send.
    pub const DEFAULT: Self = Self {
        ticks_per_send: 3,
        ticks_per_second: 60,
        extrapolation_ticks: 15,
        near: SendIndex::NONE,
    };
}

impl Default for ReplicaConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A world that follows a server's.
#[derive(Debug)]
pub struct Replica<A> {
    config: ReplicaConfig,
    clock: SendClock,
    schema: Schema,
    history: History,
    received: Received,
    entities: Entities,
    /// The newest send of which a packet was applied.
    newest: SendIndex,
    now: Moment,
    forget: Forget,
    coding: Coding,
    staging: Staging,
    notices: StagedNotices,
    of: PhantomData<fn() -> A>,
}

/// A packet that was applied, now or before. Either way it is to be acknowledged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Applied {
    /// Which packet it is.
    pub packet: PacketNumber,
    /// The send it belongs to.
    pub send: SendIndex,
    /// Whether it had been applied before.
    pub is_repeated: bool,
}

/// Why a packet was not applied. Nothing of it was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ApplyError {
    /// Its bytes are none.
    Malformed(DecodeError),
    /// It is relative to something that is not held.
    Lacking {
        /// The block.
        name: BlockName,
        /// The send at which it is not held.
        send: SendIndex,
    },
    /// What it says was true too long ago.
    TooOld,
    /// It speaks of a place or block that was left at a later send, or entered again.
    Overtaken,
    /// [`limits`] do not allow to hold what it says.
    Full,
}

impl From<DecodeError> for ApplyError {
    fn from(error: DecodeError) -> Self {
        Self::Malformed(error)
    }
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Malformed(error) => error.fmt(f),
            Self::Lacking { name, send } => RecordError::Lacking { name, send }.fmt(f),
            Self::TooOld => f.write_str("the packet is too old"),
            Self::Overtaken => f.write_str("a later packet contradicts it"),
            Self::Full => f.write_str("no room for what the packet holds"),
        }
    }
}

impl core::error::Error for ApplyError {}

/// What happened as playback went on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// An entity is in the view that was not.
    Spawned {
        /// What it is.
        archetype: usize,
        /// Which it is.
        id: EntityId,
    },
    /// An entity is no longer in the view.
    Despawned {
        /// What it was.
        archetype: usize,
        /// Which it was.
        id: EntityId,
    },
}

impl<A: Archetypes> Replica<A> {
    /// An empty world, whose coded records begin with the general prior.
    pub fn new(config: ReplicaConfig) -> Self {
        Self::with_prior(config, Prior::general(&A::schema()))
    }

    /// An empty world. The prior must be the server's.
    pub fn with_prior(config: ReplicaConfig, prior: Prior) -> Self {
        let schema = A::schema();
        Self {
            config,
            clock: SendClock::new(config.ticks_per_send),
            history: History::default(),
            received: Received::new(),
            entities: Entities::new(schema.archetypes().len()),
            schema,
            newest: SendIndex::NONE,
            now: Moment::default(),
            forget: Forget::default(),
            coding: Coding::new(prior),
            staging: Staging::default(),
            notices: StagedNotices::default(),
            of: PhantomData,
        }
    }

    /// Applies a packet, whole or not at all.
    pub fn apply(&mut self, bytes: &[u8]) -> Result<Applied, ApplyError> {
        self.staging.reset();
        let mut packet = PacketReader::new(Reader::new(bytes))?;
        let near = Header {
            number: self.received.newest(),
            send: self.newest.max(self.config.near),
        };
        let Header { number, send } = packet.header(near);
        match self.received.arrival(number) {
            Arrival::TooOld => return Err(ApplyError::TooOld),
            Arrival::Repeated => {
                return Ok(Applied {
                    packet: number,
                    send,
                    is_repeated: true,
                });
            }
            Arrival::First => {}
        }
        if send == SendIndex::NONE || self.newest.since(send) >= limits::WINDOW {
            return Err(ApplyError::TooOld);
        }
        self.stage(&mut packet, send)?;
        self.commit(send);
        self.received.insert(number, send, packet.last());
        Ok(Applied {
            packet: number,
            send,
            is_repeated: false,
        })
    }

    /// Reads a packet and changes nothing but what is staged.
    fn stage(&mut self, packet: &mut PacketReader<'_>, send: SendIndex) -> Result<(), ApplyError> {
        self.notices.read(packet)?;
        for notice in self.notices.all() {
            self.history.check_notice(*notice, send)?;
        }
        while let Some(head) = packet.record()? {
            let staged = self.staging.blocks().len();
            let reading = Reading {
                schema: &self.schema,
                held: &self.history,
                send,
            };
            let length = record::decode(
                &head,
                &reading,
                packet.rest(),
                &mut self.coding,
                &mut self.staging,
            );
            let length = length.map_err(|error| self.refuse(error, packet.at_bit(), send))?;
            packet.skip_body(length)?;
            for block in self.staging.blocks().iter().skip(staged) {
                self.history.check_record(block.name, send)?;
                self.notices.check_record(block.name)?;
            }
        }
        self.history.check_room(self.staging.blocks())
    }

    fn refuse(&mut self, error: RecordError, at_bit: u32, send: SendIndex) -> ApplyError {
        match error {
            RecordError::Malformed(error) => ApplyError::Malformed(error.behind(at_bit)),
            RecordError::Lacking { name, send: at } => {
                // An older packet may lack what a newer one made superfluous.
                if send >= self.newest {
                    self.forget.want(send);
                }
                ApplyError::Lacking { name, send: at }
            }
        }
    }

    fn commit(&mut self, send: SendIndex) {
        for notice in self.notices.all() {
            self.history.apply_notice(*notice, send);
        }
        while let Some(staged) = self.staging.pop() {
            self.history.apply_block(staged, send, &mut self.staging);
        }
        if send <= self.newest {
            return;
        }
        self.newest = send;
        let reached = self.clock.reached(self.now);
        if reached > SendIndex::NONE && send.since(reached) > limits::PLAYBACK_LAG_MAX {
            self.advance(self.clock.moment(send.before(limits::WINDOW)));
        }
        self.history.prune(send, &mut self.staging);
    }

    /// Whether the server should be asked to send everything anew, because it named what is not held.
    /// Asked once, it is not asked again for [`limits::FORGET_INTERVAL`] sends.
    pub fn poll_forget(&mut self) -> bool {
        core::mem::take(&mut self.forget.is_wanted)
    }

    /// The newest send of which a packet was applied.
    pub const fn newest(&self) -> SendIndex {
        self.newest
    }

    /// The newest send at which all that may be seen was held.
    pub fn newest_complete(&self) -> Option<SendIndex> {
        self.received.complete_until(SendIndex(u64::MAX))
    }

    /// Goes on to a moment; an earlier one than before is that one again. Events that were not polled
    /// are dropped.
    pub fn play(&mut self, moment: Moment) {
        self.entities.clear_events();
        self.advance(moment);
    }

    fn advance(&mut self, moment: Moment) {
        self.now = self.now.max(moment);
        let reached = self.clock.reached(self.now);
        let cue = Cue {
            now: self.now,
            reached,
            settled: self.received.settled_until(reached).unwrap_or_default(),
            // A second: a mover's new block is at most a few sends late, or something is wrong.
            patience: u64::from(self.config.ticks_per_second) * 256,
        };
        self.entities.advance(&mut self.history, cue);
    }

    /// The moment that is shown.
    pub const fn now(&self) -> Moment {
        self.now
    }

    /// What happened when playback went on last, in order.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.entities.poll_event()
    }

    /// All entities of a type as they are at the moment that is shown, by their ids.
    pub fn view<T: Archetype<A>>(&self) -> impl Iterator<Item = (EntityId, T)> {
        let sampler = self.sampler();
        let shown = self.entities.shown(T::INDEX);
        shown.filter_map(move |(id, entity)| Some((id, value(&sampler, id, entity)?)))
    }

    /// One of them. Nothing for a reference to what is not held.
    pub fn get<T: Archetype<A>>(&self, id: EntityId) -> Option<T> {
        value(&self.sampler(), id, self.entities.get(T::INDEX, id)?)
    }

    /// An entity as it was at the newest send at which it is held, and that send.
    pub fn latest<T: Archetype<A>>(&self, id: EntityId) -> Option<(SendIndex, T)> {
        let (send, mut row) = self.history.latest(T::INDEX, id)?;
        Some((send, T::load(&mut row)))
    }

    /// The same, whatever it is, and the newest send at which that is known to be true: what prediction
    /// starts from.
    pub fn latest_any(&self, id: EntityId) -> Option<(SendIndex, A)> {
        let (send, archetype, mut row) = self.history.latest_any(id)?;
        let complete = self.newest_complete().unwrap_or_default();
        Some((send.max(complete), A::load(archetype, &mut row)?))
    }

    fn sampler(&self) -> Sampler<'_> {
        Sampler {
            history: &self.history,
            received: &self.received,
            clock: self.clock,
            now: self.now,
            extrapolation: u64::from(self.config.extrapolation_ticks) * 256,
        }
    }

    /// The blocks of which anything is held; see [`Held`].
    pub fn blocks(&self) -> impl Iterator<Item = BlockName> {
        self.history.names()
    }

    /// The versions of a block that are held, oldest first: since when each was true, what its entities
    /// are, and itself; or nothing where the block was gone or its place left.
    pub fn versions(
        &self,
        name: BlockName,
    ) -> impl Iterator<Item = (SendIndex, Option<(usize, BlockView<'_>)>)> {
        let versions = self
            .history
            .find(name)
            .into_iter()
            .flat_map(Block::versions);
        versions.map(|version| (version.send, version.block()))
    }

    /// How many bytes the versions of all blocks take.
    pub const fn version_bytes(&self) -> usize {
        self.history.bytes()
    }
}

impl<A> Held for Replica<A> {
    fn block_at(&self, name: BlockName, send: SendIndex) -> Option<(usize, BlockView<'_>)> {
        self.history.block_at(name, send)
    }
}

fn value<A: Archetypes, T: Archetype<A>>(
    sampler: &Sampler<'_>,
    id: EntityId,
    entity: &Entity,
) -> Option<T> {
    let Sample { mut from, next } = sampler.sample((T::INDEX, id), entity)?;
    let from = T::load(&mut from);
    Some(match next {
        None => from,
        Some((mut next, share)) => from.between(&T::load(&mut next), share),
    })
}

/// The wish to be sent everything anew.
#[derive(Debug, Default)]
struct Forget {
    is_wanted: bool,
    /// The send at which it was wanted last.
    wanted: SendIndex,
}

impl Forget {
    fn want(&mut self, send: SendIndex) {
        let is_first = self.wanted == SendIndex::NONE;
        if is_first || send.since(self.wanted) >= limits::FORGET_INTERVAL {
            self.wanted = send;
            self.is_wanted = true;
        }
    }
}

#[cfg(test)]
mod tests;
