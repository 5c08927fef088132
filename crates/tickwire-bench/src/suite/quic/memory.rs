//! What a connection keeps in memory: when it is idle, and when both of its directions are stuck.
//!
//! Server and clients are in one process, so that an idle connection counts with both of its ends. The windows are
//! filled one after the other. What clients send is received and not read: it is the server's alone, because it was
//! acknowledged. Then the clients fall silent, and what the server sends is never acknowledged.

use std::time::Duration;

use tickwire_net::Driver;
use tickwire_net::limits::{LINK_RECEIVE_WINDOW, LINK_STREAM_WINDOW};
use tickwire_net::quic::Congestion;
use tickwire_session::{
    Addr, Idle, Instant, Path, Room, Session, StreamId, Transmit, pass_on_session,
};

use super::table::{CLIENTS, connect, listen};
use crate::suite::heap::heap_bytes;
use crate::suite::report::{Figure, Target};
use crate::suite::rounds::Spread;

/// Streams of a connection: as many as it takes to fill the window of all of them.
const STREAMS: u32 = LINK_RECEIVE_WINDOW / LINK_STREAM_WINDOW;

const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let before = heap_bytes();
    let (mut server, client) = listen(Congestion::default())?;
    let mut stuck = Stuck::default();
    let mut clients = Driver::new()?;
    let mut pilots = Vec::new();
    for _ in 0..CLIENTS {
        let to = connect(&mut clients, &client)?;
        pilots.push(Stuck::dialling(to));
    }
    // The byte that a stream begins with counts, too.
    let most = LINK_STREAM_WINDOW as usize - 1;
    let received = most * CLIENTS * STREAMS as usize;
    for pilot in &mut pilots {
        pilot.each = most;
    }
    let deadline = server.now() + PATIENCE;
    let mut poured = 0;
    let mut quiet_since = server.now();
    while server.now().since(quiet_since) < Duration::from_millis(500) {
        anyhow::ensure!(server.now() < deadline, "{poured} of {received} went");
        let mut sessions: Vec<_> = pilots
            .iter_mut()
            .map(|pilot| pilot as &mut dyn Session)
            .collect();
        let until = clients.now() + Duration::from_millis(1);
        clients.turn(until, &mut sessions)?;
        let until = server.now() + Duration::from_millis(1);
        server.turn(until, &mut [&mut stuck])?;
        poured = pilots.iter().map(|pilot| pilot.poured).sum();
        // The last acknowledgements are under way then.
        if poured < received {
            quiet_since = server.now();
        }
    }
    stuck.each = usize::MAX;
    let until = server.now() + Duration::from_millis(500);
    server.run_until(until, &mut [&mut stuck])?;
    let kept = (heap_bytes() - before) / CLIENTS as f64;
    anyhow::ensure!(stuck.heard == 0, "it read {} bytes", stuck.heard);
    let sent = stuck.poured / CLIENTS;
    Ok(vec![
        Figure {
            target: Some(Target::AtMost(FULL)),
            ..Figure::plain("· windows full", Spread::exactly(kept), "bytes/connection")
        },
        Figure::plain(
            "· · received, not read",
            Spread::exactly((received / CLIENTS) as f64),
            "bytes/connection",
        ),
        Figure::plain(
            "· · sent, not acknowledged",
            Spread::exactly(sent as f64),
            "bytes/connection",
        ),
    ])
}

/// What SECURITY.md says of a connection at its worst, and an idle one at both ends.
const FULL: f64 = 1_024.0 * 1_024.0;

/// A session that sends as much as it may and reads nothing.
#[derive(Default)]
struct Stuck {
    /// Whom to open streams to.
    dials: Vec<(StreamId, Addr)>,
    /// What may be sent on each stream, and what was.
    streams: Vec<(StreamId, usize, usize)>,
    /// What is to be sent on each.
    each: usize,
    poured: usize,
    heard: usize,
}

impl Stuck {
    fn dialling(to: Addr) -> Self {
        Self {
            dials: (0..STREAMS).map(|on| (StreamId::Dialled(on), to)).collect(),
            ..Self::default()
        }
    }
}

impl Session for Stuck {
    fn handle_opened(&mut self, _now: Instant, on: StreamId, _peer: Addr) {
        self.streams.push((on, 0, 0));
    }

    fn handle_stream(&mut self, _now: Instant, _on: StreamId, bytes: &[u8]) {
        self.heard += bytes.len();
    }

    fn handle_room(&mut self, _now: Instant, path: Path, room: Room) {
        let of_path = |stream: &&mut (StreamId, usize, usize)| path == Path::Stream(stream.0);
        if let Some(stream) = self.streams.iter_mut().find(of_path) {
            stream.1 = room.bytes as usize;
        }
    }

    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some((on, to)) = self.dials.pop() {
            return Some(Transmit::Dial { on, to });
        }
        let each = self.each;
        let has_room = |stream: &&mut (StreamId, usize, usize)| stream.1.min(each - stream.2) > 0;
        let (on, room, sent) = self.streams.iter_mut().find(has_room)?;
        let taken = (*room).min(each - *sent);
        *room -= taken;
        *sent += taken;
        self.poured += taken;
        out.resize(out.len() + taken, 7);
        Some(Transmit::Stream { on: *on })
    }

    fn is_reading(&self, _on: StreamId) -> bool {
        false
    }

    pass_on_session!(self => Idle; handle_datagram handle_closed handle_timeout poll_timeout set_busy
        shut_down is_finished visit_peers visit_counters);
}
