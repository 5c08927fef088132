//! The echo protocols against what one would expect of an echo.

use std::collections::{BTreeMap, VecDeque};

use tickwire_session::echo::{
    BYTES_WAITING, DATAGRAMS_WAITING, DatagramEcho, EVENTS_WAITING, LARGEST, StreamEcho,
    StreamHeard,
};
use tickwire_session::tap::Input;
use tickwire_session::{Instant, Path, Session, StreamId, Transmit};

use crate::driven::{Bounds, Driven, Seen, peer};
use crate::script::Script;

/// Datagrams of several peers, and questions of its own: every question gets its answer, in order.
///
/// # Panics
/// If an answer is missing, wrong or too much.
pub fn echo_datagrams(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let bounds = Bounds {
        transmits: DATAGRAMS_WAITING,
        events: EVENTS_WAITING,
        datagram: LARGEST,
    };
    let mut driven = Driven::new(DatagramEcho::default(), Instant::ZERO, bounds);
    let mut sent = VecDeque::new();
    let mut heard = VecDeque::new();
    while let Some(choice) = script.choice() {
        let addr = peer(choice >> 3);
        match choice & 7 {
            0 => driven.wait(&mut script),
            1 => drop(driven.path(&mut script)),
            2 => {
                let question = script.blob();
                driven.session.send(addr, question);
                sent.push_back((addr, [b"?", question].concat()));
            }
            // Half of the time with the first byte of a question or an answer.
            kind @ 3..=6 => {
                let prefix = ["?", "!", "", ""][usize::from(kind) - 3].as_bytes();
                let datagram = [prefix, script.blob()].concat();
                driven.datagram(addr, &datagram);
                match datagram.split_first() {
                    Some((b'?', question)) => sent.push_back((addr, [b"!", question].concat())),
                    Some((b'!', answer)) => heard.push_back((addr, answer.to_vec())),
                    _ => {}
                }
            }
            _ => driven.drain(|seen| match seen {
                Seen::Transmit(Transmit::Datagram { to }, bytes) => {
                    assert_eq!(sent.pop_front(), Some((to, bytes.to_vec())));
                }
                Seen::Transmit(other, _) => panic!("{other:?}"),
                Seen::Event(event) => {
                    assert_eq!(heard.pop_front(), Some((event.from, event.bytes)));
                }
            }),
        }
    }
    let mut peers = 0;
    driven.session.visit_peers(&mut |_| peers += 1);
    assert!(peers <= 1);
}

/// Streams in both directions, with any room: every byte comes back, in order, as room allows.
///
/// # Panics
/// If a byte is missing, wrong or too much.
pub fn echo_streams(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let bounds = Bounds {
        transmits: 256,
        events: EVENTS_WAITING,
        datagram: 0,
    };
    let mut driven = Driven::new(StreamEcho::default(), Instant::ZERO, bounds);
    let mut model = Streams::default();
    while let Some(choice) = script.choice() {
        let dialled = StreamId::Dialled(u32::from(choice >> 3));
        match choice & 7 {
            0 => driven.wait(&mut script),
            1..=3 => {
                if let Some(input) = driven.path(&mut script) {
                    model.apply(input);
                }
            }
            4 if model.waiting.len() < DIALLED_MAX => {
                let on = driven.session.dial(peer(choice >> 3));
                model.waiting.insert(on, VecDeque::new());
            }
            5 => {
                let bytes = script.blob();
                driven.session.send(dialled, bytes);
                model.queue(dialled, bytes);
            }
            6 => driven.session.finish(match choice >> 3 & 1 {
                0 => dialled,
                _ => StreamId::Accepted(u32::from(choice >> 4)),
            }),
            _ => driven.drain(|seen| model.check(seen)),
        }
        let mut peers = 0;
        driven.session.visit_peers(&mut |_| peers += 1);
        assert_eq!(peers, model.waiting.len());
    }
}

/// Streams that a script lets the session have, its own dialling included.
const DIALLED_MAX: usize = 24;

/// What an echo over streams owes.
#[derive(Debug, Default)]
struct Streams {
    /// Bytes to come, of every stream that the session has.
    waiting: BTreeMap<StreamId, VecDeque<u8>>,
    heard: VecDeque<StreamHeard>,
}

impl Streams {
    fn apply(&mut self, input: Input<'_>) {
        match input {
            Input::Opened { on, .. } => {
                self.waiting.entry(on).or_default();
                self.heard.push_back(StreamHeard::Opened(on));
            }
            Input::Stream { on, bytes } => match on {
                StreamId::Accepted(_) => self.queue(on, bytes),
                StreamId::Dialled(_) => {
                    self.heard.push_back(StreamHeard::Bytes(on, bytes.into()));
                }
            },
            Input::Closed {
                path: Path::Stream(on),
                why,
            } => {
                self.waiting.remove(&on);
                self.heard.push_back(StreamHeard::Closed(on, why));
            }
            _ => {}
        }
    }

    /// Owes `bytes` on a stream, or gives the stream up.
    fn queue(&mut self, on: StreamId, bytes: &[u8]) {
        if let Some(waiting) = self.waiting.get_mut(&on) {
            waiting.extend(bytes);
            if waiting.len() > BYTES_WAITING {
                self.waiting.remove(&on);
            }
        }
    }

    fn check(&mut self, seen: Seen<'_, StreamHeard>) {
        match seen {
            Seen::Transmit(Transmit::Stream { on }, bytes) => {
                let waiting = self.waiting.get_mut(&on).expect("nothing is owed");
                assert!(waiting.drain(..bytes.len()).eq(bytes.iter().copied()));
            }
            Seen::Transmit(Transmit::Finish { on }, _) => {
                let owed = self.waiting.remove(&on).expect("finished twice");
                assert!(owed.is_empty());
            }
            Seen::Transmit(Transmit::Abort { on }, _) => {
                assert!(!self.waiting.contains_key(&on), "given up too early");
            }
            Seen::Transmit(Transmit::Dial { on, .. }, _) => {
                assert!(matches!(on, StreamId::Dialled(_)));
            }
            Seen::Transmit(other, _) => panic!("{other:?}"),
            Seen::Event(event) => assert_eq!(self.heard.pop_front(), Some(event)),
        }
    }
}
