//! A client, and a script that speaks for its server.

use std::time::Duration;

use tickwire_dialects::cppevy::message::{Object, Sender};
use tickwire_dialects::cppevy::{
    ActionId, Client, ClientConfig, ClientCounters, ClientEvent, Phase,
};
use tickwire_session::{Addr, Ended, Events, Instant, Path, Session, StreamId, Transmit};
use tickwire_sim::addr::machine;

use super::{Mail, room};
use crate::words::{SHIP, join, joined, payload, payloads, registry, success, summon};

/// Where the script's server is.
pub(crate) const SERVER: Addr = machine(200, 27_600);

const STREAM: StreamId = StreamId::Dialled(0);

pub(crate) struct ClientScript {
    pub(crate) client: Client,
    pub(crate) now: Instant,
    bytes: Vec<u8>,
    stream: Vec<Mail>,
    datagrams: Vec<Mail>,
    dialled: bool,
    ended: bool,
    events: Vec<ClientEvent>,
}

impl ClientScript {
    /// A client called ann that dials.
    #[track_caller]
    pub(crate) fn dialling() -> Self {
        let now = Instant::from_millis(7_000);
        let config = ClientConfig {
            server: SERVER,
            name: "ann".into(),
            registry: registry(),
        };
        let mut script = Self {
            client: Client::new(now, config),
            now,
            bytes: Vec::new(),
            stream: Vec::new(),
            datagrams: Vec::new(),
            dialled: false,
            ended: false,
            events: Vec::new(),
        };
        script.drain();
        assert!(script.dialled, "it dials at once");
        script
    }

    /// A client whose stream is open, and that has asked to join.
    #[track_caller]
    pub(crate) fn joining() -> Self {
        let mut script = Self::dialling();
        script.client.handle_opened(script.now, STREAM, SERVER);
        script.give_room();
        script.drain();
        assert_eq!(script.said(), [join("ann")]);
        script
    }

    /// A client that has joined as actor 1, and shows the token 99.
    #[track_caller]
    pub(crate) fn attaching() -> Self {
        let mut script = Self::joining();
        script.tell(&[joined(1, 99), summon(1, SHIP)]);
        assert_eq!(script.client.phase(), Phase::Attaching);
        script
    }

    /// A client that plays as actor 1.
    #[track_caller]
    pub(crate) fn playing() -> Self {
        let mut script = Self::attaching();
        script.show(&[success(ActionId::ATTACH, &[])]);
        assert_eq!(script.client.phase(), Phase::Playing);
        script.forget();
        script
    }

