//! The server against a dozen addresses and a game that does as it likes.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_dialects::opendrakan::limits::{
    DATAGRAM_MAX, EVENTS_WAITING, RECEIVE_MAX, SEND_TICKS,
};
use tickwire_dialects::opendrakan::message::{Lifecycle, Message, Way};
use tickwire_dialects::opendrakan::{
    Animation, AssetRef, ClientId, DatabaseId, ObjectId, Reader, Server, ServerConfig, State, Tick,
    To, Value, Vec3,
};
use tickwire_session::{Addr, Session, StreamId, Token, Transmit};

use super::remote::{bytes_of, config};
use crate::driven::{Bounds, Driven, Seen, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

/// Plays a script of clients, strangers, time and a game.
///
/// # Panics
/// If the server breaks the contract of a session, sends what cannot be read, sends datagrams to an
/// address that has shown no token, or refers to a snapshot that nobody acknowledged.
pub fn opendrakan_server_session(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let config = ServerConfig {
        clients: usize::from(script.u8() % 9),
        bytes_per_second: u32::from(script.u8()) << 8,
        ..config(u32::from(script.u8()) + 1)
    };
    let now = script.start();
    let server = Server::new(config, [7; 32]).expect("the level is good");
    let run = Run {
        driven: Driven::new(server, now, BOUNDS),
        streams: BTreeMap::new(),
        shown: BTreeSet::new(),
        acknowledged: BTreeSet::new(),
        created: Vec::new(),
    };
    carry_out(script, run);
}

/// A full snapshot of the largest level here and farewells, to everybody.
const BOUNDS: Bounds = Bounds {
    transmits: 4_096,
    // Who came and went is told even then.
    events: EVENTS_WAITING + 512,
    datagram: DATAGRAM_MAX as usize,
};

struct Run {
    driven: Driven<Server>,
    streams: BTreeMap<StreamId, Stream>,
    /// Addresses that have shown a token.
    shown: BTreeSet<Addr>,
    /// Ticks that anybody acknowledged.
    acknowledged: BTreeSet<Tick>,
    created: Vec<ObjectId>,
}

/// A stream that a client opened, and what it was told there.
#[derive(Default)]
struct Stream {
    token: Option<Token>,
    unread: Vec<u8>,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=31 => self.say(peer(choice), script),
            32..=39 => self.datagram(peer(choice), script.blob()),
            40..=55 => self.commit(script),
            56..=63 => self.driven.wait(script),
            64..=83 => drop(self.driven.path_among(&mut self.streams, script)),
            other => self.play(other, script),
        }
    }

    fn drain(&mut self) {
        let Self {
            driven,
            streams,
            shown,
            acknowledged,
            ..
        } = self;
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Datagram { to }, bytes) => {
                assert!(shown.contains(&to), "{to} has proved nothing");
                let mut r = Reader::new(bytes);
                while !r.is_empty() {
                    let message = Message::decode(&mut r, Way::ServerDatagram);
                    if let Message::ConfirmSnapshot(confirm) = message.expect("it is readable") {
                        let reference = confirm.reference;
                        assert!(reference == Tick::NONE || acknowledged.contains(&reference));
                        assert!(confirm.tick.0.is_multiple_of(SEND_TICKS));
                    }
                }
            }
            Seen::Transmit(Transmit::Stream { on }, bytes) => {
                if let Some(stream) = streams.get_mut(&on) {
                    stream.receive(bytes);
                }
            }
            Seen::Transmit(Transmit::Finish { on } | Transmit::Abort { on }, _) => {
                streams.remove(&on);
            }
            Seen::Transmit(other, _) => panic!("{other:?}"),
            Seen::Event(_) => {}
        });
    }

    fn check(&mut self) {
        let server = &self.driven.session;
        let peers = self.driven.check_figures();
        let clients = server.clients().count();
        assert!(clients <= 8 && clients <= peers);
        assert!(!server.is_finished() || peers == 0);
    }
}

impl Run {
    fn commit(&mut self, script: &mut Script<'_>) {
        for _ in 0..script.u8() % 8 {
            self.driven.session.commit(self.driven.now());
        }
    }

