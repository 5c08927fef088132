//! The client against a server that may say anything, and a player who does anything.

use std::collections::BTreeSet;
use std::time::Duration;

use tickwire_dialects::opendrakan::limits::{DATAGRAM_MAX, EVENTS_WAITING, RECEIVE_MAX};
use tickwire_dialects::opendrakan::message::{
    ActionState, BasicChanges, Confirm, Lifecycle, Message, ObjectChange, Way,
};
use tickwire_dialects::opendrakan::{
    AssetRef, Classes, Client, ClientConfig, ClientEvent, DatabaseId, LoadedLevel, ObjectId, Phase,
    Reader, Tick, Value, Vec2, Vec3, bundle::Change,
};
use tickwire_session::tap::Input;
use tickwire_session::{Addr, Path, Session, StreamId, Token, Transmit};

use super::remote::{CLASS, bytes_of, registry};
use crate::driven::{Bounds, Driven, Seen, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

/// Plays a script of a server, strangers, time and a player.
///
/// # Panics
/// If the client breaks the contract of a session, sends what cannot be read, acknowledges a snapshot
/// that nobody confirmed, shows the past twice, or says anything after its end.
pub fn opendrakan_client_session(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let now = script.start();
    let client = Client::new(now, ClientConfig::new(SERVER, registry()));
    let mut run = Run {
        driven: Driven::new(client, now, BOUNDS),
        is_open: false,
        confirmed: BTreeSet::new(),
        asked: false,
        shown: Duration::ZERO,
    };
    run.drain();
    carry_out(script, run);
}

const SERVER: Addr = peer(1);
const STREAM: StreamId = StreamId::Dialled(0);

const BOUNDS: Bounds = Bounds {
    transmits: 64,
    // The last datagram taken may say more than one thing.
    events: EVENTS_WAITING + 512,
    datagram: DATAGRAM_MAX as usize,
};

struct Run {
    driven: Driven<Client>,
    is_open: bool,
    /// Ticks whose confirmation was said.
    confirmed: BTreeSet<Tick>,
    /// The client wants to load.
    asked: bool,
    /// The moment shown last.
    shown: Duration,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=47 => self.say(SERVER, script),
            48 => self.say(peer(0), script),
            49..=55 => self.datagram(SERVER, script.blob()),
            56..=63 => self.driven.wait(script),
            64..=75 => self.path(script),
            76..=91 => self.write(script),
            other => self.play(other, script),
        }
    }

    fn drain(&mut self) {
        let Self {
            driven,
            is_open,
            confirmed,
            asked,
            ..
        } = self;
        let was_over = is_over(&driven.session);
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Datagram { to }, bytes) => {
                assert!(to == SERVER && !was_over);
                let mut r = Reader::new(bytes);
                while !r.is_empty() {
                    let message = Message::decode(&mut r, Way::ClientDatagram);
                    if let Message::AcknowledgeSnapshot { tick } = message.expect("it is readable")
                    {
                        assert!(confirmed.contains(&tick), "{tick} was never confirmed");
                    }
                }
            }
            Seen::Transmit(Transmit::Finish { .. } | Transmit::Abort { .. }, _) => *is_open = false,
            Seen::Transmit(..) => {}
            Seen::Event(ClientEvent::Load { databases, .. }) => {
                assert!(databases.len() <= 4);
                *asked = true;
            }
            Seen::Event(ClientEvent::Completed { tick }) => assert!(confirmed.contains(&tick)),
            Seen::Event(_) => {}
        });
    }

    fn check(&mut self) {
        let client = &self.driven.session;
        client.update_age(self.driven.now());
        self.driven.check_sleep(is_over(client));
        assert!(self.driven.check_figures() <= 1);
    }
}

impl Run {
    /// The server says pieces of snapshots: few ticks and objects, so that they meet.
    fn say(&mut self, from: Addr, script: &mut Script<'_>) {
        let mut messages = Vec::new();
        let extra = script.bytes(3);
        for _ in 0..script.u8() % 12 {
            let choice = script.u8();
            let tick = Tick(u64::from(script.u8() % 16 + 1) * 3);
            let object = ObjectId(u32::from(script.u8() % 6 + 1));
            let change = match choice % 6 {
                0 => {
                    let lifecycles = [Lifecycle::Spawned, Lifecycle::Destroyed];
                    ObjectChange::Lifecycle(lifecycles[usize::from(choice >> 7)])
                }
                1 => ObjectChange::Created(ObjectId(1)),
                2 if extra.len() < 2 => ObjectChange::ExtraStates(&[0, 0]),
                2 => ObjectChange::ExtraStates(extra),
                3 => {
                    let behind = u64::from(script.u8());
                    messages.push(Message::ConfirmSnapshot(Confirm {
                        tick,
                        real_time: tick.0 as f64 / 60.0,
                        changes: u32::from(choice >> 4),
                        reference: Tick((tick.0 / 3).saturating_sub(behind) * 3 % tick.0),
                    }));
                    continue;
                }
                _ => ObjectChange::States(states(choice)),
            };
            messages.push(Message::ObjectChanged {
                tick,
                object,
                change,
            });
        }
        let mut datagram = bytes_of(&messages);
        script.harm_seldom(&mut datagram, RECEIVE_MAX);
        self.datagram(from, &datagram);
    }

