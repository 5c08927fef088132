//! What is sent on the server's clock: states, collisions and scores.

use tickwire_dialects::lwar::message::{
    Body, Circle, Collision, Place, PlayerScore, Ray, Reliable, Unreliable,
};
use tickwire_dialects::lwar::{EntityId, Kind, PlayerId, Shape, limits};

use crate::script::{ANN, BOB, Packet, STEP, ServerScript, ms};
use crate::words::{body, entity, stats, update, update_circle, update_pos, update_ray};

fn playing() -> (ServerScript, PlayerId) {
    let mut s = ServerScript::empty();
    let ann = s.join(ANN, "ann");
    (s, ann)
}

const fn at(x: i16) -> Shape {
    Shape::Body {
        x,
        y: 0,
        orientation: 0,
        health: 100,
    }
}

#[track_caller]
fn add(s: &mut ServerScript, kind: Kind, shape: Shape) -> EntityId {
    s.act(|_, server| server.add(kind, PlayerId::SERVER, shape))
        .expect("there is room")
}

/// The next packet with Stats in it, and the scores.
#[track_caller]
fn next_stats(s: &mut ServerScript) -> Vec<PlayerScore> {
    for _ in 0..9 {
        let packet = s.next_packet(ANN);
        if let Some(Unreliable::Stats(scores)) = packet.unreliable.first() {
            return scores.iter().collect();
        }
    }
    panic!("no Stats for half a second");
}

#[test]
fn packets_go_out_fifteen_times_a_second() {
    let (mut s, _) = playing();
    let packets = s.packets_during(ANN, ms(10_000));
    assert!((149..=151).contains(&packets.len()), "{}", packets.len());
}

#[test]
fn while_the_game_steps_packets_leave_with_a_step_and_no_more_often() {
    let (mut s, _) = playing();
    let ship = add(&mut s, Kind::SHIP, at(0));
    let mut packets = 0;
    for step in 1..=600 {
        assert_eq!(s.packets_during(ANN, STEP), [], "between two steps");
        s.act(|_, server| server.set(ship, at(step)));
        while let Some(packet) = s.mailed(ANN) {
            let fresh = update(&[body(ship, step)]);
            assert!(packet.unreliable.contains(&fresh), "{step}: {packet:?}");
            packets += 1;
        }
        s.ack(ANN);
    }
    assert!((149..=151).contains(&packets), "{packets}");
}

#[test]
fn a_packet_goes_out_even_with_nothing_to_say() {
    let (mut s, _) = playing();
    next_stats(&mut s);
    assert!(s.next_packet(ANN).is_bare());
}

#[test]
fn timestamps_are_milliseconds_of_the_servers_session() {
    let (mut s, _) = playing();
    let before = s.next_packet(ANN).header.timestamp;
    let packets = s.packets_during(ANN, ms(10_000));
    let last = packets.last().unwrap().header.timestamp;
    assert!((9_900..=10_000).contains(&(last - before)), "{last}");
    assert!(packets.is_sorted_by_key(|packet| packet.header.timestamp));
}

#[test]
fn the_newest_state_is_sent() {
    let (mut s, _) = playing();
    let ship = add(&mut s, Kind::SHIP, at(1));
    s.settle();
    for x in [2, 3, 4] {
        s.act(|_, server| server.set(ship, at(x)));
    }
    let packet = s.next_packet(ANN);
    assert_eq!(packet.unreliable.last(), Some(&update(&[body(ship, 4)])));
}

#[test]
fn each_shape_goes_in_its_own_message() {
    let (mut s, _) = playing();
    let (x, y) = (-3, 7);
    let shapes = [
        (
            Kind::RAY,
            Shape::Ray {
                x,
                y,
                orientation: 90,
                length: 800,
            },
        ),
        (Kind::SHOCKWAVE, Shape::Circle { x, y, radius: 50 }),
        (Kind::BULLET, Shape::Place { x, y }),
        (
            Kind::SUN,
            Shape::Body {
                x,
                y,
                orientation: 359,
                health: 1,
            },
        ),
    ];
    let [ray, ring, bullet, sun] = shapes.map(|(kind, shape)| add(&mut s, kind, shape));
    s.settle();
    next_stats(&mut s);
    let packet = s.next_packet(ANN);
    assert_eq!(
        packet.unreliable,
        [
            update(&[Body {
                entity: sun,
                x,
                y,
                orientation: 359,
                health: 1
            }]),
            update_pos(&[Place {
                entity: bullet,
                x,
                y
            }]),
            update_ray(&[Ray {
                entity: ray,
                x,
                y,
                orientation: 90,
                length: 800
            }]),
            update_circle(&[Circle {
                entity: ring,
                x,
                y,
                radius: 50
            }]),
        ]
    );
}

