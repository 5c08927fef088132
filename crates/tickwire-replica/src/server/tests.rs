//! Conversations between a world and clients that do as the rules say.

mod follower;

use alloc::vec;

use super::*;
use crate::packet::{Notice, Target};
use crate::world::{Spawn, WorldConfig};
use crate::{BlockNumber, EntityId, Replicate, Schema};
use follower::{Follower, check_equal};

#[derive(Clone, Copy, Debug, PartialEq, Replicate)]
struct Ship {
    #[replicate(step = 0.5, position)]
    position: [f32; 2],
    health: u8,
}

#[derive(Archetypes, Clone, Copy, Debug, PartialEq)]
enum Thing {
    Ship(Ship),
}

const fn ship(x: f32, y: f32) -> Ship {
    Ship {
        position: [x, y],
        health: 100,
    }
}

const ROOM: Room = Room {
    datagram: 1_200,
    path: 1_000_000,
};

/// A world, its clients, and what these hold.
struct Game {
    world: World<Thing>,
    clients: Clients,
    followers: Vec<(ClientId, Follower)>,
    schema: Schema,
}

impl Game {
    fn new(players: u32) -> Self {
        Self::with_form(players, Form::Packed)
    }

    fn with_form(players: u32, form: Form) -> Self {
        let config = WorldConfig {
            side: 10.0,
            ticks_per_send: 1,
            ..WorldConfig::default()
        };
        let world = World::new(config).unwrap();
        let mut clients = Clients::new(
            &world,
            ClientsConfig {
                form,
                ..ClientsConfig::default()
            },
        );
        let view = Some(View {
            at: [0.0; 2],
            range: 20.0,
        });
        let join = |player| Join {
            player: PlayerId(player),
            groups: Groups::default(),
        };
        let followers = (0..players).map(|player| {
            let id = clients.join(&world, join(player)).unwrap();
            clients.set_view(id, view);
            (id, Follower::default())
        });
        let followers = followers.collect();
        Self {
            world,
            clients,
            followers,
            schema: Thing::schema(),
        }
    }

    fn spawn(&mut self, x: f32, y: f32) -> EntityId {
        self.world.spawn(&Thing::Ship(ship(x, y))).unwrap()
    }

    fn set(&mut self, id: EntityId, x: f32, y: f32) {
        self.world.set(id, &ship(x, y)).unwrap();
    }

    /// All packets of the last tick to a client.
    fn packets(&mut self, of: usize) -> Vec<(PacketNumber, Vec<u8>)> {
        let id = self.followers[of].0;
        let mut packets = vec![];
        let mut out = vec![];
        while let Some(number) = self
            .clients
            .poll_packet(&mut self.world, id, ROOM, &mut out)
        {
            assert!(out.len() <= ROOM.datagram);
            packets.push((number, core::mem::take(&mut out)));
        }
        packets
    }

    fn deliver(&mut self, of: usize, packets: &[(PacketNumber, Vec<u8>)]) {
        for (_, bytes) in packets {
            self.followers[of].1.apply(&self.schema, &self.world, bytes);
        }
    }

    fn acknowledge(&mut self, of: usize, packets: &[(PacketNumber, Vec<u8>)]) {
        for (number, _) in packets {
            self.clients.acknowledge(self.followers[of].0, *number);
        }
    }

    /// A tick, all of whose packets arrive and are acknowledged at once.
    fn step(&mut self) {
        self.world.commit();
        for of in 0..self.followers.len() {
            let packets = self.packets(of);
            self.deliver(of, &packets);
            self.acknowledge(of, &packets);
        }
    }

    fn steps(&mut self, count: usize) {
        (0..count).for_each(|_| self.step());
    }

    fn follower(&self, of: usize) -> &Follower {
        &self.followers[of].1
    }

