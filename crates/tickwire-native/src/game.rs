//! What a game says about itself: its types, its rate, and how things move.

use core::fmt;

use tickwire_replica::{Archetype, Archetypes, EntityId, Replica, Replicate, World};

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
///     turn: i8,
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
/// }
/// ```
pub trait Game: Sized + 'static {
    /// The kinds of entity of its world.
    type Things: Archetypes + Send;
    /// What a player wants for one tick. The default is what somebody does whom nobody hears.
    type Input: Replicate + Default + Send;
    /// What clients say.
    type ToServer: Replicate + Send;
    /// What the server says.
    type ToClient: Replicate + Send;

    /// Ticks a second.
    const HZ: u16;

    /// Ticks from one send of the world to the next. Unless set, some 20 sends a second.
    const TICKS_A_SEND: u8 = default_ticks_a_send(Self::HZ);

    /// One tick of a player's own entity, on the server and, ahead of it, on the player's client.
    ///
    /// Both apply it to the state as it travels, rounded, so that they agree to the bit as long as it
    /// depends on nothing but its arguments. What is around may be older on a client: use it for what is
    /// rarely decisive, such as walls that move.
    ///
    /// Unless implemented, nothing is predicted.
    fn step(_own: &mut Self::Things, _input: &Self::Input, _around: Around<'_, Self>) {}
}

const fn default_ticks_a_send(hz: u16) -> u8 {
    let ticks = (hz + 10) / 20;
    match ticks {
        0 => 1,
        1..=255 => ticks.to_le_bytes()[0],
        _ => u8::MAX,
    }
}

/// The other entities, as far as whoever steps knows them.
pub struct Around<'a, G: Game>(Source<'a, G>);

enum Source<'a, G: Game> {
    World(&'a World<G::Things>),
    Replica(&'a Replica<G::Things>),
}

impl<'a, G: Game> Around<'a, G> {
    pub(crate) const fn world(world: &'a World<G::Things>) -> Self {
        Self(Source::World(world))
    }

    pub(crate) const fn replica(replica: &'a Replica<G::Things>) -> Self {
        Self(Source::Replica(replica))
    }

    /// An entity, if it is there and of this type.
    pub fn get<T: Archetype<G::Things>>(&self, id: EntityId) -> Option<T> {
        match &self.0 {
            Source::World(world) => world.get(id),
            Source::Replica(replica) => replica.get(id),
        }
    }
}

impl<G: Game> Clone for Around<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Game> Copy for Around<'_, G> {}

impl<G: Game> Clone for Source<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Game> Copy for Source<'_, G> {}

impl<G: Game> fmt::Debug for Around<'_, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Around").finish_non_exhaustive()
    }
}
