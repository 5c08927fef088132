//! Enums whose variants are shown to people: why somebody left, why a call was refused.

/// Declares an enum together with what each of its variants says.
///
/// A variant is followed by `=>` and a format string, which may name the variant's fields and whatever is in
/// scope; further arguments stand in parentheses behind it. Fields of a tuple variant need a name for that.
/// `: Error` behind the enum's name makes it an error as well.
///
/// ```
/// const NAME_MAX: usize = 32;
///
/// tickwire_wire::display_enum! {
///     /// Why a name is not taken.
///     #[derive(Debug)]
///     pub enum BadName: Error {
///         /// It has too many bytes.
///         TooLong => "a name has at most {NAME_MAX} bytes",
///         /// Somebody else has it.
///         Taken {
///             /// Who.
///             player: u16,
///         } => "player {player} has this name",
///         /// It holds a character that cannot be shown.
///         Character(character: char) => "a name must not hold {}" (character.escape_debug()),
///     }
/// }
///
/// assert_eq!(BadName::TooLong.to_string(), "a name has at most 32 bytes");
/// assert_eq!(BadName::Taken { player: 7 }.to_string(), "player 7 has this name");
/// assert_eq!(BadName::Character('\n').to_string(), "a name must not hold \\n");
/// ```
#[macro_export]
macro_rules! display_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident $(: $error:ident)? {
            $(
                $(#[$variant_meta:meta])*
                $variant:ident
                $(($($bound:ident: $bound_type:ty),+))?
                $({ $($(#[$field_meta:meta])* $field:ident: $field_type:ty,)+ })?
                => $words:literal $(($($argument:expr),+))?,
            )+
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $(
                $(#[$variant_meta])*
                $variant $(($($bound_type),+))? $({ $($(#[$field_meta])* $field: $field_type,)+ })?,
            )+
        }

        impl ::core::fmt::Display for $name {
            #[allow(unused_variables, reason = "not every field has to be said")]
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $(
                        Self::$variant $(($($bound),+))? $({ $($field),+ })? => {
                            ::core::write!(f, $words $(, $($argument),+)?)
                        }
                    )+
                }
            }
        }

        $(impl ::core::error::$error for $name {})?
    };
}