    /// The client holds exactly these, as they are.
    #[track_caller]
    fn check(&self, of: usize, ids: &[EntityId]) {
        let follower = self.follower(of);
        assert_eq!(
            follower.ids(),
            ids.iter().map(|id| id.0).collect::<Vec<_>>()
        );
        for (name, block) in follower.newest() {
            let place = self.world.store().place(name.place).unwrap();
            let head = place.head(name.block).unwrap();
            check_equal(block, self.world.store().block(head.handle).view());
        }
        assert!(follower.is_complete());
    }
}

#[test]
fn a_client_holds_what_is_in_its_view_and_nothing_else() {
    let mut game = Game::new(1);
    let near = game.spawn(3.0, 3.0);
    let far = game.spawn(60.0, 0.0);
    game.steps(2);
    game.check(0, &[near]);
    game.set(near, 4.0, 3.0);
    game.set(far, 61.0, 0.0);
    game.step();
    game.check(0, &[near]);
    game.set(far, 12.0, 0.0);
    game.steps(3);
    game.check(0, &[near, far]);
}

#[test]
fn nothing_to_say_is_one_small_packet() {
    let mut game = Game::new(1);
    game.spawn(0.0, 0.0);
    game.steps(3);
    game.world.commit();
    let packets = game.packets(0);
    assert_eq!(packets.len(), 1);
    assert_eq!(packets[0].1.len(), 8);
    assert!(game.packets(0).is_empty(), "the send is over");
}

#[test]
fn leaving_is_told_until_it_is_acknowledged_and_re_entry_waits() {
    let mut game = Game::new(1);
    let id = game.spawn(3.0, 3.0);
    game.steps(2);
    game.check(0, &[id]);
    let client = game.followers[0].0;
    let look = |game: &mut Game, x| {
        let view = View {
            at: [x, 0.0],
            range: 20.0,
        };
        game.clients.set_view(client, Some(view));
    };
    look(&mut game, 90.0);
    for _ in 0..3 {
        game.world.commit();
        let lost = game.packets(0);
        assert!(lost[0].1.len() > 8);
    }
    look(&mut game, 0.0);
    game.world.commit();
    let packets = game.packets(0);
    game.deliver(0, &packets);
    assert_eq!(game.follower(0).notices.len(), 1);
    assert_eq!(game.follower(0).records.len(), 0, "not acknowledged yet");
    assert!(!game.follower(0).is_complete());
    game.acknowledge(0, &packets);
    game.steps(2);
    game.check(0, &[id]);
    assert_eq!(game.follower(0).notices, []);
}

#[test]
fn gone_blocks_are_told_and_their_numbers_rest() {
    let mut game = Game::new(1);
    let id = game.spawn(3.0, 3.0);
    game.steps(2);
    let place = game.world.place_of(id).unwrap();
    game.world.despawn(id).unwrap();
    game.world.commit();
    let lost = game.packets(0);
    assert_eq!(lost.len(), 1);
    game.world.commit();
    let packets = game.packets(0);
    game.deliver(0, &packets);
    let gone = Notice::Gone(place, BlockNumber(0));
    assert_eq!(game.follower(0).notices, [gone]);
    assert_eq!(game.follower(0).ids(), []);
    // For as long as that is not acknowledged, nobody has that number.
    for _ in 0..100 {
        game.world.commit();
        let packets = game.packets(0);
        game.deliver(0, &packets);
    }
    let id = game.spawn(3.0, 3.0);
    game.step();
    assert_eq!(game.world.place_of(id), Some(place));
    game.steps(20);
    game.check(0, &[id]);
    let names: Vec<_> = game
        .follower(0)
        .newest()
        .map(|(name, _)| name.block.0)
        .collect();
    assert_eq!(names, [1]);
}

#[test]
fn clear_is_one_notice_and_the_new_world_follows() {
    let mut game = Game::new(1);
    for x in 0..3_u8 {
        game.spawn(f32::from(x * 9), 3.0);
    }
    game.steps(2);
    game.world.clear();
    let new = game.spawn(3.0, 3.0);
    game.step();
    assert_eq!(game.follower(0).notices, [Notice::Clear]);
    assert_eq!(game.follower(0).ids(), []);
    game.steps(2);
    game.check(0, &[new]);
}

