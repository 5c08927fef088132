//! From what a client is to be told to datagrams.
//!
//! A snapshot is cut into datagrams where one is full; only the last says how many there are, so all of
//! them are made before the first goes out. They wait here, one client's at a time, until the driver has
//! taken them.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_session::{Instant, PeerId};
use tickwire_state::SightRange;

use super::commands::{CommandNumber, Commands};
use super::limits::{COMMANDS_RIDING, DATAGRAM_MIN, LAST};
use super::playing::Playing;
use super::scopes::{ScopeDraft, share};
use super::sent_snapshots::{Draft, InRange};
use super::world::SlotNumber;
use super::{ServerCounters, Table};
use crate::reone::limits::LIST_HEADER;
use crate::reone::message::{
    Compression, Down, DownElement, DownHeader, Invalid, PacketWriter, Parameters, Velocity,
};
use crate::reone::{EventId, ObjectId};

/// Datagrams that wait to be taken, all to one peer.
#[derive(Debug, Default)]
pub(super) struct Staged {
    bytes: Vec<u8>,
    /// Where each of them ends.
    ends: VecDeque<usize>,
    /// Where the next begins.
    next: usize,
    to: Option<PeerId>,
}

/// Memory that every client's snapshot is made in.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    seen: Vec<SlotNumber>,
    riding: Vec<CommandNumber>,
    draft: Draft,
    scopes: ScopeDraft,
}

/// Whom a datagram is for, and the most bytes that its path takes.
#[derive(Debug)]
pub(super) struct Recipient<'a> {
    pub(super) playing: &'a mut Playing,
    pub(super) limit: usize,
}

/// A part of a snapshot.
#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    EventAck(EventId),
    Encoded { list: u8, bytes: &'a [u8] },
    KeepAlive(ObjectId),
    Velocity(Velocity),
}

impl Part<'_> {
    const fn length(&self) -> usize {
        match self {
            Self::EventAck(_) | Self::KeepAlive(_) => 4,
            Self::Velocity(_) => 12,
            Self::Encoded { bytes, .. } => bytes.len(),
        }
    }

    #[inline]
    fn push(self, writer: &mut PacketWriter<'_, Down>) {
        let pushed = match self {
            Self::EventAck(event) => writer.push(&DownElement::EventAck(event)),
            Self::Encoded { list, bytes } => writer.push_encoded(list, bytes),
            Self::KeepAlive(id) => writer.push(&DownElement::KeepAlive { id }),
            Self::Velocity(velocity) => writer.push(&DownElement::Velocity(velocity)),
        };
        debug_assert!(pushed.is_ok(), "there was room for it");
    }
}

impl Staged {
    /// Begins with a peer. What the last one did not take is dropped: it is gone.
    pub(super) fn begin(&mut self, to: PeerId) {
        self.bytes.clear();
        self.ends.clear();
        self.next = 0;
        self.to = Some(to);
    }

    /// Moves the next datagram to `out`; returns whether there is one for this peer.
    pub(super) fn take(&mut self, to: PeerId, out: &mut Vec<u8>) -> bool {
        if self.to != Some(to) {
            return false;
        }
        let Some(end) = self.ends.pop_front() else {
            return false;
        };
        out.extend_from_slice(self.bytes.get(self.next..end).unwrap_or_default());
        self.next = end;
        true
    }

    /// What the client must know before snapshots come.
    pub(super) fn write_parameters(&mut self, tick: u32, parameters: Parameters) {
        self.write_control(tick, &DownElement::Parameters(parameters));
    }

    fn write_control(&mut self, tick: u32, element: &DownElement<'_>) {
        write_control(&mut self.bytes, tick, element);
        self.ends.push_back(self.bytes.len());
    }

    /// Everything that was commanded since the client was last told.
    pub(super) fn write_commands(
        &mut self,
        tick: u32,
        Recipient { playing, limit }: &mut Recipient<'_>,
        commands: &Commands,
        range: SightRange,
    ) {
        let untold = core::mem::replace(&mut playing.untold, commands.next());
        let mut parts = commands
            .since(untold)
            .map(|(_, waiting)| waiting)
            .filter(|waiting| playing.notices(waiting.scene, range))
            .peekable();
        while parts.peek().is_some() {
            let header = DownHeader::unsequenced(tick);
            let mut writer = PacketWriter::<Down>::new(&mut self.bytes, &header, *limit);
            while let Some(part) =
                parts.next_if(|part| writer.room() >= LIST_HEADER + part.bytes.len())
            {
                let (list, bytes) = (part.list, &*part.bytes);
                Part::Encoded { list, bytes }.push(&mut writer);
            }
            writer.finish();
            self.ends.push_back(self.bytes.len());
        }
    }

