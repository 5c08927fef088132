//! What a ship carries.

use crate::limits::WEAPON_SLOTS;

/// A weapon that a slot can hold.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Weapon {
    /// Bullets: quick, many, weak, straight but for gravity.
    Gun,
    /// A beam of limited length for as long as the charge lasts; it stops at what it hits.
    Phaser,
    /// Rockets: slow to load, strong, they follow the nearest enemy ahead of them.
    Rocket,
    /// A circle that grows around the ship, hurts what its rim passes and throws it back.
    Shockwave,
}

/// The weapons of a ship, slot by slot. The same weapon may be carried more than once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Loadout(pub [Option<Weapon>; WEAPON_SLOTS]);

impl Loadout {
    /// Nothing to shoot with.
    pub const UNARMED: Self = Self([None; WEAPON_SLOTS]);

    /// One of each weapon.
    pub const STANDARD: Self = Self([
        Some(Weapon::Gun),
        Some(Weapon::Phaser),
        Some(Weapon::Rocket),
        Some(Weapon::Shockwave),
    ]);
}

impl Default for Loadout {
    fn default() -> Self {
        Self::STANDARD
    }
}
