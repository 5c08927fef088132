//! The golden streams.

use tickwire_dialects::pixmess::mask::{Form, Masks};
use tickwire_dialects::pixmess::message::{BlockSet, FromClient, FromServer, Packet};
use tickwire_dialects::pixmess::{
    Block, BlockId, Cell, EntityId, Layer, Look, Low, PlayerId, SetId, Sublayer, Tiles, Writer,
};

use super::super::words::{Heard, Said, cell, chat, edit, kick, say, solid, xy};
use crate::golden::Golden;
use Form::{Defined, Plain, Stored};

/// What a golden stream says, and in which forms.
pub(super) enum Stream {
    Client(Vec<(Form, Said)>),
    Server(Vec<(Form, Heard)>),
}

type Accepted = (Golden, Stream);

const FAR: EntityId = EntityId(0x0102);
/// Coordinates whose bytes cannot be mistaken for each other.
const THERE: Cell = Cell {
    x: 0x0102_0304,
    y: -2,
};

pub(super) fn accepted() -> Vec<Accepted> {
    let mut all = masked_from_client();
    all.extend(masked_from_server());
    all.extend(plain_from_client());
    all.extend(plain_from_server());
    all
}

fn from_client(name: &'static str, title: &'static str, packets: Vec<(Form, Said)>) -> Accepted {
    (
        golden(name, title, "client", &packets),
        Stream::Client(packets),
    )
}

fn from_server(name: &'static str, title: &'static str, packets: Vec<(Form, Heard)>) -> Accepted {
    (
        golden(name, title, "server", &packets),
        Stream::Server(packets),
    )
}

fn golden<P: Packet>(
    name: &'static str,
    title: &'static str,
    sender: &'static str,
    packets: &[(Form, P)],
) -> Golden {
    let mut bytes = Vec::new();
    let mut masks = Masks::default();
    for (form, packet) in packets {
        packet
            .encode_as(*form, &mut masks, &mut Writer::new(&mut bytes, usize::MAX))
            .expect("the form can say it");
    }
    Golden {
        name,
        title,
        sender,
        bytes,
    }
}

fn block(sublayer: Sublayer, x: u16, block: Block) -> BlockSet {
    BlockSet {
        sublayer,
        cell: Low { x, y: 0x0201 },
        block,
    }
}

const WALL: Block = Block {
    typ: 1,
    col: 7,
    ch: 35,
};
const DOOR: Block = Block {
    typ: -2,
    col: -1,
    ch: 43,
};

fn masked_from_client() -> Vec<Accepted> {
    use Sublayer::{Solid, Walkable};
    let set = |sublayer, x, wanted| FromClient::BlockSet(block(sublayer, x, wanted));
    let step = |direction| FromClient::Movement { direction };
    vec![
        from_client(
            "block-set-solid-from-client",
            "block_set_solid: plain; y and block as before, which is stored; as stored; plain",
            vec![
                (Plain, set(Solid, 0x0403, WALL)),
                (Defined(0b1_1110), set(Solid, 0x0404, WALL)),
                (Stored, set(Solid, 0x0405, WALL)),
                (Plain, set(Solid, 0xffff, DOOR)),
            ],
        ),
        from_client(
            "block-set-walkable-from-client",
            "block_set_walkable: plain; everything as before; a mask of nothing",
            vec![
                (Plain, set(Walkable, 0x0403, DOOR)),
                (Defined(0b1_1111), set(Walkable, 0x0403, DOOR)),
                (Defined(0), set(Walkable, 0x0403, WALL)),
            ],
        ),
        from_client(
            "block-set-separate-memories",
            "The two block types share no mask and no values: what was never sent is zero",
            vec![
                (Plain, edit(solid(3, 4), WALL)),
                (
                    Defined(0b1_1111),
                    edit(
                        BlockId {
                            sublayer: Walkable,
                            ..solid(0, 0)
                        },
                        Block::EMPTY,
                    ),
                ),
            ],
        ),
        from_client(
            "entity-movement-from-client",
            "entity_movement: a client's has no id. Plain, as before, as stored, plain",
            vec![
                (Plain, step(4)),
                (Defined(0b01), step(4)),
                (Stored, step(4)),
                (Plain, step(7)),
            ],
        ),
        from_client(
            "entity-movement-absent-bits",
            "entity_movement: mask bits of fields that are not there mean nothing",
            vec![(Defined(0b1111_1110), step(3)), (Stored, step(2))],
        ),
        from_client(
            "entity-movement-no-direction",
            "entity_movement: 8 is no direction; it is read, and refused as a step",
            vec![(Plain, step(8))],
        ),
    ]
}

