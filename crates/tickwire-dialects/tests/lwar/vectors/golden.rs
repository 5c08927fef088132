//! The golden datagrams: every message in each direction that it travels, with the cases that a
//! reader gets wrong.

use tickwire_dialects::lwar::message::{
    Body, Circle, Collision, Framed, Input, Place, PlayerScore, Ray, Reliable, Selection,
    Unreliable,
};
use tickwire_dialects::lwar::{EntityId, Header, History, Id, Kind, PlayerId, Point};

use super::super::words::{
    GUNS, add, body, chat, connect, datagram, entity, join, leave, player, reliable, remove,
    rename, select, stats, update, update_circle, update_pos, update_ray,
};
use crate::golden::Golden;

type Accepted = (Golden, Header, Vec<Framed<'static>>);

const TEN: &str = "0123456789";
/// 32 bytes, 31 characters.
const LONGEST_NAME: &str = "Ægir, who brews for all the god";
/// A player and an entity whose generation and index cannot be mistaken for each other.
const ELSEWHERE: Id = Id {
    generation: 0x0102,
    index: 0x0304,
};

const ROCKETS: Selection = Selection {
    ship: Kind::SHIP,
    weapons: [Kind::ROCKET, Kind::GUN, Kind::PHASER, Kind::SHOCKWAVE],
};

const CORNER: Body = Body {
    entity: EntityId(ELSEWHERE),
    x: i16::MIN,
    y: i16::MAX,
    orientation: 359,
    health: 0,
};

const PLACE: Place = Place {
    entity: EntityId(ELSEWHERE),
    x: -1,
    y: 1,
};

const RAY: Ray = Ray {
    entity: EntityId(ELSEWHERE),
    x: 258,
    y: -258,
    orientation: 90,
    length: u16::MAX,
};

const CIRCLE: Circle = Circle {
    entity: EntityId(ELSEWHERE),
    x: -494,
    y: 500,
    radius: 300,
};

const COLLISION: Collision = Collision {
    entities: [entity(1), EntityId(ELSEWHERE)],
    x: -494,
    y: 12,
};

/// Every golden datagram in which nothing is wrong, and what it holds.
pub(super) fn accepted() -> Vec<Accepted> {
    let mut all = from_client();
    all.extend(reliable_from_server());
    all.extend(unreliable_from_server());
    all.extend(whole_packets());
    all
}

fn golden(
    sender: &'static str,
    name: &'static str,
    title: &'static str,
    header: (u32, u32),
    messages: Vec<Framed<'static>>,
) -> Accepted {
    let (ack, timestamp) = header;
    let header = Header { ack, timestamp };
    let golden = Golden {
        name,
        title,
        sender,
        bytes: datagram(header, &messages),
    };
    (golden, header, messages)
}

fn from_client() -> Vec<Accepted> {
    let one = |name, title, header, message| golden("client", name, title, header, vec![message]);
    let held = |seq, message| reliable(seq, message);
    let mut history = [0; 10];
    history[0] = 0b0000_0111;
    history[6] = 0b1000_0000;
    history[9] = 0b0000_0001;
    let input = Input {
        player: PlayerId(ELSEWHERE),
        frame: 70_000,
        history: History(history),
        aim: Point { x: 300, y: -200 },
    };
    vec![
        one(
            "connect-plain",
            "Connect: the first thing a client says",
            (0, 0),
            held(1, connect("rusty")),
        ),
        one(
            "connect-longest",
            "Connect: a name of 32 bytes, two of them one character",
            (0, 200),
            held(1, connect(LONGEST_NAME)),
        ),
        one(
            "disconnect-plain",
            "Disconnect",
            (10, 1_487),
            held(5, Reliable::Disconnect),
        ),
        one(
            "chat-from-client",
            "Chat: the speaker names itself",
            (7, 448),
            held(3, chat(player(1), "hello")),
        ),
        one(
            "selection-from-client",
            "Selection: a ship with gun and phaser, two slots empty",
            (5, 235),
            held(2, select(player(1), GUNS)),
        ),
        one(
            "name-from-client",
            "Name: another name than at Connect",
            (8, 549),
            held(4, rename(player(1), "Ferris")),
        ),
        one(
            "input-history",
            "Input: forward for three frames, slot 0 fired seven frames ago, slot 3 fires",
            (9, 660),
            Framed::Unreliable(Unreliable::Input(input)),
        ),
    ]
}

fn reliable_from_server() -> Vec<Accepted> {
    let one = |name, title, seq, message| {
        golden(
            "server",
            name,
            title,
            (1, 852),
            vec![reliable(seq, message)],
        )
    };
    let longest: String = TEN.chars().cycle().take(255).collect();
    vec![
        one(
            "join-plain",
            "Join: the answer to a Connect, always number 1",
            1,
            join(player(1), "rusty"),
        ),
        one(
            "join-longest",
            "Join: a name of 32 bytes, an id with generation and index",
            2,
            join(PlayerId(ELSEWHERE), LONGEST_NAME),
        ),
        one("leave-plain", "Leave", 11, leave(player(1))),
        one(
            "chat-from-server",
            "Chat: the server repeats what a player said",
            8,
            chat(player(1), "hello"),
        ),
        one(
            "chat-longest",
            "Chat: 255 bytes",
            0x0102_0304,
            chat(PlayerId::SERVER, longest.leak()),
        ),
        one(
            "add-plain",
            "Add: the ship of player 1",
            7,
            add(entity(2), player(1), Kind::SHIP),
        ),
        one(
            "add-generations",
            "Add: entity and owner with generation and index",
            8,
            add(EntityId(ELSEWHERE), PlayerId(ELSEWHERE), Kind::ROCKET),
        ),
        one("remove-plain", "Remove", 12, remove(EntityId(ELSEWHERE))),
        one(
            "selection-from-server",
            "Selection: a weapon in every slot",
            6,
            select(player(1), ROCKETS),
        ),
        one(
            "name-from-server",
            "Name: the server tells everybody",
            9,
            rename(player(1), "Ferris"),
        ),
        one(
            "synced-plain",
            "Synced: the end of the synchronisation",
            5,
            Reliable::Synced,
        ),
    ]
}

fn unreliable_from_server() -> Vec<Accepted> {
    let one = |name, title, message| {
        golden(
            "server",
            name,
            title,
            (4, 2_154),
            vec![Framed::Unreliable(message)],
        )
    };
    let score = |player, kills, deaths, ping| PlayerScore {
        player,
        kills,
        deaths,
        ping,
    };
    vec![
        one(
            "stats-two",
            "Stats: the server, whose ping is 0, and a player",
            stats(&[
                score(PlayerId::SERVER, 0, 0, 0),
                score(player(1), 3, 258, 45),
            ]),
        ),
        one(
            "collision-plain",
            "Collision: two entities and where they touched",
            Unreliable::Collision(COLLISION),
        ),
        one(
            "update-two",
            "Update: a body at rest, and one at the corner of the world",
            update(&[body(entity(2), 116), CORNER]),
        ),
        one("update-none", "Update: an empty list is legal", update(&[])),
        one(
            "update-pos-one",
            "UpdatePos: no orientation, no health",
            update_pos(&[PLACE]),
        ),
        one(
            "update-ray-one",
            "UpdateRay: origin, direction, length",
            update_ray(&[RAY]),
        ),
        one(
            "update-circle-one",
            "UpdateCircle: centre, radius",
            update_circle(&[CIRCLE]),
        ),
    ]
}

fn whole_packets() -> Vec<Accepted> {
    let full = Framed::Unreliable(Unreliable::Full);
    let own = player(1);
    let (planet, rocket) = (entity(0), entity(1));
    let server = PlayerId::SERVER;
    let sync = vec![
        reliable(1, join(own, "rusty")),
        reliable(2, join(server, "server")),
        reliable(3, add(planet, server, Kind::PLANET)),
        reliable(4, add(rocket, server, Kind::ROCKET)),
        reliable(5, Reliable::Synced),
        Framed::Unreliable(update(&[body(planet, 500), body(rocket, -494)])),
    ];
    vec![
        golden(
            "server",
            "full-plain",
            "Full: acknowledges the Connect that it answers; its timestamp is 0",
            (1, 0),
            vec![full],
        ),
        golden(
            "client",
            "packet-acknowledgement",
            "A packet without messages: nothing but an acknowledgement",
            (5, 114),
            vec![],
        ),
        golden(
            "server",
            "packet-synchronisation",
            "A packet with several messages: the reliable ones come first",
            (1, 852),
            sync,
        ),
        golden(
            "client",
            "packet-highest-numbers",
            "Acknowledgement, timestamp and number just before they wrap",
            (u32::MAX, u32::MAX),
            vec![reliable(u32::MAX, Reliable::Disconnect)],
        ),
    ]
}

/// Every golden datagram in which something is wrong.
pub(super) fn refused() -> Vec<Golden> {
    let header = Header {
        ack: 1,
        timestamp: 100,
    };
    let packet = |tail: &[u8]| {
        let mut bytes = datagram(header, &[reliable(2, chat(player(1), "hi"))]);
        bytes.extend(tail);
        bytes
    };
    let named = |length: u8, fill: u8| {
        let mut name = vec![9, 0, 0, 0, 3, 0, 0, 0, 1, length];
        name.extend(vec![fill; length.into()]);
        // A message behind it, which is read all the same.
        name.extend([2, 0, 0, 0, 4]);
        name
    };
    let refused = |name, title, bytes| Golden {
        name,
        title,
        sender: "client",
        bytes,
    };
    vec![
        refused(
            "refused-application-id",
            "Another application id: nothing is read",
            vec![0xf2, 0x70, 0x87, 0xc6, 0, 0, 0, 0, 0, 0, 0, 0],
        ),
        refused(
            "refused-short-header",
            "A header that ends early: nothing is read",
            datagram(header, &[])[..11].to_vec(),
        ),
        refused(
            "refused-unknown-reliable",
            "An unknown reliable id: what stands before it counts, the rest is not read",
            packet(&[11, 0, 0, 0, 3, 0xaa, 0xbb]),
        ),
        refused(
            "refused-unknown-unreliable",
            "The deprecated id 102: what stands before it counts, the rest is not read",
            packet(&[102, 0xaa, 0xbb]),
        ),
        refused(
            "refused-cut-message",
            "A message that ends early: what stands before it counts",
            packet(&[8, 0, 0, 0, 3, 0, 0, 0, 1, 2, 5]),
        ),
        refused(
            "refused-cut-list",
            "A list that announces more than there is: none of it counts",
            packet(&[110, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 100]),
        ),
        refused(
            "refused-long-name",
            "A name of 33 bytes: what stands behind it is read",
            packet(&named(33, b'x')),
        ),
        refused(
            "refused-name-not-utf8",
            "A name that is not UTF-8: what stands behind it is read",
            packet(&named(2, 0xff)),
        ),
    ]
}
