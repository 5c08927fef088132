//! What the code that `#[derive(Replicate)]` writes calls. Not for use by hand.
//!
//! The derive sees tokens, not types. What depends on types is done here: fields of nested types are
//! put under their path at compile time, and values are quantised by the settings of their attribute.

use crate::quantise::{Number, Quantiser, Quaternion, Text, Vector};
use crate::row::{RowReader, RowWriter};
use crate::schema::{Field, Kind};
use crate::value::{FieldError, held};

pub use tickwire_state::Blend;

/// A member of a type, and the fields that it consists of.
#[derive(Debug)]
pub struct Part {
    /// The member's name.
    pub name: &'static str,
    /// Its fields; one without a name is the member itself.
    pub fields: &'static [Field],
}

/// How many fields these parts have together.
pub const fn count(mut parts: &[Part]) -> usize {
    let mut count = 0;
    while let [part, rest @ ..] = parts {
        count += part.fields.len();
        parts = rest;
    }
    count
}

/// How many bytes their paths have together.
pub const fn paths_len(mut parts: &[Part]) -> usize {
    let mut len = 0;
    while let [part, rest @ ..] = parts {
        let mut fields = part.fields;
        while let [field, rest @ ..] = fields {
            len += part.name.len();
            if !field.name.is_empty() {
                len += 1 + field.name.len();
            }
            fields = rest;
        }
        parts = rest;
    }
    len
}

/// Their paths, one after the other.
pub const fn paths<const LEN: usize>(mut parts: &[Part]) -> [u8; LEN] {
    let mut paths = [0; LEN];
    let mut at = 0;
    while let [part, rest @ ..] = parts {
        let mut fields = part.fields;
        while let [field, rest @ ..] = fields {
            at = copy(part.name, &mut paths, at);
            if !field.name.is_empty() {
                at = copy(".", &mut paths, at);
                at = copy(field.name, &mut paths, at);
            }
            fields = rest;
        }
        parts = rest;
    }
    paths
}

#[expect(clippy::indexing_slicing, reason = "at compile time")]
const fn copy(name: &str, into: &mut [u8], at: usize) -> usize {
    let mut copied = 0;
    while copied < name.len() {
        into[at + copied] = name.as_bytes()[copied];
        copied += 1;
    }
    at + copied
}

/// All fields, each with its path.
#[expect(clippy::indexing_slicing, reason = "at compile time")]
pub const fn fields<const COUNT: usize>(
    mut parts: &[Part],
    mut paths: &'static [u8],
) -> [Field; COUNT] {
    let mut all = [Field::new("", Kind::Flag); COUNT];
    let (mut at, mut positions) = (0, 0);
    while let [part, rest @ ..] = parts {
        let mut fields = part.fields;
        while let [field, rest @ ..] = fields {
            let len = match field.name.len() {
                0 => part.name.len(),
                len => part.name.len() + 1 + len,
            };
            let (path, others) = paths.split_at(len);
            let Ok(name) = core::str::from_utf8(path) else {
                panic!("a path consists of names");
            };
            all[at] = Field { name, ..*field };
            positions += check_position(field);
            assert!(positions < 2, "an entity has one `position`");
            (paths, fields) = (others, rest);
            at += 1;
        }
        parts = rest;
    }
    all
}

/// 1 if the field is the position, which must be a place.
const fn check_position(field: &Field) -> u8 {
    if !field.is_position {
        return 0;
    }
    assert!(
        matches!(field.kind, Kind::Signed { .. } | Kind::Unsigned { .. })
            && matches!(field.components, 2 | 3),
        "`position` is a vector of two or three numbers"
    );
    1
}

/// Stores one number or several.
#[inline]
pub fn store_numbers<V, Q>(
    value: &V,
    quantiser: &Q,
    row: &mut RowWriter<'_>,
) -> Result<(), FieldError>
where
    V: Vector<Number: Number<Wide = Q::Wide>>,
    Q: Quantiser,
{
    for number in value.numbers() {
        match quantiser.quantise(number.widen()) {
            Ok(lane) => row.put(lane),
            Err(why) => return Err(row.refuse(why)),
        }
    }
    Ok(())
}

