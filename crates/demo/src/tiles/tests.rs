//! Walking, pushing and building; the same twice; never too much.

mod riding;

use super::terrain::railway;
use super::*;
use crate::slots::Slot;

const WALL: Block = Block::fixed(7, b'#');
const CRATE: Block = Block::pushable(6, b'o');

pub(super) const fn cell(x: i32, y: i32) -> Cell {
    Cell { x, y }
}

pub(super) const fn solid(cell: Cell) -> BlockId {
    BlockId::root(cell, Sublayer::Solid)
}

/// Builds by the rules, without anybody who would stand in the way.
pub(super) fn build(world: &mut TileWorld, at: BlockId, block: Block) -> Result<(), EditRefusal> {
    world.edit(at, block, BUILT)
}

const BUILT: Cause = Cause::Built(EntityId(Slot {
    index: 0,
    generation: 0,
}));

/// A world, and somebody in the middle of the plaza, around which nothing stands.
fn on_the_plaza() -> (TileWorld, EntityId, Cell) {
    let mut world = TileWorld::new(7);
    let ada = world.join("Ada", Look::default()).unwrap();
    let here = railway::PLAZA;
    world.crowd.relocate(ada, here);
    // Animals would get into the way of what is tested.
    let critters: Vec<_> = world.entities().map(|(id, _)| id).collect();
    for critter in critters.into_iter().filter(|&id| id != ada) {
        world.leave(critter);
    }
    world.step();
    (world, ada, here)
}

#[track_caller]
fn check_block(world: &mut TileWorld, at: BlockId, expected: Block) {
    assert_eq!(world.block(at), Some(expected), "at {}", at.cell);
}

#[track_caller]
fn check_events(world: &mut TileWorld, expected: &[Event]) {
    world.step();
    assert_eq!(world.events(), expected);
}

#[test]
fn a_step_leads_to_the_neighbour_and_is_told() {
    let (mut world, ada, here) = on_the_plaza();
    for direction in Direction::ALL {
        let from = world.entity(ada).unwrap().position();
        let (east, south) = direction.offset();
        let to = from.offset(east, south).unwrap();
        assert_eq!(world.walk(ada, direction), Ok(to));
        let how = Motion::Walked(direction);
        let entity = ada;
        check_events(&mut world, &[Event::EntityMoved { entity, to, how }]);
    }
    // All eight together lead back.
    assert_eq!(world.entity(ada).unwrap().position(), here);
}

#[test]
fn who_is_taken_far_away_stands_on_free_ground_there_and_is_told_of() {
    let (mut world, ada, _) = on_the_plaza();
    let far = cell(3_000, -2_000);
    let to = world.teleport(ada, far).unwrap();
    assert_eq!(world.entity(ada).unwrap().position(), to);
    assert!(world.tile(to).unwrap().is_free() && to.distance(far) <= 16);
    let how = Motion::Displaced;
    let moved = Event::EntityMoved {
        entity: ada,
        to,
        how,
    };
    assert_eq!(world.events_since_step(), [moved]);
    world.leave(ada);
    assert_eq!(world.teleport(ada, far), Err(WalkRefusal::Gone));
}

#[test]
fn walls_stop_walkers_until_they_are_removed() {
    let (mut world, ada, here) = on_the_plaza();
    let wall = here.step(Direction::East).unwrap();
    build(&mut world, solid(wall), WALL).unwrap();
    assert_eq!(world.walk(ada, Direction::East), Err(WalkRefusal::Blocked));
    assert_eq!(world.entity(ada).unwrap().position(), here);
    // Colours of nothing are not kept.
    let nothing = Block { typ: 0, ..WALL };
    build(&mut world, solid(wall), nothing).unwrap();
    check_block(&mut world, solid(wall), Block::EMPTY);
    assert_eq!(world.walk(ada, Direction::East), Ok(wall));
    assert_eq!(world.edited_blocks(), 0);
}

#[test]
fn the_world_ends_at_its_edge() {
    let (mut world, ada, _) = on_the_plaza();
    let corner = cell(i32::MAX, i32::MAX);
    world.crowd.relocate(ada, corner);
    assert_eq!(world.walk(ada, Direction::East), Err(WalkRefusal::Edge));
    assert_eq!(
        world.walk(ada, Direction::SouthWest),
        Err(WalkRefusal::Edge)
    );
    build(&mut world, solid(cell(i32::MAX, 0)), WALL).unwrap();
    let outside = cell(i32::MIN, 0);
    assert_eq!(world.tile(outside), None);
    let refused = build(&mut world, solid(outside), WALL);
    assert_eq!(refused, Err(EditRefusal::Nowhere));
}

