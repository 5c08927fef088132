//! The server against a dozen addresses, their streams, and a game that does as it likes.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_dialects::reone::limits::{DATAGRAM_MAX, RECEIVE_MAX};
use tickwire_dialects::reone::message::{
    Ballistics, Compression, Down, DownFrame, Event, Packet, PlayAnimation, Refusal, Speed, Status,
    Up, UpElement, UpFrame, UpHeader, encode_frame,
};
use tickwire_dialects::reone::server_limits::EVENTS_WAITING;
use tickwire_dialects::reone::{
    CallId, ClientId, Command, EventId, Item, Module, Object, ObjectId, PacketSeq, Reply, Seat,
    Server, ServerConfig, ServerEvent, SightRange, SnapshotSeq, Vec2, Vec3,
};
use tickwire_session::{Addr, Session, StreamId, Token, Transmit};

use super::remote::{packet, read_frames, status, text};
use crate::driven::{Bounds, Driven, Seen, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

/// Plays a script of clients, strangers, time and a game.
///
/// # Panics
/// If the server breaks the contract of a session, sends what cannot be read, makes a difference to a
/// snapshot that nobody acknowledged, hands on an event twice, or sends a stranger more than it sent.
pub fn reone_server_session(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let choice = script.u8();
    let config = ServerConfig {
        module: module("a", choice),
        sight: SightRange {
            radius: f32::from(script.u8()),
            margin: 0.5,
        },
        clients: usize::from(choice & 7),
        snapshot_bytes: usize::from(script.u8()) * 8,
        compression: if choice & 8 == 0 {
            Compression::None
        } else {
            Compression::Huffman
        },
        ..ServerConfig::default()
    };
    let compression = config.compression;
    let now = script.start();
    let server = Server::new(config, [7; 32]).expect("the module is good");
    let run = Run {
        driven: Driven::new(server, now, BOUNDS),
        compression,
        tick: 0,
        streams: BTreeMap::new(),
        addrs: BTreeMap::new(),
        acknowledged: BTreeSet::new(),
        calls: Vec::new(),
        events: BTreeMap::new(),
    };
    carry_out(script, run);
}

const BOUNDS: Bounds = Bounds {
    // What waits for sixteen streams, in the smallest pieces that a script gives room for in one go.
    transmits: 1 << 20,
    events: EVENTS_WAITING + 512,
    datagram: DATAGRAM_MAX,
};

struct Run {
    driven: Driven<Server>,
    compression: Compression,
    /// The game's, at the last snapshot.
    tick: u32,
    streams: BTreeMap<StreamId, Stream>,
    addrs: BTreeMap<Addr, Traffic>,
    /// Snapshots that anybody acknowledged.
    acknowledged: BTreeSet<SnapshotSeq>,
    /// What the game was asked.
    calls: Vec<(ClientId, CallId)>,
    /// The last event of each client.
    events: BTreeMap<ClientId, EventId>,
}

/// A client's side of a stream.
#[derive(Default)]
struct Stream {
    token: Option<Token>,
    unread: Vec<u8>,
    packets: u32,
}

/// What an address sent, and was sent.
#[derive(Default)]
struct Traffic {
    /// It has shown a token that may be good.
    is_known: bool,
    bytes_in: usize,
    bytes_out: usize,
}

fn module(name: &str, choice: u8) -> Module {
    let base = (0..u32::from(choice >> 4)).map(|id| {
        let status = status(choice, &mut Script::new(&[]));
        Object::new(ObjectId(id), status)
    });
    Module {
        name: name.into(),
        base: base.collect(),
        variables: [("round".to_owned(), i32::from(choice & 3))].into(),
        resources: [("r".to_owned(), vec![choice; 70_000].into())].into(),
    }
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=31 => self.say(peer(choice), script),
            32..=35 => self.datagram(peer(choice), script.blob()),
            36..=55 => self.write(script),
            56..=63 => self.driven.wait(script),
            64..=75 => drop(self.driven.path_among(&mut self.streams, script)),
            76..=95 => self.publish(script),
            other => self.play(other, script),
        }
    }

    fn drain(&mut self) {
        let Self {
            driven,
            compression,
            tick: _,
            streams,
            addrs,
            acknowledged,
            calls,
            events,
        } = self;
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Datagram { to }, bytes) => {
                let traffic = addrs.entry(to).or_default();
                traffic.bytes_out += bytes.len();
                let is_fair = traffic.is_known || traffic.bytes_out <= traffic.bytes_in;
                assert!(is_fair, "{to} was sent more than it sent");
                let mut scratch = Vec::new();
                let packet = match compression {
                    Compression::None => Packet::<Down>::decode(bytes),
                    Compression::Huffman => Packet::<Down>::decode_coded(bytes, &mut scratch),
                };
                let baseline = packet.expect("it is readable").header.acknowledged;
                assert!(baseline == SnapshotSeq::NONE || acknowledged.contains(&baseline));
            }
            Seen::Transmit(Transmit::Stream { on }, bytes) => {
                if let Some(stream) = streams.get_mut(&on) {
                    stream.unread.extend_from_slice(bytes);
                    let found = &mut stream.token;
                    read_frames::<Down>(&mut stream.unread, |frame| {
                        if let DownFrame::Welcome { token, .. } = frame {
                            *found = Some(*token);
                        }
                    });
                }
            }
            Seen::Transmit(Transmit::Finish { on } | Transmit::Abort { on }, _) => {
                streams.remove(&on);
            }
            Seen::Transmit(other, _) => panic!("{other:?}"),
            Seen::Event(event) => match event {
                ServerEvent::Called { client, call, .. } => calls.push((client, call)),
                ServerEvent::Joining { client } => drop(events.remove(&client)),
                ServerEvent::Event { client, id, .. } if id != EventId::UNACKNOWLEDGED => {
                    let before = events.insert(client, id);
                    assert!(
                        before.is_none_or(|before| id == before.next()),
                        "{id:?} after {before:?}"
                    );
                }
                _ => {}
            },
        });
    }

    fn check(&mut self) {
        let server = &self.driven.session;
        let peers = self.driven.check_figures();
        assert!(server.clients().count() <= 7 && peers >= server.clients().count());
        assert!(!server.is_finished() || peers == 0);
    }
}