#[test]
fn what_is_on_its_way_is_repeated_when_it_is_overdue() {
    let mut game = Game::new(1);
    let id = game.spawn(0.0, 0.0);
    game.steps(2);
    let client = game.followers[0].0;
    game.clients
        .set_round_trip(client, Duration::from_millis(150));
    game.set(id, 1.0, 0.0);
    let mut sizes = vec![];
    for _ in 0..6 {
        game.world.commit();
        let lost = game.packets(0);
        sizes.push(lost[0].1.len() > 8);
    }
    // A round trip is three sends here, and two more are waited for.
    assert_eq!(sizes, [true, false, false, false, false, true]);
}

#[test]
fn complete_reaches_back_to_what_is_not_acknowledged() {
    let mut game = Game::new(1);
    let still = game.spawn(0.0, 0.0);
    let moving = game.spawn(15.0, 15.0);
    game.steps(3);
    game.set(still, 1.0, 0.0);
    game.world.commit();
    let lost = game.packets(0);
    for step in 1..=2_u8 {
        game.set(moving, 15.0 + f32::from(step), 15.0);
        game.world.commit();
        let packets = game.packets(0);
        game.deliver(0, &packets);
        assert_eq!(game.follower(0).last.unwrap().complete, step + 1);
        assert!(!game.follower(0).is_complete());
    }
    assert_eq!(
        game.follower(0).last.unwrap().settled,
        1,
        "nobody moved house"
    );
    drop(lost);
}

#[test]
fn settled_speaks_of_blocks_that_received_movers() {
    let mut game = Game::new(1);
    let id = game.spawn(0.0, 0.0);
    game.spawn(15.0, 0.0);
    game.steps(3);
    game.set(id, 15.0, 0.0);
    game.world.commit();
    let lost = game.packets(0);
    game.world.commit();
    let packets = game.packets(0);
    game.deliver(0, &packets);
    assert_eq!(game.follower(0).last.unwrap().settled, 2);
    drop(lost);
}

#[test]
fn a_silent_client_is_sent_to_twice_a_second() {
    let mut game = Game::new(1);
    game.spawn(0.0, 0.0);
    game.steps(2);
    let mut sent = vec![];
    for at in 0..60 {
        game.world.commit();
        if !game.packets(0).is_empty() {
            sent.push(at);
        }
    }
    assert_eq!(sent[..20], (0..20).collect::<Vec<_>>());
    assert_eq!(sent[20..], [29, 39, 49, 59]);
    game.step();
    game.steps(10);
    assert_eq!(game.packets(0).len(), 0);
    assert!(game.follower(0).is_complete());
}

#[test]
fn whoever_forgets_is_sent_everything_from_nothing() {
    let mut game = Game::new(1);
    let id = game.spawn(0.0, 0.0);
    game.steps(3);
    game.clients.forget(game.followers[0].0);
    game.world.commit();
    let packets = game.packets(0);
    game.followers[0].1.blocks.clear();
    game.deliver(0, &packets);
    assert_eq!(game.follower(0).records[0].ages.baseline, 0);
    game.acknowledge(0, &packets);
    game.step();
    game.check(0, &[id]);
}

#[test]
fn ready_is_said_when_everything_of_the_first_view_has_arrived() {
    let mut game = Game::new(1);
    for x in 0..2_u8 {
        for _ in 0..2_000 {
            game.spawn(f32::from(x * 9), 3.0);
        }
    }
    game.world.commit();
    let client = game.followers[0].0;
    let mut sends = 0;
    while !game.clients.is_ready(client) {
        game.step();
        sends += 1;
        assert!(sends < 50);
    }
    assert!(sends > 3, "sixteen blocks at a time");
    assert_eq!(game.follower(0).ids().len(), 4_000);
}

