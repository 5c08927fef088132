//! A client, and a script that speaks for its server.

use std::sync::LazyLock;
use std::time::Duration;

use tickwire_dialects::cppevy::message::{Object, Sender};
use tickwire_dialects::cppevy::{ActionId, Client, ClientConfig, ClientCounters, Phase};
use tickwire_session::{Addr, Ended, Instant, Path, StreamId, Transmit};
use tickwire_sim::addr::machine;

use super::{Mail, Reading, STATES, WIDE, objects};
use crate::driven::Driven;
use crate::licence::{Licence, Watch, Words};
use crate::words::{SHIP, join, joined, payload, payloads, registry, success, summon};

/// Where the script's server is.
pub(crate) const SERVER: Addr = machine(200, 27_600);

const STREAM: StreamId = StreamId::Dialled(0);

const PHASES: &[&str] = &[
    "Dialling",
    "Joining",
    "Attaching",
    "Playing",
    "Leaving",
    "Ended",
];

const NOT_ENDED: &[&str] = PHASES.split_at(5).0;

/// What a client may go through.
pub(crate) static CLIENT_LICENCE: LazyLock<Licence> = LazyLock::new(|| {
    let words = Words {
        head: "| state |",
        states: PHASES,
        absent: "",
        groups: &[("any but Ended", NOT_ENDED)],
    };
    Licence::read(STATES, &["## The client"], words)
});

pub(crate) type ClientScript = Driven<Client, Reading>;

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
        let client = Client::new(now, config);
        let watch = Watch::new(&CLIENT_LICENCE);
        let mut script = Self::new(client, now, watch, Reading::new(Sender::Client));
        script.window = WIDE;
        script.drain();
        let (on, to) = (STREAM, SERVER);
        assert_eq!(script.orders, [Transmit::Dial { on, to }]);
        script
    }

    /// A client whose stream is open, and that has asked to join.
    #[track_caller]
    pub(crate) fn joining() -> Self {
        let mut script = Self::dialling();
        script.opened(STREAM, SERVER);
        assert_eq!(script.said(), [join("ann")]);
        script
    }

    /// A client that has joined as actor 1, and shows the token 99.
    #[track_caller]
    pub(crate) fn attaching() -> Self {
        let mut script = Self::joining();
        script.tell(&[joined(1, 99), summon(1, SHIP)]);
        assert_eq!(script.session.phase(), Phase::Attaching);
        script
    }

    /// A client that plays as actor 1.
    #[track_caller]
    pub(crate) fn playing() -> Self {
        let mut script = Self::attaching();
        script.show(&[success(ActionId::ATTACH, &[])]);
        assert_eq!(script.session.phase(), Phase::Playing);
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
        self.write_bytes(STREAM, bytes);
    }

    /// The server sends a datagram with objects of this moment.
    #[track_caller]
    pub(crate) fn show(&mut self, objects: &[Object<'_>]) {
        self.show_at(self.timestamp(), objects);
    }

    /// The server sends a datagram that speaks of `timestamp`.
    #[track_caller]
    pub(crate) fn show_at(&mut self, timestamp: u32, objects: &[Object<'_>]) {
        self.send_bytes(SERVER, &payload(timestamp, objects));
    }

    /// The stream ends.
    #[track_caller]
    pub(crate) fn close(&mut self, why: Ended) {
        self.closed(STREAM, why);
    }

    /// Milliseconds of the server's clock.
    pub(crate) fn timestamp(&self) -> u32 {
        u32::try_from(self.now.as_millis()).expect("scripts are short")
    }

    /// What the client said by stream since this was last asked.
    pub(crate) fn said(&mut self) -> Vec<Object<'static>> {
        objects(self.heard(Path::Stream(STREAM)))
    }

    /// What the client said by datagram since this was last asked.
    pub(crate) fn cast(&mut self) -> Vec<Object<'static>> {
        objects(self.mail())
    }

    /// Datagrams since this was last asked.
    pub(crate) fn mail(&mut self) -> Vec<Mail> {
        let mail = self.heard(Path::Datagrams(SERVER));
        assert_eq!(self.datagrams, [], "to somebody else");
        mail
    }

    /// Whether the client ended its stream.
    pub(crate) fn has_closed(&self) -> bool {
        self.has_ended(STREAM)
    }

    /// Drops what was said and told so far.
    pub(crate) fn forget(&mut self) {
        self.said();
        self.datagrams.clear();
        self.events();
    }

    pub(crate) fn counters(&self) -> ClientCounters {
        *self.session.counters()
    }

    /// Time passes while the server sends empty payloads by both paths.
    #[track_caller]
    pub(crate) fn live(&mut self, span: Duration) {
        let until = self.now + span;
        while self.now < until {
            self.pass(Duration::from_secs(1).min(until.since(self.now)));
            self.tell_bytes(&payload(self.timestamp(), &[]));
            self.show(&[]);
        }
    }
}