    /// The server sends objects on the stream.
    #[track_caller]
    pub(crate) fn tell(&mut self, objects: &[Object<'_>]) {
        for payload in payloads(self.timestamp(), objects) {
            self.tell_bytes(&payload);
        }
    }

    #[track_caller]
    pub(crate) fn tell_bytes(&mut self, bytes: &[u8]) {
        self.client.handle_stream(self.now, STREAM, bytes);
        self.drain();
    }

    /// The server sends a datagram with objects of this moment.
    #[track_caller]
    pub(crate) fn show(&mut self, objects: &[Object<'_>]) {
        self.show_at(self.timestamp(), objects);
    }

    /// The server sends a datagram that speaks of `timestamp`.
    #[track_caller]
    pub(crate) fn show_at(&mut self, timestamp: u32, objects: &[Object<'_>]) {
        self.show_bytes(SERVER, &payload(timestamp, objects));
    }

    #[track_caller]
    pub(crate) fn show_bytes(&mut self, from: Addr, bytes: &[u8]) {
        self.client.handle_datagram(self.now, from, bytes);
        self.drain();
    }

    /// The stream ends.
    #[track_caller]
    pub(crate) fn close(&mut self, why: Ended) {
        let path = Path::Stream(STREAM);
        self.client.handle_closed(self.now, path, why);
        self.drain();
    }

    /// Milliseconds of the server's clock.
    pub(crate) fn timestamp(&self) -> u32 {
        u32::try_from(self.now.as_millis()).expect("scripts are short")
    }

    /// Lets the player act on the client, then sends what that caused.
    #[track_caller]
    pub(crate) fn player<T>(&mut self, act: impl FnOnce(Instant, &mut Client) -> T) -> T {
        let result = act(self.now, &mut self.client);
        self.drain();
        result
    }

    /// What the client said by stream since this was last asked.
    pub(crate) fn said(&mut self) -> Vec<Object<'static>> {
        let mail = core::mem::take(&mut self.stream);
        mail.into_iter().flat_map(|mail| mail.objects).collect()
    }

    /// What the client said by datagram since this was last asked.
    pub(crate) fn cast(&mut self) -> Vec<Object<'static>> {
        let mail = core::mem::take(&mut self.datagrams);
        mail.into_iter().flat_map(|mail| mail.objects).collect()
    }

    /// Datagrams since this was last asked.
    pub(crate) fn datagrams(&mut self) -> Vec<Mail> {
        core::mem::take(&mut self.datagrams)
    }

    /// Whether the client ended its stream.
    pub(crate) const fn has_closed(&self) -> bool {
        self.ended
    }

    /// What the application was told since this was last asked.
    pub(crate) fn events(&mut self) -> Vec<ClientEvent> {
        core::mem::take(&mut self.events)
    }

    /// Drops what was said and told so far.
    pub(crate) fn forget(&mut self) {
        self.stream.clear();
        self.datagrams.clear();
        self.events.clear();
    }

    pub(crate) fn counters(&self) -> ClientCounters {
        *self.client.counters()
    }

    /// Time passes, and the client's clock runs.
    #[track_caller]
    pub(crate) fn advance(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(at) = self.client.poll_timeout().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.client.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
    }

    /// Time passes while the server sends empty payloads by both paths.
    #[track_caller]
    pub(crate) fn live(&mut self, span: Duration) {
        let until = self.now + span;
        while self.now < until {
            self.advance(Duration::from_secs(1).min(until.since(self.now)));
            self.tell_bytes(&payload(self.timestamp(), &[]));
            self.show(&[]);
        }
    }

    fn give_room(&mut self) {
        let path = Path::Stream(STREAM);
        self.client.handle_room(self.now, path, room(64 * 1_024));
    }

    /// Obeys the drain rule.
    #[track_caller]
    fn drain(&mut self) {
        for _ in 0..1_000 {
            let mut out = Vec::new();
            while let Some(transmit) = self.client.poll_transmit(self.now, &mut out) {
                self.carry_out(transmit, core::mem::take(&mut out));
            }
            self.events
                .extend(core::iter::from_fn(|| self.client.poll_event()));
            if self.client.poll_timeout().is_none_or(|at| at > self.now) {
                return;
            }
            self.client.handle_timeout(self.now);
        }
        panic!("draining never ends");
    }

    #[track_caller]
    fn carry_out(&mut self, transmit: Transmit, bytes: Vec<u8>) {
        match transmit {
            Transmit::Datagram { to } => {
                assert_eq!(to, SERVER);
                self.datagrams.push(Mail::decode(bytes, Sender::Client));
            }
            Transmit::Stream { on } => {
                assert_eq!((on, self.ended), (STREAM, false));
                self.bytes.extend(bytes);
                self.stream
                    .extend(Mail::take_all(&mut self.bytes, Sender::Client));
                self.give_room();
            }
            Transmit::Dial { on, to } => {
                assert_eq!((on, to, self.dialled), (STREAM, SERVER, false));
                self.dialled = true;
            }
            Transmit::Finish { on } | Transmit::Abort { on } => {
                assert_eq!((on, self.ended), (STREAM, false));
                self.ended = true;
            }
            Transmit::Segments { .. } | Transmit::Unlink { .. } => panic!("{transmit:?}"),
        }
    }
}
