//! A client, and the script as its server.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use tickwire_dialects::opendrakan::message::{Message, Way};
use tickwire_dialects::opendrakan::{
    Client, ClientConfig, ClientEvent, DatabaseId, LoadedLevel, PORT,
};
use tickwire_session::{Addr, Ended, Events, Instant, Path, Session, StreamId, Token, Transmit};

use super::{ROOMY, STATES, bytes_of, each, loaded, machine, registry};
use crate::states::{Licence, Transition, Words};

pub(crate) const SERVER: Addr = machine(1, PORT);
const STREAM: StreamId = StreamId::Dialled(0);

/// What a client may go through.
pub(crate) static CLIENT_LICENCE: LazyLock<Licence> = LazyLock::new(|| {
    const OPEN: [&str; 4] = ["Handshaking", "Loading", "Waiting", "Playing"];
    Licence::read(
        STATES,
        Words {
            head: "| phase |",
            states: &[
                "Connecting",
                "Handshaking",
                "Loading",
                "Waiting",
                "Playing",
                "Ended",
            ],
            hidden: &[],
            groups: &[("all open ones", &OPEN)],
        },
    )
});

pub(crate) struct ClientScript {
    pub(crate) client: Client,
    pub(crate) now: Instant,
    /// What it wrote on its stream, and nobody looked at yet.
    pub(crate) written: Vec<u8>,
    /// Datagrams that it sent, and nobody looked at yet.
    pub(crate) datagrams: Vec<Vec<u8>>,
    /// What it asked to be done about its stream.
    pub(crate) orders: Vec<Transmit>,
    phase: &'static str,
    /// From which phase to which it came.
    pub(crate) transitions: BTreeSet<Transition>,
}

impl ClientScript {
    /// A client that has dialled.
    pub(crate) fn new() -> Self {
        let now = Instant::from_millis(5_000);
        let mut script = Self {
            client: Client::new(now, ClientConfig::new(SERVER, registry())),
            now,
            written: Vec::new(),
            datagrams: Vec::new(),
            orders: Vec::new(),
            phase: "Connecting",
            transitions: BTreeSet::new(),
        };
        script.drain();
        script
    }

    /// A client whose stream is open.
    pub(crate) fn open() -> Self {
        let mut script = Self::new();
        script.client.handle_opened(script.now, STREAM, SERVER);
        script.drain();
        let path = Path::Stream(STREAM);
        script.client.handle_room(script.now, path, ROOMY);
        script.drain();
        script
    }

    /// A client that was told everything and has loaded `level`.
    pub(crate) fn with_level(level: LoadedLevel) -> Self {
        let mut script = Self::open();
        script.write(&[
            Message::Attach { token: Token(99) },
            Message::DatabaseEntry {
                database: DatabaseId(0),
                path: "common/dragon.db",
            },
            Message::LoadLevel {
                databases: 1,
                path: "levels/a.lvl",
            },
        ]);
        script.client.loaded(level).expect("everything is there");
        script.drain();
        script.events();
        script
    }

    /// A client that was told everything and has loaded it.
    pub(crate) fn loaded() -> Self {
        Self::with_level(loaded())
    }

    /// Says something on the stream.
    pub(crate) fn write(&mut self, messages: &[Message<'_>]) {
        self.write_bytes(&bytes_of(messages));
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        self.client.handle_stream(self.now, STREAM, bytes);
        self.drain();
    }

    /// Says something by datagram.
    pub(crate) fn send(&mut self, messages: &[Message<'_>]) {
        self.send_bytes(&bytes_of(messages));
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.client.handle_datagram(self.now, SERVER, bytes);
        self.drain();
    }

    pub(crate) fn close(&mut self, why: Ended) {
        let path = Path::Stream(STREAM);
        self.client.handle_closed(self.now, path, why);
        self.drain();
    }

    /// Lets time pass, waking the client whenever it wants to.
    pub(crate) fn pass(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(at) = self.client.poll_timeout()
            && at <= until
        {
            self.now = self.now.max(at);
            self.client.handle_timeout(self.now);
            self.drain();
        }
        self.now = until;
    }

    pub(crate) fn events(&mut self) -> Vec<ClientEvent> {
        std::iter::from_fn(|| self.client.poll_event()).collect()
    }

    /// The ticks that it acknowledged since this was last asked.
    pub(crate) fn acknowledged(&mut self) -> Vec<u64> {
        let mut ticks = Vec::new();
        for datagram in std::mem::take(&mut self.datagrams) {
            each(Way::ClientDatagram, &datagram, |message| {
                if let Message::AcknowledgeSnapshot { tick } = message {
                    ticks.push(tick.0);
                }
            });
        }
        ticks
    }

    /// Fails if it came to where no row of `STATES.md` leads.
    fn note_phase(&mut self) {
        let mut phase = "";
        self.client.visit_peers(&mut |stats| phase = stats.state);
        let before = std::mem::replace(&mut self.phase, phase);
        if before != phase {
            CLIENT_LICENCE.check((before, phase));
            self.transitions.insert((before, phase));
        }
    }

    pub(crate) fn drain(&mut self) {
        self.note_phase();
        let mut out = Vec::new();
        loop {
            out.clear();
            match self.client.poll_transmit(self.now, &mut out) {
                None => return,
                Some(Transmit::Datagram { to }) => {
                    assert_eq!(to, SERVER);
                    self.datagrams.push(out.clone());
                }
                Some(Transmit::Stream { .. }) => self.written.extend(&out),
                Some(order) => self.orders.push(order),
            }
        }
    }
}
