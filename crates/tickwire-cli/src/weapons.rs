//! What a ship carries, as it is typed: a weapon for each slot, `-` for none.

use tickwire_demo::limits::WEAPON_SLOTS;
use tickwire_demo::{Loadout, Weapon};

const WEAPONS: [Weapon; 4] = [
    Weapon::Gun,
    Weapon::Phaser,
    Weapon::Rocket,
    Weapon::Shockwave,
];

/// What people call a weapon.
pub(crate) const fn name(weapon: Weapon) -> &'static str {
    match weapon {
        Weapon::Gun => "gun",
        Weapon::Phaser => "phaser",
        Weapon::Rocket => "rocket",
        Weapon::Shockwave => "shockwave",
    }
}

/// The parser of every argument that takes weapons. Slots that are not named stay empty.
pub(crate) fn parse(typed: &str) -> Result<Loadout, String> {
    let mut loadout = Loadout::UNARMED;
    let words: Vec<_> = typed.split(',').map(str::trim).collect();
    if words.len() > WEAPON_SLOTS {
        return Err(format!("a ship has {WEAPON_SLOTS} slots"));
    }
    for (slot, word) in loadout.0.iter_mut().zip(words) {
        *slot = match word {
            "-" | "" => None,
            word => {
                let found = WEAPONS.into_iter().find(|weapon| name(*weapon) == word);
                let weapon = found.ok_or_else(|| {
                    format!("there is no {word:?}: write gun, phaser, rocket, shockwave or -")
                })?;
                Some(weapon)
            }
        };
    }
    Ok(loadout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weapons_are_named_slot_by_slot() {
        assert_eq!(parse("gun,phaser,rocket,shockwave"), Ok(Loadout::STANDARD));
        let mut rockets = Loadout::UNARMED;
        rockets.0[1] = Some(Weapon::Rocket);
        assert_eq!(parse("-, rocket"), Ok(rockets));
        assert!(
            parse("gun,gun,gun,gun,gun")
                .unwrap_err()
                .contains("4 slots")
        );
        assert!(parse("laser").unwrap_err().contains("\"laser\""));
    }
}
