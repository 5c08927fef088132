//! A server, and a script that speaks for its clients.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_dialects::lwar::limits::SEND_PERIOD;
use tickwire_dialects::lwar::message::{Framed, Reliable, Unreliable};
use tickwire_dialects::lwar::{Header, Id, PlayerId, Server, ServerConfig, ServerCounters};
use tickwire_session::{Addr, Instant, Session, Transmit};

use super::{ANN, BOB, Packet};
use crate::driven::{Driven, Memory};
use crate::licence::Watch;
use crate::states;
use crate::words::{connect, datagram, forward, join, reliable};

const SECRET: [u8; 32] = [7; 32];

/// The first player id that the script's server gives at a place.
pub(crate) const fn first_id(index: u16) -> PlayerId {
    let generation = [0, 0x860f, 0xbf60, 0xd1e4, 0xae3b, 0xbb95, 0x107e, 0x6d99][index as usize];
    PlayerId(Id { generation, index })
}

pub(crate) type ServerScript = Driven<Server, Speakers>;

/// Everybody's side of the numbering.
pub(crate) type Speakers = BTreeMap<Addr, Speaker>;

impl Memory<Server> for Speakers {
    fn check_sent(&mut self, transmit: Transmit, bytes: &[u8]) {
        let Transmit::Datagram { to } = transmit else {
            panic!("lwar has no streams: {transmit:?}");
        };
        self.entry(to).or_default().acked = Packet::decode(bytes.into()).header.ack;
    }
}

/// A client's side of the numbering.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Speaker {
    /// Number of its last reliable message.
    said: u32,
    /// Number of the last reliable message that reached it in order.
    heard: u32,
    /// What its headers acknowledge.
    ack: u32,
    /// What the newest packet to it acknowledged.
    acked: u32,
}

impl ServerScript {
    pub(crate) fn empty() -> Self {
        Self::with(ServerConfig::default())
    }

    pub(crate) fn with(config: ServerConfig) -> Self {
        // Not at zero: a timestamp counts from the beginning of the session, not of the clock.
        let now = Instant::from_millis(5_000);
        let server = Server::new(now, config, SECRET);
        Self::new(server, now, Watch::new(&states::SERVER), Speakers::new())
    }

    /// A server with ANN and BOB on it, who have nothing to say yet; and their players.
    #[track_caller]
    pub(crate) fn with_two() -> (Self, PlayerId, PlayerId) {
        let mut script = Self::empty();
        let players = (script.join(ANN, "ann"), script.join(BOB, "bob"));
        (script, players.0, players.1)
    }