fn masked_from_server() -> Vec<Accepted> {
    use Sublayer::{Solid, Walkable};
    let set = |sublayer, x, wanted| FromServer::BlockSet(block(sublayer, x, wanted));
    let step = |entity, direction| FromServer::Movement { entity, direction };
    let creation = |entity, at, look, name: &'static str| FromServer::EntityCreation {
        entity,
        at,
        look,
        name: name.as_bytes(),
    };
    let look = Look {
        chr: 0x0140,
        col: 0xfffe,
    };
    let here = cell(THERE.x, 7);
    vec![
        from_server(
            "block-set-solid-from-server",
            "block_set_solid: plain; x and y as before, which is stored; as stored",
            vec![
                (Plain, set(Solid, 0x0403, WALL)),
                (Defined(0b0_0011), set(Solid, 0x0403, DOOR)),
                (Stored, set(Solid, 0x0403, WALL)),
            ],
        ),
        from_server(
            "block-set-walkable-from-server",
            "block_set_walkable: plain; block as before, which is stored; plain; as stored",
            vec![
                (Plain, set(Walkable, 0x0403, WALL)),
                (Defined(0b1_1100), set(Walkable, 0x0404, WALL)),
                (Plain, set(Walkable, 0x0405, DOOR)),
                (Stored, set(Walkable, 0x0406, DOOR)),
            ],
        ),
        from_server(
            "entity-movement-from-server",
            "entity_movement: plain; id as before (bit 1), which is stored; as stored; both as before",
            vec![
                (Plain, step(FAR, 0)),
                (Defined(0b10), step(FAR, 3)),
                (Stored, step(FAR, 6)),
                (Defined(0b11), step(FAR, 6)),
                (Stored, step(FAR, 6)),
            ],
        ),
        from_server(
            "entity-creation-forms",
            "entity_creation: id and name have no mask. Plain; x, col and ch as before; as stored",
            vec![
                (Plain, creation(FAR, THERE, look, "ann")),
                (Defined(0b1_1010), creation(EntityId(2), here, look, "")),
                (Stored, creation(EntityId(3), THERE, look, "Ægir")),
            ],
        ),
    ]
}

fn plain_from_client() -> Vec<Accepted> {
    let one = |name, title, message| from_client(name, title, vec![(Plain, message)]);
    let login = |version, name: &'static str| FromClient::Login {
        version,
        look: Look {
            chr: 0x0140,
            col: 0xfffe,
        },
        name: name.as_bytes(),
    };
    vec![
        one(
            "layer-request-plain",
            "layer_request: chunk coordinates",
            FromClient::LayerRequest(xy(0x0102_0304, -1)),
        ),
        one(
            "layer-release-from-client",
            "layer_release",
            FromClient::LayerRelease(xy(-(1 << 25), 3)),
        ),
        one(
            "layerset-select-from-client",
            "layerset_select (version 2)",
            FromClient::LayersetSelect { set: SetId(0x0102) },
        ),
        one(
            "entity-position-from-client",
            "entity_position: a client's has no id",
            FromClient::EntityPosition { at: THERE },
        ),
        one(
            "entity-destruction-from-client",
            "entity_destruction: the client wants to hear no more of it",
            FromClient::EntityDestruction { entity: FAR },
        ),
        one("chat-from-client", "chat", say("hi")),
        one("login-version-1", "login", login(1, "ann")),
        one(
            "login-spectator",
            "login: version 2 without a name",
            login(2, ""),
        ),
        one("ping-from-client", "ping", FromClient::Ping),
        one("pong-from-client", "pong", FromClient::Pong),
        one(
            "player-id-from-client",
            "player_id: a client's is a question and has no id",
            FromClient::PlayerId,
        ),
        one(
            "kick-from-client",
            "kick: the client goes",
            FromClient::Kick { reason: b"bye" },
        ),
    ]
}

