//! A client, and a script that speaks for its server.

use std::time::Duration;

use tickwire_dialects::lwar::limits::RETRY_PERIOD;
use tickwire_dialects::lwar::message::{Framed, Reliable, Unreliable};
use tickwire_dialects::lwar::{Client, ClientConfig, ClientCounters, Header, Phase, PlayerId};
use tickwire_session::{Addr, Instant, Transmit};
use tickwire_sim::addr::link;

use super::Packet;
use crate::driven::{Driven, Memory};
use crate::licence::Watch;
use crate::states;
use crate::words::{datagram, join, player, reliable};

/// Where the script's server is.
pub(crate) const SERVER: Addr = link(0);

pub(crate) type ClientScript = Driven<Client, Numbers>;

/// The server's side of the numbering.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// Number of the server's last reliable message.
    said: u32,
    /// What the server acknowledges.
    pub(crate) ack: u32,
}

impl Memory<Client> for Numbers {
    fn check_sent(&mut self, transmit: Transmit, bytes: &[u8]) {
        assert_eq!(transmit, Transmit::Datagram { to: SERVER });
        Packet::decode(bytes.into());
    }
}

impl ClientScript {
    /// A client called ann that begins to connect.
    #[track_caller]
    pub(crate) fn connecting() -> Self {
        let now = Instant::from_millis(7_000);
        let config = ClientConfig {
            server: SERVER,
            name: "ann".into(),
        };
        let client = Client::new(now, config);
        let mut script = Self::new(client, now, Watch::new(&states::CLIENT), Numbers::default());
        script.drain();
        script
    }

    /// A client that has its Join, as player 1, and waits for the rest.
    #[track_caller]
    pub(crate) fn syncing() -> Self {
        let mut script = Self::connecting();
        script.memory.ack = 1;
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
        assert_eq!(script.session.phase(), Phase::Playing);
        script.forget();
        script
    }

    /// The server sends reliable messages, numbered on from its last.
    #[track_caller]
    pub(crate) fn tell(&mut self, messages: &[Reliable<'_>]) {
        let first = self.memory.said + 1;
        self.tell_numbered(first, messages);
        self.memory.said += u32::try_from(messages.len()).expect("a few");
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
            ack: self.memory.ack,
            timestamp,
        };
        self.send_bytes(SERVER, &datagram(header, messages));
    }

    /// The number of the server's next reliable message.
    pub(crate) const fn next_number(&self) -> u32 {
        self.memory.said + 1
    }

    /// Milliseconds of the server's clock.
    pub(crate) fn timestamp(&self) -> u32 {
        u32::try_from(self.now.as_millis()).expect("scripts are short")
    }

    /// The next packet carries these reliable messages, from the first that the server has not
    /// acknowledged on.
    #[track_caller]
    pub(crate) fn expects(&mut self, messages: &[Reliable<'_>]) -> Packet {
        let packet = self.next_packet();
        assert_eq!(packet.reliable, messages, "reliable messages");
        if let Some(first) = packet.first {
            assert_eq!(first, self.memory.ack + 1, "all unacknowledged");
        }
        packet
    }

    /// The next packet, which comes within the longest period that a client has.
    #[track_caller]
    pub(crate) fn next_packet(&mut self) -> Packet {
        let until = self.now + RETRY_PERIOD;
        loop {
            if let Some(packet) = self.mailed() {
                return packet;
            }
            assert!(self.step(until), "no packet for a whole period");
        }
    }

    /// The oldest packet that was not looked at.
    pub(crate) fn mailed(&mut self) -> Option<Packet> {
        self.take_one(SERVER).map(Packet::decode)
    }

    /// Time passes; what was sent meanwhile.
    #[track_caller]
    pub(crate) fn packets_during(&mut self, span: Duration) -> Vec<Packet> {
        self.datagrams.clear();
        self.pass(span);
        std::iter::from_fn(|| self.mailed()).collect()
    }

    /// Time passes while the server sends packets without messages.
    #[track_caller]
    pub(crate) fn live(&mut self, span: Duration) {
        let until = self.now + span;
        while self.now < until {
            self.pass(Duration::from_millis(100).min(until.since(self.now)));
            self.tell_messages(self.timestamp(), &[]);
        }
    }

    /// Drops what was sent and told so far.
    pub(crate) fn forget(&mut self) {
        self.datagrams.clear();
        self.events();
    }

    pub(crate) fn counters(&self) -> ClientCounters {
        *self.session.counters()
    }
}
