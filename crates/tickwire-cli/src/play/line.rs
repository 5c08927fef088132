//! What a line means that a pilot has written: most are for everybody, some for the own program.

use tickwire_demo::Loadout;

use crate::{name, weapons};

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    /// Everybody is told.
    Say(String),
    /// The player wants another name.
    Rename(String),
    /// The next ship carries something else.
    Select(Loadout),
}

/// An error is a sentence for the player.
pub(super) fn read(line: &str) -> Result<Meaning, String> {
    let Some(order) = line.strip_prefix('/') else {
        return Ok(Meaning::Say(line.to_owned()));
    };
    match order
        .split_once(' ')
        .map(|(word, rest)| (word, rest.trim()))
    {
        Some(("name", typed)) => name::parse(typed).map(Meaning::Rename),
        Some(("weapons", typed)) => weapons::parse(typed).map(Meaning::Select),
        _ => Err("write /name NAME, or /weapons gun,phaser,rocket,shockwave".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_for_everybody_but_for_those_with_a_slash() {
        assert_eq!(read("hello /you"), Ok(Meaning::Say("hello /you".into())));
        assert_eq!(read("/name  Bea "), Ok(Meaning::Rename("Bea".into())));
        let loadout = weapons::parse("gun,gun").unwrap();
        assert_eq!(read("/weapons gun,gun"), Ok(Meaning::Select(loadout)));
        for nonsense in ["/", "/name", "/quit now", "/weapons spoon", "/name \u{1b}"] {
            assert!(read(nonsense).is_err(), "{nonsense}");
        }
    }
}
