//! Streams over lossy links.
//!
//! Segments travel as datagrams do. One that a link does not carry is pushed again after a while,
//! so that loss, a full queue and a partition show as delay and nothing else; and what was sent behind
//! it waits at the other end, which is what makes streams slow on a bad network. The network knows
//! the fate of a segment at once, and so needs no timers to find it out.

use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::tap::Input;
use tickwire_session::{Addr, Ended, Host, Path, Session, StreamId};

use super::{Event, Network, NodeId, Parcel, Way};
use crate::stream::{Content, End, EndKey, Segment, Side};
use crate::{Fate, SHORTEST};

/// How long a dialler waits before the peer counts as unreachable.
///
/// Operating systems wait for one or two minutes, which would only make scenarios longer.
pub const DIAL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long after a loss a segment is sent again, unless the round trip is longer: what Linux waits
/// at least. It doubles with every further loss.
pub const RESEND_AFTER: Duration = Duration::from_millis(200);

/// Where the doubling ends, so that streams are soon alive again when a partition heals.
pub const RESEND_AFTER_LONGEST: Duration = Duration::from_millis(1_600);

/// More than it takes to get to [`RESEND_AFTER_LONGEST`].
const DOUBLINGS: u32 = 8;

/// First of the ports that operating systems take for outgoing connections.
const EPHEMERAL_PORT: u16 = 49_152;

impl Network {
    /// Cuts off a stream of a node: both ends hear of a reset, the other after the latency. A stream
    /// that is not there stays so.
    pub fn reset_stream(&mut self, node: NodeId, on: StreamId) {
        if let Some(&end) = self.ends_by_id.get(&(node, on)) {
            self.agenda.push(self.now, Event::Reset(end));
        }
    }

    pub(super) fn dial(&mut self, node: NodeId, on: StreamId, to: Addr) {
        let name = self.name(node);
        assert!(
            matches!(on, StreamId::Dialled(_)),
            "{name} dialled with {on:?}, a number that is not its own to give"
        );
        let stream = self.streams_dialled;
        self.streams_dialled += 1;
        let [dialler, acceptor] =
            [Side::Dialler, Side::Acceptor].map(|side| EndKey { stream, side });
        let before = self.ends_by_id.insert((node, on), dialler);
        assert!(before.is_none(), "{name} dialled {on:?} twice");

        let peer = self.peer_at(node, to);
        let timeout = match peer {
            Some(_) => DIAL_TIMEOUT,
            // A refusal takes a round trip, as long as it is anywhere else.
            None => self.conditions.slowest().max(SHORTEST) * 2,
        };
        let mut end = End::new(node, peer, to, self.stream_conditions);
        end.id = Some(on);
        end.dial_timeout = Some(
            self.agenda
                .push(self.now + timeout, Event::DialFailed(dialler)),
        );
        self.ends.insert(dialler, end);
        if let Some(peer) = peer {
            let from = outgoing_addr(self.addr_towards(node, to), stream);
            let end = End::new(peer, Some(node), from, self.stream_conditions);
            self.ends.insert(acceptor, end);
            self.send(acceptor, Content::Syn);
        }
    }

    /// The answer to a dial did not come.
    pub(super) fn fail_dial(&mut self, key: EndKey, sessions: &mut [&mut dyn Session]) {
        let Some(end) = self.ends.get(&key) else {
            return;
        };
        let why = match end.peer {
            Some(_) => Ended::Unreachable,
            None => Ended::Refused,
        };
        // The peer may have accepted, and only its answer was lost.
        self.send_reset(key.other());
        self.close(key, why, sessions);
    }

    pub(super) fn write_stream(&mut self, node: NodeId, on: StreamId, bytes: &[u8]) {
        let name = self.name(node);
        let Some((key, end)) = self.end_mut(node, on) else {
            panic!(
                "{name} wrote {} bytes on {on:?}, which is not open",
                bytes.len()
            );
        };
        if let Err(no_room) = end.write(bytes) {
            panic!(
                "{name} wrote {} bytes on {on:?}, which has room for {}",
                bytes.len(),
                no_room.room
            );
        }
        if !end.holding {
            end.holding = true;
            let hold = end.conditions().hold;
            let hold = self.rng.span(hold);
            self.agenda.push(self.now + hold, Event::Send(key));
        }
    }