#[test]
fn ready_is_said_however_late_acknowledgements_come_and_wherever_the_client_looks() {
    // An acknowledgement at 60 of the 64 sends for which a packet is remembered; a world that changes all
    // the time, so that what was acknowledged is too old soon after; and old places that come into view
    // with every send.
    const LATE: usize = 60;
    let mut game = Game::new(1);
    let ids: Vec<_> = (0..300_u16)
        .map(|x| game.spawn(f32::from(x) * 10.0, 3.0))
        .collect();
    game.world.commit();
    let client = game.followers[0].0;
    let mut late = vec![];
    for send in 0..250_u8 {
        let at = [f64::from(send) * 10.0, 0.0];
        game.clients
            .set_view(client, Some(View { at, range: 20.0 }));
        for (x, id) in (0_u16..).zip(&ids) {
            game.set(*id, f32::from(x) * 10.0 + 0.5, f32::from(send % 7));
        }
        game.world.commit();
        late.push(game.packets(0));
        if let Some(arrived) = late.len().checked_sub(LATE) {
            let packets = core::mem::take(&mut late[arrived]);
            game.acknowledge(0, &packets);
        }
        if game.clients.is_ready(client) {
            return;
        }
    }
    panic!("never ready");
}

#[test]
fn ready_does_not_wait_for_what_came_later() {
    let mut game = Game::new(1);
    game.spawn(0.0, 0.0);
    game.world.commit();
    let client = game.followers[0].0;
    let first = game.packets(0);
    // All of this comes after the first view and is never acknowledged.
    for x in 0..10_u8 {
        game.spawn(f32::from(x % 2) * 10.0 + 5.0, f32::from(x));
        game.world.commit();
        game.packets(0);
        assert!(!game.clients.is_ready(client), "nothing was acknowledged");
    }
    game.acknowledge(0, &first);
    assert!(game.clients.is_ready(client));
}

#[test]
fn ready_does_not_wait_for_what_is_gone() {
    let mut game = Game::new(1);
    let [lost, kept] = [3.0, 13.0].map(|x| game.spawn(x, 0.0));
    game.world.commit();
    let client = game.followers[0].0;
    let first = game.packets(0);
    assert!(!first.is_empty());
    game.world.despawn(lost).unwrap();
    game.world.commit();
    // The second arrives, relative to nothing; the first, with what is gone, never does.
    game.clients.set_round_trip(client, Duration::ZERO);
    for _ in 0..4 {
        game.world.commit();
        let packets = game.packets(0);
        game.acknowledge(0, &packets);
    }
    assert!(game.clients.is_ready(client));
    assert!(game.world.get::<Ship>(kept).is_some());
}

#[test]
fn entering_goes_nearest_first_and_not_beyond_the_path() {
    let mut game = Game::new(1);
    let far = game.spawn(18.0, 0.0);
    let near = game.spawn(3.0, 0.0);
    game.world.commit();
    let (id, mut out) = (game.followers[0].0, vec![]);
    let room = Room { path: 40, ..ROOM };
    let number = game
        .clients
        .poll_packet(&mut game.world, id, room, &mut out);
    game.deliver(0, &[(number.unwrap(), out)]);
    assert_eq!(game.follower(0).ids(), [near.0]);
    assert_eq!(game.follower(0).last.unwrap().complete, 0);
    game.steps(8);
    game.check(0, &[far, near]);
}

#[test]
fn equal_clients_share_their_records() {
    let mut game = Game::new(8);
    let ids: Vec<_> = (0..100).map(|_| game.spawn(1.0, 1.0)).collect();
    game.steps(8);
    let before = game.clients.sharing();
    for step in 0..10_u8 {
        for id in &ids {
            game.set(*id, f32::from(step), 2.0);
        }
        game.step();
    }
    let after = game.clients.sharing();
    let encoded = after.encoded - before.encoded;
    let shared = after.shared - before.shared;
    assert_eq!(encoded * 7, shared);
    (0..8).for_each(|of| game.check(of, &ids));
}

