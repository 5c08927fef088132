//! A client in its server's process: its session runs where the game updates it, its network where the server is
//! driven.
//!
//! [`Seat`] is the client's end: it hands its session what arrived and takes what the session sends. [`Proxy`] is the
//! other: the session that the server's driver sees, at the end of a memory link to the server. Neither decodes
//! anything. Between them is a queue each way, so that the two may run on different threads.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tickwire_session::tap::Input;
use tickwire_session::{
    Addr, Ended, Idle, Instant, Path, Room, Session, StreamId, Transmit, pass_on_session,
};

/// Datagrams that wait for a game that does not update its client: more than two seconds of them. As on a socket, what
/// comes then is lost.
const DATAGRAMS_WAITING: usize = 256;

/// The client's end.
#[derive(Debug)]
pub(crate) struct Seat(Arc<Mutex<Queues>>);

/// The server's end: what its driver takes for the client.
#[derive(Debug)]
pub(crate) struct Proxy(Arc<Mutex<Queues>>);

#[derive(Debug, Default)]
struct Queues {
    down: VecDeque<Arrived>,
    datagrams: usize,
    up: VecDeque<(Transmit, Vec<u8>)>,
}

/// What the driver handed in.
#[derive(Debug)]
enum Arrived {
    Opened(StreamId, Addr),
    Stream(StreamId, Vec<u8>),
    Datagram(Addr, Vec<u8>),
    Room(Path, Room),
    Closed(Path, Ended),
}

impl Arrived {
    fn input(&self) -> Input<'_> {
        match self {
            Self::Opened(on, peer) => Input::Opened {
                on: *on,
                peer: *peer,
            },
            Self::Stream(on, bytes) => Input::Stream { on: *on, bytes },
            Self::Datagram(from, bytes) => Input::Datagram { from: *from, bytes },
            Self::Room(path, room) => Input::Room {
                path: *path,
                room: *room,
            },
            Self::Closed(path, why) => Input::Closed {
                path: *path,
                why: *why,
            },
        }
    }
}

/// The two ends of one client.
pub(crate) fn pair() -> (Seat, Proxy) {
    let queues = Arc::<Mutex<Queues>>::default();
    (Seat(Arc::clone(&queues)), Proxy(queues))
}

impl Seat {
    /// Hands in what arrived, wakes the session if it is time, and takes what it sends.
    pub(crate) fn turn(&self, now: Instant, session: &mut dyn Session) {
        let arrived = core::mem::take(&mut lock(&self.0).down);
        lock(&self.0).datagrams = 0;
        for arrived in arrived {
            arrived.input().apply_to(session, now);
        }
        if session.poll_timeout().is_some_and(|due| due <= now) {
            session.handle_timeout(now);
        }
        let mut bytes = Vec::new();
        while let Some(transmit) = session.poll_transmit(now, &mut bytes) {
            lock(&self.0)
                .up
                .push_back((transmit, core::mem::take(&mut bytes)));
        }
    }
}

impl Proxy {
    /// Whether the client is gone, and nothing of it is left to send.
    pub(crate) fn is_over(&self) -> bool {
        Arc::strong_count(&self.0) == 1 && lock(&self.0).up.is_empty()
    }

    fn push(&self, arrived: Arrived) {
        let mut queues = lock(&self.0);
        if let Arrived::Datagram(..) = arrived {
            if queues.datagrams >= DATAGRAMS_WAITING {
                return;
            }
            queues.datagrams += 1;
        }
        queues.down.push_back(arrived);
    }
}

/// Nothing that holds the lock panics in between, so what it guards is whole.
fn lock(queues: &Mutex<Queues>) -> MutexGuard<'_, Queues> {
    queues.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session for Proxy {
    fn handle_opened(&mut self, _now: Instant, on: StreamId, peer: Addr) {
        self.push(Arrived::Opened(on, peer));
    }

    fn handle_stream(&mut self, _now: Instant, on: StreamId, bytes: &[u8]) {
        self.push(Arrived::Stream(on, bytes.to_vec()));
    }

    fn handle_datagram(&mut self, _now: Instant, from: Addr, bytes: &[u8]) {
        self.push(Arrived::Datagram(from, bytes.to_vec()));
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        self.push(Arrived::Room(path, room));
    }

    fn handle_closed(&mut self, _now: Instant, path: Path, why: Ended) {
        self.push(Arrived::Closed(path, why));
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let (transmit, bytes) = lock(&self.0).up.pop_front()?;
        out.extend(bytes);
        Some(transmit)
    }

    fn is_finished(&self) -> bool {
        self.is_over()
    }

    pass_on_session!(self => Idle; handle_timeout poll_timeout set_busy shut_down visit_peers visit_counters);
}
