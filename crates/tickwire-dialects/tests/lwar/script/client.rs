//! A client, and a script that speaks for its server.

use std::collections::VecDeque;
use std::time::Duration;

use tickwire_dialects::lwar::limits::RETRY_PERIOD;
use tickwire_dialects::lwar::message::{Framed, Reliable, Unreliable};
use tickwire_dialects::lwar::{
    Client, ClientConfig, ClientCounters, ClientEvent, Header, Phase, PlayerId,
};
use tickwire_session::{Addr, Events, Instant, Session, Transmit};

use super::{Packet, link};
use crate::states;
use crate::watch::Watch;
use crate::words::{datagram, join, player, reliable};

/// Where the script's server is.
pub(crate) const SERVER: Addr = link(0);

pub(crate) struct ClientScript {
    pub(crate) client: Client,
    pub(crate) now: Instant,
    /// Number of the server's last reliable message.
    said: u32,
    /// What the server acknowledges.
    pub(crate) ack: u32,
    mail: VecDeque<Packet>,
    events: Vec<ClientEvent>,
    pub(crate) watch: Watch<()>,
}

impl ClientScript {
    /// A client called ann that begins to connect.
    #[track_caller]
    pub(crate) fn new() -> Self {
        let now = Instant::from_millis(7_000);
        let config = ClientConfig {
            server: SERVER,
            name: "ann".into(),
        };
        let mut script = Self {
            client: Client::new(now, config),
            now,
            said: 0,
            ack: 0,
            mail: VecDeque::new(),
            events: Vec::new(),
            watch: Watch::new(&states::CLIENT, "Connecting"),
        };
        script.drain();
        script
    }

    /// A client that has its Join, as player 1, and waits for the rest.
    #[track_caller]
    pub(crate) fn syncing() -> Self {
        let mut script = Self::new();
        script.ack = 1;
        script.tell(&[join(player(1), "ann")]);
        script.forget();
        script
    }

