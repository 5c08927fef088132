//! The numbers of the game: how large, fast and strong everything is.
//!
//! Lengths are in world units, speeds in units a second, accelerations in units a second squared,
//! times in steps of 1/60 s. A ship has [`SHIP_HEALTH`] points; damage is in the same points. They
//! were tuned by watching bots: among six, a ship lasts about a quarter of a minute, and somebody
//! explodes every three seconds.

/// Steps in a second of play.
pub const STEPS_PER_SECOND: u32 = 60;
/// Seconds that a step takes.
pub const STEP_SECONDS: f64 = 1.0 / STEPS_PER_SECOND as f64;

/// Inside, space is free. Further out everything is pulled back, harder with every unit.
pub const ARENA_RADIUS: f64 = 5_000.0;
/// Nothing gets further out than this: every position fits 16 bits.
pub const WALL_RADIUS: f64 = 6_000.0;
/// Pull towards the middle, per unit outside [`ARENA_RADIUS`]: full thrust holds against 250 units.
pub const BOUNDARY_PULL: f64 = 4.0;

/// Size of a ship.
pub const SHIP_RADIUS: f64 = 60.0;
/// Points of a new ship.
pub const SHIP_HEALTH: f64 = 100.0;
/// Acceleration forward.
pub const SHIP_THRUST: f64 = 1_000.0;
/// Acceleration backward: braking is possible, fleeing backwards is not.
pub const SHIP_REVERSE: f64 = 600.0;
/// Acceleration sideways.
pub const SHIP_STRAFE: f64 = 700.0;
/// Share of its speed that a ship loses in a second. Space has none, but keyboards need it; with
/// [`SHIP_THRUST`] it settles at 830 units a second.
pub const SHIP_DRAG: f64 = 1.2;
/// Speed of a ship, however hard it was pushed.
pub const SHIP_MAX_SPEED: f64 = 1_000.0;
/// Radians a second that a ship turns.
pub const SHIP_TURN: f64 = 3.4;
/// Points that a kill repairs, so that the winner of a duel can face the next.
pub const REPAIR_PER_KILL: f64 = 30.0;
/// From the death of a ship to the next of its pilot.
pub const RESPAWN_STEPS: u32 = 2 * STEPS_PER_SECOND;
/// How long a hit counts: who dies of the sun or a planet soon after was killed by the one who hit.
pub const BLAME_STEPS: u32 = 3 * STEPS_PER_SECOND;

/// From shot to shot.
pub const GUN_RELOAD_STEPS: u32 = 9;
/// Speed of a bullet.
pub const BULLET_SPEED: f64 = 2_200.0;
/// Size of a bullet.
pub const BULLET_RADIUS: f64 = 10.0;
/// How long a bullet flies.
pub const BULLET_LIFE_STEPS: u32 = 75;
/// Points a bullet costs.
pub const BULLET_DAMAGE: f64 = 5.0;
/// Speed that a bullet adds to what it hits.
pub const BULLET_PUSH: f64 = 25.0;

/// Length of a beam that hits nothing.
pub const PHASER_LENGTH: f64 = 900.0;
/// Points a beam costs in a step.
pub const PHASER_DAMAGE_PER_STEP: f64 = 0.35;
/// Steps that a full phaser fires.
pub const PHASER_CHARGE_STEPS: u32 = 90;
/// Steps of rest that give one step of charge.
pub const PHASER_REST_PER_STEP: u32 = 2;
/// Charge that a phaser needs to light, so that an exhausted one does not flicker.
pub const PHASER_RELIGHT_STEPS: u32 = 30;

/// Rockets that a slot carries when it is full.
pub const ROCKETS_CARRIED: u16 = 6;
/// How near to a planet's surface rockets are found.
pub const SUPPLY_REACH: f64 = 400.0;
/// From rocket to rocket that is found there.
pub const SUPPLY_STEPS: u32 = STEPS_PER_SECOND;
/// From rocket to rocket.
pub const ROCKET_RELOAD_STEPS: u32 = 130;
/// Speed at launch.
pub const ROCKET_LAUNCH_SPEED: f64 = 600.0;
/// Acceleration of a rocket.
pub const ROCKET_THRUST: f64 = 900.0;
/// Speed of a rocket: faster than any ship.
pub const ROCKET_MAX_SPEED: f64 = 1_300.0;
/// Radians a second that a rocket turns: a ship that waits for it can slip past.
pub const ROCKET_TURN: f64 = 2.4;
/// Size of a rocket.
pub const ROCKET_RADIUS: f64 = 22.0;
/// How long a rocket flies.
pub const ROCKET_LIFE_STEPS: u32 = 4 * STEPS_PER_SECOND;
/// Points of a rocket: two bullets, or less than half a second of phaser.
pub const ROCKET_HEALTH: f64 = 8.0;
/// Points a rocket costs.
pub const ROCKET_DAMAGE: f64 = 25.0;
/// Speed that a rocket adds to what it hits.
pub const ROCKET_PUSH: f64 = 200.0;
/// How far a rocket sees.
pub const ROCKET_SIGHT: f64 = 2_600.0;
/// Radians to either side that a rocket sees.
pub const ROCKET_CONE: f64 = 0.9;

/// From shockwave to shockwave.
pub const SHOCKWAVE_RELOAD_STEPS: u32 = 6 * STEPS_PER_SECOND;
/// Speed of the rim: no ship outruns it.
pub const SHOCKWAVE_SPEED: f64 = 1_500.0;
/// Radius at which a shockwave ends.
pub const SHOCKWAVE_REACH: f64 = 900.0;
/// Points a shockwave costs a ship; a rocket does not survive it.
pub const SHOCKWAVE_DAMAGE: f64 = 15.0;
/// Speed that the rim adds, away from its middle.
pub const SHOCKWAVE_PUSH: f64 = 800.0;

/// Size of the sun.
pub const SUN_RADIUS: f64 = 420.0;
/// Pull at the surface of the sun; it falls with the square of the distance to the middle.
pub const SUN_PULL: f64 = 500.0;
/// Points that touching the sun costs.
pub const SUN_DAMAGE: f64 = 35.0;
/// Speed away from the sun after touching it, at least: nobody sticks to it.
pub const SUN_BOUNCE: f64 = 600.0;
/// Pull at the surface of a planet.
pub const PLANET_PULL: f64 = 300.0;
/// Size of the largest planet.
pub const LARGEST_PLANET_RADIUS: f64 = 240.0;

/// Share of the approach speed that is left after a bounce.
pub const BOUNCE: f64 = 0.6;
/// Approach speed up to which a contact is no collision worth telling.
pub const SCRAPE: f64 = 30.0;
/// Approach speed up to which a bounce costs nothing.
pub const SOFT_BUMP: f64 = 200.0;
/// Points a bounce costs for each unit a second above [`SOFT_BUMP`].
pub const BUMP_DAMAGE: f64 = 0.025;

// A bullet must not jump over a rocket, the smallest thing it can hit, between two steps.
const _: () = assert!(
    (BULLET_SPEED + ROCKET_MAX_SPEED) * STEP_SECONDS < 2.0 * (BULLET_RADIUS + ROCKET_RADIUS)
);
