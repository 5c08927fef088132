//! A server, and the script as its clients.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::time::Duration;

use tickwire_dialects::opendrakan::limits::DATAGRAM_MAX;
use tickwire_dialects::opendrakan::message::{Confirm, Message, ObjectChange, Way};
use tickwire_dialects::opendrakan::{Server, ServerConfig, ServerEvent};
use tickwire_session::{
    Addr, Ended, Events, Host, Instant, Path, Session, StreamId, Token, Transmit,
};
use tickwire_state::Tick;

use super::{ROOMY, STATES, bytes_of, each};
use crate::states::{Licence, Transition, Words};

/// The length of a tick, a little less than it is.
const TICK: Duration = Duration::from_micros(16_666);

/// What a connection may go through.
pub(crate) static SERVER_LICENCE: LazyLock<Licence> = LazyLock::new(|| {
    Licence::read(
        STATES,
        Words {
            head: "| state |",
            states: &["Attaching", "Syncing", "Playing", "Closing", GONE],
            hidden: &[],
            groups: &[],
        },
    )
});

/// Where those are who are not there.
const GONE: &str = "gone";

pub(crate) struct ServerScript {
    pub(crate) server: Server,
    pub(crate) now: Instant,
    /// What it sent on streams, and nobody looked at yet.
    pub(crate) streams: BTreeMap<StreamId, Vec<u8>>,
    /// Streams that it ended.
    pub(crate) ended: Vec<StreamId>,
    /// Datagrams that it sent, and nobody looked at yet.
    pub(crate) datagrams: Vec<(Addr, Vec<u8>)>,
    /// The states of hosts that never had two connections at a time; those of others are not watched.
    states: BTreeMap<Host, Option<&'static str>>,
    /// From which state to which they came.
    pub(crate) transitions: BTreeSet<Transition>,
}

impl ServerScript {
    pub(crate) fn new(config: ServerConfig) -> Self {
        Self {
            server: Server::new(config, [7; 32]).expect("the level is good"),
            now: Instant::from_millis(1_000),
            streams: BTreeMap::new(),
            ended: Vec::new(),
            datagrams: Vec::new(),
            states: BTreeMap::new(),
            transitions: BTreeSet::new(),
        }
    }

    /// Opens a stream from `from`; returns its number.
    pub(crate) fn open(&mut self, number: u32, from: Addr) -> StreamId {
        let on = StreamId::Accepted(number);
        self.server.handle_opened(self.now, on, from);
        self.server.handle_room(self.now, Path::Stream(on), ROOMY);
        self.drain();
        on
    }

    /// Opens a stream and shows its token; returns the stream.
    pub(crate) fn attach(&mut self, number: u32, from: Addr) -> StreamId {
        let on = self.open(number, from);
        let token = self.token_on(on);
        self.send(from, &[Message::Attach { token }]);
        on
    }

    /// The token that the server wrote on a stream.
    pub(crate) fn token_on(&self, on: StreamId) -> Token {
        let mut found = None;
        each(Way::ServerStream, &self.streams[&on], |message| {
            if let Message::Attach { token } = message {
                found = Some(token);
            }
        });
        found.expect("a token comes first")
    }