    /// A client in a world without entities but for what `messages` add, which has heard Synced.
    #[track_caller]
    pub(crate) fn settling(messages: &[Reliable<'_>]) -> Self {
        let mut script = Self::syncing();
        script.tell(&[join(PlayerId::SERVER, "server")]);
        script.tell(messages);
        script.tell(&[Reliable::Synced]);
        script.forget();
        script
    }

    /// A client that plays in such a world.
    #[track_caller]
    pub(crate) fn playing(messages: &[Reliable<'_>]) -> Self {
        let mut script = Self::settling(messages);
        script.live(Duration::from_secs(1));
        assert_eq!(script.client.phase(), Phase::Playing);
        script.forget();
        script
    }

    /// The server sends reliable messages, numbered on from its last.
    #[track_caller]
    pub(crate) fn tell(&mut self, messages: &[Reliable<'_>]) {
        let first = self.said + 1;
        self.tell_numbered(first, messages);
        self.said += u32::try_from(messages.len()).expect("a few");
    }

    /// The server sends reliable messages numbered from `first` on.
    #[track_caller]
    pub(crate) fn tell_numbered(&mut self, first: u32, messages: &[Reliable<'_>]) {
        let messages: Vec<_> = (0..)
            .zip(messages)
            .map(|(after, message)| reliable(first.wrapping_add(after), *message))
            .collect();
        self.tell_messages(self.timestamp(), &messages);
    }

    /// The server sends unreliable messages that are true now.
    #[track_caller]
    pub(crate) fn show_now(&mut self, messages: &[Unreliable<'_>]) {
        self.show(self.timestamp(), messages);
    }

    /// The server sends unreliable messages that were true at `timestamp`.
    #[track_caller]
    pub(crate) fn show(&mut self, timestamp: u32, messages: &[Unreliable<'_>]) {
        let messages: Vec<_> = messages.iter().copied().map(Framed::Unreliable).collect();
        self.tell_messages(timestamp, &messages);
    }

    /// The server sends messages of any kind.
    #[track_caller]
    pub(crate) fn tell_messages(&mut self, timestamp: u32, messages: &[Framed<'_>]) {
        let header = Header {
            ack: self.ack,
            timestamp,
        };
        self.tell_bytes(SERVER, &datagram(header, messages));
    }

    /// Somebody sends this datagram.
    #[track_caller]
    pub(crate) fn tell_bytes(&mut self, from: Addr, bytes: &[u8]) {
        self.client.handle_datagram(self.now, from, bytes);
        self.drain();
    }

    /// The number of the server's next reliable message.
    pub(crate) const fn next_number(&self) -> u32 {
        self.said + 1
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

    /// The next packet carries these reliable messages, from the first that the server has not
    /// acknowledged on.
    #[track_caller]
    pub(crate) fn expects(&mut self, messages: &[Reliable<'_>]) -> Packet {
        let packet = self.next_packet();
        assert_eq!(packet.reliable, messages, "reliable messages");
        if let Some(first) = packet.first {
            assert_eq!(first, self.ack + 1, "all unacknowledged");
        }
        packet
    }

    /// The next packet, which comes within the longest period that a client has.
    #[track_caller]
    pub(crate) fn next_packet(&mut self) -> Packet {
        let until = self.now + RETRY_PERIOD;
        loop {
            if let Some(packet) = self.mail.pop_front() {
                return packet;
            }
            assert!(self.step(until), "no packet for a whole period");
        }
    }

    /// Nothing waits to be read.
    #[track_caller]
    pub(crate) fn expects_nothing(&self) {
        assert_eq!(self.mail, []);
    }

    /// The oldest packet that was not looked at.
    pub(crate) fn mailed(&mut self) -> Option<Packet> {
        self.mail.pop_front()
    }

    /// Time passes; what was sent meanwhile.
    #[track_caller]
    pub(crate) fn packets_during(&mut self, span: Duration) -> Vec<Packet> {
        self.mail.clear();
        self.advance(span);
        core::mem::take(&mut self.mail).into()
    }

    /// Time passes, and the client's clock runs.
    #[track_caller]
    pub(crate) fn advance(&mut self, span: Duration) {
        let until = self.now + span;
        while self.step(until) {}
    }

    /// Time passes while the server sends packets without messages.
    #[track_caller]
    pub(crate) fn live(&mut self, span: Duration) {
        let until = self.now + span;
        while self.now < until {
            self.advance(Duration::from_millis(100).min(until.since(self.now)));
            self.tell_messages(self.timestamp(), &[]);
        }
    }

    /// What the application was told since this was last asked.
    pub(crate) fn events(&mut self) -> Vec<ClientEvent> {
        core::mem::take(&mut self.events)
    }

    /// Drops what was sent and told so far.
    pub(crate) fn forget(&mut self) {
        self.mail.clear();
        self.events.clear();
    }

    pub(crate) fn counters(&self) -> ClientCounters {
        *self.client.counters()
    }

    #[track_caller]
    fn step(&mut self, until: Instant) -> bool {
        match self.client.poll_timeout() {
            Some(at) if at <= until => {
                self.now = self.now.max(at);
                self.client.handle_timeout(self.now);
                self.drain();
                true
            }
            _ => {
                self.now = until;
                false
            }
        }
    }

    /// Obeys the drain rule, and holds the session to its promise that draining ends.
    #[track_caller]
    fn drain(&mut self) {
        for _ in 0..10 {
            let mut out = Vec::new();
            let mut sent = 0;
            while let Some(transmit) = self.client.poll_transmit(self.now, &mut out) {
                assert_eq!(transmit, Transmit::Datagram { to: SERVER });
                self.mail
                    .push_back(Packet::decode(core::mem::take(&mut out)));
                sent += 1;
                assert!(sent < 10_000, "sending never ends");
            }
            self.events
                .extend(core::iter::from_fn(|| self.client.poll_event()));
            self.watch.look(&self.client, |_| Some(()));
            if self.client.poll_timeout().is_none_or(|at| at > self.now) {
                return;
            }
            self.client.handle_timeout(self.now);
        }
        panic!("draining never ends");
    }
}
