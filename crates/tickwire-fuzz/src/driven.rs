//! A driver that keeps every promise of the contract, and checks that the session keeps its own.
//!
//! [`Driven`] owns the clock, the streams and the drain. What a protocol promises beyond
//! [`Session`](tickwire_session::Session), such as which bytes may come out, is checked by the
//! target, which is shown everything.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_session::tap::Input;
use tickwire_session::{Addr, Ended, Events, Host, Instant, Path, Room, StreamId, Transmit};

use crate::script::Script;

/// A session, its clock and its streams.
pub(crate) struct Driven<S> {
    pub(crate) session: S,
    now: Instant,
    bounds: Bounds,
    streams: BTreeMap<StreamId, Stream>,
    accepted: u32,
    storms: u8,
}

/// How much may come of one drain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Results of `poll_transmit`.
    pub(crate) transmits: usize,
    pub(crate) events: usize,
    /// Bytes of one datagram.
    pub(crate) datagram: usize,
}

/// What the driver knows of a stream.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// What was reported last, less what was sent since; `None` while it is being dialled.
    room: Option<u32>,
    peer: Addr,
}

/// What a drain brought to light.
pub(crate) enum Seen<'a, E> {
    Transmit(Transmit, &'a [u8]),
    Event(E),
}

impl<S: Events> Driven<S> {
    pub(crate) const fn new(session: S, now: Instant, bounds: Bounds) -> Self {
        Self {
            session,
            now,
            bounds,
            streams: BTreeMap::new(),
            accepted: 0,
            storms: 0,
        }
    }

    pub(crate) const fn now(&self) -> Instant {
        self.now
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, script: &mut Script<'_>) {
        let choice = script.u8();
        let step = u64::from(choice >> 2);
        match choice & 3 {
            0 => self.now += Duration::from_millis(step),
            1 => self.now += Duration::from_micros(step),
            2 => self.now += Duration::from_millis(step * 300),
            // Exactly when the session wants to be woken, as drivers do.
            _ => {
                self.now = self
                    .session
                    .poll_timeout()
                    .map_or(self.now, |t| t.max(self.now))
            }
        }
    }

    /// Nothing happens for so long.
    pub(crate) fn pass(&mut self, span: Duration) {
        self.now += span;
    }

    pub(crate) fn datagram(&mut self, from: Addr, bytes: &[u8]) {
        self.session.handle_datagram(self.now, from, bytes);
    }

    /// How often a datagram comes in a storm, which nobody drains: not at all, after some storms.
    pub(crate) const fn storm(&mut self) -> usize {
        if self.storms == STORMS_MAX {
            return 0;
        }
        self.storms += 1;
        STORM
    }

    /// Whether bytes may come on a stream.
    pub(crate) fn is_open(&self, on: StreamId) -> bool {
        let stream = self.streams.get(&on);
        stream.is_some_and(|stream| stream.room.is_some())
    }

    /// Bytes of a stream, in two pieces if they are longer than `cut`.
    pub(crate) fn stream(&mut self, on: StreamId, bytes: &[u8], cut: usize) {
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        for piece in [first, second] {
            self.session.handle_stream(self.now, on, piece);
        }
    }