#[test]
fn a_crate_is_pushed_on_and_both_changes_are_told() {
    for way in Direction::ALL {
        let (mut world, ada, here) = on_the_plaza();
        let next = here.step(way).unwrap();
        let beyond = next.step(way).unwrap();
        build(&mut world, solid(next), CRATE).unwrap();
        world.step();
        assert_eq!(world.walk(ada, way), Ok(next));
        let changed = |cell, block| Event::BlockChanged {
            at: solid(cell),
            block,
            cause: Cause::Pushed(ada),
        };
        let moved = Event::EntityMoved {
            entity: ada,
            to: next,
            how: Motion::Walked(way),
        };
        let expected = [changed(next, Block::EMPTY), changed(beyond, CRATE), moved];
        check_events(&mut world, &expected);
        check_block(&mut world, solid(beyond), CRATE);
    }
}

#[test]
fn a_crate_stays_where_nothing_is_free_behind_it() {
    let (mut world, ada, here) = on_the_plaza();
    let next = here.step(Direction::West).unwrap();
    let beyond = next.step(Direction::West).unwrap();
    build(&mut world, solid(next), CRATE).unwrap();
    for obstacle in [WALL, CRATE] {
        build(&mut world, solid(beyond), obstacle).unwrap();
        assert_eq!(world.walk(ada, Direction::West), Err(WalkRefusal::Blocked));
    }
    build(&mut world, solid(beyond), Block::EMPTY).unwrap();
    let bob = world.join("Bob", Look::default()).unwrap();
    world.crowd.relocate(bob, beyond);
    assert_eq!(world.walk(ada, Direction::West), Err(WalkRefusal::Blocked));
    world.leave(bob);
    assert_eq!(world.walk(ada, Direction::West), Ok(next));
}

#[test]
fn nothing_is_built_or_pushed_onto_people_or_the_railway() {
    let (mut world, ada, here) = on_the_plaza();
    let refused = build(&mut world, solid(here), WALL);
    assert_eq!(refused, Err(EditRefusal::Occupied));
    // What one walks on may change under one's feet.
    build(&mut world, BlockId::root(here, Sublayer::Walkable), WALL).unwrap();
    let bed = cell(100, 2);
    let refused = build(&mut world, solid(bed), WALL);
    assert_eq!(refused, Err(EditRefusal::Railway));
    let beside = bed.step(Direction::South).unwrap();
    build(&mut world, solid(beside), CRATE).unwrap();
    world
        .crowd
        .relocate(ada, beside.step(Direction::South).unwrap());
    assert_eq!(world.walk(ada, Direction::North), Err(WalkRefusal::Blocked));
}

#[test]
fn a_version_belongs_to_one_content() {
    let (mut world, _, here) = on_the_plaza();
    let at = solid(here.step(Direction::South).unwrap());
    let mut seen = vec![world.chunk(at.chunk()).unwrap().version()];
    for block in [WALL, CRATE, WALL, Block::EMPTY, WALL] {
        build(&mut world, at, block).unwrap();
        // The same again changes nothing.
        build(&mut world, at, block).unwrap();
        let version = world.chunk(at.chunk()).unwrap().version();
        assert!(!seen.contains(&version));
        seen.push(version);
    }
    world.step();
    let changes = |event: &&Event| matches!(event, Event::BlockChanged { .. });
    assert_eq!(world.events().iter().filter(changes).count(), 5);
}

/// Many walkers at random for a while, who build and leave now and then.
fn play(world: &mut TileWorld, seed: u64, steps: u32) -> Vec<u64> {
    let mut random = Random::new(seed);
    let mut players = Vec::new();
    let mut digests = Vec::new();
    for step in 0..steps {
        if step % 8 == 0 {
            players.extend(world.join("walker", Look::default()));
        }
        if step % 64 == 63 {
            world.leave(players.remove(0));
        }
        for &player in &players {
            let way = Direction::ALL[usize::from(dice::roll(&mut random, 8))];
            let Ok(at) = world.walk(player, way) else {
                continue;
            };
            if random.chance(0.1) {
                let block = [WALL, CRATE, Block::EMPTY][usize::from(dice::roll(&mut random, 3))];
                // Refusals are part of the game.
                let at = solid(at.step(way).unwrap());
                world.set_block(player, at, block).ok();
            }
        }
        world.step();
        digests.push(world.digest());
    }
    digests
}

#[test]
fn the_same_moves_make_the_same_world() {
    let [mut a, mut b, mut other] = [3, 3, 4].map(TileWorld::new);
    assert_eq!(play(&mut a, 1, 600), play(&mut b, 1, 600));
    assert!(a.edited_blocks() > 20, "{}", a.edited_blocks());
    assert_ne!(play(&mut other, 1, 600).last(), Some(&a.digest()));
}

