//! The peers of a server: one table for every protocol.
//!
//! In: what happens to streams and datagram paths, deadlines, which peers have something to send and
//! which are to be closed. Out: the peer that a stream or datagram belongs to, the next peer to write,
//! peers whose deadline has passed, peers that must be dropped. `P` is the state that the protocol keeps
//! for a peer.
//!
//! No call scans all peers, except where it says so: peers with something to send are in a queue,
//! deadlines are sorted, and streams, tokens and addresses are looked up.
//!
//! ```text
//!    open ──▶ Waiting ──admit──▶ Admitted ──close──▶ Closing ──all written──▶ Finish
//!                │  too late, or pushed out             │
//!                └────────── close / abort ─────────────┴──── linger over ───▶ Abort
//! ```

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use crate::admission::{Joins, NotAdmitted, PROOF_PATIENCE, WAITING_MAX, Waiting};
use crate::{
    Addr, Attached, Attachments, Denied, Host, Instant, Path, PeerStats, Room, Rooms, StreamId,
    Token, Traffic, Transmit, Updates,
};

/// Identifies a peer of one server. Numbers are not reused.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PeerId(pub u32);

/// The table.
#[derive(Debug)]
pub struct Peers<P> {
    all: BTreeMap<PeerId, Box<Peer<P>>>,
    streams: BTreeMap<StreamId, PeerId>,
    attachments: Attachments<PeerId>,
    rooms: Rooms,
    waiting: Waiting<PeerId>,
    joins: Joins,
    /// Who may have something to write, each once. Some may be gone.
    ready: VecDeque<PeerId>,
    deadlines: BTreeSet<(Instant, PeerId)>,
    /// Streams to be ended.
    orders: VecDeque<Transmit>,
    next: u32,
}

/// A peer: what the table keeps for every protocol, and the state of the one in use.
#[derive(Debug)]
pub struct Peer<P> {
    /// Its paths and figures.
    pub link: PeerLink,
    /// What the protocol keeps.
    pub state: P,
}

/// The paths of a peer, and what was carried on them.
#[derive(Debug)]
pub struct PeerLink {
    stream: StreamId,
    stream_addr: Addr,
    admission: Admission,
    opened: Instant,
    stream_room: u32,
    datagrams: Option<Addr>,
    datagram_room: Room,
    deadline: Option<Instant>,
    is_ready: bool,
    /// When it was last heard from, as the protocol counts it.
    pub last_heard: Instant,
    /// What was sent and received.
    pub traffic: Traffic,
    /// The states of the world that went to it.
    pub updates: Updates,
    /// Messages and datagrams of it that were refused.
    pub refused: u64,
}

/// How far a peer has come, as the table sees it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Admission {
    /// It has not proved itself: see [`PROOF_PATIENCE`].
    Waiting,
    /// It takes part.
    Admitted,
    /// Its stream ends once everything queued is written; nothing new is queued.
    Closing,
}

/// What a peer did when it was its turn to write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wrote {
    /// Bytes for its stream were appended.
    Stream,
    /// A datagram was appended.
    Datagram,
    /// Something waits for room or for its time; the peer is asked again when it is marked ready.
    Blocked,
    /// There is nothing to write. The stream of a closing peer can be finished.
    Nothing,
}

/// A new peer.
#[derive(Debug)]
pub struct Opened<P> {
    /// Its number.
    pub peer: PeerId,
    /// The peer that was evicted to make room. Its stream is aborted.
    pub evicted: Option<(PeerId, Box<Peer<P>>)>,
}

/// A deadline that has passed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Due {
    /// It has not proved itself in time: the protocol says so and closes it.
    Proof(PeerId),
    /// The deadline that the protocol set. It is cleared.
    Deadline(PeerId),
}

impl<P> Peers<P> {
    /// Nobody is there. The secret keeps tokens from being guessed; `rooms` bounds how many narrow
    /// datagram paths are remembered before they belong to somebody.
    pub fn new(now: Instant, secret: [u8; 32], rooms: usize) -> Self {
        Self {
            all: BTreeMap::new(),
            streams: BTreeMap::new(),
            attachments: Attachments::new(secret),
            rooms: Rooms::new(rooms),
            waiting: Waiting::new(WAITING_MAX),
            joins: Joins::new(now),
            ready: VecDeque::new(),
            deadlines: BTreeSet::new(),
            orders: VecDeque::new(),
            next: 1,
        }
    }

