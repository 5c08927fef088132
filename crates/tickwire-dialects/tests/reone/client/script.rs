//! A client, and the script as its server: it carries the bytes, owns the clock, and can keep back,
//! repeat and reorder whatever it likes.

use std::num::NonZeroU16;
use std::sync::{Arc, LazyLock};

use crate::driven::Driven;
use crate::licence::{Licence, Watch, Words};
use crate::states::STATES;
use crate::words;
pub(super) use crate::words::{creature_at as creature, text};
use tickwire_dialects::reone::message::{
    Base, Compression, Down, DownElement, DownFrame, DownHeader, Packet, Parameters, Role, Up,
    UpElement, UpFrame, VariableDiff, decode_arrived,
};
use tickwire_dialects::reone::{
    Client, ClientConfig, ClientEvent, ClientId, GLOBAL, ModuleNumber, ObjectId, PORT, Reader,
    SnapshotSeq,
};

use tickwire_session::bulk::Shelf;
use tickwire_session::{Addr, Ended, Instant, StreamId, Token, Transmit};
use tickwire_sim::addr::machine;

/// The phases, in the order of a client's life.
const PHASES: &[&str] = &[
    "Connecting",
    "Handshaking",
    "Loading",
    "Initialising",
    "Ready",
    "Playing",
    "Reconnecting",
    "Ended",
];
const NOT_ENDED: &[&str] = PHASES.split_at(7).0;
const CONNECTED: &[&str] = PHASES.split_at(6).0;
const WITH_STREAM: &[&str] = CONNECTED.split_at(1).1;
const WELCOME: &[&str] = CONNECTED.split_at(2).1;

/// What a client may go through.
pub(super) static CLIENT_LICENCE: LazyLock<Licence> = LazyLock::new(|| {
    let words = Words {
        head: "| phase |",
        states: PHASES,
        absent: "",
        groups: &[
            ("all after Welcome", WELCOME),
            ("all with a stream", WITH_STREAM),
            (
                "all after Welcome, and Connecting and Handshaking",
                CONNECTED,
            ),
            ("all but Ended", NOT_ENDED),
        ],
    };
    Licence::read(STATES, &["## The client"], words)
});

pub(super) const SERVER: Addr = machine(1, PORT);
pub(super) const TOKEN: Token = Token(0x1122_3344_5566_7788);
pub(super) const MODULE: ModuleNumber = ModuleNumber(5);
/// The creature that the client steers.
pub(super) const OWN: ObjectId = ObjectId(1);

pub(super) fn config() -> ClientConfig {
    ClientConfig::new(SERVER, "ann").expect("a good name")
}

/// All of a creature.
pub(super) fn full(id: u32, x: f32) -> DownElement<'static> {
    DownElement::CreatureFull {
        id: ObjectId(id),
        status: creature(x),
    }
}

pub(super) const fn keep(id: u32) -> DownElement<'static> {
    DownElement::KeepAlive { id: ObjectId(id) }
}

pub(super) const fn last(datagrams: u8) -> DownElement<'static> {
    DownElement::Last { datagrams }
}

/// The header of a part of snapshot `sequence`, made against `acknowledged`.
pub(super) const fn header(sequence: u32, acknowledged: u32) -> DownHeader {
    DownHeader {
        sequence: SnapshotSeq(sequence),
        acknowledged: SnapshotSeq(acknowledged),
        tick: sequence * 3,
    }
}

