//! The server against up to sixteen streams and a game that answers what it likes.

use std::collections::{BTreeMap, VecDeque};

use tickwire_dialects::pixmess::limits::{ENTITIES_MAX, WAITING_MAX, WRITE_MAX};
use tickwire_dialects::pixmess::message::FromServer;
use tickwire_dialects::pixmess::{
    BlockId, Direction, PlayerId, Reader, Server, ServerConfig, ServerEvent, SetId,
};
use tickwire_session::tap::Input;
use tickwire_session::{Session, StreamId, Transmit};

use super::remote::{Remote, block, cell, entity, from_client, layer, look, set, sublayer};
use crate::driven::{Bounds, Driven, Seen};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

/// Plays a script of clients, time and a game.
///
/// # Panics
/// If the server breaks the contract of a session, sends what cannot be read, keeps more than it may,
/// asks twice before it is answered, or sends a client away that keeps to the protocol.
pub fn pixmess_server_session(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let config = ServerConfig {
        players: usize::from(script.u8() % 16),
    };
    let now = script.start();
    let run = Run {
        driven: Driven::new(Server::new(config), now, BOUNDS),
        clients: BTreeMap::new(),
        questions: VecDeque::new(),
        entities: 0,
    };
    carry_out(script, run);
}

const BOUNDS: Bounds = Bounds {
    // Sixteen clients' full queues in pieces, and as many ends.
    transmits: 16 * (WAITING_MAX / WRITE_MAX + 600),
    events: 4_096,
    datagram: 0,
};

struct Run {
    driven: Driven<Server>,
    clients: BTreeMap<StreamId, Remote>,
    /// What the game was asked and has not answered.
    questions: VecDeque<ServerEvent>,
    entities: usize,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=47 => self.say(choice, script),
            48..=59 => self.driven.wait(script),
            60..=75 => {
                let input = self.driven.path_among(&mut self.clients, script);
                if let Some(Input::Stream { on, .. }) = input
                    && let Some(client) = self.clients.get_mut(&on)
                {
                    client.is_rude = true;
                }
            }
            76..=103 => self.answer(choice, script),
            _ => self.play(choice & 0x7f, script),
        }
    }

    fn drain(&mut self) {
        let Self {
            driven,
            clients,
            questions,
            ..
        } = self;
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Stream { on }, bytes) => {
                assert!(bytes.len() <= WRITE_MAX, "{} bytes at once", bytes.len());
                let client = clients.get_mut(&on).expect("it was opened and not ended");
                hear(client, bytes);
            }
            Seen::Transmit(Transmit::Finish { on } | Transmit::Abort { on }, _) => {
                clients.remove(&on);
            }
            Seen::Transmit(other, _) => panic!("{other:?}"),
            Seen::Event(ServerEvent::Left { player, .. }) => {
                questions.retain(|question| asks(question) != Some(player));
            }
            Seen::Event(event) => {
                if let Some(player) = asks(&event) {
                    let twice = questions.iter().any(|other| asks(other) == Some(player));
                    assert!(!twice, "{player:?} has two questions");
                    questions.push_back(event);
                }
            }
        });
    }

    fn check(&mut self) {
        let server = &self.driven.session;
        let peers = self.driven.check_figures();
        assert!(server.players().count() <= peers);
        assert!(self.entities <= ENTITIES_MAX);
        assert!(!server.is_finished() || peers == 0);
    }
}

impl Run {
    /// A client says something that makes sense.
    fn say(&mut self, choice: u8, script: &mut Script<'_>) {
        let nth = usize::from(choice) % self.clients.len().max(1);
        if let Some((&on, remote)) = self.clients.iter_mut().nth(nth) {
            let message = from_client(script);
            remote.note(&message);
            let bytes = remote.encode(&message, script);
            let cut = usize::from(script.u8()) % (bytes.len() + 1);
            self.driven.stream(on, &bytes, cut);
        }
    }