fn plain_from_server() -> Vec<Accepted> {
    let one = |name, title, message| from_server(name, title, vec![(Plain, message)]);
    let (set, at) = (SetId(0x0102), THERE);
    let longest: String = "0123456789".chars().cycle().take(255).collect();
    let gzip: &'static [u8] = Layer::new(&Tiles::default()).as_bytes().to_vec().leak();
    let layer = vec![
        (Plain, FromServer::LayerStart(xy(0x0102_0304, -1))),
        (Plain, FromServer::LayerData { data: &gzip[..20] }),
        (Plain, FromServer::Pong),
        (Plain, FromServer::LayerData { data: &gzip[20..] }),
        (Plain, FromServer::LayerEnd),
    ];
    vec![
        from_server(
            "layer-whole",
            "layer_start, layer_data, layer_end: an empty chunk in two pieces, a pong between them",
            layer,
        ),
        one(
            "layer-release-from-server",
            "layer_release",
            FromServer::LayerRelease(xy(17, -17)),
        ),
        one(
            "layerset-create-plain",
            "layerset_create (version 2): number and corner",
            FromServer::LayersetCreate { set, at },
        ),
        one(
            "layerset-move-plain",
            "layerset_move (version 2)",
            FromServer::LayersetMove { set, at },
        ),
        one(
            "layerset-remove-plain",
            "layerset_remove (version 2)",
            FromServer::LayersetRemove { set },
        ),
        one(
            "layerset-select-from-server",
            "layerset_select (version 2): the root",
            FromServer::LayersetSelect { set: SetId::ROOT },
        ),
        one(
            "entity-position-from-server",
            "entity_position",
            FromServer::EntityPosition { entity: FAR, at },
        ),
        one(
            "entity-destruction-from-server",
            "entity_destruction",
            FromServer::EntityDestruction { entity: FAR },
        ),
        one("chat-from-server", "chat", chat("* ann has joined")),
        one("chat-longest", "chat: 255 bytes", chat(&longest)),
        one("ping-from-server", "ping", FromServer::Ping),
        one("pong-from-server", "pong", FromServer::Pong),
        one(
            "player-id-from-server",
            "player_id",
            FromServer::PlayerId {
                player: PlayerId(0x0102),
            },
        ),
        one("kick-from-server", "kick", kick("Version mismatch!")),
    ]
}

/// Every golden stream in which something is wrong.
pub(super) fn refused() -> Vec<Golden> {
    let refused = |name, title, sender, bytes: &[u8]| Golden {
        name,
        title,
        sender,
        bytes: bytes.to_vec(),
    };
    vec![
        refused(
            "refused-reserved-type",
            "Type $00: what stands before it counts, nothing behind it is read",
            "client",
            &[0x7c, 0x00, 0x7c],
        ),
        refused(
            "refused-unknown-type",
            "Type $12 under a mask: the mask is not read",
            "client",
            &[0xd2, 0xff],
        ),
        refused(
            "refused-server-s-type",
            "layer_start from a client",
            "client",
            &[0x41, 0, 0, 0, 0, 0, 0, 0, 0],
        ),
        refused(
            "refused-cut-packet",
            "A packet that ends early: on a stream, the rest is still to come",
            "client",
            &[0x7b, 1, 0, 0x40, 1, 7, 0, 3, b'a', b'n'],
        ),
        refused(
            "refused-long-piece",
            "layer_data of 513 bytes: refused before any of them is read",
            "server",
            &[0x42, 0x01, 0x02, 0xaa],
        ),
    ]
}