    /// A peer opened a stream.
    pub fn open(&mut self, now: Instant, on: StreamId, addr: Addr, state: P) -> Opened<P> {
        let id = PeerId(self.next);
        self.next = self.next.wrapping_add(1);
        let link = PeerLink::new(now, on, addr);
        self.all.insert(id, Box::new(Peer { link, state }));
        self.streams.insert(on, id);
        let evicted = self.waiting.enter(now, addr.host, id);
        let evicted = evicted.and_then(|gone| Some((gone, self.abort(gone)?)));
        Opened { peer: id, evicted }
    }

    /// A peer that waits asks to take part.
    pub fn admit(&mut self, now: Instant, id: PeerId) -> Result<(), NotAdmitted> {
        if let Some(peer) = self.all.get(&id)
            && peer.link.admission == Admission::Waiting
        {
            self.joins.admit(now, peer.link.host())?;
            self.admit_again(id);
        }
        Ok(())
    }

    /// A peer that waits is somebody who takes part already, on another stream. That is no join: it is
    /// admitted however many join, and however slow the game is.
    pub fn admit_again(&mut self, id: PeerId) {
        if let Some(Peer { link, .. }) = self.all.get_mut(&id).map(|peer| &mut **peer)
            && link.admission == Admission::Waiting
        {
            self.waiting.leave(link.opened, link.host(), id);
            link.admission = Admission::Admitted;
        }
    }

    /// Whether the game takes longer for its steps than it may. While it does, nobody is admitted.
    pub const fn set_busy(&mut self, is_busy: bool) {
        self.joins.set_busy(is_busy);
    }

    /// The peer that a stream belongs to.
    pub fn on_stream(&self, on: StreamId) -> Option<PeerId> {
        self.streams.get(&on).copied()
    }

    /// The peer that datagrams from this address belong to.
    pub fn at_addr(&self, from: Addr) -> Option<PeerId> {
        self.attachments.peer_at(from)
    }

    /// A peer.
    pub fn get(&self, id: PeerId) -> Option<&Peer<P>> {
        self.all.get(&id).map(|peer| &**peer)
    }

    /// A peer, to be changed.
    pub fn get_mut(&mut self, id: PeerId) -> Option<&mut Peer<P>> {
        self.all.get_mut(&id).map(|peer| &mut **peer)
    }

