//! How much of everything there can be.
//!
//! What a peer can cause to exist is counted here; how strong and fast things are is in
//! [`rules`](crate::rules).

/// Pilots in one arena.
///
/// Ten times what the plane holds before it turns into a scrum, so that a load test of five hundred
/// bots fits and a client that joins for ever does not.
pub const PILOTS: u16 = 512;

/// The sun and the planets.
pub const CELESTIALS: u16 = 8;

/// Bullets, rockets, rays and shockwaves together; a shot above it is not fired.
///
/// A hundred ships that hold every trigger have about twelve hundred in the air, or three times as
/// many if they carry nothing but guns, so hardly anybody meets this in play. Whose turn it is to fire first rotates, so that at the limit all are refused alike.
pub const SHOTS: u16 = 3_072;

/// Everything in the arena. Shots cannot take the place of a ship.
pub const ENTITIES: u16 = PILOTS + CELESTIALS + SHOTS;

/// Collisions told of one step; more happen but are not told.
///
/// They are sparks on a screen, and no screen shows more. Every other kind of event is bounded by
/// the number of entities and pilots and is always told.
pub const COLLISIONS_PER_STEP: usize = 512;

/// Weapons of a ship; what the oldest protocol has room for.
pub const WEAPON_SLOTS: usize = 4;

/// Bytes of a pilot's name; what the narrowest protocol carries.
pub const NAME_BYTES: usize = 32;
