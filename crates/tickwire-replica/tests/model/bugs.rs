//! Mistakes that a server or a client could make, planted between them: a checker that does not notice
//! them checks nothing.

use std::collections::BTreeSet;

use tickwire_replica::packet::{Notice, RecordHead};
use tickwire_replica::record::{self, Changed, Held, Staged};
use tickwire_replica::{BlockBuf, SendIndex};

use crate::packets::{Codec, Contents, named};
use crate::truth::{Truth, copy};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Bug {
    /// Records are relative to the send before the one they name.
    BaselineOffByOne,
    /// A leave is told once, and the server believes that it arrived.
    LeaveNotRepeated,
    /// A client acknowledges packets that it has not applied.
    AcknowledgedUnapplied,
    /// A client gives up an entity that has left one block before the other arrived.
    MoverDropped,
    /// A record of the send before is taken for this one's, because the key lacks the send.
    StaleCacheKey,
    /// A slot's new occupant is coded relative to the old one.
    OthersValue,
}

impl Bug {
    pub(crate) const ALL: [Self; 6] = [
        Self::BaselineOffByOne,
        Self::LeaveNotRepeated,
        Self::AcknowledgedUnapplied,
        Self::MoverDropped,
        Self::StaleCacheKey,
        Self::OthersValue,
    ];

    /// What only a checker says that has found it.
    pub(crate) const fn symptom(self) -> &'static str {
        match self {
            Self::BaselineOffByOne
            | Self::AcknowledgedUnapplied
            | Self::StaleCacheKey
            | Self::OthersValue => "differs at",
            Self::LeaveNotRepeated => "is held still",
            Self::MoverDropped => "flickers",
        }
    }
}

/// A server with a bug: rewrites what it sends as that one would have sent it.
pub(crate) struct Saboteur {
    bug: Bug,
    told: BTreeSet<Notice>,
}

impl Saboteur {
    pub(crate) const fn new(bug: Bug) -> Self {
        let told = BTreeSet::new();
        Self { bug, told }
    }

    pub(crate) fn spoil(
        &mut self,
        codec: &mut Codec,
        truth: &Truth,
        mut packet: Contents,
    ) -> Vec<u8> {
        if self.bug == Bug::LeaveNotRepeated {
            packet.notices.retain(|notice| self.told.insert(*notice));
        }
        let send = packet.header.send;
        let bug = self.bug;
        codec.write(&packet, |codec, head, blocks| {
            encode(codec, truth, bug, send, head, blocks)
        })
    }
}

fn encode(
    codec: &mut Codec,
    truth: &Truth,
    bug: Bug,
    send: SendIndex,
    head: &RecordHead,
    blocks: &[Staged],
) -> Vec<u8> {
    let (mut baseline, mut previous) = named(head, send);
    if bug == Bug::BaselineOffByOne {
        baseline = baseline.map(|at| at.before(1));
        previous = previous.map(|at| at.before(1));
    }
    let (mut wrong, mut stale) = (Vec::new(), Vec::new());
    for Staged {
        name,
        contents: now,
        ..
    } in blocks
    {
        let before = truth.block_at(*name, send.before(1));
        stale.push(before.map_or_else(|| now.clone(), |(_, view)| copy(view)));
        let held = baseline.and_then(|at| truth.block_at(*name, at));
        wrong.push(held.map(|(_, view)| {
            let mut block = copy(view);
            if bug == Bug::OthersValue {
                take_places(&mut block, now);
            }
            block
        }));
    }
    let changed = blocks.iter().zip(&wrong).zip(&stale);
    let changed = changed.map(|((is, wrong), stale)| Changed {
        block: is.name.block,
        archetype: is.archetype,
        fields: codec.schema.fields(is.archetype),
        baseline: wrong.as_ref().map(BlockBuf::view),
        previous: previous
            .filter(|_| wrong.is_some())
            .and_then(|at| truth.block_at(is.name, at))
            .map(|(_, view)| view),
        now: match bug {
            Bug::StaleCacheKey => stale.view(),
            _ => is.contents.view(),
        },
    });
    let mut body = Vec::new();
    record::encode(head, changed, &mut codec.coding, &mut body);
    body
}

/// Lets those who are in a block now have been there before, in place of whoever was.
fn take_places(block: &mut BlockBuf, now: &BlockBuf) {
    for (then, now) in block.ids.iter_mut().zip(&now.ids) {
        if *then != 0 && *now != 0 {
            *then = *now;
        }
    }
}