impl Run {
    /// A client shows a token, is ready, acts or acknowledges.
    fn say(&mut self, from: Addr, script: &mut Script<'_>) {
        let mode = script.u8();
        let nth = usize::from(script.u8()) % self.streams.len().max(1);
        let stream = self.streams.values_mut().nth(nth);
        let (token, number) = match stream {
            Some(stream) => {
                stream.packets += 1;
                (stream.token, stream.packets)
            }
            None => (None, 0),
        };
        let mut elements = Vec::new();
        if mode & 1 == 1 {
            elements.push(UpElement::Ping(token.unwrap_or_else(|| Token(mode.into()))));
        }
        if mode & 2 == 2 {
            elements.push(UpElement::Ready);
        }
        for id in 0..u32::from(mode >> 5) {
            let id = EventId(id + u32::from(script.u8() & 15));
            let event = Event::new(id, mode, script.bytes(usize::from(mode >> 5)));
            elements.push(UpElement::Event(event.expect("it is short")));
        }
        let newest = self.driven.session.newest().0;
        let (acknowledged, tick) = match mode >> 2 & 3 {
            3 => {
                let any = script.u32();
                (any, any)
            }
            _ => {
                let behind = script.u8();
                let acknowledged = newest.saturating_sub(u32::from(behind & 63));
                (
                    acknowledged,
                    self.tick.saturating_sub(u32::from(behind >> 6)),
                )
            }
        };
        let header = UpHeader {
            packet: PacketSeq(number),
            acknowledged: SnapshotSeq(acknowledged),
            tick,
        };
        let mut datagram = packet::<Up>(&header, &elements);
        script.harm_seldom(&mut datagram, RECEIVE_MAX);
        self.datagram(from, &datagram);
    }

    fn datagram(&mut self, from: Addr, bytes: &[u8]) {
        let traffic = self.addrs.entry(from).or_default();
        traffic.bytes_in += bytes.len();
        if let Ok(packet) = Packet::<Up>::decode(bytes) {
            self.acknowledged.insert(packet.header.acknowledged);
            let pings = |element| matches!(element, UpElement::Ping(_));
            traffic.is_known |= packet.elements().any(pings);
        }
        self.driven.datagram(from, bytes);
    }

