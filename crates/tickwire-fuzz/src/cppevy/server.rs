//! The server against a dozen addresses, their streams, and a game that does as it likes.

use std::collections::BTreeMap;

use tickwire_dialects::cppevy::limits::{EVENTS_WAITING, FAREWELL, PAYLOAD_MAX, TIMEOUT};
use tickwire_dialects::cppevy::message::{Joined, Object, Sender};
use tickwire_dialects::cppevy::{
    ActionId, ActionToken, Answer, Archetype, Audience, Component, Server, ServerConfig,
    ServerEvent, SyncId,
};
use tickwire_session::tap::Input;
use tickwire_session::{Reason, Session, StreamId, Token, Transmit};

use super::remote::{EVENTS, SKIN, check_payload, read_payloads, reason, registry, say};
use crate::driven::{Bounds, Driven, PEERS, Seen, number_of, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

/// Plays a script of clients, strangers, time and a game.
///
/// # Panics
/// If the server breaks the contract of a session, sends what cannot be read, answers what nobody
/// asked, or sends an address that may be invented more than came from it.
pub fn cppevy_server_session(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let config = ServerConfig {
        registry: registry(),
        actor: Archetype(1),
        clients: Some(script.u8().into()),
        uploads: 1_000,
    };
    let now = script.start();
    let mut server = Server::new(now, [7; 32], config);
    server.add_asset("hull", &[9; 1_000]).expect("a good asset");
    let run = Run {
        driven: Driven::new(server, now, BOUNDS),
        streams: BTreeMap::new(),
        addrs: vec![Address::default(); PEERS.into()],
        actions: Vec::new(),
    };
    carry_out(script, run);
}

const BOUNDS: Bounds = Bounds {
    // What waits for sixteen streams, in the smallest pieces that a script gives room for in one go.
    transmits: 1 << 20,
    // The last payload taken may say more than one thing, and everybody may leave.
    events: EVENTS_WAITING + 512,
    datagram: PAYLOAD_MAX,
};

struct Run {
    driven: Driven<Server>,
    streams: BTreeMap<StreamId, Stream>,
    /// By the number that [`peer`] takes.
    addrs: Vec<Address>,
    /// What the game was asked.
    actions: Vec<ActionToken>,
}

/// A client's side of a stream.
#[derive(Debug, Default)]
struct Stream {
    /// What was heard of the next payload.
    held: Vec<u8>,
    bytes_in: usize,
    answers: usize,
    token: Option<Token>,
}

#[derive(Clone, Debug, Default)]
struct Address {
    is_proved: bool,
    bytes_in: usize,
    bytes_out: usize,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=31 => self.stream(choice, script),
            32..=47 => {
                let token = self.token(script.u8());
                let payload = say(Sender::Client, token, script);
                self.datagram(choice % PEERS, &payload);
            }
            48..=51 => self.datagram(choice % PEERS, script.blob()),
            52..=55 => self.open(script.u8()),
            56..=75 => self.driven.wait(script),
            76..=83 => {
                self.path(script);
            }
            84 => self.storm(script),
            other => self.play(other, script),
        }
    }

    fn drain(&mut self) {
        let Self {
            driven,
            streams,
            addrs,
            actions,
            ..
        } = self;
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Datagram { to }, bytes) => {
                let addr = &mut addrs[number_of(to)];
                check_payload(bytes, Sender::Server, |payload| {
                    addr.is_proved |= payload.objects().any(|object| {
                        matches!(object, Object::Success { action, .. } if action == ActionId::ATTACH)
                    });
                });
                addr.bytes_out += bytes.len();
            }
            Seen::Transmit(Transmit::Stream { on }, bytes) => {
                let stream = streams.get_mut(&on).expect("it has ended");
                stream.handle_bytes(bytes);
            }
            Seen::Transmit(Transmit::Finish { on } | Transmit::Abort { on }, _) => {
                streams.remove(&on);
            }
            Seen::Transmit(other, _) => panic!("{other:?}"),
            Seen::Event(
                ServerEvent::Action { token, .. } | ServerEvent::Offered { token, .. },
            ) => actions.push(token),
            Seen::Event(ServerEvent::Uploaded { bytes, .. }) => assert_eq!(bytes, SKIN),
            Seen::Event(_) => {}
        });
    }

    fn check(&mut self) {
        let server = &self.driven.session;
        let peers = self.driven.check_figures();
        assert!(server.actors().count() <= peers);
        assert!(!server.is_finished() || peers == 0);
        for addr in &self.addrs {
            assert!(
                addr.is_proved || addr.bytes_out <= addr.bytes_in,
                "{addr:?}"
            );
        }
    }

    fn finish(&mut self) {
        // Whatever was said, silence makes room for others.
        for span in [TIMEOUT, FAREWELL] {
            self.driven.pass(span);
            self.drain();
        }
        assert_eq!(self.driven.check_figures(), 0);
    }
}