    /// The game answers the oldest question, at times with what is no answer to it.
    fn answer(&mut self, choice: u8, script: &mut Script<'_>) {
        let Some(question) = self.questions.pop_front() else {
            return;
        };
        let now = self.driven.now();
        let server = &mut self.driven.session;
        match (question, choice & 3) {
            (ServerEvent::LoginAsked { player, .. }, 0) => server.kick(now, player, "no"),
            (ServerEvent::LoginAsked { player, .. }, _) => server.admit(now, player, cell(script)),
            (ServerEvent::MoveAsked { player, .. }, 0) => server.refuse_move(now, player),
            (ServerEvent::MoveAsked { player, .. }, _) => server.allow_move(now, player),
            (ServerEvent::EditAsked { player, .. }, 0 | 1) => server.allow_edit(now, player),
            (ServerEvent::EditAsked { player, .. } | ServerEvent::BlockAsked { player, .. }, _) => {
                server.tell_block(now, player, block(script))
            }
            (ServerEvent::ChunkAsked { player, .. }, 0) => server.refuse_chunk(now, player),
            (ServerEvent::ChunkAsked { player, .. }, _) => {
                server.provide_chunk(now, player, layer());
            }
            _ => {}
        }
    }

    /// The game does something by itself.
    fn play(&mut self, choice: u8, script: &mut Script<'_>) {
        if choice >= 125 {
            // A game answers what it was asked, not what it will be.
            self.drain();
        }
        let now = self.driven.now();
        let server = &mut self.driven.session;
        let player = PlayerId(entity(script).0);
        match choice {
            104..=107 => {
                let id = BlockId {
                    set: set(script),
                    cell: cell(script),
                    sublayer: sublayer(script),
                };
                server.set_block(id, block(script));
            }
            108..=110 => {
                let made = server.create_entity(cell(script), look(script), &script.text(40));
                self.entities += usize::from(made.is_ok());
            }
            111..=113 => {
                let way = Direction::ALL[usize::from(script.u8() % 8)];
                server.move_entity(player.entity(), way);
            }
            114 => server.place_entity(player.entity(), cell(script)),
            115 => server.destroy_entity(player.entity()),
            116 | 117 => {
                let made = server.create_set(cell(script));
                assert!(made.is_err() || made.is_ok_and(|set| set != SetId::ROOT));
            }
            118 | 119 => server.move_set(set(script), cell(script)),
            120 => server.remove_set(set(script)),
            121 => server.say(&script.text(usize::MAX)),
            122 => server.tell(player, &script.text(usize::MAX)),
            123 => server.kick(now, player, &script.text(usize::MAX)),
            // Seldom, because little happens afterwards.
            124 => {
                if script.u8() == 0 {
                    server.shut_down(now);
                }
            }
            // Answers that mostly nobody waits for; if somebody does, its question is settled.
            125 => server.allow_move(now, player),
            126 => server.provide_chunk(now, player, layer()),
            _ => server.admit(now, player, cell(script)),
        }
        if choice >= 125 {
            let questions = &mut self.questions;
            questions.retain(|question| asks(question) != Some(player));
        }
    }
}

/// Takes what a client is sent.
///
/// # Panics
/// If a client that keeps to the protocol is told that it does not.
fn hear(client: &mut Remote, bytes: &[u8]) {
    let is_rude = client.is_rude;
    client.hear(bytes, |bytes, masks| {
        let mut r = Reader::new(bytes);
        if let FromServer::Kick { reason } = FromServer::decode(&mut r, masks)? {
            let is_blamed = FAULTS.contains(&reason);
            assert!(is_rude || !is_blamed, "{}", reason.escape_ascii());
        }
        Ok(r.position())
    });
}

/// What a client is told that broke the protocol.
const FAULTS: [&[u8]; 4] = [
    b"Unknown packet type!",
    b"Only servers send that!",
    b"Log in first!",
    b"You are logged in already!",
];

/// Whose question an event is.
const fn asks(event: &ServerEvent) -> Option<PlayerId> {
    match event {
        ServerEvent::LoginAsked { player, .. }
        | ServerEvent::MoveAsked { player, .. }
        | ServerEvent::EditAsked { player, .. }
        | ServerEvent::BlockAsked { player, .. }
        | ServerEvent::ChunkAsked { player, .. } => Some(*player),
        _ => None,
    }
}