    /// Everybody, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = (PeerId, &Peer<P>)> {
        self.all.iter().map(|(id, peer)| (*id, &**peer))
    }

    /// Everybody, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (PeerId, &mut Peer<P>)> {
        self.all.iter_mut().map(|(id, peer)| (*id, &mut **peer))
    }

    /// How many there are, those included that wait or are being closed.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether nobody is there and no stream is still to be ended.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.orders.is_empty()
    }

    /// Issues a token with which a peer proves its datagram address. An earlier token becomes void.
    pub fn issue_token(&mut self, id: PeerId) -> Option<Token> {
        let host = self.all.get(&id)?.link.stream_addr.host;
        Some(self.attachments.issue(id, host))
    }

    /// A token was shown by datagram: from now on the address is the peer's.
    pub fn show_token(
        &mut self,
        now: Instant,
        from: Addr,
        token: Token,
    ) -> Result<Attached<PeerId>, Denied> {
        let attached = self.attachments.show(now, from, token)?;
        if attached.moved
            && let Some(peer) = self.all.get_mut(&attached.peer)
        {
            peer.link.datagrams = Some(from);
            peer.link.datagram_room = Room {
                largest: self.rooms.largest(from),
                ..Room::DATAGRAMS
            };
        }
        Ok(attached)
    }

    /// Voids a peer's token and forgets its datagram address.
    pub fn detach(&mut self, id: PeerId) {
        self.attachments.remove(id);
        if let Some(peer) = self.all.get_mut(&id) {
            peer.link.datagrams = None;
        }
    }

    /// What a path takes from now on. Returns the peer that it belongs to, which is ready.
    pub fn handle_room(&mut self, path: Path, room: Room) -> Option<PeerId> {
        let id = match path {
            Path::Stream(on) => {
                let id = self.on_stream(on)?;
                self.all.get_mut(&id)?.link.stream_room = room.bytes;
                id
            }
            Path::Datagrams(addr) => {
                self.rooms.set(addr, room);
                let id = self.at_addr(addr)?;
                self.all.get_mut(&id)?.link.datagram_room = room;
                id
            }
            // It has no room of its own.
            Path::Link(_) => return None,
        };
        self.mark_ready(id);
        Some(id)
    }

    /// A path ended. Returns the peer that ended with it. Only the end of a stream ends a peer: a datagram
    /// address may come back.
    pub fn handle_closed(&mut self, path: Path) -> Option<(PeerId, Box<Peer<P>>)> {
        match path {
            Path::Stream(on) => {
                let id = self.on_stream(on)?;
                Some((id, self.remove(id)?))
            }
            Path::Datagrams(addr) => {
                self.rooms.remove(addr);
                None
            }
            // Its streams have ended before it.
            Path::Link(_) => None,
        }
    }

    /// A peer may have something to write. Returns it, so that the caller can queue what that is.
    pub fn mark_ready(&mut self, id: PeerId) -> Option<&mut Peer<P>> {
        let peer = self.all.get_mut(&id)?;
        if !core::mem::replace(&mut peer.link.is_ready, true) {
            self.ready.push_back(id);
        }
        Some(peer)
    }

    /// [`mark_ready`](Self::mark_ready) for all peers that `meant` selects. Scans all peers.
    pub fn mark_all_ready(&mut self, mut meant: impl FnMut(&mut Peer<P>) -> bool) {
        for (id, peer) in &mut self.all {
            if meant(peer) && !core::mem::replace(&mut peer.link.is_ready, true) {
                self.ready.push_back(*id);
            }
        }
    }

    /// Sets or clears a peer's deadline, replacing the one before.
    pub fn set_deadline(&mut self, id: PeerId, at: Option<Instant>) {
        if let Some(peer) = self.all.get_mut(&id)
            && peer.link.deadline != at
        {
            if let Some(before) = core::mem::replace(&mut peer.link.deadline, at) {
                self.deadlines.remove(&(before, id));
            }
            self.deadlines.extend(at.map(|at| (at, id)));
        }
    }

    /// Moves a peer's deadline to `at`, unless it is earlier already.
    ///
    /// A protocol whose deadlines are put off by every message sets them anew only when one comes due,
    /// and meanwhile brings them forward: that costs nothing per message.
    pub fn bring_forward(&mut self, id: PeerId, at: Instant) {
        let link = self.all.get(&id).map(|peer| &peer.link);
        if link.is_some_and(|link| link.deadline.is_none_or(|before| at < before)) {
            self.set_deadline(id, Some(at));
        }
    }

    /// Closes a peer: what is queued for it is still written, until `until` at the latest.
    ///
    /// The table ends its stream when there is nothing left to write, or at `until`. The protocol hears
    /// of the peer again only by [`handle_closed`](Self::handle_closed).
    pub fn close(&mut self, id: PeerId, until: Instant) {
        let Some(peer) = self.all.get_mut(&id) else {
            return;
        };
        if peer.link.is_closing() {
            return;
        }
        // A peer that was waiting keeps its waiting place until its stream has ended. Otherwise a crowd
        // that closes slowly would hold more connections than `WAITING_MAX`.
        peer.link.admission = Admission::Closing;
        self.detach(id);
        self.set_deadline(id, Some(until));
        self.mark_ready(id);
    }

    /// Ends a peer's stream at once, and forgets the peer.
    pub fn abort(&mut self, id: PeerId) -> Option<Box<Peer<P>>> {
        let peer = self.remove(id)?;
        let on = peer.link.stream;
        self.orders.push_back(Transmit::Abort { on });
        Some(peer)
    }

    /// The next deadline that has passed; `None` when there are no more.
    pub fn pop_due(&mut self, now: Instant) -> Option<Due> {
        while let Some((at, id)) = self.deadlines.first().copied().filter(|due| due.0 <= now) {
            self.deadlines.remove(&(at, id));
            let Some(peer) = self.all.get_mut(&id) else {
                continue;
            };
            peer.link.deadline = None;
            if !peer.link.is_closing() {
                return Some(Due::Deadline(id));
            }
            self.abort(id);
        }
        let (since, id) = self.waiting.oldest()?;
        if now < since + PROOF_PATIENCE {
            return None;
        }
        // Reported once, even if the protocol does not close the peer.
        let link = &mut self.all.get_mut(&id)?.link;
        self.waiting.leave(since, link.stream_addr.host, id);
        if link.is_closing() {
            self.abort(id);
            return self.pop_due(now);
        }
        Some(Due::Proof(id))
    }

    /// When [`pop_due`](Self::pop_due) is to be called.
    pub fn next_due(&self) -> Option<Instant> {
        let deadline = self.deadlines.first().map(|due| due.0);
        let proof = self.waiting.oldest().map(|due| due.0 + PROOF_PATIENCE);
        [deadline, proof].into_iter().flatten().min()
    }

    /// Calls `write` for ready peers, one after another, until one wrote something. A peer stays first
    /// until it has nothing left, so that datagrams to one address are sent together.
    pub fn poll_transmit(
        &mut self,
        out: &mut Vec<u8>,
        mut write: impl FnMut(PeerId, &mut Peer<P>, &mut Vec<u8>) -> Wrote,
    ) -> Option<Transmit> {
        loop {
            if let Some(order) = self.orders.pop_front() {
                return Some(order);
            }
            let id = *self.ready.front()?;
            let Some(peer) = self.all.get_mut(&id) else {
                self.ready.pop_front();
                continue;
            };
            let before = out.len();
            let wrote = write(id, peer, out);
            let bytes = out.len() - before;
            match wrote {
                Wrote::Stream => return Some(peer.link.sent_on_stream(bytes)),
                Wrote::Datagram => {
                    if let Some(transmit) = peer.link.sent_datagram(bytes) {
                        return Some(transmit);
                    }
                    debug_assert!(false, "a datagram for a peer that has no address");
                    out.truncate(before);
                }
                Wrote::Blocked | Wrote::Nothing => {}
            }
            peer.link.is_ready = false;
            self.ready.pop_front();
            if wrote == Wrote::Nothing && peer.link.is_closing() {
                let on = peer.link.stream;
                self.remove(id);
                self.orders.push_back(Transmit::Finish { on });
            }
        }
    }

    fn remove(&mut self, id: PeerId) -> Option<Box<Peer<P>>> {
        let peer = self.all.remove(&id)?;
        let link = &peer.link;
        self.streams.remove(&link.stream);
        self.attachments.remove(id);
        self.waiting.leave(link.opened, link.stream_addr.host, id);
        if let Some(at) = link.deadline {
            self.deadlines.remove(&(at, id));
        }
        Some(peer)
    }
}

