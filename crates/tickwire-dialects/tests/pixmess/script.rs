//! A server, a game, and a script that speaks for the clients, in raw messages, and owns the clock.
//!
//! It obeys the drain rule after every word. How bytes are cut on their way in, and how much room
//! there is on the way out, is a [`Carriage`]: what is said must not depend on it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tickwire_dialects::pixmess::mask::Masks;
use tickwire_dialects::pixmess::message::FromServer;
use tickwire_dialects::pixmess::{
    Cell, ChunkXy, PlayerId, Server, ServerConfig, ServerCounters, ServerEvent, decompress,
};
use tickwire_session::{
    Addr, Ended, Events, Host, Instant, Path, Room, Session, StreamId, Transmit,
};

use crate::game::Game;
use crate::states;
use crate::watch::Watch;
use crate::words::{Heard, Said, chat, creation, decode_whole, encode, login, player_id};

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

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

pub(crate) struct Script {
    pub(crate) server: Server,
    pub(crate) game: Game,
    pub(crate) now: Instant,
    carriage: Carriage,
    clients: BTreeMap<u32, Speaker>,
    events: Vec<ServerEvent>,
    pub(crate) watch: Watch<u16>,
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
    /// How the server ended it.
    end: Option<Transmit>,
    /// Does not read: has no room.
    deaf: bool,
}

const fn stream(who: u32) -> StreamId {
    StreamId::Accepted(who)
}

/// Of a client: the port tells which one it is.
fn addr(who: u32, host: Host) -> Addr {
    let port = u16::try_from(who).expect("few clients");
    Addr { host, port }
}

impl Script {
    pub(crate) fn new() -> Self {
        Self::with(ServerConfig::default(), Carriage::WHOLE)
    }

    pub(crate) fn with(config: ServerConfig, carriage: Carriage) -> Self {
        Self {
            server: Server::new(config),
            game: Game::default(),
            now: Instant::from_millis(3_000),
            carriage,
            clients: BTreeMap::new(),
            events: Vec::new(),
            watch: Watch::new(&states::SERVER, "(gone)"),
        }
    }

    /// Opens a connection.
    pub(crate) fn open(&mut self, who: u32) {
        self.open_from(who, Host::Link(who.into()));
    }

    /// Opens a connection from this host.
    pub(crate) fn open_from(&mut self, who: u32, host: Host) {
        self.open_as(who, host, Speaker::default());
    }

    fn open_as(&mut self, who: u32, host: Host, speaker: Speaker) {
        self.clients.insert(who, speaker);
        self.server
            .handle_opened(self.now, stream(who), addr(who, host));
        self.drain();
    }

    /// Opens a connection that never reads.
    pub(crate) fn open_deaf(&mut self, who: u32) {
        let speaker = Speaker {
            deaf: true,
            ..Speaker::default()
        };
        self.open_as(who, Host::Link(who.into()), speaker);
    }

    /// One that did not read begins to, or ceases.
    pub(crate) fn set_deaf(&mut self, who: u32, deaf: bool) {
        self.speaker(who).deaf = deaf;
        self.drain();
    }

    pub(crate) fn close(&mut self, who: u32) {
        let path = Path::Stream(stream(who));
        self.server.handle_closed(self.now, path, Ended::Reset);
        self.drain();
    }

    pub(crate) fn send(&mut self, who: u32, messages: &[Said]) {
        let bytes = encode(&mut self.speaker(who).said, messages);
        self.send_bytes(who, &bytes);
    }