#[test]
fn what_is_removed_is_updated_no_more() {
    let (mut s, _) = playing();
    let ship = add(&mut s, Kind::SHIP, at(1));
    s.act(|_, server| server.remove(ship));
    s.act(|_, server| server.set(ship, at(2)));
    let after = add(&mut s, Kind::SHIP, at(3));
    let packet = s.next_packet(ANN);
    assert_eq!(packet.unreliable.last(), Some(&update(&[body(after, 3)])));
    assert_eq!((after.0.index, after.0.generation), (0, 1));
}

/// All packets of one sending.
#[track_caller]
fn next_sending(s: &mut ServerScript) -> Vec<Packet> {
    let mut packets = vec![s.next_packet(ANN)];
    packets.extend(core::iter::from_fn(|| s.mailed(ANN)));
    packets
}

#[test]
fn an_update_may_span_packets_of_one_timestamp() {
    let (mut s, _) = playing();
    let ids: Vec<_> = (0..200).map(|x| add(&mut s, Kind::PLANET, at(x))).collect();
    s.settle();
    let packets = next_sending(&mut s);
    assert!(packets.len() > 200 * 11 / limits::PACKET_MAX);
    let timestamp = packets[0].header.timestamp;
    let mut updated = Vec::new();
    for packet in &packets {
        assert_eq!(packet.header.timestamp, timestamp);
        assert!(packet.size <= limits::PACKET_MAX);
        for message in &packet.unreliable {
            if let Unreliable::Update(bodies) = message {
                updated.extend(bodies.iter().map(|body| body.entity));
            }
        }
    }
    assert_eq!(updated, ids, "each once");
    let full = &packets[..packets.len() - 1];
    assert!(
        full.iter()
            .all(|packet| packet.size > limits::PACKET_MAX - 11),
        "no packet before the last has room for another record"
    );
}

#[test]
fn reliable_messages_push_updates_into_the_next_packet_not_out() {
    let (mut s, _) = playing();
    let ids: Vec<_> = (0..30).map(|x| add(&mut s, Kind::PLANET, at(x))).collect();
    let text = "x".repeat(200);
    s.settle();
    s.act(|_, server| {
        server.say(&text);
        server.say(&text);
    });
    let packets = next_sending(&mut s);
    assert_eq!(packets[0].reliable.len(), 2);
    assert_eq!(packets[1].reliable, [], "said once a sending");
    let bodies = packets.iter().flat_map(|packet| &packet.unreliable);
    let updated: usize = bodies
        .map(|message| match message {
            Unreliable::Update(bodies) => bodies.len(),
            _ => 0,
        })
        .sum();
    assert_eq!(updated, ids.len());
}

#[test]
fn messages_that_do_not_fit_go_with_the_next_packet_they_fit_in() {
    let (mut s, _) = playing();
    let text = "x".repeat(255);
    s.act(|_, server| (0..3).for_each(|_| server.say(&text)));
    let packet = s.next_packet(ANN);
    assert_eq!(packet.reliable.len(), 1, "two need more than 512 bytes");
    s.ack(ANN);
    let next = s.next_packet(ANN);
    assert_eq!(
        (next.first, next.reliable.len()),
        (packet.first.map(|n| n + 1), 1)
    );
}

#[test]
fn collisions_are_told_once() {
    let (mut s, _) = playing();
    let entities = [entity(0), entity(1)];
    let collision = Collision {
        entities,
        x: -5,
        y: 9,
    };
    next_stats(&mut s);
    s.act(|_, server| server.collide(collision));
    let packet = s.next_packet(ANN);
    assert_eq!(packet.unreliable, [Unreliable::Collision(collision)]);
    assert!(s.next_packet(ANN).is_bare());
}

