//! The client against a server that may say anything, and a player who does anything.

use tickwire_dialects::pixmess::limits::{EVENTS_WAITING, NAME_MAX, PIECE_MAX, WRITE_MAX};
use tickwire_dialects::pixmess::message::{FromClient, FromServer, Version};
use tickwire_dialects::pixmess::{
    BlockId, ChunkId, Client, ClientConfig, Direction, Phase, Reader, SetId, Sublayer,
};
use tickwire_session::{StreamId, Transmit};

use super::remote::{Remote, block, cell, chunk, entity, from_server, layer, look, set, sublayer};
use crate::driven::{Bounds, Driven, Seen, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

/// Plays a script of a server, time and a player.
///
/// # Panics
/// If the client breaks the contract of a session, sends what cannot be read, or says anything after
/// its end.
pub fn pixmess_client_session(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let now = script.start();
    let mut name = script.text(NAME_MAX);
    name.retain(|c| !c.is_control());
    let look = look(&mut script);
    let version = match script.u8() & 1 {
        0 => Version::One,
        _ => Version::Two,
    };
    if name.is_empty() && version == Version::One {
        name.push('x');
    }
    let mut config = ClientConfig::new(peer(1), version, &name).expect("a name that can be had");
    config.look = look;
    let mut run = Run {
        driven: Driven::new(Client::new(now, config), now, BOUNDS),
        remote: Remote::default(),
        on: StreamId::Dialled(0),
    };
    run.drain();
    carry_out(script, run);
}

const BOUNDS: Bounds = Bounds {
    transmits: 4_096,
    events: EVENTS_WAITING,
    datagram: 0,
};

struct Run {
    driven: Driven<Client>,
    remote: Remote,
    /// The client's connection: the second one, if this server does not speak its version.
    on: StreamId,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=47 => {
                let bytes = self.remote.encode(&from_server(script), script);
                self.hear(&bytes, script);
            }
            48..=55 => self.send_layer(script),
            56..=71 => self.driven.wait(script),
            // Opens the stream at first, then gives room, raw bytes and at times an end.
            72..=87 => drop(self.driven.path(script)),
            other => play(&mut self.driven, other, script),
        }
    }

    fn drain(&mut self) {
        let Self { driven, remote, on } = self;
        let was_over = is_over(&driven.session);
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Stream { on: used }, bytes) => {
                assert_eq!(used, *on);
                assert!(!was_over, "it sends after its end");
                assert!(bytes.len() <= WRITE_MAX, "{} bytes at once", bytes.len());
                remote.hear(bytes, |bytes, masks| {
                    let mut r = Reader::new(bytes);
                    FromClient::decode(&mut r, masks).map(|_| r.position())
                });
            }
            Seen::Transmit(Transmit::Dial { on: new, to }, _) => {
                assert_eq!(to, peer(1));
                *on = new;
                *remote = Remote::default();
            }
            Seen::Transmit(Transmit::Finish { on: ended } | Transmit::Abort { on: ended }, _) => {
                assert_eq!(ended, *on);
            }
            Seen::Transmit(other, _) => panic!("{other:?}"),
            Seen::Event(_) => {}
        });
    }

    fn check(&mut self) {
        self.driven.check_sleep(is_over(&self.driven.session));
        assert_eq!(self.driven.check_figures(), 1);
    }
}

impl Run {
    /// Hands in bytes in two pieces, if the stream is open.
    fn hear(&mut self, bytes: &[u8], script: &mut Script<'_>) {
        if !matches!(
            self.driven.session.phase(),
            Phase::LoggingIn | Phase::Playing
        ) {
            return;
        }
        let cut = usize::from(script.u8()) % (bytes.len() + 1);
        self.driven.stream(self.on, bytes, cut);
    }

    /// A chunk that was perhaps asked for, whole and as it should be.
    fn send_layer(&mut self, script: &mut Script<'_>) {
        let mut messages = vec![FromServer::LayerStart(chunk(script))];
        let pieces = layer().as_bytes().chunks(PIECE_MAX.into());
        messages.extend(pieces.map(|data| FromServer::LayerData { data }));
        messages.push(FromServer::LayerEnd);
        let mut bytes = Vec::new();
        for message in &messages {
            bytes.extend(self.remote.encode(message, script));
        }
        self.hear(&bytes, script);
    }
}

/// The player does something. What cannot be done is not done; the reason is for people.
fn play(driven: &mut Driven<Client>, choice: u8, script: &mut Script<'_>) {
    let now = driven.now();
    let client = &mut driven.session;
    let done = match choice {
        88..=95 => client.walk(now, Direction::ALL[usize::from(script.u8() % 8)]),
        96..=100 => {
            let id = BlockId {
                set: set(script),
                cell: cell(script),
                sublayer: sublayer(script),
            };
            client.edit(now, id, block(script))
        }
        101..=108 => client.request(now, chunk_id(script)),
        109..=111 => client.release(chunk_id(script)),
        112 | 113 => client.ignore(entity(script)),
        114..=117 => client.chat(now, &script.text(usize::MAX)),
        118 if script.u8() == 0 => {
            client.quit(now, &script.text(usize::MAX));
            Ok(())
        }
        _ => {
            look_at(client);
            Ok(())
        }
    };
    assert!(done.is_err() || !is_over(client) || choice >= 118);
}

/// Whatever the server said, everything can be looked at.
fn look_at(client: &Client) {
    for (id, tiles) in client.chunks() {
        assert_eq!(client.chunk(id), Some(tiles));
    }
    if let Some(cell) = client.position() {
        let id = BlockId {
            set: SetId::ROOT,
            cell,
            sublayer: Sublayer::Solid,
        };
        let is_held = client.chunk(id.chunk()).is_some();
        assert_eq!(client.block(id).is_some(), is_held);
    }
}

fn chunk_id(script: &mut Script<'_>) -> ChunkId {
    ChunkId {
        set: set(script),
        at: chunk(script),
    }
}

const fn is_over(client: &Client) -> bool {
    matches!(client.phase(), Phase::Ended(_))
}
