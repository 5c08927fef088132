//! Named counters, so that whatever was refused can be seen.

/// Declares a struct of counters whose field names are the names an operator sees.
///
/// ```
/// tickwire_session::counters! {
///     /// What was dropped, by cause.
///     pub struct Dropped {
///         /// Shorter than a header.
///         short_header,
///         /// Of another protocol.
///         wrong_app_id,
///     }
/// }
///
/// let mut dropped = Dropped::default();
/// dropped.wrong_app_id += 1;
/// let mut seen = Vec::new();
/// dropped.visit(&mut |name, count| seen.push((name, count)));
/// assert_eq!(seen, [("short_header", 0), ("wrong_app_id", 1)]);
/// ```
#[macro_export]
macro_rules! counters {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        $vis struct $name {
            $($(#[$field_meta])* pub $field: u64,)*
        }

        impl $name {
            /// Shows every counter by name, in the order of declaration.
            $vis fn visit(&self, visit: &mut dyn FnMut(&'static str, u64)) {
                $(visit(stringify!($field), self.$field);)*
            }
        }
    };
}
