//! Any message that the wire can carry.

use proptest::collection::vec;
use proptest::prelude::*;
use tickwire_dialects::lwar::message::{
    Body, Circle, Collision, Framed, Input, Place, PlayerScore, Ray, Reliable, Selection,
    Unreliable,
};
use tickwire_dialects::lwar::{EntityId, Header, History, Id, Kind, PlayerId, Point};

use super::super::words::{reliable, stats, update, update_circle, update_pos, update_ray};

/// A message of any kind, of either side.
pub(super) fn framed() -> BoxedStrategy<Framed<'static>> {
    prop_oneof![
        (any::<u32>(), any_reliable()).prop_map(|(seq, message)| reliable(seq, message)),
        any_unreliable().prop_map(Framed::Unreliable),
    ]
    .boxed()
}

pub(super) fn header() -> impl Strategy<Value = Header> {
    any::<(u32, u32)>().prop_map(|(ack, timestamp)| Header { ack, timestamp })
}

/// A packet's worth of messages, more than fit into one now and then.
pub(super) fn packet() -> impl Strategy<Value = (Header, Vec<Framed<'static>>)> {
    (header(), vec(framed(), 0..6))
}

/// Text of at most `limit` bytes. It lives as long as the test process.
fn text(limit: usize) -> impl Strategy<Value = &'static str> {
    vec(any::<char>(), 0..=limit).prop_map(move |characters| {
        let mut text: String = characters.into_iter().collect();
        text.truncate(text.floor_char_boundary(limit));
        &*text.leak()
    })
}

fn id() -> impl Strategy<Value = Id> {
    any::<(u16, u16)>().prop_map(|(generation, index)| Id { generation, index })
}

fn player() -> impl Strategy<Value = PlayerId> {
    id().prop_map(PlayerId)
}

fn entity() -> impl Strategy<Value = EntityId> {
    id().prop_map(EntityId)
}

fn any_reliable() -> BoxedStrategy<Reliable<'static>> {
    let selection = any::<(u8, [u8; 4])>().prop_map(|(ship, weapons)| Selection {
        ship: Kind(ship),
        weapons: weapons.map(Kind),
    });
    prop_oneof![
        text(32).prop_map(|name| Reliable::Connect { name }),
        Just(Reliable::Disconnect),
        (player(), text(32)).prop_map(|(player, name)| Reliable::Join { player, name }),
        player().prop_map(|player| Reliable::Leave { player }),
        (player(), text(255)).prop_map(|(player, text)| Reliable::Chat { player, text }),
        (entity(), player(), any::<u8>()).prop_map(|(entity, owner, kind)| Reliable::Add {
            entity,
            owner,
            kind: Kind(kind),
        }),
        entity().prop_map(|entity| Reliable::Remove { entity }),
        (player(), selection)
            .prop_map(|(player, selection)| Reliable::Selection { player, selection }),
        (player(), text(32)).prop_map(|(player, name)| Reliable::Name { player, name }),
        Just(Reliable::Synced),
    ]
    .boxed()
}

fn any_unreliable() -> BoxedStrategy<Unreliable<'static>> {
    let score = (player(), any::<(u16, u16, u16)>()).prop_map(|(player, (kills, deaths, ping))| {
        PlayerScore {
            player,
            kills,
            deaths,
            ping,
        }
    });
    let input = (player(), any::<(u32, [u8; 10], i16, i16)>());
    let input = input.prop_map(|(player, (frame, history, x, y))| Input {
        player,
        frame,
        history: History(history),
        aim: Point { x, y },
    });
    let collision = ([entity(), entity()], any::<(i16, i16)>())
        .prop_map(|(entities, (x, y))| Collision { entities, x, y });
    prop_oneof![
        vec(score, 0..=8).prop_map(|scores| stats(&scores)),
        input.prop_map(Unreliable::Input),
        Just(Unreliable::Full),
        collision.prop_map(Unreliable::Collision),
        any_update(),
    ]
    .boxed()
}

fn any_update() -> BoxedStrategy<Unreliable<'static>> {
    let body = (entity(), any::<(i16, i16, u16, u8)>()).prop_map(
        |(entity, (x, y, orientation, health))| Body {
            entity,
            x,
            y,
            orientation,
            health,
        },
    );
    let place = (entity(), any::<(i16, i16)>()).prop_map(|(entity, (x, y))| Place { entity, x, y });
    let ray = (entity(), any::<(i16, i16, u16, u16)>()).prop_map(
        |(entity, (x, y, orientation, length))| Ray {
            entity,
            x,
            y,
            orientation,
            length,
        },
    );
    let circle = (entity(), any::<(i16, i16, u16)>()).prop_map(|(entity, (x, y, radius))| Circle {
        entity,
        x,
        y,
        radius,
    });
    // 255 records are all that the count can say.
    prop_oneof![
        vec(body, 0..=255).prop_map(|bodies| update(&bodies)),
        vec(place, 0..=30).prop_map(|places| update_pos(&places)),
        vec(ray, 0..=30).prop_map(|rays| update_ray(&rays)),
        vec(circle, 0..=30).prop_map(|circles| update_circle(&circles)),
    ]
    .boxed()
}