impl Run {
    /// One more connection, with room.
    fn open(&mut self, from: u8) {
        if self.path(&mut Script::new(&[0, from])).is_some() {
            // It is the newest, so it has the highest number.
            let nth = u8::try_from(self.streams.len() - 1).unwrap_or_default();
            self.driven
                .path(&mut Script::new(&[nth << 3 | 6, 0x40, 0x00]));
        }
    }

    /// A client says something on a stream, in one or two pieces.
    fn stream(&mut self, choice: u8, script: &mut Script<'_>) {
        let nth = usize::from(choice & 31) % self.streams.len().max(1);
        let Some(&on) = self.streams.keys().nth(nth) else {
            return;
        };
        let token = self.token(script.u8());
        let payload = say(Sender::Client, token, script);
        self.count(on, &payload);
        self.driven.stream(on, &payload, script.u8().into());
    }

    fn count(&mut self, on: StreamId, bytes: &[u8]) {
        if let Some(stream) = self.streams.get_mut(&on) {
            stream.bytes_in += bytes.len();
        }
    }

    /// Mostly that of a stream, so that tokens of others are shown, too.
    fn token(&self, choice: u8) -> Token {
        let nth = usize::from(choice & 15) % self.streams.len().max(1);
        match self.streams.values().nth(nth) {
            Some(stream) if choice < 0xf0 => stream.token.unwrap_or(Token(0)),
            _ => Token(choice.into()),
        }
    }

    fn path(&mut self, script: &mut Script<'_>) -> Option<()> {
        let input = self.driven.path_among(&mut self.streams, script)?;
        if let Input::Stream { on, bytes } = input {
            self.count(on, bytes);
        }
        Some(())
    }

    fn datagram(&mut self, number: u8, bytes: &[u8]) {
        self.addrs[usize::from(number)].bytes_in += bytes.len();
        self.driven.datagram(peer(number), bytes);
    }

    /// One datagram comes again and again, and nobody drains.
    fn storm(&mut self, script: &mut Script<'_>) {
        let number = script.u8() % PEERS;
        let token = self.token(script.u8());
        let payload = say(Sender::Client, token, script);
        for _ in 0..self.driven.storm() {
            self.datagram(number, &payload);
        }
    }

    /// The game does something.
    fn play(&mut self, choice: u8, script: &mut Script<'_>) {
        let now = self.driven.now();
        let server = &mut self.driven.session;
        let entity = SyncId::new(u16::from(script.u8() % 20)).unwrap_or_default();
        match choice {
            // No id may be free: then there is one entity fewer.
            85..=87 => drop(server.summon(now, Archetype(script.u8()))),
            88 => server.dismiss(now, entity),
            89..=95 => {
                let component = Component::new(script.u8() % Component::COUNT).unwrap_or_default();
                let told = server.set_state(entity, component, script.blob());
                assert_eq!(told, Ok(()));
            }
            96..=99 => {
                let event = EVENTS[usize::from(choice) % EVENTS.len()];
                let to = match script.u8() % 3 {
                    0 => Audience::All,
                    1 => Audience::One(entity),
                    _ => Audience::AllBut(entity),
                };
                assert_eq!(server.event(now, to, event, script.blob()), Ok(()));
            }
            100 => server.kick(now, entity),
            101 => server.set_places(script.u8().into()),
            102 => drop(server.controls(now, entity, ActionId(1))),
            103 if script.u8() == 0xff => server.shut_down(now),
            _ if !self.actions.is_empty() => {
                // It may be answered again later, which must do no harm.
                let at = usize::from(script.u8()) % self.actions.len();
                let token = match choice & 3 {
                    0 => self.actions[at],
                    _ => self.actions.swap_remove(at),
                };
                let answer = match script.u8() {
                    0..=127 => Answer::Success(script.blob()),
                    choice => Answer::Failure(reason(choice)),
                };
                assert_eq!(server.answer(now, token, answer), Ok(()));
            }
            _ => {}
        }
    }
}

impl Stream {
    /// Everything that the server says is a payload, and it answers no more than it was asked.
    fn handle_bytes(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        let Self {
            held,
            bytes_in,
            answers,
            token,
        } = self;
        read_payloads(held, Sender::Server, |payload| {
            for object in payload.objects() {
                match object {
                    Object::Success { action, message } => {
                        *answers += 1;
                        if action == ActionId::JOIN {
                            let joined = Joined::decode(message.bytes());
                            *token = Some(joined.expect("actor and token").token);
                        }
                    }
                    // It may be followed by one success.
                    Object::Failure { reason, .. } => {
                        *answers += usize::from(reason != Reason::Delayed);
                    }
                    _ => {}
                }
            }
        });
        // An action takes four bytes or more, wherever payloads begin and end.
        assert!(4 * *answers <= *bytes_in, "{answers} for {bytes_in} bytes");
    }
}
