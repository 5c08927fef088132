//! A server, and the script as its clients.

use std::sync::LazyLock;
use std::time::Duration;

use tickwire_dialects::opendrakan::message::{Confirm, Message, ObjectChange, Way};
use tickwire_dialects::opendrakan::{Server, ServerConfig};
use tickwire_session::{Addr, Ended, Instant, Session, StreamId, Token};
use tickwire_state::Tick;

use super::{STATES, bytes_of, each};
use crate::driven::Driven;
use crate::licence::{Licence, Watch, Words};

/// The length of a tick, a little less than it is.
const TICK: Duration = Duration::from_micros(16_666);

/// What a connection may go through.
pub(crate) static SERVER_LICENCE: LazyLock<Licence> = LazyLock::new(|| {
    let words = Words {
        head: "| state |",
        states: &["Attaching", "Syncing", "Playing", "Closing"],
        absent: GONE,
        groups: &[],
    };
    Licence::read(STATES, &["## The server, for each connection"], words)
});

/// Where those are who are not there.
const GONE: &str = "gone";

pub(crate) type ServerScript = Driven<Server>;

impl ServerScript {
    pub(crate) fn with(config: ServerConfig) -> Self {
        let server = Server::new(config, [7; 32]).expect("the level is good");
        let watch = Watch::new(&SERVER_LICENCE);
        Self::new(server, Instant::from_millis(1_000), watch, ())
    }

    /// Opens a stream from `from`; returns its number.
    pub(crate) fn open(&mut self, number: u32, from: Addr) -> StreamId {
        let on = StreamId::Accepted(number);
        self.opened(on, from);
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

    /// Says something on a stream.
    pub(crate) fn write(&mut self, on: StreamId, messages: &[Message<'_>]) {
        self.write_bytes(on, &bytes_of(messages));
    }

    pub(crate) fn close(&mut self, on: StreamId) {
        self.closed(on, Ended::Finished);
    }

    /// Lets the server commit so many ticks.
    pub(crate) fn ticks(&mut self, count: u64) {
        for _ in 0..count {
            self.pass(TICK);
            self.act(|now, server| server.commit(now));
        }
    }

    /// Commits ticks up to and including one that is sent, and forgets what was sent before.
    pub(crate) fn next_send_tick(&mut self) -> Tick {
        self.datagrams.clear();
        loop {
            self.ticks(1);
            let tick = self.session.tick();
            if tick.0.is_multiple_of(3) {
                return tick;
            }
        }
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
        let mut state = GONE;
        self.session.visit_peers(&mut |peer| {
            if peer.addr.host == of.host {
                state = peer.state;
            }
        });
        state
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
