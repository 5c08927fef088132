//! A server, a game, and a script that speaks for the clients, in raw messages, and owns the clock.
//!
//! How bytes are cut on their way in, and how much room there is on the way out, is a [`Carriage`]: what is
//! said must not depend on it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tickwire_dialects::pixmess::mask::Masks;
use tickwire_dialects::pixmess::message::FromServer;
use tickwire_dialects::pixmess::{
    Cell, ChunkXy, PlayerId, Server, ServerConfig, ServerCounters, ServerEvent, decompress,
};
use tickwire_session::{Addr, Ended, Events, Host, Instant, Session, StreamId, Transmit};

pub(crate) use crate::driven::ms;
use crate::driven::{Driven, Memory, Window};
use crate::game::Game;
use crate::licence::Watch;
use crate::states;
use crate::words::{Heard, Said, chat, creation, decode_whole, encode, login};

pub(crate) const ANN: u32 = 1;
pub(crate) const BOB: u32 = 2;
pub(crate) const CID: u32 = 3;

/// How bytes travel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carriage {
    /// Bytes handed in at once.
    pub(crate) piece: usize,
    /// Room reported at once.
    pub(crate) room: u32,
}

impl Carriage {
    pub(crate) const WHOLE: Self = Self {
        piece: usize::MAX,
        room: u32::MAX,
    };
}

pub(crate) type Script = Driven<Server, Table>;

/// The game, and everybody who speaks to the server.
pub(crate) struct Table {
    pub(crate) game: Game,
    carriage: Carriage,
    clients: BTreeMap<StreamId, Speaker>,
    events: Vec<ServerEvent>,
}

/// A client's end of a stream.
#[derive(Debug, Default)]
struct Speaker {
    said: Masks,
    heard: Masks,
    arrived: Vec<u8>,
    mail: VecDeque<Heard>,
    /// All bytes that arrived so far.
    bytes: usize,
}

impl Memory<Server> for Table {
    fn check_sent(&mut self, transmit: Transmit, bytes: &[u8]) {
        let Transmit::Stream { on } = transmit else {
            return;
        };
        let client = self.clients.get_mut(&on).expect("somebody speaks for it");
        assert!(!bytes.is_empty());
        client.bytes += bytes.len();
        client.arrived.extend_from_slice(bytes);
        let messages = decode_whole(&mut client.heard, &mut client.arrived);
        client.mail.extend(messages);
        assert!(
            client.arrived.len() < 600,
            "{on:?} cannot read what it hears"
        );
    }

    fn answer(&mut self, now: Instant, server: &mut Server) -> bool {
        let before = self.events.len();
        while let Some(event) = server.poll_event() {
            self.game.handle(now, server, &event);
            self.events.push(event);
        }
        self.events.len() > before
    }
}

const fn stream(who: u32) -> StreamId {
    StreamId::Accepted(who)
}

impl Script {
    pub(crate) fn begin() -> Self {
        Self::with(ServerConfig::default(), Carriage::WHOLE)
    }

    pub(crate) fn with(config: ServerConfig, carriage: Carriage) -> Self {
        let table = Table {
            game: Game::default(),
            carriage,
            clients: BTreeMap::new(),
            events: Vec::new(),
        };
        let now = Instant::from_millis(3_000);
        let mut script = Self::new(Server::new(config), now, Watch::new(&states::SERVER), table);
        script.window = Window::Again(carriage.room);
        script
    }

    /// Opens a connection.
    pub(crate) fn open(&mut self, who: u32) {
        self.open_from(who, Host::Link(who.into()));
    }

    /// Opens a connection from this host. The port tells whose it is.
    pub(crate) fn open_from(&mut self, who: u32, host: Host) {
        self.memory.clients.insert(stream(who), Speaker::default());
        let port = u16::try_from(who).expect("few clients");
        self.opened(stream(who), Addr { host, port });
    }

    /// Opens a connection that never reads.
    pub(crate) fn open_deaf(&mut self, who: u32) {
        self.window = Window::Again(0);
        self.open(who);
        self.window = Window::Again(self.memory.carriage.room);
    }

    /// One that did not read begins to, or ceases.
    pub(crate) fn set_deaf(&mut self, who: u32, deaf: bool) {
        let room = if deaf { 0 } else { self.memory.carriage.room };
        self.give_room(stream(who), room);
    }

    pub(crate) fn close(&mut self, who: u32) {
        self.closed(stream(who), Ended::Reset);
    }

    pub(crate) fn send(&mut self, who: u32, messages: &[Said]) {
        let bytes = encode(&mut self.speaker(who).said, messages);
        self.say_bytes(who, &bytes);
    }

    pub(crate) fn say_bytes(&mut self, who: u32, bytes: &[u8]) {
        for piece in bytes.chunks(self.memory.carriage.piece) {
            if self.is_open(who) {
                self.write_bytes(stream(who), piece);
            }
        }
    }