    /// One more thing that a driver may say of its paths; returns it, with the bytes of a stream.
    pub(crate) fn path<'a>(&mut self, script: &mut Script<'a>) -> Option<Input<'a>> {
        let choice = script.u8();
        let input = match choice & 7 {
            0 => self.build_accepted(script)?,
            1 => {
                let room = Room {
                    bytes: script.u32(),
                    largest: script.u16(),
                };
                let path = Path::Datagrams(peer(script.u8()));
                Input::Room { path, room }
            }
            2 => Input::Closed {
                path: Path::Datagrams(peer(script.u8())),
                why: why(choice),
            },
            3 => Input::Timeout,
            _ => self.build_on_stream(choice, script)?,
        };
        input.apply_to(&mut self.session, self.now);
        Some(input)
    }

    /// One more thing of a path, to a session whose streams the script keeps in mind.
    pub(crate) fn path_among<'a, T: Default>(
        &mut self,
        streams: &mut BTreeMap<StreamId, T>,
        script: &mut Script<'a>,
    ) -> Option<Input<'a>> {
        let input = self.path(script)?;
        match input {
            Input::Opened { on, .. } => drop(streams.insert(on, T::default())),
            Input::Closed {
                path: Path::Stream(on),
                ..
            } => drop(streams.remove(&on)),
            _ => {}
        }
        Some(input)
    }

    fn build_accepted(&mut self, script: &mut Script<'_>) -> Option<Input<'static>> {
        if self.streams.len() == STREAMS_MAX {
            return None;
        }
        let (on, peer) = (StreamId::Accepted(self.accepted), peer(script.u8()));
        self.accepted += 1;
        let room = Some(Room::CLOSED.bytes);
        self.streams.insert(on, Stream { room, peer });
        Some(Input::Opened { on, peer })
    }

    /// Something about a stream that exists; what can be said depends on how far it has come.
    fn build_on_stream<'a>(&mut self, choice: u8, script: &mut Script<'a>) -> Option<Input<'a>> {
        let nth = usize::from(choice >> 3) % self.streams.len().max(1);
        let (&on, stream) = self.streams.iter_mut().nth(nth)?;
        let ends = choice & 7 == 7;
        if ends {
            self.streams.remove(&on);
            let (path, why) = (Path::Stream(on), why(script.u8()));
            return Some(Input::Closed { path, why });
        }
        let Some(known) = stream.room else {
            stream.room = Some(Room::CLOSED.bytes);
            let peer = stream.peer;
            return Some(Input::Opened { on, peer });
        };
        Some(match choice & 7 {
            4 => {
                let bytes = match script.u8() {
                    0 => FLOOD,
                    length => script.bytes(length.into()),
                };
                Input::Stream { on, bytes }
            }
            _ => {
                let (bytes, path) = (u32::from(script.u16()), Path::Stream(on));
                // Reports replace each other; mostly more room than before.
                let bytes = if choice & 7 == 5 {
                    bytes
                } else {
                    known.saturating_add(bytes)
                };
                stream.room = Some(bytes);
                let room = Room { bytes, largest: 0 };
                Input::Room { path, room }
            }
        })
    }

    /// Carries out the drain rule, up to a session that sleeps, and shows all that came of it.
    pub(crate) fn drain(&mut self, mut see: impl FnMut(Seen<'_, S::Event>)) {
        self.poll(&mut see);
        if self
            .session
            .poll_timeout()
            .is_some_and(|due| due <= self.now)
        {
            self.session.handle_timeout(self.now);
            self.poll(&mut see);
        }
        let due = self.session.poll_timeout();
        assert!(due.is_none_or(|due| due > self.now), "it would never sleep");
    }

    /// Looks at every figure, and counts the peers.
    pub(crate) fn check_figures(&self) -> usize {
        let mut peers = 0;
        self.session.visit_peers(&mut |stats| {
            peers += 1;
            assert!(stats.loss.is_none_or(|loss| (0.0..=1.0).contains(&loss)));
        });
        self.session.visit_counters(&mut |_, _| ());
        peers
    }

    /// Only a session that is over never wants to be woken.
    pub(crate) fn check_sleep(&self, is_over: bool) {
        assert_eq!(self.session.poll_timeout().is_none(), is_over);
    }

    fn poll(&mut self, see: &mut impl FnMut(Seen<'_, S::Event>)) {
        let mut out = Vec::new();
        let mut count = 0;
        while let Some(transmit) = self.session.poll_transmit(self.now, &mut out) {
            self.carry(transmit, out.len());
            see(Seen::Transmit(transmit, &out));
            out.clear();
            count += 1;
            assert!(count <= self.bounds.transmits, "it sends without end");
        }
        assert!(out.is_empty(), "bytes without an order");
        count = 0;
        while let Some(event) = self.session.poll_event() {
            see(Seen::Event(event));
            count += 1;
            assert!(count <= self.bounds.events, "more events than may wait");
        }
    }

    fn carry(&mut self, transmit: Transmit, length: usize) {
        match transmit {
            Transmit::Datagram { .. } => {
                assert!(
                    length > 0 && length <= self.bounds.datagram,
                    "{length} bytes"
                );
            }
            Transmit::Segments { size, .. } => {
                let size = usize::from(size);
                assert!(
                    size > 0 && size <= self.bounds.datagram,
                    "{size} bytes each"
                );
                assert!(length > 0, "no datagram at all");
            }
            Transmit::Stream { on } => {
                let stream = self.streams.get_mut(&on).expect("it knows that it ended");
                let room = stream.room.expect("it is not open yet");
                let length = u32::try_from(length).expect("streams are sent in pieces");
                assert!(length > 0, "an empty piece");
                stream.room = Some(
                    room.checked_sub(length)
                        .expect("more than there is room for"),
                );
            }
            Transmit::Dial { on, to } => {
                assert!(matches!(on, StreamId::Dialled(_)));
                let stream = Stream {
                    room: None,
                    peer: to,
                };
                assert!(
                    self.streams.insert(on, stream).is_none(),
                    "the number is in use"
                );
            }
            // The stream may have ended in the same batch; then the order means nothing.
            Transmit::Finish { on } | Transmit::Abort { on } => {
                self.streams.remove(&on);
            }
            // A link as well.
            Transmit::Unlink { .. } => {}
        }
        assert!(
            length == 0
                || matches!(
                    transmit,
                    Transmit::Datagram { .. } | Transmit::Segments { .. } | Transmit::Stream { .. }
                )
        );
    }
}

/// One of a dozen addresses: some share a machine, one is a link.
pub(crate) const fn peer(choice: u8) -> Addr {
    let number = choice % PEERS;
    let host = match number {
        0 => Host::Link(7),
        _ => Host::Ip(std::net::IpAddr::V4(std::net::Ipv4Addr::new(
            10,
            0,
            0,
            number / 3,
        ))),
    };
    let port = 4_000 + number as u16;
    Addr { host, port }
}

/// The number of an address.
///
/// # Panics
/// If nobody has it.
pub(crate) fn number_of(addr: Addr) -> usize {
    let number = (0..PEERS).find(|&number| peer(number) == addr);
    number.expect("nobody has that address").into()
}

/// How many addresses [`peer`] knows: more than lwar has places.
pub(crate) const PEERS: u8 = 12;

const fn why(choice: u8) -> Ended {
    match choice >> 6 {
        0 => Ended::Finished,
        1 => Ended::Reset,
        2 => Ended::Refused,
        _ => Ended::Unreachable,
    }
}

/// Streams that a driver lets live at a time.
const STREAMS_MAX: usize = 16;

/// How often a datagram comes in a storm, and how many storms a script may have: together enough to
/// fill every queue of a session.
const STORM: usize = 256;
/// See [`STORM`].
const STORMS_MAX: u8 = 6;

/// More than a script could spell out, so that queues fill.
static FLOOD: &[u8] = &[0x5a; 60_000];
