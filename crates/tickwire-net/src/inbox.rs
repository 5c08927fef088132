//! What waits to be handed to one session, other than what sockets hold.
//!
//! In: what other nodes sent over memory links, and ends that were noticed while a session was being
//! drained. Out: everything, in order, once a turn. Bytes lie end to end in one buffer, so that a
//! datagram between two nodes allocates nothing once the buffer has grown.

use tickwire_session::{Addr, Ended, Instant, Path, Session, StreamId};

use crate::limits::{LINK_DATAGRAMS, STREAM_PENDING};
use crate::node::{Carrier, Streams};
use crate::pipe::NodeLinks;
use crate::stream::stream_room;

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    items: Vec<Item>,
    bytes: Vec<u8>,
    datagrams: usize,
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
        self.items.push(Item::Datagram {
            from,
            length: bytes.len(),
        });
        Ok(())
    }

    /// Bounded by the room that the sender was told.
    pub(crate) fn push_bytes(&mut self, on: StreamId, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.items.push(Item::Bytes {
            on,
            length: bytes.len(),
        });
    }

    pub(crate) fn push_opened(&mut self, on: StreamId, peer: Addr) {
        self.items.push(Item::Opened { on, peer });
    }

    /// A pipe has been emptied by the time this is handed in.
    pub(crate) fn push_room(&mut self, on: StreamId) {
        self.items.push(Item::Room { on });
    }

    pub(crate) fn push_closed(&mut self, path: Path, why: Ended) {
        self.items.push(Item::Closed { path, why });
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Hands in everything. What belongs to a stream or link that the session has left since is
    /// dropped, for the session shall hear nothing more of it.
    pub(crate) fn deliver(
        &mut self,
        now: Instant,
        session: &mut dyn Session,
        streams: &mut Streams,
        mut links: NodeLinks<'_>,
    ) {
        let mut rest = self.bytes.as_slice();
        let mut take = |length| {
            let (taken, after) = rest.split_at(length);
            rest = after;
            taken
        };
        for item in self.items.drain(..) {
            match item {
                Item::Datagram { from, length } => {
                    let bytes = take(length);
                    if links.reaches(from) {
                        session.handle_datagram(now, from, bytes);
                    }
                }
                Item::Bytes { on, length } => {
                    let bytes = take(length);
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
        }
        self.bytes.clear();
        self.datagrams = 0;
    }
}

#[cfg(test)]
mod tests {
    use tickwire_session::echo::{StreamEcho, StreamHeard};
    use tickwire_session::{Events, Host};

    use super::*;
    use crate::pipe::Links;

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
        );
        assert_eq!(inbox.push_datagram(PEER, b"?"), Ok(()));
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
        inbox.deliver(Instant::ZERO, &mut session, &mut streams, links);

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