    /// A client shows a token, acknowledges something, or both.
    fn say(&mut self, from: Addr, script: &mut Script<'_>) {
        let mode = script.u8();
        let mut messages = Vec::new();
        if mode & 1 == 1 {
            let nth = usize::from(script.u8()) % self.streams.len().max(1);
            let stream = self.streams.values().nth(nth);
            if let Some(token) = stream.and_then(|stream| stream.token) {
                messages.push(Message::Attach { token });
            }
        }
        if mode & 2 == 2 {
            let now = self.driven.session.tick().0;
            let tick = match mode >> 2 & 3 {
                3 => u64::from(script.u32()),
                _ => now.saturating_sub(u64::from(script.u8()) * SEND_TICKS),
            };
            let tick = Tick(tick - tick % SEND_TICKS);
            messages.push(Message::AcknowledgeSnapshot { tick });
        }
        let mut datagram = bytes_of(&messages);
        script.harm_seldom(&mut datagram, RECEIVE_MAX);
        self.datagram(from, &datagram);
    }

    /// Hands a datagram in, and notes what the server may take it for.
    fn datagram(&mut self, from: Addr, bytes: &[u8]) {
        let mut r = Reader::new(bytes);
        while let Ok(message) = Message::decode(&mut r, Way::ClientDatagram) {
            match message {
                Message::Attach { .. } => drop(self.shown.insert(from)),
                Message::AcknowledgeSnapshot { tick } => drop(self.acknowledged.insert(tick)),
                _ => {}
            }
        }
        self.driven.datagram(from, bytes);
    }

    /// The game does something. What it may not do is refused; why is for people.
    fn play(&mut self, choice: u8, script: &mut Script<'_>) {
        let now = self.driven.now();
        let server = &mut self.driven.session;
        let object = match self.created.get(usize::from(script.u8())) {
            Some(made) if choice & 1 == 0 => *made,
            _ => ObjectId(script.u8().into()),
        };
        match choice {
            84..=91 => self.created.extend(server.create(object)),
            92..=99 => drop(server.set(object, state(script))),
            100..=103 => drop(server.jump(object, state(script))),
            104..=109 => {
                let lifecycle = [
                    Lifecycle::Loaded,
                    Lifecycle::Spawned,
                    Lifecycle::Running,
                    Lifecycle::Destroyed,
                ];
                let lifecycle = lifecycle[usize::from(script.u8() & 3)];
                server.set_lifecycle(object, lifecycle).ok();
            }
            110..=113 => drop(server.send_global(To::All, 1, script.blob())),
            114..=117 => drop(server.animate(Animation {
                object,
                animation: AssetRef {
                    database: DatabaseId(script.u8().into()),
                    asset: 1,
                },
                channel: 0,
                speed: 1.0,
            })),
            118 => server.kick(now, ClientId(script.u8().into())),
            121 => server.set_busy(script.u8() == 0xff),
            119 if script.u8() == 0xff => server.shut_down(now),
            // What is saved can be loaded.
            120 => {
                let mut again = Server::new(config(256), [7; 32]).expect("the level is good");
                again.restore(&server.save()).ok();
            }
            _ => {}
        }
    }
}

impl Stream {
    fn receive(&mut self, bytes: &[u8]) {
        self.unread.extend(bytes);
        let mut r = Reader::new(&self.unread);
        while let Some(message) =
            Message::decode_arrived(&mut r, Way::ServerStream).expect("it is readable")
        {
            if let Message::Attach { token } = message {
                self.token = Some(token);
            }
        }
        let read = r.position();
        self.unread.drain(..read);
    }
}

fn state(script: &mut Script<'_>) -> State {
    let number = f32::from_bits(script.u32());
    match script.u8() % 6 {
        0 => State::Translation(Vec3 {
            x: number,
            ..Vec3::ZERO
        }),
        1 => State::Scale(Vec3 {
            y: number,
            ..Vec3::ONE
        }),
        2 => State::Visibility(number > 0.0),
        3 => State::Running(number > 0.0),
        4 => State::Extra(0, Value::U8(script.u8())),
        _ => State::Extra(script.u8().into(), Value::U32(script.u8().into())),
    }
}
