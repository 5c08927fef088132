//! A server, and a script that speaks for its clients.
//!
//! Client `n` is at 10.0.0.`n`: its stream is number `n`, its datagrams come from port 5000.

use std::sync::LazyLock;
use std::time::Duration;

use tickwire_dialects::cppevy::message::{Joined, Object, Sender};
use tickwire_dialects::cppevy::{
    ActionId, ActionToken, Server, ServerConfig, ServerCounters, ServerEvent,
};
use tickwire_session::{Addr, Ended, Instant, Path, Session, StreamId};
use tickwire_sim::addr::machine;

use super::{Mail, Reading, STATES, WIDE, objects};
use crate::driven::Driven;
use crate::licence::{Licence, Watch, Words};
use crate::words::{SHIP, attach, join, payload, registry};

const STAGES: &[&str] = &["Open", "Joined", "Attached", "Closing"];

/// What a connection may go through.
pub(crate) static SERVER_LICENCE: LazyLock<Licence> = LazyLock::new(|| {
    let words = Words {
        head: "| state |",
        states: STAGES,
        absent: "",
        groups: &[("any", STAGES)],
    };
    Licence::read(STATES, &["## The server, for each connection"], words)
});

pub(crate) type ServerScript = Driven<Server, Reading>;

/// The secret of the script's server.
const SECRET: [u8; 32] = [0x5a; 32];

pub(crate) const fn stream(client: u8) -> StreamId {
    StreamId::Accepted(client as u32)
}

pub(crate) const fn addr(client: u8) -> Addr {
    machine(client, 5_000)
}

impl ServerScript {
    pub(crate) fn begin() -> Self {
        Self::with(None)
    }

    /// A server for so many clients.
    pub(crate) fn with(clients: Option<u16>) -> Self {
        Self::with_both(clients, 1_000)
    }

    /// A server that takes so many bytes from a client.
    pub(crate) fn with_uploads(uploads: u32) -> Self {
        Self::with_both(None, uploads)
    }

    fn with_both(clients: Option<u16>, uploads: u32) -> Self {
        // Not at zero: a timestamp counts from the beginning of the session, not of the clock.
        let now = Instant::from_millis(5_000);
        let config = ServerConfig {
            registry: registry(),
            actor: SHIP,
            clients,
            uploads,
        };
        let server = Server::new(now, SECRET, config);
        let watch = Watch::new(&SERVER_LICENCE);
        let mut script = Self::new(server, now, watch, Reading::new(Sender::Server));
        script.window = WIDE;
        script
    }

    /// Client `n` opens its stream.
    #[track_caller]
    pub(crate) fn open(&mut self, client: u8) {
        self.opened(stream(client), machine(client, 4_000));
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
        self.opened(stream(client), peer);
        self.join_open(client)
    }

    /// Client `n`, whose stream is open, joins.
    #[track_caller]
    pub(crate) fn join_open(&mut self, client: u8) -> Joined {
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
        self.write_bytes(stream(client), &payload(0, objects));
    }

    /// Client `n` sends objects by datagram.
    #[track_caller]
    pub(crate) fn cast(&mut self, client: u8, objects: &[Object<'_>]) {
        self.cast_from(addr(client), objects);
    }

    #[track_caller]
    pub(crate) fn cast_from(&mut self, from: Addr, objects: &[Object<'_>]) {
        self.send_bytes(from, &payload(0, objects));
    }

    /// What client `n` was told by stream since this was last asked.
    pub(crate) fn hears(&mut self, client: u8) -> Vec<Object<'static>> {
        self.hears_on(stream(client))
    }

    /// What was told on a stream since this was last asked.
    pub(crate) fn hears_on(&mut self, on: StreamId) -> Vec<Object<'static>> {
        objects(self.heard(Path::Stream(on)))
    }

    pub(crate) fn stream_mail(&mut self, client: u8) -> Vec<Mail> {
        self.heard(Path::Stream(stream(client)))
    }

    /// What client `n` was told by datagram since this was last asked.
    pub(crate) fn catches(&mut self, client: u8) -> Vec<Object<'static>> {
        objects(self.datagram_mail(addr(client)))
    }

    pub(crate) fn datagram_mail(&mut self, at: Addr) -> Vec<Mail> {
        self.heard(Path::Datagrams(at))
    }

    /// Whether the server ended the stream of client `n`.
    pub(crate) fn has_closed(&self, client: u8) -> bool {
        self.has_ended(stream(client))
    }

    /// Client `n` closes its stream.
    #[track_caller]
    pub(crate) fn close(&mut self, client: u8) {
        self.closed(stream(client), Ended::Finished);
    }

    /// The one action that the game was told of.
    #[track_caller]
    pub(crate) fn action(&mut self) -> ActionToken {
        match &self.events()[..] {
            [ServerEvent::Action { token, .. }] => *token,
            other => panic!("not one action: {other:?}"),
        }
    }

    /// Drops what was sent and told so far.
    pub(crate) fn forget(&mut self) {
        // What was begun goes on.
        for stream in self.streams.values_mut() {
            Mail::take_all(stream, Sender::Server);
        }
        self.datagrams.clear();
        self.events();
    }

    pub(crate) fn counters(&self) -> ServerCounters {
        *self.session.counters()
    }

    /// Milliseconds of the server's clock.
    pub(crate) fn timestamp(&self) -> u32 {
        u32::try_from(self.now.as_millis() - 5_000).expect("scripts are short")
    }

    /// The word for where client `n` stands.
    pub(crate) fn state(&self, client: u8) -> Option<&'static str> {
        let mut state = None;
        self.session.visit_peers(&mut |peer| {
            if peer.addr.host == addr(client).host {
                state = Some(peer.state);
            }
        });
        state
    }

    /// Time passes while these clients keep their streams alive.
    #[track_caller]
    pub(crate) fn live(&mut self, span: Duration, clients: &[u8]) {
        let until = self.now + span;
        while self.now < until {
            self.pass(Duration::from_secs(1).min(until.since(self.now)));
            clients.iter().for_each(|client| self.send(*client, &[]));
        }
    }
}