    /// Sends what was written. If the end is gone, [`finish`](Self::finish) has sent it.
    pub(super) fn send_outgoing(&mut self, key: EndKey) {
        let Some(end) = self.ends.get_mut(&key) else {
            return;
        };
        end.holding = false;
        for piece in end.cut(&mut self.rng) {
            self.send(key.other(), piece);
        }
    }

    // A session may finish or abort a stream that was closed in the same batch, before it was drained:
    // its order crossed with the news. So an unknown stream is no violation here.

    pub(super) fn finish(&mut self, node: NodeId, on: StreamId) {
        let Some((key, _)) = self.end_mut(node, on) else {
            return;
        };
        self.send_outgoing(key);
        if let Some(end) = self.remove(key) {
            self.send(key.other(), end.fin());
        }
    }

    pub(super) fn abort(&mut self, node: NodeId, on: StreamId) {
        let Some((key, _)) = self.end_mut(node, on) else {
            return;
        };
        self.remove(key);
        self.send_reset(key.other());
    }

    /// Cuts a stream off at one end; the other end hears of it when the news arrives.
    pub(super) fn reset(&mut self, key: EndKey, sessions: &mut [&mut dyn Session]) {
        // An end that finished in the meantime has its bytes on the way, and they arrive.
        if self.ends.contains_key(&key) {
            self.send_reset(key.other());
            self.close(key, Ended::Reset, sessions);
        }
    }

    /// Removes a node's ends and tells the other ones, those included whose peer had finished and
    /// had bytes on the way.
    pub(super) fn drop_streams_of(&mut self, node: NodeId) {
        let concerned = |end: &End| end.node == node || end.peer == Some(node);
        let keys: Vec<_> = self
            .ends
            .iter()
            .filter(|(_, end)| concerned(end))
            .map(|(&key, end)| (key, end.node))
            .collect();
        for (key, at) in keys {
            if at == node {
                self.remove(key);
            } else {
                self.send_reset(key);
            }
        }
    }

    /// A segment arrived. To an end that is gone it means nothing.
    pub(super) fn handle_segment(&mut self, segment: Segment, sessions: &mut [&mut dyn Session]) {
        let key = segment.to;
        let Some(end) = self.ends.get_mut(&key) else {
            return;
        };
        match segment.content {
            Content::Syn => {
                // A copy of it changes nothing.
                if end.id.is_none() {
                    let node = end.node;
                    self.accept(key, node, sessions);
                }
            }
            Content::SynAck => self.open(key, sessions),
            Content::Data { at, bytes } => {
                let reset = end.conditions().reset;
                if self.rng.happens(reset) {
                    self.reset(key, sessions);
                } else {
                    end.receive(at, bytes);
                    self.hand_in_ready(key, sessions);
                }
            }
            Content::Ack { consumed } => {
                if end.acknowledge(consumed) {
                    self.report_room(key, sessions);
                }
            }
            Content::Fin { at } => {
                end.receive_fin(at);
                self.hand_in_ready(key, sessions);
            }
            Content::Rst => self.close(key, Ended::Reset, sessions),
        }
    }

    fn accept(&mut self, key: EndKey, node: NodeId, sessions: &mut [&mut dyn Session]) {
        let state = self.node_mut(node);
        let id = StreamId::Accepted(state.accepted);
        state.accepted += 1;
        self.ends_by_id.insert((node, id), key);
        self.ends.entry(key).and_modify(|end| end.id = Some(id));
        self.send(key.other(), Content::SynAck);
        self.open(key, sessions);
    }

    /// Tells the session that the stream is open, and what came for it already.
    fn open(&mut self, key: EndKey, sessions: &mut [&mut dyn Session]) {
        let Some(end) = self.ends.get_mut(&key).filter(|end| !end.open) else {
            return;
        };
        end.open = true;
        if let Some(timeout) = end.dial_timeout.take() {
            self.agenda.cancel(timeout);
        }
        if let Some(on) = end.id {
            let (node, peer) = (end.node, end.peer_addr);
            self.hand_in(node, Input::Opened { on, peer }, sessions);
        }
        self.report_room(key, sessions);
        self.hand_in_ready(key, sessions);
    }

