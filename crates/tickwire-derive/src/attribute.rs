//! What the attribute of a field says, checked against itself and against the types that tokens show.
//!
//! Every complaint says what to write instead.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Field, Token, Type};

/// A field's attribute, valid in itself.
pub(crate) struct FieldAttribute {
    pub(crate) form: Form,
    pub(crate) playback: Playback,
    pub(crate) is_position: bool,
}

/// How the value becomes lanes.
pub(crate) enum Form {
    /// As its type says.
    Own,
    IntegerBits(Expr),
    IntegerRange(Range),
    Steps {
        step: Expr,
        range: Option<Range>,
    },
    RangeAndBits {
        range: Range,
        bits: Expr,
    },
    Angle {
        bits: Expr,
    },
    Quaternion {
        bits: Expr,
    },
    Text {
        max: Expr,
    },
}

pub(crate) enum Playback {
    Hold,
    Interpolate { jump_over: Option<Expr> },
}

/// `a..=b`
pub(crate) struct Range {
    pub(crate) first: Expr,
    pub(crate) last: Expr,
}

impl Parse for Range {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let first = read_first(input)?;
        if input.peek(Token![..]) && !input.peek(Token![..=]) {
            return Err(input.error("write `a..=b`: both ends belong to the range"));
        }
        input.parse::<Token![..=]>()?;
        Ok(Self {
            first,
            last: input.parse()?,
        })
    }
}

/// What stands before the dots. Not simply an expression: to a parser of all Rust, which this is as soon as
/// another crate of the same program asks for one, the dots and what follows belong to it.
fn read_first(input: ParseStream<'_>) -> syn::Result<Expr> {
    let mut first = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![..]) && !input.peek(Token![,]) {
        first.extend([input.parse::<TokenTree>()?]);
    }
    syn::parse2(first)
}

/// The words of an attribute, as they stand there.
#[derive(Default)]
struct Words {
    step: Option<Expr>,
    range: Option<Range>,
    bits: Option<Expr>,
    max: Option<Expr>,
    jump_over: Option<Expr>,
    angle: Option<Span>,
    quaternion: Option<Span>,
    position: Option<Span>,
    interpolate: Option<Span>,
    hold: Option<Span>,
}

impl FieldAttribute {
    pub(crate) fn of(field: &Field) -> syn::Result<Self> {
        let words = Words::read(&field.attrs)?;
        let class = Class::of(&field.ty);
        let (position, interpolate, hold) = (words.position, words.interpolate, words.hold);
        let jump_over = words.jump_over.clone();
        let form = words.into_form(class, field.ty.span())?;
        check_position(&form, position)?;
        Ok(Self {
            playback: playback(&form, interpolate, hold, jump_over)?,
            form,
            is_position: position.is_some(),
        })
    }
}

impl Words {
    fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut words = Self::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("replicate")) {
            attribute.parse_nested_meta(|meta| words.read_word(&meta))?;
        }
        Ok(words)
    }

    fn read_word(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let word = meta.path.get_ident().map(ToString::to_string);
        match word.as_deref() {
            Some("step") => value(meta, &mut self.step),
            Some("range") => value(meta, &mut self.range),
            Some("bits") => value(meta, &mut self.bits),
            Some("max") => value(meta, &mut self.max),
            Some("jump_over") => value(meta, &mut self.jump_over),
            Some("angle") => flag(meta, &mut self.angle),
            Some("quaternion") => flag(meta, &mut self.quaternion),
            Some("position") => flag(meta, &mut self.position),
            Some("interpolate") => flag(meta, &mut self.interpolate),
            Some("hold") => flag(meta, &mut self.hold),
            _ => Err(meta.error(
                "not a word of `replicate`; there are step, range, bits, angle, quaternion, max, \
                 position, interpolate, hold and jump_over",
            )),
        }
    }

    fn into_form(self, class: Class, at: Span) -> syn::Result<Form> {
        let Self {
            step,
            range,
            bits,
            max,
            ..
        } = self;
        match (self.quaternion, self.angle, max) {
            (Some(at), None, None) => match (bits, step, range) {
                (Some(bits), None, None) => Ok(Form::Quaternion { bits }),
                _ => Err(Error::new(
                    at,
                    "write `quaternion, bits = 10`: bits of each of three components",
                )),
            },
            (None, Some(at), None) => match (bits, step, range) {
                (Some(bits), None, None) => Ok(Form::Angle { bits }),
                _ => Err(Error::new(
                    at,
                    "write `angle, bits = 10`: a turn has 2^bits directions",
                )),
            },
            (None, None, Some(max)) => match (bits, step, range) {
                (None, None, None) => Ok(Form::Text { max }),
                _ => Err(Error::new(
                    max.span(),
                    "`max` stands alone: it bounds the bytes of a `String` or `Vec<u8>`",
                )),
            },
            (None, None, None) => number(step, range, bits, class, at),
            _ => Err(Error::new(
                at,
                "choose one of `quaternion`, `angle` and `max`",
            )),
        }
    }
}

