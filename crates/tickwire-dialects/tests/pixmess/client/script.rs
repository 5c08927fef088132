//! A client, and a script that speaks for its server and owns the clock.

use std::collections::VecDeque;

use tickwire_dialects::pixmess::mask::Masks;
use tickwire_dialects::pixmess::message::FromClient;
use tickwire_dialects::pixmess::{
    Cell, ChunkXy, Client, ClientConfig, Layer, PlayerId, Reader, Tiles, Version,
};
use tickwire_session::{Addr, Ended, Instant, StreamId, Transmit};
use tickwire_sim::addr;

use crate::driven::{Driven, Memory, Window};
use crate::licence::Watch;
use crate::states;
use crate::words::{Heard, LOOK, Said, creation, encode, login, player_id};

pub(crate) const SERVER: Addr = addr::link(7);
pub(crate) const ON: StreamId = StreamId::Dialled(0);
pub(crate) const OWN: PlayerId = PlayerId(5);

pub(crate) type ClientScript = Driven<Client, Listener>;

/// The server's end of the connection that the client dialled last.
pub(crate) struct Listener {
    on: StreamId,
    said: Masks,
    heard: Masks,
    arrived: Vec<u8>,
    mail: VecDeque<Said>,
}

impl Listener {
    fn new(on: StreamId) -> Self {
        Self {
            on,
            said: Masks::default(),
            heard: Masks::default(),
            arrived: Vec::new(),
            mail: VecDeque::new(),
        }
    }
}

impl Memory<Client> for Listener {
    fn check_sent(&mut self, transmit: Transmit, bytes: &[u8]) {
        if let Transmit::Dial { on, .. } = transmit {
            let mail = core::mem::take(&mut self.mail);
            *self = Self {
                mail,
                ..Self::new(on)
            };
        }
        self.arrived.extend_from_slice(bytes);
        let kept: &'static [u8] = self.arrived.clone().leak();
        let mut r = Reader::new(kept);
        let mut read = 0;
        while let Ok(message) = FromClient::decode(&mut r, &mut self.heard) {
            self.mail.push_back(message);
            read = r.position();
        }
        self.arrived.drain(..read);
    }
}

impl ClientScript {
    pub(crate) fn dial(version: Version, name: &str) -> Self {
        let now = Instant::from_millis(2_000);
        let mut config = ClientConfig::new(SERVER, version, name).expect("a good name");
        config.look = LOOK;
        let (client, watch) = (Client::new(now, config), Watch::new(&states::CLIENT));
        let mut script = Self::new(client, now, watch, Listener::new(ON));
        script.window = Window::Again(u32::MAX);
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
        script.events();
        script.orders.clear();
        script
    }

    pub(crate) fn open(&mut self) {
        self.opened(self.memory.on, SERVER);
    }

    pub(crate) fn close(&mut self, why: Ended) {
        self.closed(self.memory.on, why);
    }

    pub(crate) fn send(&mut self, messages: &[Heard]) {
        let bytes = encode(&mut self.memory.said, messages);
        self.say_bytes(&bytes);
    }

    pub(crate) fn say_bytes(&mut self, bytes: &[u8]) {
        self.write_bytes(self.memory.on, bytes);
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

    /// The server has heard exactly this since it last looked.
    #[track_caller]
    pub(crate) fn expects(&mut self, messages: &[Said]) {
        let mail: Vec<_> = self.memory.mail.drain(..).collect();
        assert_eq!(mail, messages, "what the server heard (left)");
    }

    pub(crate) fn orders(&mut self) -> Vec<Transmit> {
        core::mem::take(&mut self.orders)
    }

    /// The server says this and reads nothing from then on.
    pub(crate) fn send_deaf(&mut self, bytes: &[u8]) {
        self.give_room(self.memory.on, 0);
        self.say_bytes(bytes);
    }
}