    /// `who` sends reliable messages, numbered on from its last.
    #[track_caller]
    pub(crate) fn send(&mut self, who: Addr, messages: &[Reliable<'_>]) {
        let first = self.speaker(who).said + 1;
        self.send_numbered(who, first, messages);
        self.speaker(who).said = first + u32::try_from(messages.len()).expect("a few") - 1;
    }

    /// `who` sends reliable messages numbered from `first` on, whatever it sent before.
    #[track_caller]
    pub(crate) fn send_numbered(&mut self, who: Addr, first: u32, messages: &[Reliable<'_>]) {
        let messages: Vec<_> = (0..)
            .zip(messages)
            .map(|(after, message)| reliable(first.wrapping_add(after), *message))
            .collect();
        self.send_messages(who, &messages);
    }

    /// `who` sends unreliable messages.
    #[track_caller]
    pub(crate) fn send_unreliable(&mut self, who: Addr, messages: &[Unreliable<'_>]) {
        let messages: Vec<_> = messages.iter().copied().map(Framed::Unreliable).collect();
        self.send_messages(who, &messages);
    }

    /// `who` sends messages of any kind, with its acknowledgement and the time as timestamp.
    #[track_caller]
    pub(crate) fn send_messages(&mut self, who: Addr, messages: &[Framed<'_>]) {
        let header = self.header(who);
        self.send_bytes(who, &datagram(header, messages));
    }

    /// A datagram of `who` is handed in, and more may follow before the server's turn.
    pub(crate) fn hand_in(&mut self, who: Addr, bytes: &[u8]) {
        self.session.handle_datagram(self.now, who, bytes);
    }

    /// `who` acknowledges all that it has heard, in a packet without messages.
    #[track_caller]
    pub(crate) fn ack(&mut self, who: Addr) {
        let speaker = self.speaker(who);
        speaker.ack = speaker.heard;
        self.send_messages(who, &[]);
    }

    /// The header that `who` would send now.
    pub(crate) fn header(&mut self, who: Addr) -> Header {
        Header {
            ack: self.speaker(who).ack,
            timestamp: u32::try_from(self.now.as_millis()).expect("scripts are short"),
        }
    }

    /// The number that the server expects next of `who`, by the newest packet that it sent there.
    pub(crate) fn expected_number(&mut self, who: Addr) -> u32 {
        self.speaker(who).acked + 1
    }

    /// Forgets every client's numbering and all unread mail.
    pub(crate) fn forget(&mut self) {
        self.memory.clear();
        self.datagrams.clear();
    }

    /// The server has answered `who` already, with a packet that holds these messages alone.
    #[track_caller]
    pub(crate) fn answers(&mut self, who: Addr, messages: &[Reliable<'_>]) -> Packet {
        let packet = self.mailed(who).expect("no answer");
        self.check_reliable(who, &packet, messages);
        assert_eq!(packet.unreliable, [], "the answer stands alone");
        packet
    }

    /// The next packet to `who` carries these reliable messages, from the first that it has not
    /// acknowledged on; unreliable ones may follow.
    #[track_caller]
    pub(crate) fn expects(&mut self, who: Addr, messages: &[Reliable<'_>]) -> Packet {
        let packet = self.next_packet(who);
        self.check_reliable(who, &packet, messages);
        packet
    }

    /// The next packet to `who`, which comes within one period.
    #[track_caller]
    pub(crate) fn next_packet(&mut self, who: Addr) -> Packet {
        if let Some(packet) = self.mailed(who) {
            return packet;
        }
        let until = self.now + SEND_PERIOD;
        while self.datagrams.iter().all(|(to, _)| *to != who) {
            assert!(self.step(until), "no packet to {who} for a whole period");
        }
        self.mailed(who).expect("just seen")
    }

    /// Time passes, and nothing is sent to `who`.
    #[track_caller]
    pub(crate) fn expects_silence(&mut self, who: Addr, span: Duration) {
        let packets = self.packets_during(who, span);
        assert_eq!(packets, [], "{who} should hear nothing");
    }

    /// Time passes; what was sent to `who` meanwhile. What others were sent is forgotten.
    #[track_caller]
    pub(crate) fn packets_during(&mut self, who: Addr, span: Duration) -> Vec<Packet> {
        self.datagrams.clear();
        self.pass(span);
        let sent = self.taken(who).into_iter();
        self.datagrams.clear();
        sent.map(Packet::decode).collect()
    }

    /// Time passes while these clients stay alive and acknowledge everything.
    #[track_caller]
    pub(crate) fn live(&mut self, span: Duration, clients: &[Addr]) {
        let until = self.now + span;
        while self.now < until {
            self.pass(SEND_PERIOD.min(until.since(self.now)));
            self.read_all();
            clients.iter().for_each(|who| self.ack(*who));
        }
        self.datagrams.clear();
    }

    /// Connects `who`, and lets everybody hear of it. Returns its player.
    #[track_caller]
    pub(crate) fn join(&mut self, who: Addr, name: &str) -> PlayerId {
        self.connect_again(who);
        self.send(who, &[connect(name)]);
        let answer = self.mailed(who).expect("an answer to Connect");
        let [Reliable::Join { player, .. }] = answer.reliable[..] else {
            panic!("not a Join: {answer:?}");
        };
        self.check_reliable(who, &answer, &[join(player, name)]);
        self.ack(who);
        self.prove(who, player);
        self.settle();
        self.events();
        player
    }

    /// `who` names its player id, in an Input that presses nothing and counts as no frame.
    #[track_caller]
    pub(crate) fn prove(&mut self, who: Addr, player: PlayerId) {
        self.send_unreliable(who, &[forward(player, 0, 0)]);
    }

    /// From here on `who` is another client, which has said and heard nothing.
    pub(crate) fn connect_again(&mut self, who: Addr) {
        *self.speaker(who) = Speaker::default();
    }

    /// Goes on until every client has heard and acknowledged everything. Returns nothing unread.
    #[track_caller]
    pub(crate) fn settle(&mut self) {
        for _ in 0..1_000 {
            self.pass(SEND_PERIOD);
            let news = self.read_all();
            let all: Vec<_> = self.memory.keys().copied().collect();
            let behind = |script: &Self, who| script.memory[&who].heard > script.memory[&who].ack;
            for who in all {
                if behind(self, who) {
                    self.ack(who);
                }
            }
            if !news {
                return;
            }
        }
        panic!("the server never runs out of news");
    }

    pub(crate) fn counters(&self) -> ServerCounters {
        *self.session.counters()
    }

    /// The word for where `who` stands, if it has a place.
    pub(crate) fn state(&self, who: Addr) -> Option<&'static str> {
        let mut state = None;
        self.session.visit_peers(&mut |peer| {
            if peer.addr == who {
                state = Some(peer.state);
            }
        });
        state
    }

    /// Makes every client hear what was mailed to it; whether anything reliable was among it.
    fn read_all(&mut self) -> bool {
        let mut news = false;
        for (to, bytes) in std::mem::take(&mut self.datagrams) {
            let packet = Packet::decode(bytes);
            news |= !packet.reliable.is_empty();
            self.handle_packet(to, &packet);
        }
        news
    }

    fn speaker(&mut self, who: Addr) -> &mut Speaker {
        self.memory.entry(who).or_default()
    }

    /// The oldest unread packet to `who`.
    pub(crate) fn mailed(&mut self, who: Addr) -> Option<Packet> {
        let packet = Packet::decode(self.take_one(who)?);
        self.handle_packet(who, &packet);
        Some(packet)
    }

    fn handle_packet(&mut self, who: Addr, packet: &Packet) {
        let speaker = self.speaker(who);
        if packet.first.is_some_and(|first| first <= speaker.heard + 1) {
            speaker.heard = speaker.heard.max(packet.last());
        }
    }

    #[track_caller]
    fn check_reliable(&mut self, who: Addr, packet: &Packet, messages: &[Reliable<'_>]) {
        assert_eq!(packet.reliable, messages, "reliable messages to {who}");
        if let Some(first) = packet.first {
            assert_eq!(first, self.speaker(who).ack + 1, "all unacknowledged");
        }
    }
}