#[test]
fn something_always_moves() {
    let mut world = TileWorld::new(5);
    let mut quiet = 0;
    for _ in 0..1_000 {
        world.step();
        quiet = if world.events().is_empty() {
            quiet + 1
        } else {
            0
        };
        assert!(quiet < 20, "a second without any event");
        for (_, critter) in world.entities() {
            assert!(!railway::is_bed(critter.position()));
        }
    }
}

#[test]
fn critters_follow_people_into_the_wilds() {
    let mut world = TileWorld::new(5);
    let ada = world.join("Ada", Look::default()).unwrap();
    let far = (0..)
        .map(|n| cell(200_000 + n, 5_000))
        .find(|&at| world.tile(at).unwrap().is_free())
        .unwrap();
    world.crowd.relocate(ada, far);
    for _ in 0..20 * 60 {
        world.step();
    }
    assert!(world.neighbours(ada, 60).len() >= 3);
}

#[test]
fn newcomers_find_a_place_even_where_everything_is_built_over() {
    let mut world = TileWorld::new(7);
    let critters: Vec<_> = world.entities().map(|(id, _)| id).collect();
    critters.into_iter().for_each(|id| world.leave(id));
    let reach = 40;
    for (x, y) in (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (x, y))) {
        let at = railway::PLAZA.offset(x, y).unwrap();
        build(&mut world, solid(at), WALL).ok();
    }
    let ada = world.join("Ada", Look::default()).unwrap();
    let at = world.entity(ada).unwrap().position();
    assert!(world.tile(at).unwrap().is_free());
}

#[test]
fn long_walks_take_no_memory_and_lose_no_edits() {
    let mut world = TileWorld::new(9);
    let chunks = i32::try_from(limits::CHUNKS_READY).unwrap();
    let mut versions = Vec::new();
    // Far more chunks than are kept ready; something is built in every hundredth.
    for x in 0..chunks + chunks / 4 {
        let at = ChunkXy { x, y: 50 };
        world
            .chunk(ChunkId {
                set: SetId::ROOT,
                at,
            })
            .unwrap();
        if x % 100 == 0 {
            let block = solid(at.corner());
            let brick = Block::fixed(1, b'x');
            build(&mut world, block, brick).unwrap();
            versions.push((block, brick, world.chunk(block.chunk()).unwrap().version()));
        }
        assert!(world.chunks_ready() <= limits::CHUNKS_READY);
        world.step();
    }
    for (at, brick, version) in versions {
        check_block(&mut world, at, brick);
        assert_eq!(world.chunk(at.chunk()).unwrap().version(), version);
    }
}

#[test]
fn what_has_just_happened_can_be_told_before_the_step() {
    let (mut world, ada, _) = on_the_plaza();
    assert_eq!(world.events_since_step(), []);
    world.walk(ada, Direction::South).unwrap();
    let fresh = world.events_since_step().to_vec();
    assert_eq!(fresh.len(), 1);
    world.step();
    assert_eq!(world.events(), fresh);
    assert_eq!(world.events_since_step(), []);
}

#[test]
fn what_cannot_be_told_in_one_step_is_refused() {
    let (mut world, ada, here) = on_the_plaza();
    let at = solid(here.step(Direction::North).unwrap());
    let edits = (0..=limits::EVENTS).map(|n| {
        let block = if n % 2 == 0 { WALL } else { CRATE };
        build(&mut world, at, block)
    });
    let refused = edits.filter(|edit| *edit == Err(EditRefusal::Busy)).count();
    assert_eq!(refused, 1);
    assert_eq!(world.walk(ada, Direction::South), Err(WalkRefusal::Busy));
    assert_eq!(world.join("Bob", Look::default()), Err(JoinRefusal::Busy));
    world.step();
    assert_eq!(world.events().len(), limits::EVENTS);
    assert!(world.walk(ada, Direction::South).is_ok());
}

#[test]
fn the_world_takes_only_so_many_players() {
    let mut world = TileWorld::new(1);
    let players: Vec<_> = (0..limits::PLAYERS)
        .map(|_| world.join("one of many", Look::default()).unwrap())
        .collect();
    let refused = world.join("one too many", Look::default());
    assert_eq!(refused, Err(JoinRefusal::Crowded));
    world.leave(players[7]);
    assert!(world.join("in place of another", Look::default()).is_ok());
    assert_eq!(
        world.walk(players[7], Direction::East),
        Err(WalkRefusal::Gone)
    );
}