    /// A client writes a frame, in one or two pieces.
    fn write(&mut self, script: &mut Script<'_>) {
        let nth = usize::from(script.u8()) % self.streams.len().max(1);
        let Some(&on) = self.streams.keys().nth(nth) else {
            return;
        };
        let choice = script.u8();
        let name = script.text(20);
        let frame = match choice & 7 {
            0..=2 => UpFrame::Hello {
                version: u16::from(choice >> 3 == 31) + 1,
                name: text(&name),
            },
            3 => UpFrame::Fetch {
                name: text(["manifest", "base", "r", &name][usize::from(choice >> 3 & 3)]),
                offset: script.u16().into(),
            },
            4 | 5 => UpFrame::Loaded,
            _ => UpFrame::Call {
                id: CallId(choice.into()),
                method: text(
                    ["resref", "inventory", "global", "log", "own", &name]
                        [usize::from(choice >> 3) % 6],
                ),
                argument: script.blob(),
            },
        };
        let mut bytes = Vec::new();
        encode_frame::<Up>(&frame, &mut bytes).ok();
        script.harm_seldom(&mut bytes, RECEIVE_MAX);
        self.driven.stream(on, &bytes, script.u8().into());
    }

    fn publish(&mut self, script: &mut Script<'_>) {
        let choice = script.u8();
        let count = choice & 31;
        self.tick += 1 + u32::from(choice >> 5);
        let objects: Vec<_> = (0..count)
            .map(|_| {
                let choice = script.u8();
                let id = ObjectId((choice & 15).into());
                Object {
                    velocity: (choice & 16 != 0).then(Vec2::default),
                    ..Object::new(id, status(choice, script))
                }
            })
            .collect();
        self.driven.session.publish(self.tick, objects);
    }

    /// The game does something. What it may not do is refused.
    fn play(&mut self, choice: u8, script: &mut Script<'_>) {
        let now = self.driven.now();
        let server = &mut self.driven.session;
        let client = ClientId(u32::from(script.u8() & 15));
        let id = ObjectId(u32::from(script.u8() & 15));
        let at = SnapshotSeq::NONE;
        match choice {
            96..=103 => server.admit(now, client, Seat::Player(id)),
            104 | 105 => server.admit(now, client, Seat::Spectator(Vec2::default())),
            106..=109 => server.processed(client, EventId(script.u8().into())),
            110..=113 => {
                if let Some((client, call)) = self.calls.pop() {
                    let reply = match choice & 1 {
                        0 => Reply::Bytes(script.blob()),
                        _ => Reply::Failed(Status::Refused),
                    };
                    server.answer(now, client, call, reply).ok();
                }
            }
            114 | 115 => server.command(Command::Ballistics(Ballistics {
                kind: choice,
                origin: Vec3::ZERO,
                at,
                owner: id,
                heading: 0.0,
            })),
            116 | 117 => server.command(Command::PlayAnimation(PlayAnimation {
                id,
                at,
                flags: 0,
                speed: Speed::NORMAL,
                resref: text("walk"),
            })),
            118 => {
                let changed = server.change_module(now, module("b", script.u8()));
                changed.expect("the module is good");
                self.events.clear();
            }
            119 => server.kick(now, client, Refusal(128), text("away")),
            120 if script.u8() == 0xff => server.shut_down(now),
            121 => server.move_eye(client, Vec2::default()),
            122 => drop(server.register(&script.text(20))),
            123 => drop(server.reseat(now, client, Seat::Player(id))),
            124 => drop(server.reseat(now, client, Seat::Spectator(Vec2::default()))),
            125 => {
                let (name, value) = (script.text(20), i32::from(script.u8() & 3));
                server.set_variable(id, &name, value).ok();
            }
            126 => {
                let (slot, count, name) = (script.u8(), script.u8() & 3, script.text(20));
                let item = Item::new(count.into(), &name);
                server.set_item(id, slot, item).ok();
            }
            127 => server.clear_scope(id),
            _ => {}
        }
    }
}