    /// The newest snapshot, as this client needs it, with the acknowledgement of an event.
    pub(super) fn write_snapshot(
        &mut self,
        now: Instant,
        Recipient { playing, limit }: &mut Recipient<'_>,
        ack: Option<EventId>,
        table: &mut Table,
        scratch: &mut Scratch,
        counters: &mut ServerCounters,
    ) {
        let Table {
            world,
            scopes: all_scopes,
            changes,
            commands,
            rules,
        } = table;
        let Scratch {
            seen,
            riding,
            draft,
            scopes,
        } = scratch;
        playing.look(world, rules.sight, seen);
        playing.forget_commands(commands);
        let baseline = playing.sent.baseline(world.newest());
        playing.set_mode(baseline, counters);
        riding.clear();
        riding.extend(playing.untaken(commands, rules.sight).take(COMMANDS_RIDING));
        let own_id = playing.seated.own();
        let before = playing.sent.snapshot(baseline);
        let before = before.map_or_else(|| all_scopes.base(), |snapshot| snapshot.scopes.clone());
        let budget = rules.snapshot_bytes;
        let (held, is_scope_left) = scopes.compose(
            world.newest(),
            before,
            all_scopes.of(own_id),
            own_id,
            share(budget),
        );
        let own = own_id.and_then(|own| world.find(own));
        let in_range = InRange {
            seen: seen.iter().copied(),
            own,
        };
        let budget = budget.saturating_sub(scopes.length());
        let snapshot = playing
            .sent
            .compose(now, world, changes, in_range, budget, draft);
        snapshot.commands.extend_from_slice(riding);
        snapshot.answered = ack.unwrap_or_default();
        snapshot.scopes = held;
        counters.rationed += u64::from(draft.is_rationed() || is_scope_left);
        // Only of what the client has: over the budget, a creature may have to wait.
        let velocity = own.filter(|own| snapshot.has(*own));
        let velocity = velocity.and_then(|own| world.velocity(own));
        let header = DownHeader {
            sequence: world.newest(),
            acknowledged: baseline,
            tick: world.tick(),
        };
        let parts = ack.map(Part::EventAck).into_iter();
        let parts = parts
            .chain(snapshot.commands.iter().filter_map(|number| {
                let waiting = commands.get(*number)?;
                let (list, bytes) = (waiting.list, &*waiting.bytes);
                Some(Part::Encoded { list, bytes })
            }))
            .chain(
                scopes
                    .elements()
                    .map(|(list, bytes)| Part::Encoded { list, bytes }),
            )
            .chain(velocity.map(Part::Velocity))
            .chain(draft.lists.iter().flatten().map(|change| {
                let (list, bytes) = (change.list, changes.bytes(*change));
                Part::Encoded { list, bytes }
            }))
            .chain(draft.kept.iter().copied().map(Part::KeepAlive));
        self.write_parts(&header, *limit, rules.compression, parts);
    }

    fn write_parts<'a>(
        &mut self,
        header: &DownHeader,
        limit: usize,
        compression: Compression,
        parts: impl Iterator<Item = Part<'a>>,
    ) {
        let mut parts = parts.peekable();
        let mut datagrams: u8 = 0;
        loop {
            let mut writer = match compression {
                Compression::None => PacketWriter::<Down>::new(&mut self.bytes, header, limit),
                Compression::Huffman => PacketWriter::coded(&mut self.bytes, header, limit),
            };
            // Every datagram may turn out to be the last one, which has to say so.
            let has_room =
                |room: usize, part: &Part<'_>| room >= LIST_HEADER + part.length() + LAST;
            while let Some(part) = parts.next_if(|part| has_room(writer.room(), part)) {
                part.push(&mut writer);
            }
            datagrams = datagrams.saturating_add(1);
            // So many datagrams are never needed, but what could not be counted would never be whole.
            let is_last = parts.peek().is_none() || datagrams == u8::MAX;
            if is_last {
                let pushed = writer.push(&DownElement::Last { datagrams });
                debug_assert!(pushed.is_ok(), "room was left for it");
            }
            writer.finish();
            self.ends.push_back(self.bytes.len());
            if is_last {
                return;
            }
        }
    }
}

/// Tells an address that its datagrams are not answered as it expects.
pub(super) fn write_invalid(out: &mut Vec<u8>, tick: u32, why: Invalid) {
    write_control(out, tick, &DownElement::Invalid(why));
}

fn write_control(out: &mut Vec<u8>, tick: u32, element: &DownElement<'_>) {
    let header = DownHeader::unsequenced(tick);
    let mut writer = PacketWriter::<Down>::new(out, &header, DATAGRAM_MIN);
    let pushed = writer.push(element);
    debug_assert!(pushed.is_ok(), "one element fits");
    writer.finish();
}