pub(super) fn packet(header: DownHeader, elements: &[DownElement<'_>]) -> Vec<u8> {
    words::packet::<Down>(&header, elements)
}

pub(super) const fn parameters() -> Parameters {
    Parameters {
        tick_rate: NonZeroU16::new(20).expect("it is not 0"),
        lerp_ms: 100,
        role: Role::Player,
        own: OWN,
        module: MODULE,
        compression: Compression::None,
    }
}

/// The base of a module with creatures 1 to `creatures`, each at the place of its number.
pub(super) fn base(creatures: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let all = (1..=creatures).map(|id| full(id.into(), id.into()));
    let round = DownElement::VariableDiff(VariableDiff {
        scope: GLOBAL,
        name: text("round"),
        value: 1,
    });
    let all = all.chain([round]);
    Base::encode(0, all, &mut bytes).expect("it fits");
    bytes
}

/// The resources of a module with such a base.
pub(super) fn shelf(creatures: u16) -> Shelf {
    let mut shelf = Shelf::new("manifest");
    let base: Arc<[u8]> = base(creatures).into();
    shelf.insert("base", base).expect("a good name");
    shelf
}

/// What a datagram of the client says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Uplink {
    pub(super) packet: u32,
    pub(super) acknowledged: u32,
    pub(super) tick: u32,
    pub(super) ping: Option<Token>,
    pub(super) is_ready: bool,
    pub(super) events: Vec<(u32, u8, Vec<u8>)>,
}

pub(super) type ClientScript = Driven<Client>;

impl ClientScript {
    /// A client that has dialled.
    pub(super) fn with(config: ClientConfig) -> Self {
        let now = Instant::from_millis(5_000);
        let watch = Watch::new(&CLIENT_LICENCE);
        let mut script = Self::new(Client::new(now, config), now, watch, ());
        script.drain();
        script
    }

    /// The stream that it dialled last.
    fn stream(&self) -> StreamId {
        let dialled = self.orders.iter().rev().find_map(|order| match *order {
            Transmit::Dial { on, to } => {
                assert_eq!(to, SERVER);
                Some(on)
            }
            _ => None,
        });
        dialled.expect("it dials at once")
    }

    /// Takes what it wrote on its stream, and nobody looked at yet.
    pub(super) fn written(&mut self) -> Vec<u8> {
        self.streams.remove(&self.stream()).unwrap_or_default()
    }

    /// A client whose stream is open.
    pub(super) fn open() -> Self {
        let mut script = Self::with(config());
        script.accept();
        script
    }

    /// A client that was welcomed to a module with creatures 1 to `creatures`, and has loaded it.
    pub(super) fn loaded(creatures: u16) -> Self {
        let mut script = Self::open();
        script.welcome();
        script.serve(&shelf(creatures));
        script
    }

    /// A client that waits for snapshots.
    pub(super) fn ready(creatures: u16) -> Self {
        Self::ready_with(creatures, parameters())
    }

    pub(super) fn ready_with(creatures: u16, parameters: Parameters) -> Self {
        let mut script = Self::loaded(creatures);
        script.control(&[DownElement::Parameters(parameters)]);
        script.forget();
        script
    }

    /// A client with a first snapshot, in which its own creature is as in the base.
    pub(super) fn playing() -> Self {
        let mut script = Self::ready(2);
        script.snapshot(1, 0, &[keep(1)]);
        script.forget();
        script
    }

    /// Nobody looks at what came of it.
    pub(super) fn forget(&mut self) {
        self.events();
        self.datagrams.clear();
        self.streams.clear();
    }

    /// Opens the stream that was dialled last.
    pub(super) fn accept(&mut self) {
        self.opened(self.stream(), SERVER);
    }

    pub(super) fn welcome(&mut self) {
        self.write(&[DownFrame::Welcome {
            client: ClientId(3),
            token: TOKEN,
            module: MODULE,
            name: text("danm13"),
        }]);
    }

    /// Answers every Fetch, until there are no more.
    pub(super) fn serve(&mut self, shelf: &Shelf) {
        loop {
            let fetches = self.fetches();
            if fetches.is_empty() {
                return;
            }
            for (name, offset) in fetches {
                self.serve_one(shelf, &name, offset);
            }
        }
    }

    pub(super) fn serve_one(&mut self, shelf: &Shelf, name: &str, offset: u64) {
        let mut sending = shelf.send(name, offset).expect("it is there");
        while let Some(piece) = sending.poll_piece(1_000) {
            self.write(&[DownFrame::Resource {
                name: text(name),
                total: piece.of,
                offset: piece.offset,
                piece: piece.bytes,
            }]);
        }
    }

