//! Short ways to say messages and places.

use tickwire_dialects::pixmess::mask::{Form, Masks};
use tickwire_dialects::pixmess::message::{BlockSet, FromClient, FromServer, Packet};
use tickwire_dialects::pixmess::{
    Block, BlockId, Cell, ChunkId, ChunkXy, EntityId, Look, PlayerId, Reader, SetId, Sublayer,
    Writer,
};

/// A message of a client, as tests write it down.
pub(crate) type Said = FromClient<&'static [u8]>;
/// A message of a server, as tests write it down.
pub(crate) type Heard = FromServer<&'static [u8]>;

pub(crate) const LOOK: Look = Look {
    chr: 0x0140,
    col: 0xff07,
};

pub(crate) const WALL: Block = Block {
    typ: 1,
    col: 7,
    ch: 35,
};

pub(crate) const fn cell(x: i32, y: i32) -> Cell {
    Cell { x, y }
}

pub(crate) const fn xy(x: i32, y: i32) -> ChunkXy {
    ChunkXy { x, y }
}

pub(crate) const fn root(x: i32, y: i32) -> ChunkId {
    ChunkId::root(xy(x, y))
}

pub(crate) const fn solid(x: i32, y: i32) -> BlockId {
    BlockId {
        set: SetId::ROOT,
        cell: cell(x, y),
        sublayer: Sublayer::Solid,
    }
}

pub(crate) const fn block_set(id: BlockId, block: Block) -> BlockSet {
    BlockSet {
        sublayer: id.sublayer,
        cell: id.cell.low(),
        block,
    }
}

/// A client's wish.
pub(crate) const fn edit(id: BlockId, block: Block) -> Said {
    FromClient::BlockSet(block_set(id, block))
}

/// A server's news.
pub(crate) const fn changed(id: BlockId, block: Block) -> Heard {
    FromServer::BlockSet(block_set(id, block))
}

pub(crate) fn login(version: u16, name: &'static str) -> Said {
    FromClient::Login {
        version,
        look: LOOK,
        name: name.as_bytes(),
    }
}

pub(crate) const fn walk(direction: u8) -> Said {
    FromClient::Movement { direction }
}

pub(crate) fn say(text: &str) -> Said {
    FromClient::Chat { text: leak(text) }
}

pub(crate) fn chat(text: &str) -> Heard {
    FromServer::Chat { text: leak(text) }
}

pub(crate) fn kick(reason: &str) -> Heard {
    FromServer::Kick {
        reason: leak(reason),
    }
}

pub(crate) const fn player_id(player: PlayerId) -> Heard {
    FromServer::PlayerId { player }
}

pub(crate) fn creation(player: PlayerId, name: &str, at: Cell) -> Heard {
    FromServer::EntityCreation {
        entity: player.entity(),
        at,
        look: LOOK,
        name: leak(name),
    }
}

pub(crate) const fn moved(player: PlayerId, direction: u8) -> Heard {
    FromServer::Movement {
        entity: player.entity(),
        direction,
    }
}

pub(crate) const fn position(player: PlayerId, at: Cell) -> Heard {
    FromServer::EntityPosition {
        entity: player.entity(),
        at,
    }
}

pub(crate) const fn destruction(entity: EntityId) -> Heard {
    FromServer::EntityDestruction { entity }
}

fn leak(text: &str) -> &'static [u8] {
    text.to_owned().leak().as_bytes()
}

/// The bytes of messages in the forms that are cheapest.
pub(crate) fn encode<P: Packet>(masks: &mut Masks, messages: &[P]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let later = messages[at + 1..].iter();
        message.encode(masks, later, &mut Writer::new(&mut bytes, usize::MAX));
    }
    bytes
}

/// The bytes of one message in its plain form.
pub(crate) fn plain<P: Packet>(message: &P) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut w = Writer::new(&mut bytes, usize::MAX);
    message
        .encode_as(Form::Plain, &mut Masks::default(), &mut w)
        .expect("every message has a plain form");
    bytes
}

/// The server's messages in `bytes`, as far as they are whole; what is left stays.
pub(crate) fn decode_whole(masks: &mut Masks, bytes: &mut Vec<u8>) -> Vec<Heard> {
    let kept: &'static [u8] = bytes.clone().leak();
    let mut r = Reader::new(kept);
    let mut messages = Vec::new();
    let mut read = 0;
    while let Ok(message) = FromServer::decode(&mut r, masks) {
        messages.push(message);
        read = r.position();
    }
    bytes.drain(..read);
    messages
}
