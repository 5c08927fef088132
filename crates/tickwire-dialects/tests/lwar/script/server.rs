//! A server, and a script that speaks for its clients.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tickwire_dialects::lwar::limits::SEND_PERIOD;
use tickwire_dialects::lwar::message::{Framed, Reliable, Unreliable};
use tickwire_dialects::lwar::{
    Header, Id, PlayerId, Server, ServerConfig, ServerCounters, ServerEvent,
};
use tickwire_session::{Addr, Events, Instant, Session, Transmit};

use super::{ANN, BOB, Packet};
use crate::states;
use crate::watch::Watch;
use crate::words::{connect, datagram, forward, join, reliable};

const SECRET: [u8; 32] = [7; 32];

/// The first player id that the script's server gives at a place.
pub(crate) const fn first_id(index: u16) -> PlayerId {
    let generation = [0, 0x860f, 0xbf60, 0xd1e4, 0xae3b, 0xbb95, 0x107e, 0x6d99][index as usize];
    PlayerId(Id { generation, index })
}

pub(crate) struct ServerScript {
    pub(crate) server: Server,
    pub(crate) now: Instant,
    clients: BTreeMap<Addr, Speaker>,
    mail: VecDeque<(Addr, Packet)>,
    events: Vec<ServerEvent>,
    pub(crate) watch: Watch<Addr>,
}

/// A client's side of the numbering.
#[derive(Clone, Copy, Debug, Default)]
struct Speaker {
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
    pub(crate) fn new() -> Self {
        Self::with(ServerConfig::default())
    }

    pub(crate) fn with(config: ServerConfig) -> Self {
        // Not at zero: a timestamp counts from the beginning of the session, not of the clock.
        let now = Instant::from_millis(5_000);
        Self {
            server: Server::new(now, config, SECRET),
            now,
            clients: BTreeMap::new(),
            mail: VecDeque::new(),
            events: Vec::new(),
            watch: Watch::new(&states::SERVER, "stranger"),
        }
    }

    /// A server with ANN and BOB on it, who have nothing to say yet; and their players.
    #[track_caller]
    pub(crate) fn with_two() -> (Self, PlayerId, PlayerId) {
        let mut script = Self::new();
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

    /// `who` sends this datagram.
    #[track_caller]
    pub(crate) fn send_bytes(&mut self, who: Addr, bytes: &[u8]) {
        self.hand_in(who, bytes);
        self.drain();
    }

    /// A datagram of `who` is handed in, and more may follow before the server's turn.
    pub(crate) fn hand_in(&mut self, who: Addr, bytes: &[u8]) {
        self.server.handle_datagram(self.now, who, bytes);
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
        self.clients.clear();
        self.mail.clear();
    }

    /// Forgets all unread mail.
    pub(crate) fn forget_mail(&mut self) {
        self.mail.clear();
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
        while self.mail.iter().all(|(to, _)| *to != who) {
            assert!(self.step(until), "no packet to {who} for a whole period");
        }
        self.mailed(who).expect("just seen")
    }

    /// Nothing waits to be read by anybody.
    #[track_caller]
    pub(crate) fn expects_nothing(&self) {
        assert_eq!(self.mail, []);
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
        self.mail.clear();
        self.advance(span);
        let mail = core::mem::take(&mut self.mail);
        mail.into_iter()
            .filter(|(to, _)| *to == who)
            .map(|(_, packet)| packet)
            .collect()
    }

    /// Time passes, and the server's clock runs.
    #[track_caller]
    pub(crate) fn advance(&mut self, span: Duration) {
        let until = self.now + span;
        while self.step(until) {}
    }

    /// Time passes while these clients stay alive and acknowledge everything.
    #[track_caller]
    pub(crate) fn live(&mut self, span: Duration, clients: &[Addr]) {
        let until = self.now + span;
        while self.now < until {
            self.advance(SEND_PERIOD.min(until.since(self.now)));
            self.read_all();
            clients.iter().for_each(|who| self.ack(*who));
        }
        self.mail.clear();
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
        self.events.clear();
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
            self.advance(SEND_PERIOD);
            let news = self.read_all();
            let all: Vec<_> = self.clients.keys().copied().collect();
            let behind = |script: &Self, who| script.clients[&who].heard > script.clients[&who].ack;
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

    /// What the game was told since this was last asked.
    pub(crate) fn events(&mut self) -> Vec<ServerEvent> {
        core::mem::take(&mut self.events)
    }

    pub(crate) fn counters(&self) -> ServerCounters {
        *self.server.counters()
    }

    /// The word for where `who` stands, if it has a place.
    pub(crate) fn state(&self, who: Addr) -> Option<&'static str> {
        let mut state = None;
        self.server.visit_peers(&mut |peer| {
            if peer.addr == who {
                state = Some(peer.state);
            }
        });
        state
    }

    /// Lets the game act on the server, then sends what that caused.
    #[track_caller]
    pub(crate) fn game<T>(&mut self, act: impl FnOnce(Instant, &mut Server) -> T) -> T {
        let result = act(self.now, &mut self.server);
        self.drain();
        result
    }

    /// Makes every client hear what was mailed to it; whether anything reliable was among it.
    fn read_all(&mut self) -> bool {
        let mut news = false;
        while let Some((to, packet)) = self.mail.pop_front() {
            news |= !packet.reliable.is_empty();
            self.hear(to, &packet);
        }
        news
    }

    fn speaker(&mut self, who: Addr) -> &mut Speaker {
        self.clients.entry(who).or_default()
    }

    /// The oldest unread packet to `who`.
    pub(crate) fn mailed(&mut self, who: Addr) -> Option<Packet> {
        let position = self.mail.iter().position(|(to, _)| *to == who)?;
        let (_, packet) = self.mail.remove(position)?;
        self.hear(who, &packet);
        Some(packet)
    }

    fn hear(&mut self, who: Addr, packet: &Packet) {
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

    /// Goes on to the server's next deadline, but not beyond `until`; `false` when that is reached.
    #[track_caller]
    fn step(&mut self, until: Instant) -> bool {
        match self.server.poll_timeout() {
            Some(at) if at <= until => {
                self.now = self.now.max(at);
                self.server.handle_timeout(self.now);
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
            while let Some(transmit) = self.server.poll_transmit(self.now, &mut out) {
                let Transmit::Datagram { to } = transmit else {
                    panic!("lwar has no streams: {transmit:?}");
                };
                let packet = Packet::decode(core::mem::take(&mut out));
                self.speaker(to).acked = packet.header.ack;
                self.mail.push_back((to, packet));
                sent += 1;
                assert!(sent < 10_000, "sending never ends");
            }
            self.events
                .extend(core::iter::from_fn(|| self.server.poll_event()));
            self.watch.look(&self.server, |peer| Some(peer.addr));
            if self.server.poll_timeout().is_none_or(|at| at > self.now) {
                return;
            }
            self.server.handle_timeout(self.now);
        }
        panic!("draining never ends");
    }
}
