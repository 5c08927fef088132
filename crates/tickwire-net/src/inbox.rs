//! What waits to be handed to one session, other than what sockets hold.
//!
//! In: what other nodes sent over memory links, and ends and rooms that were noticed while a session
//! was being drained. Out: the same, in order, as much as a turn has time for. Bytes lie end to end in
//! one buffer, so that a datagram between two nodes allocates nothing once the buffer has grown.

use std::collections::{BTreeMap, VecDeque};

use tickwire_session::{Addr, Ended, Instant, Path, Room, Session, StreamId};

use crate::limits::{LINK_DATAGRAMS, PATHS_TOLD, STREAM_PENDING};
use crate::node::{Carrier, Streams};
use crate::pipe::NodeLinks;
use crate::stream::stream_room;

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    items: VecDeque<Item>,
    bytes: Vec<u8>,
    /// Bytes at the front that were handed in.
    delivered: usize,
    datagrams: usize,
    /// News of datagram paths, the newest of each.
    rooms: BTreeMap<Addr, Room>,
}

/// What is handed in; `length` bytes of the buffer belong to it.
#[derive(Debug)]
enum Item {
    Datagram { from: Addr, length: usize },
    Opened { on: StreamId, peer: Addr },
    Bytes { on: StreamId, length: usize },
    Room { on: StreamId },
    Closed { path: Path, why: Ended },
}

/// [`LINK_DATAGRAMS`] wait already.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Overrun;

impl Inbox {
    pub(crate) fn push_datagram(&mut self, from: Addr, bytes: &[u8]) -> Result<(), Overrun> {
        if self.datagrams == LINK_DATAGRAMS {
            return Err(Overrun);
        }
        self.datagrams += 1;
        self.bytes.extend_from_slice(bytes);
        self.items.push_back(Item::Datagram {
            from,
            length: bytes.len(),
        });
        Ok(())
    }

    /// Bounded by the room that the sender was told.
    pub(crate) fn push_bytes(&mut self, on: StreamId, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.items.push_back(Item::Bytes {
            on,
            length: bytes.len(),
        });
    }

    pub(crate) fn push_opened(&mut self, on: StreamId, peer: Addr) {
        self.items.push_back(Item::Opened { on, peer });
    }

    /// A pipe has been emptied by the time this is handed in.
    pub(crate) fn push_room(&mut self, on: StreamId) {
        self.items.push_back(Item::Room { on });
    }

    pub(crate) fn push_closed(&mut self, path: Path, why: Ended) {
        self.items.push_back(Item::Closed { path, why });
    }

    /// What a datagram path takes from now on.
    pub(crate) fn set_room(&mut self, path: Addr, room: Room) {
        if self.rooms.len() < PATHS_TOLD || self.rooms.contains_key(&path) {
            self.rooms.insert(path, room);
        }
    }

    /// A datagram path ended before the news of it was handed in.
    pub(crate) fn forget_room(&mut self, path: Addr) {
        self.rooms.remove(&path);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.rooms.is_empty()
    }

    /// Datagrams that wait.
    pub(crate) const fn datagrams(&self) -> usize {
        self.datagrams
    }

    /// Hands in what waits, until `is_over` says that there is no more time; it is asked every
    /// [`DELIVERIES`] items. What belongs to a stream or link that the session has left since is
    /// dropped: the contract says that it hears nothing more of it.
    pub(crate) fn deliver(
        &mut self,
        now: Instant,
        session: &mut dyn Session,
        streams: &mut Streams,
        mut links: NodeLinks<'_>,
        is_over: impl Fn() -> bool,
    ) {
        while let Some((path, room)) = self.rooms.pop_first() {
            session.handle_room(now, Path::Datagrams(path), room);
        }
        let mut count = 0;
        while let Some(item) = self.items.pop_front() {
            match item {
                Item::Datagram { from, length } => {
                    self.datagrams -= 1;
                    let bytes = take(&self.bytes, &mut self.delivered, length);
                    if links.reaches(from) {
                        session.handle_datagram(now, from, bytes);
                    }
                }
                Item::Bytes { on, length } => {
                    let bytes = take(&self.bytes, &mut self.delivered, length);
                    if streams.contains_key(&on) {
                        session.handle_stream(now, on, bytes);
                    }
                }
                Item::Opened { on, peer } => {
                    if streams.contains_key(&on) {
                        session.handle_opened(now, on, peer);
                    }
                }
                Item::Room { on } => {
                    if let Some(Carrier::Pipe(pipe)) = streams.get_mut(&on) {
                        pipe.refill();
                        session.handle_room(now, Path::Stream(on), stream_room(STREAM_PENDING));
                    }
                }
                Item::Closed { path, why } => {
                    let known = match path {
                        Path::Stream(on) => streams.remove(&on).is_some(),
                        Path::Datagrams(_) => true,
                        Path::Link(link) => links.leave(link),
                    };
                    if known {
                        session.handle_closed(now, path, why);
                    }
                }
            }
            count += 1;
            if count % DELIVERIES == 0 && is_over() {
                break;
            }
        }
        self.bytes.drain(..self.delivered);
        self.delivered = 0;
    }
}

