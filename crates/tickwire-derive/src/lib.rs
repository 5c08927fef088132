//! The derives of `tickwire-replica`, which re-exports and documents them.
//!
//! ```text
//!   tokens ──▶ attribute: what a field's `#[replicate(…)]` says ──▶ member: how the field is
//!              (and what to write instead)                          stored, loaded, shown
//!                                                                          │
//!              archetypes: an enum of entity types                 replicate: the whole type
//! ```
//!
//! A derive sees tokens, not types: `Position` may be an `[f32; 3]`. So the attribute decides how a field
//! is quantised, and types are looked at only to say early, and in words, what is missing. Whatever
//! needs to know types or to compute is a function of `tickwire_replica::derive`.

#![forbid(unsafe_code)]

mod archetypes;
mod attribute;
mod member;
mod path;
mod replicate;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct or an enum travel: an entity, an input or a message.
///
/// Each field says in `#[replicate(…)]` how it is quantised:
///
/// | type | attribute |
/// |---|---|
/// | `bool`, `u8` to `u32`, `i8` to `i32`, `EntityId` | none |
/// | an integer | `bits = 5`, or `range = 1..=31` |
/// | `f32`, `f64` | `step = 0.01`, optionally with `range = -100.0..=100.0` |
/// | `f32`, `f64` | `range = 0.0..=1.0, bits = 8` |
/// | an angle in radians | `angle, bits = 10` |
/// | a unit quaternion of four floats: x, y, z, w | `quaternion, bits = 10` |
/// | `String`, `Vec<u8>` | `max = 32` (bytes) |
/// | an array of one of the numbers, `Vec2`, `Vec3`, `Quat` (feature `glam`) | as its elements |
/// | a struct or enum that derives `Replicate` | none |
///
/// And how a replica shows it between two sends: floats, angles and quaternions are interpolated unless
/// they say `hold`, all others held unless numbers say `interpolate`. With `jump_over = 5.0` a value that
/// moves by more than that along one axis jumps instead. `position` marks the vector that decides who is
/// near the entity; it may stand once.
///
/// An enum travels as the number of its variant, then the fields of all its variants, those of the
/// others 0. The type must be `Clone`. Sizes and bounds may be constants.
///
/// `#[replicate(crate = "path")]` on the type says where `tickwire_replica` is, if the package depends on
/// it under another name; as `tickwire_replica` and as `tickwire::replica` it is found.
#[proc_macro_derive(Replicate, attributes(replicate))]
pub fn derive_replicate(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    replicate::expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes an enum the list of a world's entity types.
///
/// Each variant holds one type that derives `Replicate`, and no type stands twice.
#[proc_macro_derive(Archetypes, attributes(replicate))]
pub fn derive_archetypes(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    archetypes::expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
