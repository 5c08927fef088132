//! A client, and the script as its server.

use std::sync::LazyLock;

use tickwire_dialects::opendrakan::message::{Message, Way};
use tickwire_dialects::opendrakan::{Client, ClientConfig, DatabaseId, LoadedLevel, PORT};
use tickwire_session::{Addr, Ended, Instant, StreamId, Token};

use super::{STATES, bytes_of, each, loaded, machine, registry};
use crate::driven::Driven;
use crate::licence::{Licence, Watch, Words};

pub(crate) const SERVER: Addr = machine(1, PORT);
pub(crate) const STREAM: StreamId = StreamId::Dialled(0);

/// What a client may go through.
pub(crate) static CLIENT_LICENCE: LazyLock<Licence> = LazyLock::new(|| {
    const OPEN: [&str; 4] = ["Handshaking", "Loading", "Waiting", "Playing"];
    let words = Words {
        head: "| phase |",
        states: &["Handshaking", "Loading", "Waiting", "Playing", "Ended"],
        absent: "Connecting",
        groups: &[("all open ones", &OPEN)],
    };
    Licence::read(STATES, &["## The client"], words)
});

pub(crate) type ClientScript = Driven<Client>;

impl ClientScript {
    /// A client that has dialled.
    pub(crate) fn dialling() -> Self {
        let now = Instant::from_millis(5_000);
        let client = Client::new(now, ClientConfig::new(SERVER, registry()));
        let mut script = Self::new(client, now, Watch::new(&CLIENT_LICENCE), ());
        script.drain();
        script
    }

    /// A client whose stream is open.
    pub(crate) fn open() -> Self {
        let mut script = Self::dialling();
        script.opened(STREAM, SERVER);
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
        let loaded = script.act(|_, client| client.loaded(level));
        loaded.expect("everything is there");
        script.events();
        script
    }

    /// A client that was told everything and has loaded it.
    pub(crate) fn loaded() -> Self {
        Self::with_level(loaded())
    }

    /// Says something on the stream.
    pub(crate) fn write(&mut self, messages: &[Message<'_>]) {
        self.write_bytes(STREAM, &bytes_of(messages));
    }

    /// Says something by datagram.
    pub(crate) fn send(&mut self, messages: &[Message<'_>]) {
        self.send_bytes(SERVER, &bytes_of(messages));
    }

    pub(crate) fn close(&mut self, why: Ended) {
        self.closed(STREAM, why);
    }

    /// The ticks that it acknowledged since this was last asked.
    pub(crate) fn acknowledged(&mut self) -> Vec<u64> {
        let mut ticks = Vec::new();
        for datagram in self.taken(SERVER) {
            each(Way::ClientDatagram, &datagram, |message| {
                if let Message::AcknowledgeSnapshot { tick } = message {
                    ticks.push(tick.0);
                }
            });
        }
        ticks
    }
}
