//! A client, and a script that speaks for its server and owns the clock.

use std::collections::VecDeque;
use std::time::Duration;

use tickwire_dialects::pixmess::mask::Masks;
use tickwire_dialects::pixmess::message::FromClient;
use tickwire_dialects::pixmess::{
    Cell, ChunkXy, Client, ClientConfig, ClientEvent, Layer, PlayerId, Reader, Tiles, Version,
};
use tickwire_session::{Addr, Ended, Events, Instant, Path, Room, Session, StreamId, Transmit};
use tickwire_sim::addr;

use crate::states;
use crate::watch::Watch;
use crate::words::{Heard, LOOK, Said, creation, encode, login, player_id};

pub(crate) const SERVER: Addr = addr::link(7);
pub(crate) const ON: StreamId = StreamId::Dialled(0);
pub(crate) const OWN: PlayerId = PlayerId(5);

pub(crate) struct ClientScript {
    pub(crate) client: Client,
    /// The connection that the client dialled last.
    on: StreamId,
    pub(crate) now: Instant,
    said: Masks,
    heard: Masks,
    arrived: Vec<u8>,
    mail: VecDeque<Said>,
    orders: Vec<Transmit>,
    events: Vec<ClientEvent>,
    pub(crate) watch: Watch<()>,
}

impl ClientScript {
    pub(crate) fn dial(version: Version, name: &str) -> Self {
        let now = Instant::from_millis(2_000);
        let mut config = ClientConfig::new(SERVER, version, name).expect("a good name");
        config.look = LOOK;
        let mut script = Self {
            client: Client::new(now, config),
            on: ON,
            now,
            said: Masks::default(),
            heard: Masks::default(),
            arrived: Vec::new(),
            mail: VecDeque::new(),
            orders: Vec::new(),
            events: Vec::new(),
            watch: Watch::new(&states::CLIENT, "Dialling"),
        };
        script.drain();
        script
    }

    /// Logged in, and standing at `at`.
    #[track_caller]
    pub(crate) fn playing(version: Version, at: Cell) -> Self {
        let mut script = Self::dial(version, "ann");
        script.open();
        script.expects(&[login(version.code(), "ann")]);
        script.send(&[player_id(OWN), creation(OWN, "ann", at)]);
        script.events.clear();
        script.orders.clear();
        script
    }

    pub(crate) fn open(&mut self) {
        self.client.handle_opened(self.now, self.on, SERVER);
        self.drain();
    }

    pub(crate) fn close(&mut self, why: Ended) {
        let path = Path::Stream(self.on);
        self.client.handle_closed(self.now, path, why);
        self.drain();
    }

    pub(crate) fn send(&mut self, messages: &[Heard]) {
        let bytes = encode(&mut self.said, messages);
        self.send_bytes(&bytes);
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.client.handle_stream(self.now, self.on, bytes);
        self.drain();
    }

    /// Sends a chunk in pieces of 100 bytes.
    pub(crate) fn send_layer(&mut self, at: ChunkXy, tiles: &Tiles) {
        self.send_gzip(at, Layer::new(tiles).as_bytes());
    }

    pub(crate) fn send_gzip(&mut self, at: ChunkXy, gzip: &[u8]) {
        let gzip: &'static [u8] = gzip.to_vec().leak();
        self.send(&[Heard::LayerStart(at)]);
        for data in gzip.chunks(100) {
            self.send(&[Heard::LayerData { data }]);
        }
        self.send(&[Heard::LayerEnd]);
    }

    /// Lets the player act, then sends what that caused.
    pub(crate) fn act<T>(&mut self, act: impl FnOnce(Instant, &mut Client) -> T) -> T {
        let result = act(self.now, &mut self.client);
        self.drain();
        result
    }

    /// The server has heard exactly this since it last looked.
    #[track_caller]
    pub(crate) fn expects(&mut self, messages: &[Said]) {
        let mail: Vec<_> = self.mail.drain(..).collect();
        assert_eq!(mail, messages, "what the server heard (left)");
    }

    pub(crate) fn events(&mut self) -> Vec<ClientEvent> {
        core::mem::take(&mut self.events)
    }

    pub(crate) fn orders(&mut self) -> Vec<Transmit> {
        core::mem::take(&mut self.orders)
    }

    pub(crate) fn advance(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(at) = self.client.poll_timeout().filter(|at| *at <= until) {
            self.now = at;
            self.client.handle_timeout(at);
            self.drain();
            assert!(self.client.poll_timeout().is_none_or(|next| next > at));
        }
        self.now = until;
    }

    /// The server reads no more than this, until something else makes it read.
    pub(crate) fn send_deaf(&mut self, bytes: &[u8]) {
        let closed = Path::Stream(self.on);
        self.client.handle_room(self.now, closed, Room::CLOSED);
        self.client.handle_stream(self.now, self.on, bytes);
    }

    fn drain(&mut self) {
        self.watch.look(&self.client, |_| Some(()));
        let room = Room {
            bytes: u32::MAX,
            largest: 0,
        };
        self.client
            .handle_room(self.now, Path::Stream(self.on), room);
        let mut out = Vec::new();
        while let Some(transmit) = self.client.poll_transmit(self.now, &mut out) {
            match transmit {
                Transmit::Stream { .. } => self.arrived.append(&mut out),
                Transmit::Dial { on, .. } => {
                    self.on = on;
                    (self.said, self.heard) = (Masks::default(), Masks::default());
                    self.orders.push(transmit);
                }
                order => self.orders.push(order),
            }
        }
        let kept: &'static [u8] = self.arrived.clone().leak();
        let mut r = Reader::new(kept);
        let mut read = 0;
        while let Ok(message) = FromClient::decode(&mut r, &mut self.heard) {
            self.mail.push_back(message);
            read = r.position();
        }
        self.arrived.drain(..read);
        self.events
            .extend(core::iter::from_fn(|| self.client.poll_event()));
        self.watch.look(&self.client, |_| Some(()));
    }
}