/// Random numbers, the same at every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// What each of three clients is sent while a world changes at random and packets are lost, if only
/// `present` of them are there.
fn sent_at_random(seed: u64, present: core::ops::Range<usize>) -> Vec<Vec<Vec<u8>>> {
    let mut game = Game::new(3);
    let mut dice = Dice(seed);
    let mut ids: Vec<_> = (0..150).map(|_| game.spawn(1.0, 1.0)).collect();
    let mut sent = vec![vec![]; 3];
    // What was received, and when its acknowledgement comes.
    let mut received: Vec<Vec<(u64, PacketNumber)>> = vec![vec![]; 3];
    let mut awake = [0; 3];
    for now in 0..400 {
        for _ in 0..dice.below(30) {
            let at = usize::try_from(dice.below(ids.len() as u64)).unwrap();
            let x = u8::try_from(dice.below(19)).unwrap();
            game.set(ids[at], f32::from(x) / 2.0, 1.0);
        }
        if dice.below(10) == 0 {
            ids.push(game.spawn(1.0, 1.0));
        }
        game.world.commit();
        for of in 0..3 {
            // The same dice for everybody, whoever is there. Seldom enough for clients to know the same
            // again: packets are lost, acknowledgements late, and nobody asks for packets.
            let (is_lost, later) = (dice.below(60) == 0, dice.below(20) / 16 * dice.below(12));
            let sleep = dice.below(12) / 10 * dice.below(8);
            if awake[of] < now {
                awake[of] = now + sleep;
            }
            let budget = [usize::MAX, 200][usize::from(dice.below(60) == 0)];
            if !present.contains(&of) {
                continue;
            }
            let id = game.followers[of].0;
            game.clients.set_budget(id, budget);
            received[of].retain(|(at, packet)| {
                if *at <= now {
                    game.clients.acknowledge(id, *packet);
                }
                *at > now
            });
            if awake[of] > now {
                continue;
            }
            for (number, bytes) in game.packets(of) {
                if !is_lost {
                    received[of].push((now + 1 + later, number));
                }
                sent[of].push(bytes);
            }
        }
    }
    sent
}

#[test]
fn a_client_among_others_is_sent_what_it_is_sent_alone() {
    for seed in 0..20 {
        let together = sent_at_random(seed, 0..3);
        for of in 0..3 {
            let alone = sent_at_random(seed, of..of + 1);
            assert!(together[of] == alone[of], "client {of} of seed {seed}");
        }
    }
}

#[test]
fn the_form_is_chosen_by_place_and_send() {
    let mut game = Game::new(2);
    let ids: Vec<_> = (0..60).map(|_| game.spawn(1.0, 1.0)).collect();
    let private = Spawn {
        audience: Audience::Player(PlayerId(0)),
        ..Spawn::default()
    };
    let others = (0..60).map(|_| {
        let value = Thing::Ship(ship(1.0, 1.0));
        game.world.spawn_with(&value, private).unwrap()
    });
    let others: Vec<_> = others.collect();
    game.clients.set_forms(|_, audience, send| {
        if audience == Audience::Everyone && send.0.is_multiple_of(2) {
            Form::Coded
        } else {
            Form::Packed
        }
    });
    game.steps(8);
    for step in 0..6_u8 {
        for (n, id) in (0..60_u8).cycle().zip(ids.iter().chain(&others)) {
            // Most move a little and one moves far: that is where coding is shorter.
            let far = if n == 7 { 8.0 } else { 0.5 };
            game.set(*id, f32::from(n % 3) + f32::from(step % 2) * far, 1.0);
        }
        game.step();
        let is_even = game.world.send().0.is_multiple_of(2);
        let forms = |of: usize| {
            let records = game.follower(of).records.iter();
            records.map(|head| head.form).collect::<Vec<_>>()
        };
        let open = if is_even { Form::Coded } else { Form::Packed };
        assert_eq!(forms(0), [Form::Packed, open], "its own first");
        assert_eq!(forms(1), [open]);
    }
}

