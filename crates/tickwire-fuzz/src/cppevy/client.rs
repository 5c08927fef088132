//! The client against a server that may say anything, and a player who asks for anything.

use std::collections::BTreeSet;

use tickwire_dialects::cppevy::limits::{EVENTS_WAITING, PAYLOAD_MAX, TIMEOUT};
use tickwire_dialects::cppevy::message::Sender;
use tickwire_dialects::cppevy::{
    Client, ClientConfig, ClientEvent, Component, Phase, StateId, SyncId,
};
use tickwire_session::{ActionNumber, Addr, StreamId, Token, Transmit};

use super::remote::{ACTIONS, SKIN, check_payload, read_payloads, registry, say};
use crate::driven::{Bounds, Driven, Seen, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

/// Plays a script of a server, strangers, time and a player.
///
/// # Panics
/// If the client breaks the contract of a session, sends what cannot be read, ends an action twice or
/// never, or says anything after its end.
pub fn cppevy_client_session(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let now = script.start();
    let config = ClientConfig {
        server: SERVER,
        name: script.text(usize::MAX),
        registry: registry(),
    };
    let mut run = Run {
        driven: Driven::new(Client::new(now, config), now, BOUNDS),
        held: Vec::new(),
        is_open: false,
        asked: BTreeSet::new(),
        has_ended: false,
    };
    run.drain();
    carry_out(script, run);
}

const SERVER: Addr = peer(1);
const STREAM: StreamId = StreamId::Dialled(0);
/// What the server's script gives as a token.
const TOKEN: Token = Token(0x1122_3344_5566_7788);

const BOUNDS: Bounds = Bounds {
    // Actions and inputs, in the smallest pieces that a script gives room for in one go.
    transmits: 1 << 16,
    // The last payload taken may say more than one thing, and every action may end.
    events: EVENTS_WAITING + 512,
    datagram: PAYLOAD_MAX,
};

struct Run {
    driven: Driven<Client>,
    /// What was heard of the next payload.
    held: Vec<u8>,
    /// Whether the stream is open.
    is_open: bool,
    /// Actions that have not ended.
    asked: BTreeSet<ActionNumber>,
    has_ended: bool,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=31 => self.stream(script),
            32..=63 => {
                let payload = say(Sender::Server, TOKEN, script);
                self.driven.datagram(SERVER, &payload);
            }
            64..=67 => self.driven.datagram(SERVER, script.blob()),
            68 => {
                let payload = say(Sender::Server, TOKEN, script);
                self.driven.datagram(peer(2), &payload);
            }
            69..=71 => self.open(),
            72..=91 => self.driven.wait(script),
            92 => {
                let taken = self.driven.path(script);
                // Whatever else happens to a stream, this one is only told of what it may hear.
                if let Some(tickwire_session::tap::Input::Closed { path, .. }) = taken
                    && path == tickwire_session::Path::Stream(STREAM)
                {
                    self.is_open = false;
                }
            }
            other => self.play(other, script),
        }
    }

    fn drain(&mut self) {
        let Self {
            driven,
            held,
            is_open,
            asked,
            has_ended,
        } = self;
        let was_over = *has_ended;
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Datagram { to }, bytes) => {
                assert_eq!((to, was_over), (SERVER, false));
                check_payload(bytes, Sender::Client, |_| ());
            }
            Seen::Transmit(Transmit::Stream { on }, bytes) => {
                assert_eq!((on, was_over), (STREAM, false));
                held.extend_from_slice(bytes);
                read_payloads(held, Sender::Client, |_| ());
            }
            Seen::Transmit(Transmit::Finish { on } | Transmit::Abort { on }, _) => {
                assert_eq!(on, STREAM);
                *is_open = false;
            }
            Seen::Transmit(Transmit::Dial { to, .. }, _) => assert_eq!(to, SERVER),
            Seen::Transmit(other, _) => panic!("{other:?}"),
            Seen::Event(event) => {
                assert!(!*has_ended, "{event:?} after the end");
                match event {
                    ClientEvent::Succeeded {
                        number,
                        late: false,
                        ..
                    }
                    | ClientEvent::Failed { number, .. } => {
                        assert!(asked.remove(&number), "it ended twice");
                    }
                    ClientEvent::Ended(_) => {
                        assert!(asked.is_empty(), "an action never ended");
                        *has_ended = true;
                    }
                    _ => {}
                }
            }
        });
    }

    fn check(&mut self) {
        let client = &self.driven.session;
        assert!(client.entities().count() <= usize::from(SyncId::COUNT));
        let is_over = matches!(client.phase(), Phase::Ended(_));
        self.driven.check_sleep(is_over);
        assert_eq!(self.driven.check_figures(), 1);
    }

    fn finish(&mut self) {
        self.driven.pass(TIMEOUT);
        self.drain();
        let phase = self.driven.session.phase();
        assert!(matches!(phase, Phase::Ended(_)), "silence ends it");
    }
}

impl Run {
    /// The stream opens, or has more room.
    fn open(&mut self) {
        // The only stream: opened if it was dialled, otherwise given room.
        self.driven.path(&mut Script::new(&[6, 0x40, 0x00]));
        self.is_open = true;
    }

    /// The server says something on the stream, in one or two pieces.
    fn stream(&mut self, script: &mut Script<'_>) {
        let payload = say(Sender::Server, TOKEN, script);
        let cut = script.u8();
        if self.is_open {
            self.driven.stream(STREAM, &payload, cut.into());
        }
    }

    /// The player does something. What cannot be done is not done; the reason is for people.
    fn play(&mut self, choice: u8, script: &mut Script<'_>) {
        let now = self.driven.now();
        let client = &mut self.driven.session;
        let action = ACTIONS[usize::from(choice) % ACTIONS.len()];
        match choice {
            93..=103 => {
                if let Ok(number) = client.act(now, action, script.blob()) {
                    assert!(self.asked.insert(number), "a number twice");
                }
            }
            104..=111 => drop(client.input(action, script.blob())),
            112..=114 => drop(client.fetch(now, ["index", "hull", ""][usize::from(choice) % 3])),
            115 => drop(client.offer(now, "skin", &SKIN)),
            116..=119 => drop(client.request_state(StateId::from_descriptor(script.u16()))),
            120 if script.u8() > 0xf0 => client.leave(now),
            _ => {
                let entity = SyncId::new(u16::from(script.u8() % 4)).unwrap_or_default();
                for component in (0..Component::COUNT).filter_map(Component::new) {
                    let is_told = client.state_age(now, entity, component).is_some();
                    assert!(!is_told || client.entity(entity).is_some());
                    assert!(is_told || client.state(now, entity, component).is_none());
                }
                assert!(client.assumed().count() <= self.asked.len());
            }
        }
    }
}
