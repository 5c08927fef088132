//! The kinds of entity that a world has, and the schema that two peers compare.
//!
//! A schema is written out as text, one line a field. Its hash is what a handshake compares; if the
//! hashes differ, the texts say where. The text is what the other side said and is shown to people only.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use crate::row::{RowReader, RowWriter};
use crate::schema::{Field, Kind, Playback, Scale};
use crate::value::{FieldError, Replicate};

/// An enum of entity types, one newtype variant each: `#[derive(Archetypes)]`.
pub trait Archetypes: Sized {
    /// All its types, in order.
    fn schema() -> Schema;

    /// Which of them this value is.
    fn archetype(&self) -> usize;

    /// Quantises the value into a row of its archetype's fields.
    fn store(&self, row: &mut RowWriter<'_>) -> Result<(), FieldError>;

    /// Builds a value of an archetype, if there is such an archetype.
    fn load(archetype: usize, row: &mut RowReader<'_>) -> Option<Self>;

    /// The value `share` of the way from `self` to `next`; `self` if they are of different types.
    #[must_use]
    fn between(&self, next: &Self, share: f32) -> Self;
}

/// A type of which `A` has a variant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no entity type of `{A}`",
    note = "add a variant to the enum that derives `Archetypes`, such as `Ship(Ship)`"
)]
pub trait Archetype<A: Archetypes>: Replicate {
    /// Its place among them.
    const INDEX: usize;

    /// The value, if it is of this type.
    fn of(value: A) -> Option<Self>;
}

/// All that two peers must agree on before one can read the other's world.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Schema {
    archetypes: Vec<ArchetypeSchema>,
    hash: u64,
}

/// One archetype of a [`Schema`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ArchetypeSchema {
    /// The type's name.
    pub name: &'static str,
    /// What it consists of.
    pub fields: Vec<Field>,
}

impl ArchetypeSchema {
    /// The schema of one type.
    pub fn of<T: Replicate>(name: &'static str) -> Self {
        Self {
            name,
            fields: T::FIELDS.to_vec(),
        }
    }
}

impl Schema {
    /// The schema of these archetypes; their numbers are their places.
    pub fn new(archetypes: Vec<ArchetypeSchema>) -> Self {
        let mut schema = Self {
            archetypes,
            hash: 0,
        };
        schema.hash = fnv1a(schema.text().as_bytes());
        schema
    }

    /// The archetypes, in order.
    pub fn archetypes(&self) -> &[ArchetypeSchema] {
        &self.archetypes
    }

    /// The fields of an archetype; none if there is no such archetype.
    pub fn fields(&self, archetype: usize) -> &[Field] {
        self.archetypes
            .get(archetype)
            .map_or(&[], |archetype| &archetype.fields)
    }

    /// What the handshake compares: equal for equal schemas, on every machine.
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// The schema as text: a line an archetype, and below it one a field.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for archetype in &self.archetypes {
            push_line(&mut text, format_args!("{}", archetype.name));
            for field in &archetype.fields {
                push_line(&mut text, format_args!("  {}", Line(field)));
            }
        }
        text
    }

    /// For whoever has to make two peers fit: the first line that differs, then both lists.
    ///
    /// `theirs` is the other side's [`text`](Self::text), which may be anything. Control characters
    /// are left out.
    pub fn explain_mismatch(&self, theirs: &str) -> String {
        let ours = self.text();
        let mut explanation = String::new();
        match first_difference(&ours, theirs) {
            None => push_line(&mut explanation, format_args!("the schemas are equal")),
            Some(Difference {
                archetype,
                ours,
                theirs,
            }) => {
                push_line(
                    &mut explanation,
                    format_args!("the schemas differ first in {archetype}"),
                );
                push_line(&mut explanation, format_args!("  ours:   {ours}"));
                push_line(&mut explanation, format_args!("  theirs: {theirs}"));
            }
        }
        for (whose, text) in [("ours", ours.as_str()), ("theirs", theirs)] {
            push_line(&mut explanation, format_args!("{whose}:"));
            for line in text.lines() {
                push_line(&mut explanation, format_args!("  {line}"));
            }
        }
        explanation.retain(|c| c == '\n' || !c.is_control());
        explanation
    }
}

/// Where two schema texts part.
struct Difference<'a> {
    /// The archetype that the line belongs to, or would.
    archetype: &'a str,
    ours: &'a str,
    theirs: &'a str,
}