    /// What it asked to fetch since it last wrote something that was looked at; other frames are not
    /// taken away.
    pub(super) fn fetches(&mut self) -> Vec<(String, u64)> {
        let mut fetches = Vec::new();
        let mut others = Vec::new();
        each_frame(&self.written(), |frame| match frame {
            UpFrame::Fetch { name, offset } => fetches.push((name.as_str().to_owned(), offset)),
            other => others.extend(words::frames::<Up>(&[other])),
        });
        if !others.is_empty() {
            self.streams.insert(self.stream(), others);
        }
        fetches
    }

    /// Its frames, as they print.
    pub(super) fn frames(&mut self) -> Vec<String> {
        let mut frames = Vec::new();
        each_frame(&self.written(), |frame| {
            frames.push(format!("{frame:?}"));
        });
        frames
    }

    /// Its calls: number, method and argument. Other frames are taken away.
    pub(super) fn calls(&mut self) -> Vec<(u32, String, Vec<u8>)> {
        let mut calls = Vec::new();
        each_frame(&self.written(), |frame| {
            if let UpFrame::Call {
                id,
                method,
                argument,
            } = frame
            {
                calls.push((id.0, method.as_str().to_owned(), argument.to_vec()));
            }
        });
        calls
    }

    /// Its datagrams, read.
    pub(super) fn uplinks(&mut self) -> Vec<Uplink> {
        let datagrams = std::mem::take(&mut self.datagrams).into_iter();
        let uplink = |(to, bytes): (Addr, Vec<u8>)| {
            assert_eq!(to, SERVER);
            read_uplink(&bytes)
        };
        datagrams.map(uplink).collect()
    }

    /// Says something on the stream.
    pub(super) fn write(&mut self, frames: &[DownFrame<'_>]) {
        self.write_raw(&words::frames::<Down>(frames));
    }

    pub(super) fn write_raw(&mut self, bytes: &[u8]) {
        self.write_bytes(self.stream(), bytes);
    }

    /// Sends what is no part of a snapshot.
    pub(super) fn control(&mut self, elements: &[DownElement<'_>]) {
        self.send_raw(&packet(DownHeader::unsequenced(0), elements));
    }

    /// Sends a snapshot of one datagram.
    pub(super) fn snapshot(
        &mut self,
        sequence: u32,
        acknowledged: u32,
        elements: &[DownElement<'_>],
    ) {
        let mut elements = elements.to_vec();
        elements.push(last(1));
        self.send_raw(&packet(header(sequence, acknowledged), &elements));
    }

    pub(super) fn send_raw(&mut self, bytes: &[u8]) {
        self.send_bytes(SERVER, bytes);
    }

    pub(super) fn close(&mut self, why: Ended) {
        self.closed(self.stream(), why);
    }

    /// The snapshots that were whole since events were last looked at.
    pub(super) fn whole(&mut self) -> Vec<u32> {
        let events = self.events().into_iter();
        let whole = events.filter_map(|event| match event {
            ClientEvent::Snapshot(whole) => Some(whole.sequence.0),
            _ => None,
        });
        whole.collect()
    }
}

fn each_frame(bytes: &[u8], mut see: impl FnMut(UpFrame<'_>)) {
    let mut r = Reader::new(bytes);
    while let Some(frame) = decode_arrived::<Up>(&mut r).expect("it decodes") {
        see(frame);
    }
    assert!(r.is_empty(), "frames are written whole");
}

pub(super) fn read_uplink(bytes: &[u8]) -> Uplink {
    let packet = Packet::<Up>::decode(bytes).expect("it decodes");
    let mut uplink = Uplink {
        packet: packet.header.packet.0,
        acknowledged: packet.header.acknowledged.0,
        tick: packet.header.tick,
        ..Uplink::default()
    };
    for element in packet.elements() {
        match element {
            UpElement::Ping(token) => uplink.ping = Some(token),
            UpElement::Ready => uplink.is_ready = true,
            UpElement::Event(event) => {
                let content = event.content().to_vec();
                uplink.events.push((event.id.0, event.kind, content));
            }
        }
    }
    uplink
}