/// A client can show nothing of an entity that it has removed, and reliable messages come first in a
/// packet: so the Remove has to wait for the sending after.
#[test]
fn a_collision_is_told_a_sending_before_the_remove_of_what_collided() {
    let (mut s, _) = playing();
    let [bullet, ship] = [at(1), at(2)].map(|shape| add(&mut s, Kind::SHIP, shape));
    s.settle();
    let entities = [bullet, ship];
    let collision = Collision {
        entities,
        x: 1,
        y: 0,
    };
    s.act(|_, server| {
        server.collide(collision);
        server.remove(bullet);
        // Removed already, and so no mistake.
        server.remove(bullet);
    });
    let first = s.next_packet(ANN);
    assert_eq!(first.reliable, []);
    assert!(first.unreliable.contains(&Unreliable::Collision(collision)));
    // Until it is removed it stays where it died.
    assert!(
        first
            .unreliable
            .contains(&update(&[body(bullet, 1), body(ship, 2)]))
    );
    let second = s.next_packet(ANN);
    assert_eq!(second.reliable, [Reliable::Remove { entity: bullet }]);
    assert_eq!(second.unreliable.last(), Some(&update(&[body(ship, 2)])));
}

#[test]
fn without_clients_collisions_keep_nothing_alive() {
    let mut s = ServerScript::empty();
    let ship = add(&mut s, Kind::SHIP, at(1));
    let entities = [ship, ship];
    s.act(|_, server| {
        server.collide(Collision {
            entities,
            x: 0,
            y: 0,
        });
        server.remove(ship);
    });
    assert_eq!(add(&mut s, Kind::SHIP, at(2)).0.index, ship.0.index);
}

#[test]
fn of_too_many_collisions_the_newest_are_told() {
    let (mut s, _) = playing();
    let entities = [entity(0), entity(1)];
    for x in 0..100 {
        s.act(|_, server| server.collide(Collision { entities, x, y: 0 }));
    }
    let sending = next_sending(&mut s);
    let told = sending.iter().flat_map(|packet| &packet.unreliable);
    let places: Vec<i16> = told
        .filter_map(|message| match message {
            Unreliable::Collision(collision) => Some(collision.x),
            _ => None,
        })
        .collect();
    assert_eq!(places, (36..100).collect::<Vec<_>>());
}

#[test]
fn stats_go_out_about_twice_a_second() {
    let (mut s, _) = playing();
    let packets = s.packets_during(ANN, ms(10_000));
    let carries = |packet: &&Packet| matches!(packet.unreliable[..], [Unreliable::Stats(_), ..]);
    let count = packets.iter().filter(carries).count();
    assert!((18..=20).contains(&count), "{count} in 10 s");
}

#[test]
fn stats_list_everybody_and_the_server() {
    let (mut s, ann) = playing();
    let bob = s.join(BOB, "bob");
    s.act(|_, server| {
        server.set_score(ann, 3, 1);
        server.set_score(PlayerId::SERVER, 7, 0);
    });
    let scores = next_stats(&mut s);
    let listed: Vec<_> = scores
        .iter()
        .map(|score| (score.player, score.kills, score.deaths))
        .collect();
    assert_eq!(listed, [(PlayerId::SERVER, 7, 0), (ann, 3, 1), (bob, 0, 0)]);
    assert_eq!(scores[0].ping, 0);
}

#[test]
fn the_ping_is_the_smoothed_round_trip() {
    let (mut s, _) = playing();
    for _ in 0..60 {
        s.act(|_, server| server.say("ping"));
        while s.next_packet(ANN).reliable.is_empty() {}
        s.pass(ms(40));
        s.ack(ANN);
        s.pass(ms(30));
    }
    let ping = next_stats(&mut s)[1].ping;
    assert!((38..=42).contains(&ping), "{ping}");
}

#[test]
fn everybody_is_sent_the_same_state() {
    let (mut s, _) = playing();
    s.join(BOB, "bob");
    add(&mut s, Kind::SHIP, at(17));
    s.settle();
    let (ann, bob) = (s.next_packet(ANN), s.next_packet(BOB));
    assert_eq!(ann.unreliable, bob.unreliable);
    assert_eq!(ann.header.timestamp, bob.header.timestamp);
}

#[test]
fn an_empty_scoreboard_still_has_the_server() {
    let (mut s, ann) = playing();
    let packet = loop {
        let packet = s.next_packet(ANN);
        if !packet.is_bare() {
            break packet;
        }
    };
    let score = |player, ping| PlayerScore {
        player,
        ping,
        ..PlayerScore::default()
    };
    let Unreliable::Stats(scores) = packet.unreliable[0] else {
        panic!("{packet:?}");
    };
    let ping = scores.iter().last().unwrap().ping;
    let expected = stats(&[score(PlayerId::SERVER, 0), score(ann, ping)]);
    assert_eq!(packet.unreliable, [expected]);
}