#[test]
fn clients_that_know_the_same_share_what_they_know() {
    let mut game = Game::new(8);
    let ids: Vec<_> = (0..100).map(|_| game.spawn(1.0, 1.0)).collect();
    let known = |game: &Game| {
        let clients = game.clients.clients.iter().flatten();
        let mut known: Vec<_> = clients.flat_map(Client::known).collect();
        known.sort_unstable();
        known.dedup();
        known.len()
    };
    let change = |game: &mut Game, steps: u8| {
        for step in 0..steps {
            for id in &ids {
                game.set(*id, f32::from(step % 16) / 2.0, 2.0);
            }
            game.step();
        }
    };
    change(&mut game, 40);
    assert_eq!(known(&game), 1, "all of them hold everything");
    // What one client does not get, it knows no more of.
    game.set(ids[0], 3.0, 3.0);
    game.world.commit();
    for of in 1..8 {
        let packets = game.packets(of);
        game.deliver(of, &packets);
        game.acknowledge(of, &packets);
    }
    game.packets(0);
    assert_eq!(known(&game), 2);
    // A window later nobody can tell any more.
    change(&mut game, 90);
    assert_eq!(known(&game), 1);
    (0..8).for_each(|of| game.check(of, &ids));
    let states = game.clients.shared.knowledge.len();
    assert!(states < 30, "{states} states of 8 clients");
}

#[test]
fn a_place_that_changed_travels_as_one_record() {
    let mut game = Game::new(1);
    let ids: Vec<_> = (0..150).map(|_| game.spawn(1.0, 1.0)).collect();
    game.steps(3);
    for id in &ids {
        game.set(*id, 2.0, 2.0);
    }
    game.step();
    let [record] = game.follower(0).records[..] else {
        panic!("{:?}", game.follower(0).records);
    };
    assert_eq!(record.target, Target::Place);
    assert_eq!((record.ages.baseline, record.ages.previous), (1, 2));
    game.check(0, &ids);
}

#[test]
fn whoever_owns_an_entity_sees_it_everywhere_and_first() {
    let mut game = Game::new(2);
    for x in [-15.0, -5.0, 5.0, 15.0] {
        game.spawn(x, 0.0);
    }
    let owner = Some(PlayerId(1));
    let spawn = Spawn {
        owner,
        ..Spawn::default()
    };
    let own = game
        .world
        .spawn_with(&Thing::Ship(ship(500.0, 0.0)), spawn)
        .unwrap();
    game.steps(2);
    let all: Vec<_> = game.world.ids().collect();
    game.check(0, &all[..4]);
    game.check(1, &all);
    all.iter().for_each(|id| {
        let at = game.world.get::<Ship>(*id).unwrap().position;
        game.set(*id, at[0] + 1.0, 1.0);
    });
    game.step();
    let first = game.follower(1).records[0].place;
    assert_eq!(Some(first), game.world.place_of(own));
}

#[test]
fn the_unentitled_are_told_nothing() {
    let mut game = Game::new(2);
    let audience = Audience::Player(PlayerId(1));
    let spawn = Spawn {
        audience,
        ..Spawn::default()
    };
    let id = game
        .world
        .spawn_with(&Thing::Ship(ship(1.0, 0.0)), spawn)
        .unwrap();
    game.steps(2);
    game.check(0, &[]);
    game.check(1, &[id]);
    game.world
        .set_audience(id, Audience::Groups(Groups(4)))
        .unwrap();
    game.steps(3);
    game.check(1, &[]);
    game.clients.set_groups(game.followers[0].0, Groups(6));
    game.steps(3);
    game.check(0, &[id]);
}

#[test]
fn under_any_budget_everything_is_sent_in_the_end() {
    for budget in [1, 40, 300] {
        let mut game = Game::new(1);
        let ids: Vec<_> = (0..200_u8)
            .map(|at| game.spawn(f32::from(at % 4 * 9) - 14.0, 0.0))
            .collect();
        game.steps(5);
        game.check(0, &ids);
        let client = game.followers[0].0;
        game.clients.set_budget(client, budget);
        let mut sends = 0;
        for id in &ids {
            let [x, _] = game.world.get::<Ship>(*id).unwrap().position;
            game.set(*id, x, 3.0);
        }
        game.step();
        while !game.follower(0).is_complete() {
            game.step();
            sends += 1;
            assert!(sends < 5_000, "budget {budget}");
        }
        game.check(0, &ids);
    }
}

