//! An entity's values at a moment, from the two versions around it.
//!
//! `tickwire_state::Timeline` does this for whole snapshots: every object of the world at the same few
//! moments. Here each block has moments of its own, and what a block does not say is told by complete
//! sends: if one lies between two versions, the earlier was true until then, and movement begins there
//! and not at the version. A timeline per block would have to be told of values that nobody sent. What is
//! shared is the rule: blend between two, beyond the newest move on for a stated time, then stand still.

use crate::limits;
use crate::number::SendIndex;
use crate::replica::Moment;
use crate::replica::entities::{Entity, Key, Occurrence, Row, State};
use crate::replica::history::{Block, History, Version};
use crate::replica::moment::SendClock;
use crate::replica::received::Received;
use crate::row::RowReader;

/// What an entity's values at a moment are made of.
#[derive(Debug)]
pub(super) struct Sample<'a> {
    pub(super) from: RowReader<'a>,
    /// The values to blend with, and how far to go towards them.
    pub(super) next: Option<(RowReader<'a>, f32)>,
}

/// All that a sample is taken from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampler<'a> {
    pub(super) history: &'a History,
    pub(super) received: &'a Received,
    pub(super) clock: SendClock,
    pub(super) now: Moment,
    /// How long movement goes on beyond the newest version, in parts of a tick.
    pub(super) extrapolation: u64,
}

/// An entity's values and when they were true.
struct Values<'a> {
    row: RowReader<'a>,
    send: SendIndex,
}

impl<'a> Sampler<'a> {
    /// The values of an entity that is shown.
    pub(super) fn sample(&self, key: Key, entity: &'a Entity) -> Option<Sample<'a>> {
        let (from, at) = match &entity.state {
            State::Present(at) => {
                let version = self.history.get(at.block)?.at(self.shown(*at)?)?;
                (values(version, *at)?, Some(*at))
            }
            State::Missing { row, .. } => (kept(row), None),
            State::Hidden => return None,
        };
        let stays = at.and_then(|at| self.next_in_block(at));
        let moves = entity.ahead.and_then(|ahead| {
            let block = self.history.get(ahead.at.block)?;
            let version = block.at(ahead.send)?;
            let is_it = version.occupant(ahead.at.slot) == Some((key.0, key.1.0));
            let is_next = version.send == ahead.send && ahead.send > from.send;
            values(version, ahead.at).filter(|_| is_it && is_next)
        });
        let next = match (stays, moves) {
            (Some(stays), Some(moves)) if moves.send < stays.send => Some(moves),
            (Some(stays), _) => Some(stays),
            (None, moves) => moves,
        };
        if let Some(next) = next {
            let share = self.share(&from, &next);
            return Some(Sample {
                from: from.row,
                next: Some((next.row, share)),
            });
        }
        Some(at.and_then(|at| self.beyond(at, &from)).unwrap_or(Sample {
            from: from.row,
            next: None,
        }))
    }

    /// The send of the version that playback shows of a block.
    fn shown(&self, at: Occurrence) -> Option<SendIndex> {
        self.history.get(at.block)?.shown
    }

    /// The values of the same entity in the version after the one shown.
    fn next_in_block(&self, at: Occurrence) -> Option<Values<'a>> {
        let block = self.history.get(at.block)?;
        let shown = self.shown(at)?;
        let next = block.after(shown)?;
        is_same(block.at(shown)?, next, at).then(|| values(next, at))?
    }

    /// How far between two versions playback is.
    fn share(&self, from: &Values<'_>, next: &Values<'_>) -> f32 {
        let start = self.clock.moment(self.true_until(from.send, next.send));
        let end = self.clock.moment(next.send);
        ratio(self.now.since(start), end.since(start)).min(1.0)
    }

    /// The last send before `next` at which the values of `send` are known to have been true.
    fn true_until(&self, send: SendIndex, next: SendIndex) -> SendIndex {
        let complete = self.received.complete_until(next.before(1));
        complete.map_or(send, |complete| complete.max(send))
    }

    /// Movement goes on, unless the entity is known to have stopped.
    fn beyond(&self, at: Occurrence, newest: &Values<'a>) -> Option<Sample<'a>> {
        let block = self.history.get(at.block)?;
        let before = before(block, newest.send)?;
        let stopped = self.received.complete_until(SendIndex(u64::MAX)) > Some(newest.send);
        if stopped || !is_same(before, block.at(newest.send)?, at) {
            return None;
        }
        let before = values(before, at)?;
        let start = self.clock.moment(self.true_until(before.send, newest.send));
        let end = self.clock.moment(newest.send);
        let beyond = self.now.since(end).min(self.extrapolation);
        let share = ratio(beyond, end.since(start)).min(limits::EXTRAPOLATION_SHARE_MAX);
        Some(Sample {
            from: before.row,
            next: Some((newest.row.clone(), 1.0 + share)),
        })
    }
}

fn kept(row: &Row) -> Values<'_> {
    Values {
        row: row.reader(),
        send: row.send(),
    }
}

fn values(version: &Version, at: Occurrence) -> Option<Values<'_>> {
    let (_, block) = version.block()?;
    Some(Values {
        row: RowReader::slot(block, at.slot.into()),
        send: version.send,
    })
}

/// Whether a slot has the same occupant in two versions.
fn is_same(a: &Version, b: &Version, at: Occurrence) -> bool {
    a.occupant(at.slot) == b.occupant(at.slot)
}

/// The version before the one of a send.
fn before(block: &Block, send: SendIndex) -> Option<&Version> {
    block.at(send.before(1))
}

fn ratio(part: u64, whole: u64) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a share of a movement")]
    let ratio = part as f32 / whole.max(1) as f32;
    ratio
}