    /// Hands a datagram in, and notes what it confirms.
    fn datagram(&mut self, from: Addr, bytes: &[u8]) {
        let mut r = Reader::new(bytes);
        while let Ok(message) = Message::decode(&mut r, Way::ServerDatagram) {
            if let Message::ConfirmSnapshot(confirm) = message {
                self.confirmed.insert(confirm.tick);
            }
        }
        self.driven.datagram(from, bytes);
    }

    fn path(&mut self, script: &mut Script<'_>) {
        match self.driven.path(script) {
            Some(Input::Opened { on: STREAM, .. }) => self.is_open = true,
            Some(Input::Closed {
                path: Path::Stream(STREAM),
                ..
            }) => self.is_open = false,
            _ => {}
        }
    }

    /// The server says something on the stream.
    fn write(&mut self, script: &mut Script<'_>) {
        if !self.is_open {
            return;
        }
        let choice = script.u8();
        let real_time = f64::from(script.u8()) / 60.0;
        let asset = AssetRef {
            database: DatabaseId(u32::from(choice >> 6)),
            asset: 1,
        };
        let message = match choice % 7 {
            0 => Message::Attach {
                token: Token(script.u32().into()),
            },
            1 => Message::DatabaseEntry {
                database: DatabaseId(u32::from(choice >> 6)),
                path: "a.db",
            },
            2 => Message::LoadLevel {
                databases: u32::from(choice >> 6),
                path: "a.lvl",
            },
            3 => Message::GlobalMessage {
                channel: 1,
                real_time,
                body: script.blob(),
            },
            4 => Message::ObjectMessage {
                channel: 1,
                sender: ObjectId(1),
                receiver: ObjectId(2),
                real_time,
                body: script.blob(),
            },
            5 => Message::ObjectAnimation {
                real_time,
                object: ObjectId(1),
                animation: asset,
                channel: 0,
                speed: 1.0,
            },
            _ => Message::Sound {
                real_time,
                sound: asset,
            },
        };
        let bytes = bytes_of(&[message]);
        self.driven
            .session
            .handle_stream(self.driven.now(), STREAM, &bytes);
    }

    /// The player does something. What cannot be said is not said; why is for people.
    fn play(&mut self, choice: u8, script: &mut Script<'_>) {
        let now = self.driven.now();
        let client = &mut self.driven.session;
        match choice {
            92..=99 if self.asked => {
                let databases = [("a.db".to_owned(), DatabaseId(9))];
                let loaded = client.loaded(LoadedLevel {
                    databases: databases.into(),
                    classes: match choice {
                        92 => Classes::default(),
                        _ => Classes::Uniform(CLASS),
                    },
                });
                self.asked &= loaded.is_err();
            }
            100..=107 => drop(client.act(now, script.u32(), ActionState::Begin)),
            108..=111 => {
                let x = f32::from_bits(script.u32());
                client.steer(now, 1, Vec2 { x, y: 0.0 }).ok();
            }
            112 if script.u8() == 0xff => client.disconnect(),
            _ => {
                if let Some(view) = client.sample(now) {
                    assert!(view.time() >= self.shown, "the past is shown twice");
                    self.shown = view.time();
                }
            }
        }
    }
}

/// A place in the plane, or a boolean.
fn states(choice: u8) -> BasicChanges {
    let value = Value::Vec3(Vec3 {
        x: choice.into(),
        y: 1.0,
        z: 0.0,
    });
    let change = |index, value| Change {
        index,
        value,
        jump: choice & 0x40 != 0,
    };
    let place = change(0, value);
    let running = change(4, Value::Bool(choice & 0x20 != 0));
    match choice & 0x10 {
        0 => [place, running].into_iter().collect(),
        _ => [running].into_iter().collect(),
    }
}

const fn is_over(client: &Client) -> bool {
    matches!(client.phase(), Phase::Ended(_))
}