fn first_difference<'a>(ours: &'a str, theirs: &'a str) -> Option<Difference<'a>> {
    let mut archetype = "";
    let (mut our_lines, mut their_lines) = (ours.lines(), theirs.lines());
    loop {
        let lines = (our_lines.next(), their_lines.next());
        if let (Some(line), _) | (None, Some(line)) = lines
            && !line.starts_with(' ')
        {
            archetype = line;
        }
        match lines {
            (None, None) => return None,
            (ours, theirs) if ours == theirs => {}
            (ours, theirs) => {
                let shown = |line: Option<&'a str>| line.map_or("nothing", str::trim_start);
                return Some(Difference {
                    archetype,
                    ours: shown(ours),
                    theirs: shown(theirs),
                });
            }
        }
    }
}

/// A field as a line of a schema's text.
struct Line<'a>(&'a Field);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Field {
            name,
            kind,
            scale,
            components,
            playback,
            is_position,
        } = self.0;
        write!(f, "{name}: ")?;
        match kind {
            Kind::Flag => write!(f, "flag"),
            Kind::Unsigned { max } => write!(f, "0 to {max}"),
            Kind::Signed { min, max } => write!(f, "{min} to {max}"),
            Kind::Angle { bits } => write!(f, "angle of {bits} bits"),
            Kind::Quaternion { bits } => write!(f, "quaternion of {bits} bits"),
            Kind::Entity => write!(f, "entity"),
            Kind::Bytes { max } => write!(f, "up to {max} bytes"),
        }?;
        if *scale != Scale::ONE {
            write!(f, ", step {}", scale.step())?;
            if scale.offset() != 0.0 {
                write!(f, " from {}", scale.offset())?;
            }
        }
        if *components != 1 {
            write!(f, ", {components} components")?;
        }
        match playback {
            Playback::Hold => write!(f, ", hold"),
            Playback::Interpolate {
                jump_over: u32::MAX,
            } => write!(f, ", interpolate"),
            Playback::Interpolate { jump_over } => {
                write!(f, ", interpolate unless over {jump_over}")
            }
        }?;
        if *is_position {
            write!(f, ", position")?;
        }
        Ok(())
    }
}

fn push_line(text: &mut String, line: fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    writeln!(text, "{line}").unwrap_or_default();
}

/// FNV-1a of 64 bits: a page of text is told from another by accident once in 2^64, and nobody gains by
/// forging it.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn schema(step: f64) -> Schema {
        let place = Field {
            scale: Scale::new(0.0, step),
            components: 2,
            playback: Playback::Interpolate { jump_over: 500 },
            is_position: true,
            ..Field::new("place", Kind::Signed { min: -9, max: 9 })
        };
        Schema::new(vec![
            ArchetypeSchema {
                name: "Rock",
                fields: vec![Field::new("size", Kind::Unsigned { max: 7 })],
            },
            ArchetypeSchema {
                name: "Ship",
                fields: vec![Field::new("open", Kind::Flag), place],
            },
        ])
    }

    #[test]
    fn the_text_says_everything_and_the_hash_stays() {
        let schema = schema(0.01);
        assert_eq!(
            schema.text(),
            "Rock\n  size: 0 to 7, hold\nShip\n  open: flag, hold\n  \
             place: -9 to 9, step 0.01, 2 components, interpolate unless over 500, position\n"
        );
        // Peers of different versions compare it, so it may not change by itself.
        assert_eq!(schema.hash(), 0x51b1_98ed_2f21_35b6);
    }

    #[test]
    fn another_step_is_another_schema() {
        // The lanes are the same, and mean something else.
        let (ours, theirs) = (schema(0.01), schema(0.02));
        assert_ne!(ours.hash(), theirs.hash());
        let explanation = ours.explain_mismatch(&theirs.text());
        let expected = "the schemas differ first in Ship\n  \
            ours:   place: -9 to 9, step 0.01, 2 components, interpolate unless over 500, position\n  \
            theirs: place: -9 to 9, step 0.02, 2 components, interpolate unless over 500, position\n\
            ours:\n  Rock\n";
        assert!(explanation.starts_with(expected), "{explanation}");
        assert!(explanation.contains("theirs:\n  Rock\n    size: 0 to 7, hold\n  Ship\n"));
    }

    #[test]
    fn what_only_one_side_has_is_shown() {
        let ours = schema(0.01);
        let theirs = ours.text() + "Bird\n  wings: flag, hold\n";
        let explanation = ours.explain_mismatch(&theirs);
        let expected = "the schemas differ first in Bird\n  ours:   nothing\n  theirs: Bird\n";
        assert!(explanation.starts_with(expected), "{explanation}");
        let equal = ours.explain_mismatch(&ours.text());
        assert!(equal.starts_with("the schemas are equal\n"), "{equal}");
    }

    #[test]
    fn a_strangers_text_is_shown_without_its_control_characters() {
        let explanation = schema(0.01).explain_mismatch("\u{1b}[2JRock\n");
        assert!(!explanation.contains('\u{1b}'), "{explanation}");
    }
}