    pub(crate) fn send_bytes(&mut self, who: u32, bytes: &[u8]) {
        for piece in bytes.chunks(self.carriage.piece) {
            if self.is_open(who) {
                self.server.handle_stream(self.now, stream(who), piece);
                self.drain();
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
            let spawn = self.game.spawn;
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
    pub(crate) fn expects_nothing(&mut self, who: u32) {
        self.expects(who, &[]);
    }

    /// `who` was told this and nothing else, and its connection was finished.
    #[track_caller]
    pub(crate) fn expects_end(&mut self, who: u32, messages: &[Heard]) {
        self.expects(who, messages);
        let on = stream(who);
        assert_eq!(self.speaker(who).end, Some(Transmit::Finish { on }));
    }

    /// `who` was cut off.
    #[track_caller]
    pub(crate) fn expects_cut(&mut self, who: u32) {
        let on = stream(who);
        assert_eq!(self.speaker(who).end, Some(Transmit::Abort { on }));
    }

    pub(crate) fn is_open(&self, who: u32) -> bool {
        self.clients[&who].end.is_none()
    }

    /// What `who` heard since it last looked.
    pub(crate) fn heard(&mut self, who: u32) -> Vec<Heard> {
        self.speaker(who).mail.drain(..).collect()
    }

    /// The bytes that `who` was sent so far.
    pub(crate) fn bytes_to(&self, who: u32) -> usize {
        self.clients[&who].bytes
    }

    /// Everybody forgets what it heard.
    pub(crate) fn forget(&mut self) {
        for client in self.clients.values_mut() {
            client.mail.clear();
        }
        self.events.clear();
    }

    /// Lets the game act on the server, then sends what that caused.
    pub(crate) fn act<T>(&mut self, act: impl FnOnce(Instant, &mut Game, &mut Server) -> T) -> T {
        let result = act(self.now, &mut self.game, &mut self.server);
        self.drain();
        result
    }

    /// What the game was told since this was last asked, questions included.
    pub(crate) fn events(&mut self) -> Vec<ServerEvent> {
        core::mem::take(&mut self.events)
    }

    pub(crate) fn counters(&self) -> ServerCounters {
        *self.server.counters()
    }

    pub(crate) fn at(&self, player: PlayerId) -> Cell {
        self.server
            .position(player.entity())
            .expect("the player is there")
    }

    /// The word for where `who` stands.
    pub(crate) fn state(&self, who: u32) -> Option<&'static str> {
        let mut state = None;
        self.server.visit_peers(&mut |peer| {
            if u32::from(peer.addr.port) == who {
                state = Some(peer.state);
            }
        });
        state
    }

    /// Time passes.
    pub(crate) fn advance(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(at) = self.server.poll_timeout().filter(|at| *at <= until) {
            assert!(at >= self.now, "the past is over");
            self.now = at;
            self.server.handle_timeout(at);
            self.drain();
            let next = self.server.poll_timeout();
            assert!(next.is_none_or(|next| next > at), "woken for nothing");
        }
        self.now = until;
    }

    /// Time passes while these clients stay alive.
    pub(crate) fn live(&mut self, span: Duration, clients: &[u32]) {
        let until = self.now + span;
        while self.now < until {
            self.advance(ms(1_000).min(until.since(self.now)));
            for &who in clients {
                self.send(who, &[Said::Pong]);
            }
        }
    }

    fn speaker(&mut self, who: u32) -> &mut Speaker {
        self.clients.get_mut(&who).expect("it was opened")
    }

    /// Obeys the drain rule, and gives out room as the carriage has it.
    fn drain(&mut self) {
        loop {
            let mut busy = false;
            let open = |client: &&Speaker| client.end.is_none();
            for (&who, client) in self.clients.iter().filter(|(_, client)| open(client)) {
                let bytes = if client.deaf { 0 } else { self.carriage.room };
                let room = Room { bytes, largest: 0 };
                let path = Path::Stream(stream(who));
                self.server.handle_room(self.now, path, room);
            }
            self.watch();
            let mut out = Vec::new();
            while let Some(transmit) = self.server.poll_transmit(self.now, &mut out) {
                self.carry(transmit, &core::mem::take(&mut out));
                busy = true;
            }
            while let Some(event) = self.server.poll_event() {
                self.game.handle(self.now, &mut self.server, &event);
                self.watch();
                self.events.push(event);
                busy = true;
            }
            if !busy {
                return;
            }
        }
    }

    /// Watches those that have a name; of a crowd one is like the other.
    #[track_caller]
    fn watch(&mut self) {
        let named = |port: u16| (port < 10).then_some(port);
        self.watch.look(&self.server, |peer| named(peer.addr.port));
    }

    fn carry(&mut self, transmit: Transmit, bytes: &[u8]) {
        let (Transmit::Stream {
            on: StreamId::Accepted(who),
        }
        | Transmit::Finish {
            on: StreamId::Accepted(who),
        }
        | Transmit::Abort {
            on: StreamId::Accepted(who),
        }) = transmit
        else {
            panic!("a server does not {transmit:?}");
        };
        let room = self.carriage.room;
        let Some(client) = self.clients.get_mut(&who) else {
            assert!(
                matches!(transmit, Transmit::Abort { .. }),
                "one of a crowd that nobody speaks for is told {transmit:?}"
            );
            return;
        };
        assert_eq!(client.end, None, "{who} was ended before");
        if !matches!(transmit, Transmit::Stream { .. }) {
            client.end = Some(transmit);
            return;
        }
        assert!(!client.deaf && bytes.len() <= room as usize && !bytes.is_empty());
        client.bytes += bytes.len();
        client.arrived.extend_from_slice(bytes);
        let messages = decode_whole(&mut client.heard, &mut client.arrived);
        client.mail.extend(messages);
        assert!(
            client.arrived.len() < 600,
            "{who} cannot read what it hears"
        );
    }

    /// Logs in and returns nothing heard but the number.
    #[track_caller]
    pub(crate) fn expects_player_id(&mut self, who: u32, player: PlayerId) {
        self.expects(who, &[player_id(player)]);
    }
}