    /// Says something by datagram.
    pub(crate) fn send(&mut self, from: Addr, messages: &[Message<'_>]) {
        self.send_bytes(from, &bytes_of(messages));
    }

    pub(crate) fn send_bytes(&mut self, from: Addr, bytes: &[u8]) {
        self.server.handle_datagram(self.now, from, bytes);
        self.drain();
    }

    /// Says something on a stream.
    pub(crate) fn write(&mut self, on: StreamId, messages: &[Message<'_>]) {
        self.write_bytes(on, &bytes_of(messages));
    }

    pub(crate) fn write_bytes(&mut self, on: StreamId, bytes: &[u8]) {
        self.server.handle_stream(self.now, on, bytes);
        self.drain();
    }

    pub(crate) fn close(&mut self, on: StreamId) {
        let path = Path::Stream(on);
        self.server.handle_closed(self.now, path, Ended::Finished);
        self.drain();
    }

    /// Lets the server commit so many ticks.
    pub(crate) fn ticks(&mut self, count: u64) {
        for _ in 0..count {
            self.pass(TICK);
            self.server.commit(self.now);
            self.drain();
        }
    }

    /// Commits ticks up to and including one that is sent, and forgets what was sent before.
    pub(crate) fn next_send_tick(&mut self) -> Tick {
        self.datagrams.clear();
        loop {
            self.ticks(1);
            let tick = self.server.tick();
            if tick.0.is_multiple_of(3) {
                return tick;
            }
        }
    }

    /// Lets time pass without a tick.
    pub(crate) fn pass(&mut self, span: Duration) {
        self.now += span;
        if self.server.poll_timeout().is_some_and(|at| at <= self.now) {
            self.server.handle_timeout(self.now);
        }
        self.drain();
    }

    pub(crate) fn events(&mut self) -> Vec<ServerEvent> {
        std::iter::from_fn(|| self.server.poll_event()).collect()
    }

    /// The confirmations among the datagrams that were sent, and how many changes came with each.
    pub(crate) fn confirmed(&self) -> Vec<(Confirm, u32)> {
        let mut confirmed = Vec::new();
        let mut changes = 0;
        for (_, datagram) in &self.datagrams {
            each(Way::ServerDatagram, datagram, |message| match message {
                Message::ObjectChanged { change, .. } => changes += count(&change),
                Message::ConfirmSnapshot(confirm) => {
                    confirmed.push((confirm, std::mem::take(&mut changes)));
                }
                other => panic!("unexpected {other:?}"),
            });
        }
        confirmed
    }

    /// Acknowledges a snapshot.
    pub(crate) fn acknowledge(&mut self, from: Addr, tick: Tick) {
        self.send(from, &[Message::AcknowledgeSnapshot { tick }]);
    }

    /// The state of the only connection of a host.
    pub(crate) fn state(&self, of: Addr) -> &'static str {
        let known = self.states.get(&of.host).copied().flatten();
        known.unwrap_or(GONE)
    }

    /// Fails if a connection came to where no row of `STATES.md` leads.
    fn note_states(&mut self) {
        let mut found: BTreeMap<Host, &'static str> = BTreeMap::new();
        let states = &mut self.states;
        self.server.visit_peers(&mut |stats| {
            let is_second = found.insert(stats.addr.host, stats.state).is_some();
            let watched = states.entry(stats.addr.host).or_insert(Some(GONE));
            watched.take_if(|_| is_second);
        });
        for (host, watched) in states {
            let Some(before) = watched else { continue };
            let after = found.get(host).copied().unwrap_or(GONE);
            let transition = (std::mem::replace(before, after), after);
            if transition.0 != transition.1 {
                SERVER_LICENCE.check(transition);
                self.transitions.insert(transition);
            }
        }
    }

    pub(crate) fn drain(&mut self) {
        self.note_states();
        self.send_all();
        self.note_states();
    }

    fn send_all(&mut self) {
        let mut out = Vec::new();
        loop {
            out.clear();
            match self.server.poll_transmit(self.now, &mut out) {
                None => return,
                Some(Transmit::Datagram { to }) => {
                    assert!(out.len() <= DATAGRAM_MAX.into(), "{} bytes", out.len());
                    self.datagrams.push((to, out.clone()));
                }
                Some(Transmit::Stream { on }) => {
                    self.streams.entry(on).or_default().extend(&out);
                }
                Some(Transmit::Finish { on } | Transmit::Abort { on }) => self.ended.push(on),
                Some(other) => panic!("a server does not {other:?}"),
            }
        }
    }
}

/// How many discrete changes something new is.
fn count(change: &ObjectChange<'_>) -> u32 {
    match change {
        ObjectChange::States(states) => u32::try_from(states.iter().count()).expect("few"),
        ObjectChange::ExtraStates(bundle) => {
            assert!(bundle[0] < 0x80, "the class has three states");
            bundle[0].count_ones()
        }
        ObjectChange::Created(_) | ObjectChange::Lifecycle(_) => 1,
    }
}
