//! A peer as the session expects it: messages that make sense, in forms that nobody expects.

use std::sync::LazyLock;

use tickwire_dialects::pixmess::mask::{Form, Masks};
use tickwire_dialects::pixmess::message::{BlockSet, FromClient, FromServer, Look, Packet};
use tickwire_dialects::pixmess::{
    Block, Cell, ChunkXy, EntityId, Layer, Low, PlayerId, SetId, Sublayer, Tiles, Writer,
};
use tickwire_wire::DecodeError;

use crate::script::Script;

/// What a peer has said and heard so far.
#[derive(Debug, Default)]
pub(super) struct Remote {
    said: Masks,
    heard: Masks,
    /// What arrived of a packet that is not whole yet.
    arrived: Vec<u8>,
    /// Whether a server has a reason to send it away for what it said.
    pub(super) is_rude: bool,
    /// Whether it has said login.
    has_said_login: bool,
}

impl Remote {
    /// The bytes of a message, in a form that the script chooses if it can say it.
    pub(super) fn encode<P: Packet>(&mut self, message: &P, script: &mut Script<'_>) -> Vec<u8> {
        let form = match script.u8() {
            0..=99 => Form::Plain,
            100..=179 => Form::Stored,
            mask => Form::Defined(mask & 0x1f),
        };
        let mut bytes = Vec::new();
        for form in [form, Form::Plain] {
            let mut w = Writer::new(&mut bytes, usize::MAX);
            if message.encode_as(form, &mut self.said, &mut w).is_some() {
                break;
            }
        }
        bytes
    }

    /// Notes what a client says to a server.
    pub(super) fn note(&mut self, message: &FromClient<&[u8]>) {
        self.is_rude |= match message {
            FromClient::Login { .. } => core::mem::replace(&mut self.has_said_login, true),
            // There is no such type in version 1.
            FromClient::LayersetSelect { .. } => true,
            FromClient::Ping | FromClient::Pong => false,
            _ => !self.has_said_login,
        };
    }

    /// Takes what the session sent, with a reader of one packet, which returns its length.
    ///
    /// # Panics
    /// If it is no packet.
    pub(super) fn hear(
        &mut self,
        bytes: &[u8],
        mut read: impl FnMut(&[u8], &mut Masks) -> Result<usize, DecodeError>,
    ) {
        self.arrived.extend_from_slice(bytes);
        loop {
            match read(&self.arrived, &mut self.heard) {
                Ok(length) => drop(self.arrived.drain(..length)),
                Err(DecodeError::Truncated { .. }) => return,
                Err(error) => panic!("it cannot be read: {error}"),
            }
        }
    }
}

/// Something that a client could say.
pub(super) fn from_client<'a>(script: &mut Script<'a>) -> FromClient<&'a [u8]> {
    match script.u8() % 16 {
        0 => FromClient::Login {
            version: u16::from(script.u8() % 4),
            look: look(script),
            name: script.blob(),
        },
        1..=3 => FromClient::BlockSet(block_set(script)),
        4..=7 => FromClient::Movement {
            direction: script.u8() % 9,
        },
        8 => FromClient::LayerRequest(chunk(script)),
        9 => FromClient::LayerRelease(chunk(script)),
        10 => FromClient::LayersetSelect { set: set(script) },
        11 => FromClient::EntityPosition { at: cell(script) },
        12 => FromClient::EntityDestruction {
            entity: entity(script),
        },
        13 => FromClient::Chat {
            text: script.blob(),
        },
        14 => match script.u8() % 3 {
            0 => FromClient::Ping,
            1 => FromClient::Pong,
            _ => FromClient::PlayerId,
        },
        _ => FromClient::Kick {
            reason: script.blob(),
        },
    }
}

/// Something that a server could say.
pub(super) fn from_server<'a>(script: &mut Script<'a>) -> FromServer<&'a [u8]> {
    match script.u8() % 20 {
        0 | 1 => FromServer::BlockSet(block_set(script)),
        2..=4 => FromServer::Movement {
            entity: entity(script),
            direction: script.u8() % 9,
        },
        5 | 6 => FromServer::EntityCreation {
            entity: entity(script),
            at: cell(script),
            look: look(script),
            name: script.blob(),
        },
        7 => FromServer::LayerStart(chunk(script)),
        8 => FromServer::LayerData {
            data: script.blob(),
        },
        9 => FromServer::LayerEnd,
        10 => FromServer::LayerRelease(chunk(script)),
        11 => FromServer::LayersetCreate {
            set: set(script),
            at: cell(script),
        },
        12 => FromServer::LayersetMove {
            set: set(script),
            at: cell(script),
        },
        13 => match script.u8() & 1 {
            0 => FromServer::LayersetRemove { set: set(script) },
            _ => FromServer::LayersetSelect { set: set(script) },
        },
        14 => FromServer::EntityPosition {
            entity: entity(script),
            at: cell(script),
        },
        15 => FromServer::EntityDestruction {
            entity: entity(script),
        },
        16 => FromServer::Chat {
            text: script.blob(),
        },
        17 => FromServer::Ping,
        18 => match script.u8() {
            0 => FromServer::Kick {
                reason: script.blob(),
            },
            _ => FromServer::Pong,
        },
        _ => FromServer::PlayerId {
            player: PlayerId(entity(script).0),
        },
    }
}

/// A chunk of nothing, compressed once: that takes longer than everything else in a script.
pub(super) fn layer() -> &'static Layer {
    static LAYER: LazyLock<Layer> = LazyLock::new(|| Layer::new(&Tiles::default()));
    &LAYER
}

/// Mostly near the middle, and at times at the edge of the world.
pub(super) fn cell(script: &mut Script<'_>) -> Cell {
    let mut along = || match script.u8() {
        255 => i32::MAX,
        254 => i32::MIN,
        253 => script.u32().cast_signed(),
        near => i32::from(near) - 100,
    };
    Cell {
        x: along(),
        y: along(),
    }
}

pub(super) fn chunk(script: &mut Script<'_>) -> ChunkXy {
    let mut along = || match script.u8() {
        255 => i32::MAX,
        254 => -(1 << 25),
        near => i32::from(near % 16) - 8,
    };
    ChunkXy {
        x: along(),
        y: along(),
    }
}

/// One of a few, so that they meet.
pub(super) fn entity(script: &mut Script<'_>) -> EntityId {
    EntityId(u16::from(script.u8() % 24))
}

pub(super) fn set(script: &mut Script<'_>) -> SetId {
    SetId(u16::from(script.u8() % 4))
}

pub(super) fn block(script: &mut Script<'_>) -> Block {
    Block {
        typ: script.u8().cast_signed() % 3,
        col: script.u8().cast_signed(),
        ch: script.u8().cast_signed(),
    }
}

pub(super) fn sublayer(script: &mut Script<'_>) -> Sublayer {
    match script.u8() & 1 {
        0 => Sublayer::Solid,
        _ => Sublayer::Walkable,
    }
}

pub(super) fn look(script: &mut Script<'_>) -> Look {
    Look {
        chr: script.u16(),
        col: script.u16(),
    }
}

fn block_set(script: &mut Script<'_>) -> BlockSet {
    let Low { x, y } = cell(script).low();
    BlockSet {
        sublayer: sublayer(script),
        cell: Low { x, y },
        block: block(script),
    }
}