    /// Connects and logs in, in version 1, and forgets what everybody heard of it.
    #[track_caller]
    pub(crate) fn join(&mut self, who: u32, name: &'static str) -> PlayerId {
        self.join_as(who, 1, name)
    }

    #[track_caller]
    pub(crate) fn join_as(&mut self, who: u32, version: u16, name: &'static str) -> PlayerId {
        self.open(who);
        self.send(who, &[login(version, name)]);
        let Some(FromServer::PlayerId { player }) = self.speaker(who).mail.pop_front() else {
            panic!("{name} was not let in");
        };
        if !name.is_empty() {
            let joined = format!("* {name} has joined");
            let spawn = self.memory.game.spawn;
            self.expects(who, &[creation(player, name, spawn), chat(&joined)]);
        }
        self.forget();
        player
    }

    /// Asks for a chunk and takes it in, without the entities that follow.
    #[track_caller]
    pub(crate) fn load(&mut self, who: u32, at: ChunkXy) {
        self.send(who, &[Said::LayerRequest(at)]);
        self.expects_layer(who, at);
    }

    /// The next messages to `who` are the chunk at `at` as the game has it.
    #[track_caller]
    pub(crate) fn expects_layer(&mut self, who: u32, at: ChunkXy) -> Vec<u8> {
        let mail = &mut self.speaker(who).mail;
        assert_eq!(mail.pop_front(), Some(FromServer::LayerStart(at)));
        let mut gzip = Vec::new();
        while let Some(FromServer::LayerData { data }) = mail.front() {
            assert!(data.len() <= 512 && !data.is_empty());
            gzip.extend_from_slice(data);
            mail.pop_front();
        }
        assert_eq!(mail.pop_front(), Some(FromServer::LayerEnd));
        decompress(&gzip).expect("a layer");
        gzip
    }

    /// `who` has heard exactly this since it last looked.
    #[track_caller]
    pub(crate) fn expects(&mut self, who: u32, messages: &[Heard]) {
        let heard: Vec<_> = self.speaker(who).mail.drain(..).collect();
        assert_eq!(heard, messages, "what {who} heard (left)");
    }

    #[track_caller]
    pub(crate) fn hears_nothing(&mut self, who: u32) {
        self.expects(who, &[]);
    }

    /// `who` was told this and nothing else, and its connection was finished.
    #[track_caller]
    pub(crate) fn expects_end(&mut self, who: u32, messages: &[Heard]) {
        self.expects(who, messages);
        let on = stream(who);
        assert!(self.orders.contains(&Transmit::Finish { on }), "{who}");
    }

    /// `who` was cut off.
    #[track_caller]
    pub(crate) fn expects_cut(&mut self, who: u32) {
        let on = stream(who);
        assert!(self.orders.contains(&Transmit::Abort { on }), "{who}");
    }

    pub(crate) fn is_open(&self, who: u32) -> bool {
        !self.has_ended(stream(who))
    }

    /// What `who` heard since it last looked.
    pub(crate) fn heard(&mut self, who: u32) -> Vec<Heard> {
        self.speaker(who).mail.drain(..).collect()
    }

    /// The bytes that `who` was sent so far.
    pub(crate) fn bytes_to(&self, who: u32) -> usize {
        self.memory.clients[&stream(who)].bytes
    }

    /// Everybody forgets what it heard.
    pub(crate) fn forget(&mut self) {
        for client in self.memory.clients.values_mut() {
            client.mail.clear();
        }
        self.memory.events.clear();
    }

    /// Lets the game act on the server, then sends what that caused.
    pub(crate) fn play<T>(&mut self, play: impl FnOnce(&mut Game, &mut Server) -> T) -> T {
        let result = play(&mut self.memory.game, &mut self.session);
        self.drain();
        result
    }

    /// What the game was told since this was last asked, questions included.
    pub(crate) fn told(&mut self) -> Vec<ServerEvent> {
        core::mem::take(&mut self.memory.events)
    }

    pub(crate) fn counters(&self) -> ServerCounters {
        *self.session.counters()
    }

    pub(crate) fn at(&self, player: PlayerId) -> Cell {
        let at = self.session.position(player.entity());
        at.expect("the player is there")
    }

    /// The word for where `who` stands.
    pub(crate) fn state(&self, who: u32) -> Option<&'static str> {
        let mut state = None;
        self.session.visit_peers(&mut |peer| {
            if u32::from(peer.addr.port) == who {
                state = Some(peer.state);
            }
        });
        state
    }

    /// Time passes while these clients stay alive.
    pub(crate) fn live(&mut self, span: Duration, clients: &[u32]) {
        let until = self.now + span;
        while self.now < until {
            self.pass(ms(1_000).min(until.since(self.now)));
            for &who in clients {
                self.send(who, &[Said::Pong]);
            }
        }
    }

    fn speaker(&mut self, who: u32) -> &mut Speaker {
        let client = self.memory.clients.get_mut(&stream(who));
        client.expect("it was opened")
    }
}