/// Items handed in between two looks at the clock: looking costs a third of what a small datagram does.
const DELIVERIES: usize = 16;

/// The next bytes that were not delivered.
fn take<'a>(bytes: &'a [u8], delivered: &mut usize, length: usize) -> &'a [u8] {
    let start = *delivered;
    *delivered += length;
    &bytes[start..*delivered]
}

#[cfg(test)]
mod tests {
    use tickwire_session::echo::{DatagramEcho, StreamEcho, StreamHeard};
    use tickwire_session::{Events, Host};

    use super::*;
    use crate::pipe::{Links, link_addr};

    const PEER: Addr = Addr {
        host: Host::Link(1),
        port: 0,
    };

    #[test]
    fn datagrams_above_the_bound_are_dropped() {
        let mut inbox = Inbox::default();
        for _ in 0..LINK_DATAGRAMS {
            assert_eq!(inbox.push_datagram(PEER, b"?"), Ok(()));
        }
        assert_eq!(inbox.push_datagram(PEER, b"?"), Err(Overrun));
        let (mut streams, mut links) = (Streams::new(), Links::default());
        let links = NodeLinks {
            links: &mut links,
            node: 0,
        };
        inbox.deliver(
            Instant::ZERO,
            &mut StreamEcho::default(),
            &mut streams,
            links,
            || false,
        );
        assert_eq!(inbox.push_datagram(PEER, b"?"), Ok(()));
    }

    #[test]
    fn what_a_turn_has_no_time_for_is_handed_in_by_the_next_in_order() {
        let mut inbox = Inbox::default();
        let (mut streams, mut links) = (Streams::new(), Links::default());
        let link = links.join([0, 1]);
        let count = u8::try_from(3 * DELIVERIES).expect("a small number");
        for number in 0..count {
            // An answer, which an echo keeps.
            let bytes = [b'!', number];
            assert_eq!(inbox.push_datagram(link_addr(link), &bytes), Ok(()));
        }
        let mut session = DatagramEcho::default();
        for turn in 1..=3 {
            let links = NodeLinks {
                links: &mut links,
                node: 0,
            };
            inbox.deliver(Instant::ZERO, &mut session, &mut streams, links, || true);
            assert_eq!(inbox.datagrams(), (3 - turn) * DELIVERIES);
        }
        assert!(inbox.is_empty());
        let heard = std::iter::from_fn(|| session.poll_event()).map(|heard| heard.bytes[0]);
        assert!(heard.eq(0..count));
    }

    #[test]
    fn a_session_hears_nothing_of_a_stream_that_it_left() {
        let (kept, left) = (StreamId::Dialled(0), StreamId::Dialled(1));
        let mut inbox = Inbox::default();
        for on in [left, kept] {
            inbox.push_opened(on, PEER);
            inbox.push_bytes(on, b"abc");
            inbox.push_closed(Path::Stream(on), Ended::Finished);
        }
        let mut session = StreamEcho::default();
        let mut streams = Streams::from([(kept, Carrier::Ended)]);
        let links = NodeLinks {
            links: &mut Links::default(),
            node: 0,
        };
        inbox.deliver(Instant::ZERO, &mut session, &mut streams, links, || false);

        let heard: Vec<_> = std::iter::from_fn(|| session.poll_event()).collect();
        assert_eq!(
            heard,
            [
                StreamHeard::Opened(kept),
                StreamHeard::Bytes(kept, b"abc".to_vec()),
                StreamHeard::Closed(kept, Ended::Finished),
            ]
        );
    }
}