fn number(
    step: Option<Expr>,
    range: Option<Range>,
    bits: Option<Expr>,
    class: Class,
    at: Span,
) -> syn::Result<Form> {
    let fail = |message: &str| Err(Error::new(at, message));
    match (step, range, bits) {
        (None, None, None) => match class {
            Class::Float => fail(
                "how exact is this float? write `#[replicate(step = 0.01)]`, \
                 `#[replicate(range = 0.0..=1.0, bits = 8)]` or `#[replicate(angle, bits = 10)]`",
            ),
            Class::Text => fail("how long can this be? write `#[replicate(max = 32)]`, in bytes"),
            Class::WideInteger => fail(
                "integers travel with at most 32 bits: write `#[replicate(bits = 20)]` or \
                 `#[replicate(range = 0..=1_000_000)]`",
            ),
            Class::Integer | Class::Other => Ok(Form::Own),
        },
        _ if matches!(class, Class::Text) => {
            fail("bytes have neither range nor bits: write `#[replicate(max = 32)]`")
        }
        (Some(_), _, Some(_)) => fail(
            "`step` says how many bits it takes: leave `bits` out, or write `range` and `bits`",
        ),
        (Some(_), ..) if class.is_integer() => {
            fail("`step` is for floats; for an integer write `range = 0..=100` or `bits = 7`")
        }
        (Some(step), range, None) => Ok(Form::Steps { step, range }),
        (None, Some(_), Some(_)) if class.is_integer() => {
            fail("an integer has `range` or `bits`, not both")
        }
        (None, Some(range), Some(bits)) => Ok(Form::RangeAndBits { range, bits }),
        (None, Some(_), None) if matches!(class, Class::Float) => {
            fail("how exact is this float within its range? add `step = 0.01` or `bits = 8`")
        }
        (None, Some(range), None) => Ok(Form::IntegerRange(range)),
        (None, None, Some(_)) if matches!(class, Class::Float) => {
            fail("`bits` of what range? add `range = 0.0..=1.0`, or `angle` for a direction")
        }
        (None, None, Some(bits)) => Ok(Form::IntegerBits(bits)),
    }
}

fn playback(
    form: &Form,
    interpolate: Option<Span>,
    hold: Option<Span>,
    jump_over: Option<Expr>,
) -> syn::Result<Playback> {
    let by_default = match form {
        Form::Own | Form::IntegerBits(_) | Form::IntegerRange(_) | Form::Text { .. } => false,
        Form::Steps { .. }
        | Form::RangeAndBits { .. }
        | Form::Angle { .. }
        | Form::Quaternion { .. } => true,
    };
    if let (Some(at), Some(_)) = (interpolate, hold) {
        return Err(Error::new(at, "choose one of `interpolate` and `hold`"));
    }
    if let (Some(at), Form::Own | Form::Text { .. }) = (interpolate, form) {
        return Err(Error::new(
            at,
            "`interpolate` belongs to a number that says `step`, `range` or `bits`; in a nested type, to \
             its fields",
        ));
    }
    let interpolated = interpolate.is_some() || (by_default && hold.is_none());
    if let Some(distance) = &jump_over {
        if !interpolated {
            return Err(Error::new(
                distance.span(),
                "`jump_over` is for what is interpolated; what is held always jumps",
            ));
        }
        if matches!(form, Form::Quaternion { .. }) {
            return Err(Error::new(
                distance.span(),
                "`jump_over` is for numbers; a quaternion is interpolated or held",
            ));
        }
    }
    Ok(if interpolated {
        Playback::Interpolate { jump_over }
    } else {
        Playback::Hold
    })
}

fn check_position(form: &Form, position: Option<Span>) -> syn::Result<()> {
    match (position, form) {
        (None, _)
        | (
            _,
            Form::Steps { .. }
            | Form::RangeAndBits { .. }
            | Form::IntegerBits(_)
            | Form::IntegerRange(_),
        ) => Ok(()),
        (Some(at), _) => Err(Error::new(
            at,
            "`position` is a vector of two or three numbers, such as \
             `#[replicate(step = 0.01, position)]` on a `[f32; 3]`",
        )),
    }
}

/// What the tokens of a type show.
#[derive(Clone, Copy)]
enum Class {
    Float,
    Integer,
    /// Does not fit a lane as it is.
    WideInteger,
    Text,
    /// A type of the game, an alias, or one that needs no attribute.
    Other,
}

impl Class {
    fn of(ty: &Type) -> Self {
        match ty {
            Type::Array(array) => Self::of(&array.elem),
            Type::Path(path) => {
                let Some(last) = path.path.segments.last() else {
                    return Self::Other;
                };
                match last.ident.to_string().as_str() {
                    "f32" | "f64" => Self::Float,
                    "u8" | "u16" | "u32" | "i8" | "i16" | "i32" => Self::Integer,
                    "u64" | "i64" | "usize" | "isize" => Self::WideInteger,
                    "String" | "Vec" => Self::Text,
                    _ => Self::Other,
                }
            }
            _ => Self::Other,
        }
    }

    const fn is_integer(self) -> bool {
        matches!(self, Self::Integer | Self::WideInteger)
    }
}

fn value<T: Parse>(meta: &ParseNestedMeta<'_>, place: &mut Option<T>) -> syn::Result<()> {
    if place.is_some() {
        return Err(meta.error("this stands here twice"));
    }
    *place = Some(meta.value()?.parse()?);
    Ok(())
}

fn flag(meta: &ParseNestedMeta<'_>, place: &mut Option<Span>) -> syn::Result<()> {
    if place.replace(meta.path.span()).is_some() {
        return Err(meta.error("this stands here twice"));
    }
    Ok(())
}
