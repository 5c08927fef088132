//! A server, and a script that speaks for its clients.
//!
//! Client `n` is at 10.0.0.`n`: its stream is number `n`, its datagrams come from port 5000.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tickwire_dialects::cppevy::message::{Joined, Object, Sender};
use tickwire_dialects::cppevy::{
    ActionId, ActionToken, Server, ServerConfig, ServerCounters, ServerEvent,
};
use tickwire_session::{Addr, Ended, Events, Instant, Path, Session, StreamId, Transmit};
use tickwire_sim::addr::machine;

use super::{Mail, room};
use crate::words::{SHIP, attach, join, payload, registry};

pub(crate) struct ServerScript {
    pub(crate) server: Server,
    pub(crate) now: Instant,
    /// What every stream takes at a time; given back when it was used, unless `stuffed`.
    pub(crate) window: u32,
    pub(crate) stuffed: bool,
    bytes: BTreeMap<StreamId, Vec<u8>>,
    streams: BTreeMap<StreamId, Vec<Mail>>,
    datagrams: BTreeMap<Addr, Vec<Mail>>,
    ended: BTreeSet<StreamId>,
    events: Vec<ServerEvent>,
}

/// The secret of the script's server.
const SECRET: [u8; 32] = [0x5a; 32];

pub(crate) const fn stream(client: u8) -> StreamId {
    StreamId::Accepted(client as u32)
}

pub(crate) const fn addr(client: u8) -> Addr {
    machine(client, 5_000)
}

impl ServerScript {
    pub(crate) fn new() -> Self {
        Self::with(None)
    }

    /// A server for so many clients.
    pub(crate) fn with(clients: Option<u16>) -> Self {
        // Not at zero: a timestamp counts from the beginning of the session, not of the clock.
        let now = Instant::from_millis(5_000);
        let config = ServerConfig {
            registry: registry(),
            actor: SHIP,
            clients,
        };
        Self {
            server: Server::new(now, SECRET, config),
            now,
            window: 64 * 1_024,
            stuffed: false,
            bytes: BTreeMap::new(),
            streams: BTreeMap::new(),
            datagrams: BTreeMap::new(),
            ended: BTreeSet::new(),
            events: Vec::new(),
        }
    }

    /// Client `n` opens its stream.
    #[track_caller]
    pub(crate) fn open(&mut self, client: u8) {
        self.open_from(client, machine(client, 4_000));
    }

    /// Client `n` opens its stream from elsewhere.
    #[track_caller]
    pub(crate) fn open_from(&mut self, client: u8, peer: Addr) {
        let on = stream(client);
        self.server.handle_opened(self.now, on, peer);
        self.give_room(on);
        self.drain();
    }

    /// Client `n` opens its stream, joins, and reads everything it is told. Returns what it was told
    /// about itself.
    #[track_caller]
    pub(crate) fn join(&mut self, client: u8) -> Joined {
        self.join_from(client, machine(client, 4_000))
    }

    /// The same from elsewhere.
    #[track_caller]
    pub(crate) fn join_from(&mut self, client: u8, peer: Addr) -> Joined {
        self.open_from(client, peer);
        self.send(client, &[join("ann")]);
        let heard = self.hears(client);
        let Some(Object::Success { action, message }) = heard.first() else {
            panic!("not a success: {heard:?}");
        };
        assert_eq!(*action, ActionId::JOIN);
        Joined::decode(message.bytes()).expect("actor and token")
    }

    /// Client `n` joins and attaches, and everybody reads everything. Returns its actor's number.
    #[track_caller]
    pub(crate) fn play(&mut self, client: u8) -> u16 {
        let joined = self.join(client);
        self.cast(client, &[attach(joined.token.0)]);
        self.forget();
        joined.actor.number()
    }

    /// Client `n` sends objects on its stream.
    #[track_caller]
    pub(crate) fn send(&mut self, client: u8, objects: &[Object<'_>]) {
        self.send_bytes(client, &payload(0, objects));
    }

    #[track_caller]
    pub(crate) fn send_bytes(&mut self, client: u8, bytes: &[u8]) {
        self.server.handle_stream(self.now, stream(client), bytes);
        self.drain();
    }

    /// Client `n` sends objects by datagram.
    #[track_caller]
    pub(crate) fn cast(&mut self, client: u8, objects: &[Object<'_>]) {
        self.cast_from(addr(client), objects);
    }

    #[track_caller]
    pub(crate) fn cast_from(&mut self, from: Addr, objects: &[Object<'_>]) {
        self.cast_bytes(from, &payload(0, objects));
    }

    #[track_caller]
    pub(crate) fn cast_bytes(&mut self, from: Addr, bytes: &[u8]) {
        self.server.handle_datagram(self.now, from, bytes);
        self.drain();
    }

    /// What client `n` was told by stream since this was last asked.
    pub(crate) fn hears(&mut self, client: u8) -> Vec<Object<'static>> {
        self.hears_on(stream(client))
    }

    /// What was told on a stream since this was last asked.
    pub(crate) fn hears_on(&mut self, on: StreamId) -> Vec<Object<'static>> {
        let mail = self.streams.remove(&on).unwrap_or_default();
        mail.into_iter().flat_map(|mail| mail.objects).collect()
    }

    pub(crate) fn stream_mail(&mut self, client: u8) -> Vec<Mail> {
        self.streams.remove(&stream(client)).unwrap_or_default()
    }

    /// What client `n` was told by datagram since this was last asked.
    pub(crate) fn catches(&mut self, client: u8) -> Vec<Object<'static>> {
        let mail = self.datagram_mail(addr(client));
        mail.into_iter().flat_map(|mail| mail.objects).collect()
    }