/// Loads what [`store_numbers`] stored.
pub fn load_numbers<V, Q>(quantiser: &Q, row: &mut RowReader<'_>) -> V
where
    V: Vector<Number: Number<Wide = Q::Wide>>,
    Q: Quantiser,
{
    V::from_numbers(|| Number::narrow(quantiser.restore(row.take())))
}

/// What lies between two values, unless one of the numbers moved by more than `jump_over` steps.
pub fn numbers_between<V, Q>(quantiser: &Q, from: &V, next: &V, share: f32, jump_over: u32) -> V
where
    V: Vector<Number: Number<Wide = Q::Wide>>,
    Q: Quantiser,
{
    let mut pairs = from.numbers().zip(next.numbers());
    let jumped = jump_over != u32::MAX
        && pairs.any(|(from, next)| {
            quantiser.steps_between(from.widen(), next.widen()) > f64::from(jump_over)
        });
    if jumped {
        return held(from, next, share);
    }
    let mut pairs = from.numbers().zip(next.numbers());
    V::from_numbers(|| {
        // A vector asks for as many as it has.
        let (from, next) = pairs
            .next()
            .expect("both have the same number of components");
        Number::narrow(quantiser.between(from.widen(), next.widen(), share))
    })
}

/// Stores a rotation: a vector of x, y, z and w.
#[inline]
pub fn store_rotation<V>(
    value: &V,
    quantiser: &Quaternion,
    row: &mut RowWriter<'_>,
) -> Result<(), FieldError>
where
    V: Vector<Number: Number<Wide = f64>>,
{
    match quantiser.quantise(parts(value)) {
        Ok(lanes) => {
            lanes.into_iter().for_each(|lane| row.put(lane));
            Ok(())
        }
        Err(why) => Err(row.refuse(why)),
    }
}

/// Loads what [`store_rotation`] stored.
pub fn load_rotation<V>(quantiser: &Quaternion, row: &mut RowReader<'_>) -> V
where
    V: Vector<Number: Number<Wide = f64>>,
{
    let lanes = core::array::from_fn(|_| row.take());
    from_parts(quantiser.restore(lanes))
}

/// The rotation between two, the short way.
pub fn rotation_between<V>(from: &V, next: &V, share: f32) -> V
where
    V: Vector<Number: Number<Wide = f64>>,
{
    #[expect(
        clippy::cast_possible_truncation,
        reason = "for what is shown, an f32 will do"
    )]
    let quat = |value: &V| {
        let [x, y, z, w] = parts(value).map(|part| part as f32);
        tickwire_state::Quat { x, y, z, w }
    };
    let tickwire_state::Quat { x, y, z, w } = quat(from).blend(&quat(next), share);
    from_parts([x, y, z, w].map(f64::from))
}

#[inline]
fn parts<V: Vector<Number: Number<Wide = f64>>>(value: &V) -> [f64; 4] {
    const {
        assert!(
            V::COUNT == 4,
            "`quaternion` is for four numbers: x, y, z, w"
        )
    };
    let mut numbers = value.numbers().map(Number::widen);
    core::array::from_fn(|_| numbers.next().unwrap_or_default())
}

fn from_parts<V: Vector<Number: Number<Wide = f64>>>(parts: [f64; 4]) -> V {
    let mut parts = parts.into_iter();
    V::from_numbers(|| Number::narrow(parts.next().unwrap_or_default()))
}

/// Stores a text.
pub fn store_text<T: Text>(value: &T, max: u16, row: &mut RowWriter<'_>) -> Result<(), FieldError> {
    row.put_bytes(value.as_bytes(), max)
}

/// Loads what [`store_text`] stored.
pub fn load_text<T: Text>(row: &mut RowReader<'_>) -> T {
    T::from_bytes(row.take_bytes())
}

/// The earlier value, until the later one is reached.
pub fn hold<T: Clone>(from: &T, next: &T, share: f32) -> T {
    held(from, next, share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    const PLACE: Field = Field {
        kind: Kind::Signed { min: -9, max: 9 },
        scale: Scale::ONE,
        components: 2,
        is_position: true,
        ..Field::new("place", Kind::Flag)
    };

    const FLAG: Field = Field::new("", Kind::Flag);

    #[test]
    fn nested_names_become_paths() {
        let parts = &[
            Part {
                name: "body",
                fields: &[PLACE, FLAG],
            },
            Part {
                name: "on",
                fields: &[],
            },
        ];
        assert_eq!((count(parts), paths_len(parts)), (2, 14));
        assert_eq!(&paths::<14>(parts), b"body.placebody");
        let names = fields::<2>(parts, b"body.placebody").map(|field| field.name);
        assert_eq!(names, ["body.place", "body"]);
    }

    #[test]
    #[should_panic(expected = "an entity has one `position`")]
    fn a_second_position_does_not_compile() {
        let part = |name| Part {
            name,
            fields: &[PLACE],
        };
        let _: [Field; 2] = fields(&[part("a"), part("b")], b"a.placeb.place");
    }

    #[test]
    #[should_panic(expected = "`position` is a vector of two or three numbers")]
    fn a_position_is_a_vector() {
        const LINE: Field = Field {
            components: 1,
            ..PLACE
        };
        let part = Part {
            name: "a",
            fields: &[LINE],
        };
        let _: [Field; 1] = fields(&[part], b"a.place");
    }
}