impl PeerLink {
    const fn new(now: Instant, stream: StreamId, stream_addr: Addr) -> Self {
        Self {
            stream,
            stream_addr,
            admission: Admission::Waiting,
            opened: now,
            stream_room: Room::CLOSED.bytes,
            datagrams: None,
            datagram_room: Room::DATAGRAMS,
            deadline: None,
            is_ready: false,
            last_heard: now,
            traffic: Traffic::NONE,
            updates: Updates::NONE,
            refused: 0,
        }
    }

    /// Its stream.
    pub const fn stream(&self) -> StreamId {
        self.stream
    }

    /// Where its stream comes from.
    pub const fn stream_addr(&self) -> Addr {
        self.stream_addr
    }

    /// Who it is, as far as the network knows.
    pub const fn host(&self) -> Host {
        self.stream_addr.host
    }

    /// When its stream was opened.
    pub const fn opened(&self) -> Instant {
        self.opened
    }

    /// Whether it is closing.
    pub const fn is_closing(&self) -> bool {
        matches!(self.admission, Admission::Closing)
    }

    /// Bytes that its stream takes now.
    pub const fn stream_room(&self) -> u32 {
        self.stream_room
    }

    /// Where its datagrams go, once it has shown its token.
    pub const fn datagrams(&self) -> Option<Addr> {
        self.datagrams
    }

    /// What its datagram path takes now.
    pub const fn datagram_room(&self) -> Room {
        self.datagram_room
    }

    /// Its figures. The protocol adds what it measures.
    pub fn stats<'a>(&self, name: &'a str, state: &'static str) -> PeerStats<'a> {
        let addr = self.datagrams.unwrap_or(self.stream_addr);
        let mut stats = PeerStats::new(name, addr, state);
        stats.traffic = self.traffic;
        stats.updates = self.updates;
        stats.choke = self.updates.choke();
        stats.refused = self.refused;
        stats
    }

    fn sent_on_stream(&mut self, bytes: usize) -> Transmit {
        let counted = u32::try_from(bytes).unwrap_or(u32::MAX);
        debug_assert!(counted <= self.stream_room, "more than there was room for");
        self.stream_room = self.stream_room.saturating_sub(counted);
        self.traffic.sent(bytes);
        Transmit::Stream { on: self.stream }
    }

    fn sent_datagram(&mut self, bytes: usize) -> Option<Transmit> {
        let to = self.datagrams?;
        self.datagram_room.spend(bytes);
        self.traffic.sent(bytes);
        Some(Transmit::Datagram { to })
    }
}

#[cfg(test)]
mod tests;
