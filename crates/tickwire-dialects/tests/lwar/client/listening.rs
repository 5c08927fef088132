//! What a playing client makes of what it hears.

use tickwire_dialects::lwar::message::{
    Circle, Collision, Framed, Place, PlayerScore, Ray, Reliable, Unreliable,
};
use tickwire_dialects::lwar::{ClientEvent, EntityId, Header, Id, Kind, PlayerId, Shown};

use crate::script::{BOB, ClientScript, SERVER, ms};
use crate::words::{
    GUNS, add, body, chat, connect, datagram, entity, forward, join, leave, player, reliable,
    remove, rename, select, stats, update, update_circle, update_pos, update_ray,
};

const SHIP: EntityId = entity(0);

/// A client with one ship to look at, and BOB's player to hear.
fn playing() -> ClientScript {
    ClientScript::playing(&[join(player(2), "bob"), add(SHIP, player(2), Kind::SHIP)])
}

/// What the newest update said of an entity.
fn latest(c: &ClientScript, id: EntityId) -> Option<Shown> {
    c.session
        .entities()
        .find(|(known, _)| *known == id)
        .and_then(|(_, entity)| entity.track.latest())
}

fn x(c: &ClientScript) -> Option<f32> {
    latest(c, SHIP).map(|shown| shown.x)
}

#[test]
fn empty_words_are_not_told() {
    let mut c = playing();
    let bob = player(2);
    let before = c.counters().violations;
    c.tell(&[chat(bob, ""), rename(bob, "")]);
    assert_eq!(c.events(), []);
    assert_eq!(c.counters().violations, before + 1);
}

#[test]
fn what_players_do_is_told() {
    let mut c = playing();
    let bob = player(2);
    c.tell(&[
        chat(bob, "hi"),
        rename(bob, "bobby"),
        select(bob, GUNS),
        add(entity(1), bob, Kind::BULLET),
        remove(entity(1)),
        leave(bob),
    ]);
    let events = c.events();
    assert_eq!(
        events[..4],
        [
            ClientEvent::Chatted(bob, "hi".into()),
            ClientEvent::Renamed(bob, "bob".into()),
            ClientEvent::Selected(bob, GUNS),
            ClientEvent::Added(entity(1)),
        ]
    );
    assert!(matches!(events[4], ClientEvent::Removed(id, gone)
        if id == entity(1) && gone.kind == Kind::BULLET));
    assert_eq!(events[5..], [ClientEvent::Left(bob, "bobby".into())]);
}

#[test]
fn scores_are_kept() {
    let mut c = playing();
    let score = |player, kills, deaths, ping| PlayerScore {
        player,
        kills,
        deaths,
        ping,
    };
    c.show_now(&[stats(&[
        score(player(2), 3, 1, 45),
        score(player(6), 9, 9, 9),
    ])]);
    let bob = c.session.players().find(|(id, _)| *id == player(2));
    let bob = bob.unwrap().1;
    assert_eq!((bob.kills, bob.deaths, bob.ping), (3, 1, 45));
    assert_eq!(c.session.players().count(), 3, "Stats bring nobody");
}

#[test]
fn each_kind_of_update_is_shown() {
    let ids = [0, 1, 2, 3].map(entity);
    let adds = ids.map(|id| add(id, PlayerId::SERVER, Kind::SUN));
    let mut c = ClientScript::playing(&adds);
    let (x, y) = (-7, 9);
    let ray = Ray {
        entity: ids[2],
        x,
        y,
        orientation: 725,
        length: 800,
    };
    let circle = Circle {
        entity: ids[3],
        x,
        y,
        radius: 50,
    };
    let mut sun = body(ids[0], x);
    (sun.orientation, sun.health) = (90, 120);
    c.show_now(&[
        update(&[sun]),
        update_pos(&[Place {
            entity: ids[1],
            x,
            y,
        }]),
        update_ray(&[ray]),
        update_circle(&[circle]),
    ]);
    let shown = ids.map(|id| latest(&c, id).unwrap());
    assert!(shown.iter().all(|shown| shown.x == -7.0));
    assert_eq!((shown[0].orientation, shown[0].health), (90.0, 100));
    assert_eq!((shown[2].orientation, shown[2].reach), (5.0, 800.0));
    assert_eq!(shown[3].reach, 50.0);
}

#[test]
fn a_position_leaves_heading_and_health_as_they_were() {
    let mut c = playing();
    let mut ship = body(SHIP, 1);
    (ship.orientation, ship.health) = (90, 40);
    c.show_now(&[update(&[ship])]);
    c.pass(ms(67));
    let (entity, x, y) = (SHIP, 2, 3);
    c.show_now(&[update_pos(&[Place { entity, x, y }])]);
    let shown = latest(&c, SHIP).unwrap();
    assert_eq!((shown.x, shown.y), (2.0, 3.0));
    assert_eq!((shown.orientation, shown.health), (90.0, 40));
}

#[test]
fn older_unreliable_parts_are_dropped_and_their_reliable_parts_are_not() {
    let mut c = playing();
    let now = c.timestamp();
    c.show(now, &[update(&[body(SHIP, 2)])]);
    let late = [
        reliable(c.next_number(), chat(player(2), "late")),
        Framed::Unreliable(update(&[body(SHIP, 1)])),
    ];
    c.tell_messages(now - 1, &late);
    assert_eq!(x(&c), Some(2.0));
    assert_eq!(c.events(), [ClientEvent::Chatted(player(2), "late".into())]);
    assert_eq!(c.counters().stale, 1);
}