    // A session that is handed something may be drained there and then, and end the stream: after
    // every such call the end is looked up again.

    fn report_room(&mut self, key: EndKey, sessions: &mut [&mut dyn Session]) {
        if let Some(end) = self.ends.get_mut(&key)
            && let Some(on) = end.id
        {
            let (node, room) = (end.node, end.report_room());
            let path = Path::Stream(on);
            self.hand_in(node, Input::Room { path, room }, sessions);
        }
    }

    fn hand_in_ready(&mut self, key: EndKey, sessions: &mut [&mut dyn Session]) {
        let Some(end) = self.ends.get_mut(&key).filter(|end| end.open) else {
            return;
        };
        let ready = end.take_ready();
        if let Some(on) = end.id
            && !ready.is_empty()
        {
            let (node, ack) = (end.node, end.ack());
            self.send(key.other(), ack);
            let bytes = &ready;
            self.hand_in(node, Input::Stream { on, bytes }, sessions);
        }
        if self.ends.get(&key).is_some_and(End::is_finished) {
            self.close(key, Ended::Finished, sessions);
        }
    }

    /// Removes an end and tells its session, if that ever heard of it.
    pub(super) fn close(&mut self, key: EndKey, why: Ended, sessions: &mut [&mut dyn Session]) {
        if let Some(end) = self.remove(key)
            && let Some(on) = end.id
        {
            let path = Path::Stream(on);
            self.hand_in(end.node, Input::Closed { path, why }, sessions);
        }
    }

    pub(super) fn remove(&mut self, key: EndKey) -> Option<End> {
        let end = self.ends.remove(&key)?;
        if let Some(on) = end.id {
            self.ends_by_id.remove(&(end.node, on));
        }
        if let Some(timeout) = end.dial_timeout {
            self.agenda.cancel(timeout);
        }
        Some(end)
    }

    fn send(&mut self, to: EndKey, content: Content) {
        self.carry(Segment { to, content }, 0);
    }

    /// Puts a segment on its link, or arranges to try again.
    pub(super) fn carry(&mut self, segment: Segment, attempt: u32) {
        let Some(end) = self.ends.get(&segment.to) else {
            return;
        };
        let Some(from) = end.peer else {
            return;
        };
        let way = Way { from, to: end.node };
        let size = segment.size();
        if self.push(way, Parcel::Segment(segment.clone()), size) == Fate::Carried {
            return;
        }
        let round_trip = self.route(way).link.conditions().slowest() * 2;
        let doubled = RESEND_AFTER * 2_u32.pow(attempt.min(DOUBLINGS));
        let again = self.now + doubled.min(RESEND_AFTER_LONGEST).max(round_trip);
        let attempt = attempt + 1;
        self.agenda.push(again, Event::Resend { segment, attempt });
    }

    /// Resets an end, and forgets what else waits to be sent to it again.
    fn send_reset(&mut self, to: EndKey) {
        self.agenda
            .retain(|event| !matches!(event, Event::Resend { segment, .. } if segment.to == to));
        self.send(to, Content::Rst);
    }

    fn end_mut(&mut self, node: NodeId, on: StreamId) -> Option<(EndKey, &mut End)> {
        let key = *self.ends_by_id.get(&(node, on))?;
        Some((key, self.ends.get_mut(&key)?))
    }
}

/// Where a stream comes from, as its acceptor sees it.
///
/// On a machine it is a port of its own, not that of the datagrams: a session that takes the
/// address of a stream for that of a peer is wrong, and finds out here. A link has no ports.
fn outgoing_addr(node: Addr, stream: u64) -> Addr {
    match node.host {
        Host::Ip(_) => {
            let ports = u64::from(u16::MAX - EPHEMERAL_PORT);
            let offset = u16::try_from(stream % ports).unwrap_or(0);
            Addr {
                port: EPHEMERAL_PORT + offset,
                ..node
            }
        }
        Host::Link(_) => node,
    }
}