    pub(crate) fn datagram_mail(&mut self, at: Addr) -> Vec<Mail> {
        self.datagrams.remove(&at).unwrap_or_default()
    }

    /// Nobody was told anything.
    #[track_caller]
    pub(crate) fn expects_nothing(&self) {
        assert_eq!(self.datagrams, BTreeMap::new());
        assert_eq!(self.streams, BTreeMap::new());
    }

    /// Whether the server ended the stream of client `n`.
    pub(crate) fn has_closed(&self, client: u8) -> bool {
        self.ended.contains(&stream(client))
    }

    /// Whether the server ended a stream.
    pub(crate) fn has_ended(&self, on: StreamId) -> bool {
        self.ended.contains(&on)
    }

    /// Client `n` closes its stream.
    #[track_caller]
    pub(crate) fn close(&mut self, client: u8) {
        let path = Path::Stream(stream(client));
        self.server.handle_closed(self.now, path, Ended::Finished);
        self.drain();
    }

    /// What the game was told since this was last asked.
    pub(crate) fn events(&mut self) -> Vec<ServerEvent> {
        core::mem::take(&mut self.events)
    }

    /// The one action that the game was told of.
    #[track_caller]
    pub(crate) fn action(&mut self) -> ActionToken {
        match &self.events()[..] {
            [ServerEvent::Action { token, .. }] => *token,
            other => panic!("not one action: {other:?}"),
        }
    }

    /// Lets the game act on the server, then sends what that caused.
    #[track_caller]
    pub(crate) fn game<T>(&mut self, act: impl FnOnce(Instant, &mut Server) -> T) -> T {
        let result = act(self.now, &mut self.server);
        self.drain();
        result
    }

    /// Drops what was sent and told so far.
    pub(crate) fn forget(&mut self) {
        self.streams.clear();
        self.datagrams.clear();
        self.events.clear();
    }

    pub(crate) fn counters(&self) -> ServerCounters {
        *self.server.counters()
    }

    /// Milliseconds of the server's clock.
    pub(crate) fn timestamp(&self) -> u32 {
        u32::try_from(self.now.as_millis() - 5_000).expect("scripts are short")
    }

    /// The word for where client `n` stands.
    pub(crate) fn state(&self, client: u8) -> Option<&'static str> {
        let mut state = None;
        self.server.visit_peers(&mut |peer| {
            if peer.addr.host == addr(client).host {
                state = Some(peer.state);
            }
        });
        state
    }

    /// Time passes, and the server's clock runs.
    #[track_caller]
    pub(crate) fn advance(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(at) = self.server.poll_timeout().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.server.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
    }

    /// Time passes while these clients keep their streams alive.
    #[track_caller]
    pub(crate) fn live(&mut self, span: Duration, clients: &[u8]) {
        let until = self.now + span;
        while self.now < until {
            self.advance(Duration::from_secs(1).min(until.since(self.now)));
            clients.iter().for_each(|client| self.send(*client, &[]));
        }
    }

    pub(crate) fn give_room(&mut self, on: StreamId) {
        let room = room(self.window);
        self.server.handle_room(self.now, Path::Stream(on), room);
    }

    /// Obeys the drain rule.
    #[track_caller]
    pub(crate) fn drain(&mut self) {
        for _ in 0..100_000 {
            let mut out = Vec::new();
            while let Some(transmit) = self.server.poll_transmit(self.now, &mut out) {
                self.carry_out(transmit, core::mem::take(&mut out));
            }
            self.events
                .extend(core::iter::from_fn(|| self.server.poll_event()));
            if self.server.poll_timeout().is_none_or(|at| at > self.now) {
                return;
            }
            self.server.handle_timeout(self.now);
        }
        panic!("draining never ends");
    }

    #[track_caller]
    fn carry_out(&mut self, transmit: Transmit, bytes: Vec<u8>) {
        match transmit {
            Transmit::Datagram { to } => {
                let mail = Mail::decode(bytes, Sender::Server);
                self.datagrams.entry(to).or_default().push(mail);
            }
            Transmit::Stream { on } => {
                assert!(!self.ended.contains(&on), "{on:?} has ended");
                let stream = self.bytes.entry(on).or_default();
                stream.extend(bytes);
                let mail = Mail::take_all(stream, Sender::Server);
                if !mail.is_empty() {
                    self.streams.entry(on).or_default().extend(mail);
                }
                if !self.stuffed {
                    self.give_room(on);
                }
            }
            Transmit::Finish { on } | Transmit::Abort { on } => {
                assert!(self.ended.insert(on), "{on:?} ended twice");
            }
            Transmit::Dial { .. } | Transmit::Segments { .. } | Transmit::Unlink { .. } => {
                panic!("{transmit:?}")
            }
        }
    }
}
