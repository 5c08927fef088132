use tickwire::{Archetypes, EntityId, Game, Replicate};

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
struct Ship {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
    #[replicate(angle, bits = 10)]
    heading: f32,
    #[replicate(range = 0..=100)]
    health: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
struct Mine {
    #[replicate(position, step = 0.1)]
    at: [f32; 2],
}

/// What there can be in the world.
#[derive(Archetypes)]
enum Thing {
    Ship(Ship),
    Mine(Mine),
}

/// What a player wants for one tick.
#[derive(Clone, Debug, Default, Replicate)]
struct Stick {
    #[replicate(range = -1..=1)]
    turn: i8,
    thrust: bool,
    fire: bool,
}

/// What clients say.
#[derive(Clone, Debug, PartialEq, Replicate)]
enum Up {
    Chat {
        #[replicate(max = 200)]
        text: String,
    },
    BuyMines {
        #[replicate(range = 1..=10)]
        count: u8,
    },
}

/// What the server says.
#[derive(Clone, Debug, PartialEq, Replicate)]
enum Down {
    Chat {
        #[replicate(max = 200)]
        text: String,
    },
    Bought {
        count: u8,
    },
    Exploded {
        ship: EntityId,
    },
}

struct Duel;

impl Game for Duel {
    type Things = Thing;
    type Input = Stick;
    type ToServer = Up;
    type ToClient = Down;
    const HZ: u16 = 60;
    const SIGHT: f32 = 200.0;

    /// One tick of a player's own thing.
    fn step(own: &mut Thing, stick: &Stick) {
        if let Thing::Ship(ship) = own {
            ship.heading += f32::from(stick.turn) * 0.05;
            if stick.thrust {
                ship.at[0] += ship.heading.cos() * 0.5;
                ship.at[1] += ship.heading.sin() * 0.5;
            }
        }
    }
}
