//! The server against a dozen addresses and a game that does as it likes.

use tickwire_dialects::lwar::limits::{
    ENTITIES_MAX, EVENTS_WAITING, PACKET_MAX, PLAYERS_MAX, TIMEOUT, UNPROVED_ANSWERS,
};
use tickwire_dialects::lwar::{EntityId, Kind, PlayerId, Server, ServerConfig, ServerEvent, Shape};
use tickwire_session::{Session, Transmit};

use super::remote::{Remote, collision, entity_id};
use crate::driven::{Bounds, Driven, PEERS, Seen, number_of, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

/// Plays a script of clients, strangers, time and a game.
///
/// # Panics
/// If the server breaks the contract of a session, sends what cannot be read, keeps more than it
/// may, or sends an address that may be forged more than its bounded answers.
pub fn lwar_server_session(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let config = ServerConfig {
        players: script.u8() % 9,
        ..ServerConfig::default()
    };
    let now = script.start();
    let run = Run {
        driven: Driven::new(Server::new(now, config, [7; 32]), now, BOUNDS),
        clients: (0..PEERS).map(|_| Client::default()).collect(),
        entities: Vec::new(),
    };
    carry_out(script, run);
}

/// Answers that may wait, and seven clients' packets of a full table, and farewells.
const BOUNDS: Bounds = Bounds {
    transmits: 4_096,
    // The last datagram taken may say more than one thing.
    events: EVENTS_WAITING + 512,
    datagram: PACKET_MAX,
};

struct Run {
    driven: Driven<Server>,
    /// By the number that [`peer`] takes.
    clients: Vec<Client>,
    entities: Vec<EntityId>,
}

/// An address, and what crossed the network.
#[derive(Debug, Default)]
struct Client {
    remote: Remote,
    /// Whether it was ever more than an address that somebody wrote into a datagram.
    is_proved: bool,
    /// How often it was given a place.
    joins: usize,
    bytes_in: usize,
    bytes_out: usize,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=47 => {
                let number = choice % PEERS;
                let packet = self.clients[usize::from(number)].remote.say(script);
                self.datagram(number, &packet);
            }
            48..=59 => self.datagram(choice % PEERS, script.blob()),
            60..=79 => self.driven.wait(script),
            80..=82 => drop(self.driven.path(script)),
            83 => self.storm(script),
            _ => self.play(choice & 0x7f, script),
        }
    }

    fn drain(&mut self) {
        let Self {
            driven, clients, ..
        } = self;
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Datagram { to }, bytes) => {
                let client = &mut clients[number_of(to)];
                client.bytes_out += bytes.len();
                let before = client.remote.player;
                client.remote.hear(bytes);
                client.joins += usize::from(client.remote.player != before);
            }
            Seen::Transmit(other, _) => panic!("{other:?}"),
            Seen::Event(ServerEvent::Joined { name, .. } | ServerEvent::Renamed { name, .. }) => {
                assert!((1..=32).contains(&name.len()), "{name:?}");
            }
            Seen::Event(ServerEvent::Selected { selection, .. }) => {
                assert_eq!(selection.ship, Kind::SHIP);
            }
            Seen::Event(_) => {}
        });
    }

    fn check(&mut self) {
        let server = &self.driven.session;
        server.visit_peers(&mut |stats| {
            let unproved = matches!(stats.state, "Joining" | "Proving");
            self.clients[number_of(stats.addr)].is_proved |= !unproved;
        });
        let peers = self.driven.check_figures();
        assert!(peers <= usize::from(PLAYERS_MAX));
        assert!(server.players().count() <= peers);
        for client in &self.clients {
            let synced = client.joins * usize::from(UNPROVED_ANSWERS) * PACKET_MAX;
            let owed = client.bytes_in * AMPLIFICATION_MAX + synced;
            assert!(client.is_proved || client.bytes_out <= owed, "{client:?}");
        }
        assert!(!server.is_finished() || server.players().count() == 0);
    }

    fn finish(&mut self) {
        // Whatever was said, silence makes room for others.
        self.driven.pass(TIMEOUT);
        self.drain();
        assert_eq!(self.driven.check_figures(), 0);
    }
}

impl Run {
    /// One packet comes again and again, and nobody drains.
    fn storm(&mut self, script: &mut Script<'_>) {
        let number = script.u8() % PEERS;
        let packet = self.clients[usize::from(number)].remote.say(script);
        for _ in 0..self.driven.storm() {
            self.datagram(number, &packet);
        }
    }

    fn datagram(&mut self, number: u8, bytes: &[u8]) {
        self.clients[usize::from(number)].bytes_in += bytes.len();
        self.driven.datagram(peer(number), bytes);
    }

    /// The game does something.
    fn play(&mut self, choice: u8, script: &mut Script<'_>) {
        let now = self.driven.now();
        let player = self.clients[usize::from(choice % PEERS)].remote.player;
        let server = &mut self.driven.session;
        match choice {
            84..=95 => self.add(player, 1, script),
            // Enough for several packets, and now and then for a full table.
            96 => self.add(player, usize::from(script.u8()) * 17, script),
            97 => {
                let at = usize::from(script.u8()) % self.entities.len().max(1);
                if at < self.entities.len() {
                    server.remove(self.entities.swap_remove(at));
                }
            }
            98 => server.remove(entity_id(script)),
            99..=101 => {
                let at = usize::from(script.u8()) % self.entities.len().max(1);
                if let Some(&entity) = self.entities.get(at) {
                    server.set(entity, shape(script));
                }
            }
            102..=105 => server.collide(collision(script)),
            106 => server.set_score(player, script.u16(), script.u16()),
            107 => server.set_score(PlayerId::SERVER, script.u16(), script.u16()),
            108..=110 => server.say(&script.text(usize::MAX)),
            111..=113 => server.kick(now, player, &script.text(usize::MAX)),
            114 => server.shut_down(now),
            _ => drop(server.take_controls(now, player)),
        }
    }

    fn add(&mut self, owner: PlayerId, count: usize, script: &mut Script<'_>) {
        let shape = shape(script);
        for _ in 0..count {
            match self.driven.session.add(Kind::SHIP, owner, shape) {
                Ok(entity) => self.entities.push(entity),
                Err(full) => {
                    assert!(self.entities.len() >= usize::from(ENTITIES_MAX), "{full}");
                    return;
                }
            }
        }
    }
}

/// How many bytes an address that may be forged is sent for each byte that came from it, the packets of
/// its synchronisation not counted: a Join is four bytes longer than the Connect that it answers.
const AMPLIFICATION_MAX: usize = 2;

fn shape(script: &mut Script<'_>) -> Shape {
    let (x, y) = (script.i16(), script.i16());
    match script.u8() & 3 {
        0 => Shape::Body {
            x,
            y,
            orientation: script.u16(),
            health: script.u8(),
        },
        1 => Shape::Place { x, y },
        2 => Shape::Ray {
            x,
            y,
            orientation: script.u16(),
            length: script.u16(),
        },
        _ => Shape::Circle {
            x,
            y,
            radius: script.u16(),
        },
    }
}
