//! In the train, beside it, and in its way.

use super::*;

#[test]
fn who_stands_in_the_train_rides_and_may_walk_in_it() {
    let (mut world, ada, _) = on_the_plaza();
    // From the platform through the middle door.
    world.crowd.relocate(ada, cell(0, 3));
    assert_eq!(world.walk(ada, Direction::North), Ok(cell(0, 2)));
    assert_eq!(world.walk(ada, Direction::North), Ok(cell(0, 1)));
    world.step();
    let mut carried = 0;
    for _ in 0..400 {
        world.step();
        let train = world.train().origin();
        let told: Vec<_> = world.events().to_vec();
        if let Some((first, rest)) = told.split_first() {
            let set = world.train().set();
            assert_eq!(*first, Event::TrainMoved { set, to: train });
            let to = world.entity(ada).unwrap().position();
            let how = Motion::Carried(Direction::East);
            let entity = ada;
            assert_eq!(rest, [Event::EntityMoved { entity, to, how }]);
            carried += 1;
        }
        let position = world.entity(ada).unwrap().position();
        assert_eq!(position, train.offset(32, 33).unwrap());
    }
    assert_eq!(carried, 61);
    // The wall beside the seats moves along, the aisle too.
    world.walk(ada, Direction::East).unwrap();
    world.walk(ada, Direction::East).unwrap();
    let refused = world.walk(ada, Direction::South);
    assert_eq!(refused, Err(WalkRefusal::Blocked));
    assert_eq!(world.walk(ada, Direction::North).map(|to| to.y), Ok(0));
}

#[test]
fn who_stands_on_the_line_is_put_beside_it() {
    let (mut world, ada, _) = on_the_plaza();
    world.crowd.relocate(ada, cell(60, 0));
    for _ in 0..600 {
        world.step();
        let at = world.entity(ada).unwrap().position();
        assert!(
            world.tile(at).unwrap().is_free(),
            "inside something at {at}"
        );
    }
    let at = world.entity(ada).unwrap().position();
    assert!(
        !railway::is_bed(at) && at.distance(cell(60, 0)) <= 4,
        "{at}"
    );
}

#[test]
fn the_train_can_be_furnished_but_not_enlarged() {
    let (mut world, _, _) = on_the_plaza();
    let inside = |x, y, sublayer| BlockId {
        set: world.train().set(),
        cell: cell(x, y),
        sublayer,
    };
    let aisle = inside(40, 32, Sublayer::Solid);
    let floor = inside(40, 32, Sublayer::Walkable);
    let air = inside(40, 10, Sublayer::Walkable);
    let beyond = inside(64, 32, Sublayer::Solid);
    build(&mut world, aisle, CRATE).unwrap();
    check_block(&mut world, aisle, CRATE);
    assert_eq!(world.tile(cell(8, 0)).unwrap().solid, CRATE);
    for (at, block, expected) in [
        (floor, Block::EMPTY, EditRefusal::Railway),
        (air, WALL, EditRefusal::Nowhere),
        (beyond, WALL, EditRefusal::Nowhere),
    ] {
        assert_eq!(build(&mut world, at, block), Err(expected));
    }
    let version = world.chunk(aisle.chunk()).unwrap().version();
    assert!(version > Version(0));
}
