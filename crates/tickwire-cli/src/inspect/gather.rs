//! The streams of a recording, each direction put together from its pieces.
//!
//! A piece ends where the network cut it, which is seldom where a packet ends, and what a packet says
//! may depend on those before it. So a stream is shown as a whole, when it ends or the recording does.
//! What is kept meanwhile is bounded, whatever the recording claims.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_session::tap::{Input, Record};
use tickwire_session::{Addr, Instant, Path, StreamId, Transmit};

use super::Direction;
use super::source::STREAM_MAX;

/// Bytes kept of all streams together: sixteen that are as long as can be shown.
const KEPT_MAX: usize = 16 * STREAM_MAX;

/// Streams kept at a time: as many as a driver has connections.
const STREAMS_MAX: usize = 4_096;

/// The streams that have begun and not ended.
#[derive(Debug, Default)]
pub(super) struct Streams {
    open: BTreeMap<StreamId, Stream>,
    /// Those whose beginning is not there; it is said once of each.
    strays: BTreeSet<StreamId>,
    /// Bytes of all of them.
    kept: usize,
}

/// A stream's two directions.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) peer: Addr,
    pub(super) received: Half,
    pub(super) sent: Half,
}

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Half {
    /// When its first bytes went by; `None` if there were none.
    pub(super) since: Option<Instant>,
    pub(super) bytes: Vec<u8>,
    /// Bytes behind these that were not kept.
    pub(super) lost: usize,
}

/// What becomes of a record.
#[derive(Debug)]
pub(super) enum Gathered {
    /// There is nothing to be shown yet.
    Nothing,
    /// This stream has ended.
    Ended(Stream),
    /// The first piece of a stream whose beginning is not there, or of one too many.
    Stray(StreamId),
}

impl Streams {
    /// Takes in a record.
    pub(super) fn add(&mut self, now: Instant, record: &Record<'_>) -> Gathered {
        match *record {
            Record::Input(Input::Opened { on, peer })
            | Record::Output(Transmit::Dial { on, to: peer }, _) => {
                self.begin(on, peer);
                Gathered::Nothing
            }
            Record::Input(Input::Stream { on, bytes }) => {
                self.add_piece(now, on, Direction::In, bytes)
            }
            Record::Output(Transmit::Stream { on }, bytes) => {
                self.add_piece(now, on, Direction::Out, bytes)
            }
            Record::Input(Input::Closed {
                path: Path::Stream(on),
                ..
            })
            | Record::Output(Transmit::Finish { on } | Transmit::Abort { on }, _) => self.end(on),
            _ => Gathered::Nothing,
        }
    }

    /// What had not ended when the recording did.
    pub(super) fn finish(self) -> impl Iterator<Item = Stream> {
        self.open.into_values()
    }

    fn begin(&mut self, on: StreamId, peer: Addr) {
        if self.open.len() < STREAMS_MAX {
            // A client's stream is dialled, then opened: it is one.
            self.open.entry(on).or_insert_with(|| Stream {
                peer,
                received: Half::default(),
                sent: Half::default(),
            });
        }
    }

    fn add_piece(
        &mut self,
        now: Instant,
        on: StreamId,
        direction: Direction,
        bytes: &[u8],
    ) -> Gathered {
        let Some(stream) = self.open.get_mut(&on) else {
            let is_new = self.strays.len() < STREAMS_MAX && self.strays.insert(on);
            return if is_new {
                Gathered::Stray(on)
            } else {
                Gathered::Nothing
            };
        };
        let half = match direction {
            Direction::In => &mut stream.received,
            Direction::Out => &mut stream.sent,
        };
        half.since.get_or_insert(now);
        // Behind a gap nothing could be read.
        let room = match half.lost {
            0 => (STREAM_MAX - half.bytes.len()).min(KEPT_MAX - self.kept),
            _ => 0,
        };
        let kept = &bytes[..bytes.len().min(room)];
        half.bytes.extend_from_slice(kept);
        half.lost += bytes.len() - kept.len();
        self.kept += kept.len();
        Gathered::Nothing
    }

    fn end(&mut self, on: StreamId) -> Gathered {
        self.strays.remove(&on);
        match self.open.remove(&on) {
            Some(stream) => {
                self.kept -= stream.received.bytes.len() + stream.sent.bytes.len();
                Gathered::Ended(stream)
            }
            // Both sides may end it.
            None => Gathered::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use tickwire_session::{Ended, Host};

    use super::*;

    const ON: StreamId = StreamId::Accepted(3);
    const PEER: Addr = Addr {
        host: Host::Link(1),
        port: 0,
    };

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn opened(on: StreamId) -> Record<'static> {
        Record::Input(Input::Opened { on, peer: PEER })
    }

    fn heard(bytes: &[u8]) -> Record<'_> {
        Record::Input(Input::Stream { on: ON, bytes })
    }

    fn closed() -> Record<'static> {
        Record::Input(Input::Closed {
            path: Path::Stream(ON),
            why: Ended::Finished,
        })
    }

    #[test]
    fn pieces_of_each_direction_become_one() {
        let mut streams = Streams::default();
        streams.add(at(1), &opened(ON));
        streams.add(at(2), &heard(b"ab"));
        streams.add(at(3), &Record::Output(Transmit::Stream { on: ON }, b"xy"));
        streams.add(at(4), &heard(b"c"));
        let Gathered::Ended(stream) = streams.add(at(5), &closed()) else {
            panic!("it has ended");
        };
        assert_eq!(stream.received.bytes, b"abc");
        assert_eq!(stream.received.since, Some(at(2)));
        assert_eq!((&*stream.sent.bytes, stream.sent.lost), (&b"xy"[..], 0));
        assert_eq!(streams.kept, 0);
        assert_eq!(streams.finish().count(), 0);
    }

    #[test]
    fn a_stream_that_goes_on_is_there_at_the_end() {
        let mut streams = Streams::default();
        let (on, to) = (ON, PEER);
        streams.add(at(1), &Record::Output(Transmit::Dial { on, to }, &[]));
        streams.add(at(2), &opened(ON));
        streams.add(at(3), &heard(b"a"));
        let left: Vec<_> = streams.finish().collect();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].received.bytes, b"a");
    }

    #[test]
    fn a_stream_without_a_beginning_is_named_once() {
        let mut streams = Streams::default();
        let gathered = streams.add(at(1), &heard(b"a"));
        assert!(matches!(gathered, Gathered::Stray(ON)));
        let gathered = streams.add(at(2), &heard(b"b"));
        assert!(matches!(gathered, Gathered::Nothing));
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_is_not_is_counted() {
        let mut streams = Streams::default();
        streams.add(at(1), &opened(ON));
        let piece = vec![0; STREAM_MAX / 2 + 1];
        for _ in 0..3 {
            streams.add(at(2), &heard(&piece));
        }
        for number in 0..2 * u32::try_from(STREAMS_MAX).unwrap() {
            streams.add(at(3), &opened(StreamId::Dialled(number)));
        }
        assert_eq!(streams.open.len(), STREAMS_MAX);
        let half = &streams.open[&ON].received;
        assert_eq!(half.bytes.len(), STREAM_MAX);
        assert_eq!(half.lost, 3 * piece.len() - STREAM_MAX);
    }
}
