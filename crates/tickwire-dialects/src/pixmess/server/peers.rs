//! All connections: who has something to send, and who is to be looked after when.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use tickwire_session::{Instant, StreamId};

use super::super::SetId;
use super::super::limits::WAITING_MAX;
use super::super::message::{FromServer, Shared};
use super::peer::{Peer, Stage};

/// The connections.
#[derive(Debug, Default)]
pub(super) struct Peers {
    all: BTreeMap<StreamId, Box<Peer>>,
    /// Whose outbox changed, or whose stream has room again.
    ready: BTreeSet<StreamId>,
    /// Each connection once, under its alarm.
    alarms: BTreeSet<(Instant, StreamId)>,
    /// Those that do not read, to be cut off as soon as nobody is being told anything.
    overrun: Vec<StreamId>,
}

impl Peers {
    pub(super) fn insert(&mut self, on: StreamId, peer: Peer) {
        self.all.insert(on, Box::new(peer));
        self.rearm(on);
    }

    pub(super) fn remove(&mut self, on: StreamId) -> Option<Box<Peer>> {
        let peer = self.all.remove(&on)?;
        self.alarms.remove(&(peer.alarm, on));
        self.ready.remove(&on);
        Some(peer)
    }

    pub(super) fn get(&self, on: StreamId) -> Option<&Peer> {
        self.all.get(&on).map(|peer| &**peer)
    }

    pub(super) fn get_mut(&mut self, on: StreamId) -> Option<&mut Peer> {
        self.all.get_mut(&on).map(|peer| &mut **peer)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (StreamId, &Peer)> {
        self.all.iter().map(|(&on, peer)| (on, &**peer))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Peer> {
        self.all.values_mut().map(|peer| &mut **peer)
    }

    pub(super) fn streams(&self) -> Vec<StreamId> {
        self.all.keys().copied().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Puts a message into the queue of somebody who takes part.
    pub(super) fn tell(&mut self, on: StreamId, message: FromServer<Shared>) {
        self.tell_if(on, |_| Some(message));
    }

    /// The same, if there is anything to be told to this one.
    pub(super) fn tell_if(
        &mut self,
        on: StreamId,
        message: impl FnOnce(&Peer) -> Option<FromServer<Shared>>,
    ) {
        let Some(peer) = self.all.get_mut(&on).filter(|peer| peer.is_playing()) else {
            return;
        };
        // Who is to be cut off gets no more, so that the bound is one.
        if peer.outbox.waiting() > WAITING_MAX {
            return;
        }
        let Some(message) = message(peer) else {
            return;
        };
        peer.outbox.push(message);
        if peer.outbox.waiting() > WAITING_MAX {
            self.overrun.push(on);
        }
        if !core::mem::replace(&mut peer.ready, true) {
            self.ready.insert(on);
        }
    }

    /// Somebody may have something to be written.
    pub(super) fn mark_ready(&mut self, on: StreamId) {
        if let Some(peer) = self.all.get_mut(&on)
            && !core::mem::replace(&mut peer.ready, true)
        {
            self.ready.insert(on);
        }
    }

    /// The same for a message about a block or a layer of this set.
    pub(super) fn tell_of(&mut self, on: StreamId, set: SetId, message: FromServer<Shared>) {
        if let Some(peer) = self.all.get_mut(&on)
            && peer.sight.our_set != set
        {
            peer.sight.our_set = set;
            self.tell(on, FromServer::LayersetSelect { set });
        }
        self.tell(on, message);
    }

    /// Puts a message before everything that waits, even if its receiver does not take part.
    pub(super) fn tell_urgently(&mut self, on: StreamId, message: FromServer<Shared>) {
        let Some(peer) = self.all.get_mut(&on) else {
            return;
        };
        if peer.outbox.waiting() > WAITING_MAX {
            return;
        }
        peer.outbox.push_urgent(message);
        if peer.outbox.waiting() > WAITING_MAX {
            self.overrun.push(on);
        }
        peer.ready = true;
        self.ready.insert(on);
    }

    /// Puts a message behind everything that waits, even if its receiver does not take part any more.
    pub(super) fn tell_last(&mut self, on: StreamId, message: FromServer<Shared>) {
        if let Some(peer) = self.all.get_mut(&on) {
            peer.outbox.push(message);
            peer.ready = true;
            self.ready.insert(on);
        }
    }

    /// Tells everybody who takes part and is `wanted`.
    pub(super) fn tell_all(
        &mut self,
        message: &FromServer<Shared>,
        wanted: impl Fn(&Peer) -> bool,
    ) {
        for on in self.streams() {
            self.tell_if(on, |peer| wanted(peer).then(|| message.clone()));
        }
    }

    /// Somebody who does not read.
    pub(super) fn pop_overrun(&mut self) -> Option<StreamId> {
        self.overrun.pop()
    }

    pub(super) fn set_room(&mut self, on: StreamId, bytes: u32) {
        if let Some(peer) = self.all.get_mut(&on) {
            peer.room = bytes;
            peer.ready = true;
            self.ready.insert(on);
        }
    }

    /// Writes for somebody who has something to say and room for it, and says who it was; `Err` for
    /// a connection that has said everything and is to be ended.
    pub(super) fn write_next(&mut self, out: &mut Vec<u8>) -> Option<Result<StreamId, StreamId>> {
        while let Some(&on) = self.ready.first() {
            let Some(peer) = self.all.get_mut(&on) else {
                self.ready.remove(&on);
                continue;
            };
            if peer.can_write() {
                peer.write(out);
                return Some(Ok(on));
            }
            self.ready.remove(&on);
            peer.ready = false;
            if matches!(peer.stage, Stage::Closing { .. }) && peer.outbox.is_empty() {
                return Some(Err(on));
            }
        }
        None
    }

    /// The next connection whose alarm has come; it has none until it is rearmed.
    pub(super) fn pop_alarm(&mut self, now: Instant) -> Option<StreamId> {
        let &(_, on) = self.alarms.first().filter(|(at, _)| *at <= now)?;
        self.alarms.pop_first();
        Some(on)
    }

    /// Sets the alarm of a connection to what is due next. To be called when that is sooner than it
    /// was: when it is later, the alarm comes early and does no harm.
    pub(super) fn rearm(&mut self, on: StreamId) {
        if let Some(peer) = self.all.get_mut(&on) {
            self.alarms.remove(&(peer.alarm, on));
            peer.alarm = peer.deadline();
            self.alarms.insert((peer.alarm, on));
        }
    }

    pub(super) fn next_alarm(&self) -> Option<Instant> {
        self.alarms.first().map(|&(at, _)| at)
    }
}