#[test]
fn an_equal_timestamp_is_another_part_of_one_update() {
    let second = entity(1);
    let mut c = ClientScript::playing(&[
        add(SHIP, player(1), Kind::SHIP),
        add(second, player(1), Kind::SHIP),
    ]);
    c.show_now(&[update(&[body(SHIP, 1)])]);
    c.show_now(&[update(&[body(second, 2)])]);
    assert_eq!(latest(&c, second).map(|shown| shown.x), Some(2.0));
    assert_eq!(c.counters().stale, 0);
}

#[test]
fn timestamps_wrap() {
    let mut c = playing();
    c.show(0x7000_0000, &[update(&[body(SHIP, 1)])]);
    c.show(0xe000_0000, &[update(&[body(SHIP, 2)])]);
    c.show(0xffff_fff0, &[update(&[body(SHIP, 3)])]);
    c.show(5, &[update(&[body(SHIP, 4)])]);
    assert_eq!((x(&c), c.counters().stale), (Some(4.0), 0));
    c.show(0xffff_fff5, &[update(&[body(SHIP, 5)])]);
    assert_eq!((x(&c), c.counters().stale), (Some(4.0), 1));
}

#[test]
fn obsolete_ids_are_ignored() {
    let mut c = playing();
    let obsolete = EntityId(Id {
        generation: 7,
        index: 0,
    });
    c.show_now(&[update(&[body(obsolete, 5)])]);
    assert_eq!(x(&c), None);
    let gone = PlayerId(obsolete.0);
    c.tell(&[
        remove(obsolete),
        rename(gone, "nobody"),
        select(gone, GUNS),
        leave(gone),
    ]);
    assert_eq!(c.events(), []);
    assert_eq!(c.counters().unknown_entity, 2);
}

#[test]
fn collisions_of_known_entities_are_told() {
    let second = entity(1);
    let mut c = playing();
    let collision = |with| Collision {
        entities: [SHIP, with],
        x: 3,
        y: 4,
    };
    c.show_now(&[Unreliable::Collision(collision(second))]);
    assert_eq!(c.events(), [], "the other is not there yet");
    c.tell(&[add(second, player(2), Kind::BULLET)]);
    c.forget();
    c.show_now(&[Unreliable::Collision(collision(second))]);
    assert_eq!(c.events(), [ClientEvent::Collided(collision(second))]);
}

#[test]
fn a_known_entity_is_moved_on_between_updates() {
    let mut c = playing();
    for x in [0, 10, 20] {
        c.pass(ms(100));
        c.show_now(&[update(&[body(SHIP, x)])]);
    }
    c.pass(ms(50));
    let (_, ship) = c.session.entities().next().unwrap();
    let shown = c.session.shown(c.now, ship).unwrap();
    assert!((shown.x - 25.0).abs() < 0.5, "{shown:?}");
}

#[test]
fn messages_that_only_a_client_sends_are_violations() {
    let mut c = playing();
    c.tell(&[connect("server"), Reliable::Disconnect]);
    c.show_now(&[forward(player(1), 1, 1)]);
    assert_eq!(c.counters().violations, 3);
    c.tell(&[chat(player(2), "go on")]);
    assert_eq!(c.events().len(), 1);
}

#[test]
fn forbidden_content_is_consumed_and_what_follows_is_read() {
    let mut c = playing();
    let long = "x".repeat(33);
    c.tell(&[rename(player(2), &long), chat(player(2), "go on")]);
    assert_eq!(c.counters().violations, 1);
    assert_eq!(c.events().len(), 1);
}

#[test]
fn what_stands_before_a_fault_is_processed_and_the_rest_is_not() {
    let mut c = playing();
    let number = c.next_number();
    let header = Header {
        ack: 1,
        timestamp: c.timestamp(),
    };
    let mut bytes = datagram(header, &[reliable(number, chat(player(2), "before"))]);
    bytes.push(250);
    let behind = datagram(header, &[reliable(number + 1, chat(player(2), "behind"))]);
    bytes.extend(&behind[12..]);
    c.send_bytes(SERVER, &bytes);
    assert_eq!(
        c.events(),
        [ClientEvent::Chatted(player(2), "before".into())]
    );
    assert_eq!(c.counters().undecodable, 1);
}

#[test]
fn what_is_not_lwar_or_not_the_server_changes_nothing() {
    let mut c = playing();
    let header = Header {
        ack: 1,
        timestamp: c.timestamp(),
    };
    let good = datagram(header, &[reliable(c.next_number(), Reliable::Synced)]);
    let mut wrong = good.clone();
    wrong[0] ^= 1;
    c.send_bytes(SERVER, &wrong);
    c.send_bytes(SERVER, &good[..11]);
    c.send_bytes(SERVER, &[]);
    c.send_bytes(BOB, &good);
    let counters = c.counters();
    assert_eq!((counters.not_lwar, counters.stranger), (3, 1));
    assert_eq!(c.events(), []);
}

#[test]
fn packets_above_512_bytes_are_read_up_to_1472() {
    let mut c = playing();
    let bodies: Vec<_> = (0..40).map(|_| body(SHIP, 8)).collect();
    let mut messages = vec![Framed::Unreliable(update(&bodies))];
    messages.extend(vec![Framed::Unreliable(update(&bodies)); 2]);
    // The original was seen to send 526; this is 1,338.
    c.tell_messages(c.timestamp(), &messages);
    assert_eq!(x(&c), Some(8.0));
    messages.push(messages[0]);
    c.tell_messages(c.timestamp(), &messages);
    assert_eq!(c.counters().not_lwar, 1);
}

#[test]
fn more_players_than_there_can_be_are_refused() {
    let mut c = playing();
    let joins: Vec<_> = (3..20).map(|index| join(player(index), "x")).collect();
    c.tell(&joins);
    assert_eq!(c.session.players().count(), 8);
    assert_eq!(c.counters().too_many, 12);
}
