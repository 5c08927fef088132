//! What a game says about itself: its types, its rate, and how a player's own thing moves.

use tickwire_replica::coder::Prior;
use tickwire_replica::{ArchetypeSchema, Archetypes, Replicate, Schema};

/// A game: the types that its server and its clients share.
///
/// ```
/// use tickwire_native::Game;
/// use tickwire_replica::{Archetypes, Replicate};
///
/// #[derive(Clone, Default, Replicate)]
/// struct Ship {
///     #[replicate(position, step = 0.01)]
///     at: [f32; 2],
/// }
///
/// #[derive(Archetypes)]
/// enum Thing {
///     Ship(Ship),
/// }
///
/// #[derive(Clone, Default, Replicate)]
/// struct Stick {
///     #[replicate(range = -1..=1)]
///     right: i8,
/// }
///
/// struct Duel;
///
/// impl Game for Duel {
///     type Things = Thing;
///     type Input = Stick;
///     type ToServer = ();
///     type ToClient = ();
///     const HZ: u16 = 60;
///
///     fn step(own: &mut Thing, stick: &Stick) {
///         let Thing::Ship(ship) = own;
///         ship.at[0] += f32::from(stick.right) * 0.1;
///     }
/// }
/// ```
pub trait Game: Sized + 'static {
    /// The kinds of entity of its world.
    type Things: Archetypes + Send;
    /// What a player wants for one tick. The default is what somebody does who is not heard.
    type Input: Replicate + Default + Send;
    /// What clients say.
    type ToServer: Replicate + Send;
    /// What the server says.
    type ToClient: Replicate + Send;

    /// Ticks a second, at most [`HZ_MAX`](crate::limits::HZ_MAX).
    const HZ: u16;

    /// Ticks from one send of the world to the next. Unless set, some 20 sends a second.
    const TICKS_A_SEND: u8 = default_ticks_a_send(Self::HZ);

    /// What coded state begins with, as `tickwire train` or [`Training`](crate::Training) made it of the game's own
    /// recordings. Both sides must have the same: a difference is found when a client joins. Unless set, one that
    /// fits any game.
    const PRIOR: &'static [u8] = &[];

    /// How far a player sees from its own entity, or from the one that it [looks
    /// from](crate::Server::look_from), in units of the field marked `position`. Unless set,
    /// everywhere.
    const SIGHT: f32 = f32::INFINITY;

    /// One tick of a player's own entity: on the server and, ahead of it, on that player's client.
    ///
    /// Both apply it to the state as it travels, rounded, so that they agree to the bit as long as it
    /// depends on nothing but its arguments. What else befalls the entity, the server adds, and the client
    /// is corrected.
    ///
    /// Unless implemented, nothing is predicted.
    fn step(_own: &mut Self::Things, _input: &Self::Input) {}

    /// What a player's client spawns at once because of an input, before its server has: a shot, mostly. It is
    /// asked after [`step`](Self::step), and should answer as the server does when it calls
    /// [`spawn_from_input`](crate::Server::spawn_from_input): by what `own` and `input` say.
    ///
    /// Unless implemented, nothing is spawned ahead.
    fn spawns(_own: &Self::Things, _input: &Self::Input) -> Option<Self::Things> {
        None
    }

    /// One tick of a thing that came of [`spawns`](Self::spawns): on its player's client, which shows it ahead of
    /// the server like the player's own. A server moves its things as it likes, and best by the same rule.
    fn coast(_thing: &mut Self::Things) {}
}

/// What the two sides of a game must agree on: the kinds of entity of its world, in order, and behind them its
/// input and what is said in either direction.
pub fn schema<G: Game>() -> Schema {
    let mut archetypes = G::Things::schema().archetypes().to_vec();
    archetypes.extend([
        ArchetypeSchema::of::<G::Input>("input"),
        ArchetypeSchema::of::<G::ToServer>("to server"),
        ArchetypeSchema::of::<G::ToClient>("to client"),
    ]);
    Schema::new(archetypes)
}

/// The prior that both sides begin with.
///
/// # Panics
/// If [`Game::PRIOR`] was made for other types: that is the same for every server and client of the game.
pub(crate) fn prior<G: Game>() -> Prior {
    let schema = G::Things::schema();
    if G::PRIOR.is_empty() {
        return Prior::general(&schema);
    }
    Prior::from_bytes(&schema, G::PRIOR).expect("Game::PRIOR was made for the game's things")
}

/// What a Hello names, so that both sides decode alike: the types, and the prior if it is the game's own.
pub(crate) fn agreement<G: Game>(schema: &Schema) -> u64 {
    // FNV-1a goes on over the prior's bytes.
    G::PRIOR.iter().fold(schema.hash(), |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

const fn default_ticks_a_send(hz: u16) -> u8 {
    match (hz + 10) / 20 {
        0 => 1,
        ticks @ 1..=255 => ticks.to_le_bytes()[0],
        _ => u8::MAX,
    }
}