#[test]
fn what_is_twice_as_heavy_is_sent_first() {
    let mut game = Game::new(1);
    let light = game.spawn(-15.0, 0.0);
    let heavy = game.spawn(15.0, 0.0);
    game.steps(4);
    let client = game.followers[0].0;
    game.clients.set_weights(|_, sight| {
        let is_right = sight.cell.is_some_and(|cell| cell.column > 0);
        if is_right { 9 } else { 1 }
    });
    // Enough for one of the two.
    game.clients.set_budget(client, 20);
    game.steps(1);
    game.followers[0].1.records.clear();
    game.clients.client_mut(client).unwrap().drain_credit();
    game.set(light, -15.0, 1.0);
    game.set(heavy, 15.0, 1.0);
    game.step();
    let places: Vec<_> = game
        .follower(0)
        .records
        .iter()
        .map(|r| Some(r.place))
        .collect();
    assert_eq!(places, [game.world.place_of(heavy)]);
    game.steps(3);
    game.check(0, &[light, heavy]);
}

/// A deterministic random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u16) -> u16 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        u16::try_from((self.0 >> 33) % u64::from(end)).unwrap()
    }

    fn coordinate(&mut self) -> f32 {
        f32::from(self.below(60)) - 30.0
    }
}

/// Spawns, moves and despawns under loss; every block that arrives is what the world held at that send,
/// and in the end everybody holds everything.
#[test]
fn clients_follow_through_loss() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let form = [Form::Packed, Form::Coded][usize::from(random.below(2))];
        let mut game = Game::with_form(3, form);
        let mut ids: Vec<EntityId> = vec![];
        let mut unacked: Vec<Vec<(PacketNumber, Vec<u8>)>> = vec![vec![]; 3];
        for _ in 0..200 {
            match random.below(8) {
                0..4 => {
                    let (x, y) = (random.coordinate(), random.coordinate());
                    ids.push(game.spawn(x, y));
                }
                4 if !ids.is_empty() => {
                    let at = random.below(u16::try_from(ids.len()).unwrap());
                    game.world.despawn(ids.swap_remove(at.into())).unwrap();
                }
                5 if random.below(20) == 0 => {
                    game.world.clear();
                    ids.clear();
                }
                _ => {}
            }
            for id in ids.clone() {
                if random.below(4) == 0 {
                    let [x, y] = game.world.get::<Ship>(id).unwrap().position;
                    let dx = f32::from(random.below(5)) - 2.0;
                    game.set(id, x + dx, y);
                }
            }
            if random.below(10) == 0 {
                let client = game.followers[usize::from(random.below(3))].0;
                let view = View {
                    at: [random.coordinate().into(), random.coordinate().into()],
                    range: 15.0,
                };
                game.clients.set_view(client, Some(view));
                game.clients
                    .set_budget(client, usize::from(random.below(400)));
            }
            game.world.commit();
            for (of, unacked) in unacked.iter_mut().enumerate() {
                for packet in game.packets(of) {
                    if random.below(3) > 0 {
                        game.deliver(of, core::slice::from_ref(&packet));
                        unacked.push(packet);
                    }
                }
                // Acknowledgements come late, out of order, and some not at all.
                while unacked.len() > usize::from(random.below(6)) {
                    let at = random.below(u16::try_from(unacked.len()).unwrap());
                    let packet = unacked.swap_remove(at.into());
                    if random.below(8) > 0 {
                        game.acknowledge(of, &[packet]);
                    }
                }
            }
        }
        game.steps(100);
        for of in 0..3 {
            assert!(game.follower(of).is_complete(), "seed {seed}");
        }
    }
}
