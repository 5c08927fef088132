//! One member of a struct or of an enum's variant: how it is stored, loaded and shown.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Field, Fields, Ident, Index, Member as Name, Type};

use crate::attribute::{FieldAttribute, Form, Playback, Range};

/// One member.
pub(crate) struct Member {
    /// As it stands in the type: a name, or a number.
    name: Name,
    /// The variable that holds a reference to it.
    pub(crate) variable: Ident,
    ty: Type,
    attribute: FieldAttribute,
    /// The constant with its settings, unless its type says it all.
    settings: Ident,
}

impl Member {
    /// The members of a struct, or of a variant. `prefix` keeps their constants apart.
    pub(crate) fn all(fields: &Fields, prefix: &str) -> syn::Result<Vec<Self>> {
        let member = |(at, field): (usize, &Field)| {
            Ok(Self {
                name: match &field.ident {
                    Some(name) => Name::Named(name.clone()),
                    None => Name::Unnamed(Index::from(at)),
                },
                variable: format_ident!("member_{at}"),
                ty: field.ty.clone(),
                attribute: FieldAttribute::of(field)?,
                settings: format_ident!("SETTINGS{prefix}_{at}"),
            })
        };
        fields.iter().enumerate().map(member).collect()
    }

    pub(crate) const fn is_position(&self) -> bool {
        self.attribute.is_position
    }

    /// Binds a reference to it, in a pattern.
    pub(crate) fn pattern(&self, prefix: &str) -> TokenStream {
        let Self { name, variable, .. } = self;
        let variable = format_ident!("{prefix}{variable}");
        quote!(#name: #variable)
    }

    /// Its settings, as a constant that is computed when it is compiled.
    pub(crate) fn settings(&self) -> TokenStream {
        let Self { ty, settings, .. } = self;
        let number = quote!(<#ty as replica::quantise::Vector>::Number);
        let digits = quote!(<#number as replica::quantise::Number>::DIGITS);
        let bounds = |Range { first, last }: &Range, ty: &str| {
            let ty = Ident::new(ty, Span::call_site());
            quote!((#first) as #ty, (#last) as #ty)
        };
        let (kind, value) = match &self.attribute.form {
            Form::Own => return TokenStream::new(),
            Form::Text { max } => {
                return quote!(const #settings: u16 = #max;);
            }
            Form::IntegerBits(bits) => {
                let signed = quote!(<#number as replica::quantise::Number>::SIGNED);
                ("Integer", quote!(bits(#bits, #signed)))
            }
            Form::IntegerRange(range) => {
                let bounds = bounds(range, "i64");
                ("Integer", quote!(range(#bounds)))
            }
            Form::Steps { step, range: None } => ("Real", quote!(steps((#step) as f64, #digits))),
            Form::Steps {
                step,
                range: Some(range),
            } => {
                let bounds = bounds(range, "f64");
                (
                    "Real",
                    quote!(steps_within((#step) as f64, #bounds, #digits)),
                )
            }
            Form::RangeAndBits { range, bits } => {
                let bounds = bounds(range, "f64");
                ("Real", quote!(range(#bounds, #bits, #digits)))
            }
            Form::Angle { bits } => ("Angle", quote!(new(#bits, #digits))),
            Form::Quaternion { bits } => ("Quaternion", quote!(new(#bits))),
        };
        let kind = Ident::new(kind, Span::call_site());
        // An error of the computation is shown at the field.
        quote_spanned! {ty.span()=>
            const #settings: replica::quantise::#kind = replica::quantise::#kind::#value;
        }
    }

    /// The part that it is of its type's fields.
    pub(crate) fn part(&self) -> TokenStream {
        let name = match &self.name {
            Name::Named(name) => name.to_string().trim_start_matches("r#").to_owned(),
            Name::Unnamed(index) => index.index.to_string(),
        };
        let fields = self.fields();
        quote!(replica::derive::Part { name: #name, fields: #fields })
    }

    fn fields(&self) -> TokenStream {
        let Self { ty, settings, .. } = self;
        let playback = self.playback();
        let is_position = self.attribute.is_position;
        let vector = quote!(<#ty as replica::quantise::Vector>::COUNT);
        let (kind, scale, components) = match &self.attribute.form {
            Form::Own => return quote!(<#ty as replica::Replicate>::FIELDS),
            Form::Text { .. } => (
                quote!(replica::Kind::Bytes { max: #settings }),
                quote!(replica::Scale::ONE),
                quote!(1),
            ),
            Form::Quaternion { .. } => (
                quote!(#settings.kind()),
                quote!(replica::Scale::ONE),
                quote!(1),
            ),
            Form::Angle { .. } => (
                quote!(#settings.kind()),
                quote!(replica::Scale::ONE),
                vector,
            ),
            _ => (quote!(#settings.kind()), quote!(#settings.scale()), vector),
        };
        quote! {
            &[replica::Field {
                name: "",
                kind: #kind,
                scale: #scale,
                components: #components,
                playback: #playback,
                is_position: #is_position,
            }]
        }
    }

    fn playback(&self) -> TokenStream {
        match &self.attribute.playback {
            Playback::Hold => quote!(replica::Playback::Hold),
            Playback::Interpolate { .. } => {
                let jump_over = self.jump_over();
                quote!(replica::Playback::Interpolate { jump_over: #jump_over })
            }
        }
    }

    fn jump_over(&self) -> TokenStream {
        let settings = &self.settings;
        match &self.attribute.playback {
            Playback::Interpolate {
                jump_over: Some(distance),
            } => quote!(#settings.jump_over((#distance) as f64)),
            _ => quote!(u32::MAX),
        }
    }

    /// Stores what the variable refers to, or returns the error.
    pub(crate) fn store(&self) -> TokenStream {
        let Self {
            variable, settings, ..
        } = self;
        match &self.attribute.form {
            Form::Own => quote!(replica::Replicate::store(#variable, row)?;),
            Form::Text { .. } => quote!(replica::derive::store_text(#variable, #settings, row)?;),
            Form::Quaternion { .. } => {
                quote!(replica::derive::store_rotation(#variable, &#settings, row)?;)
            }
            _ => quote!(replica::derive::store_numbers(#variable, &#settings, row)?;),
        }
    }

    /// The member with what was loaded.
    pub(crate) fn load(&self) -> TokenStream {
        let Self { name, settings, .. } = self;
        let loaded = match &self.attribute.form {
            Form::Own => quote!(replica::Replicate::load(row)),
            Form::Text { .. } => quote!(replica::derive::load_text(row)),
            Form::Quaternion { .. } => quote!(replica::derive::load_rotation(&#settings, row)),
            _ => quote!(replica::derive::load_numbers(&#settings, row)),
        };
        quote!(#name: #loaded)
    }

    /// The member with what lies between that of two values, bound with these prefixes.
    pub(crate) fn between(&self, from: &str, next: &str) -> TokenStream {
        let Self {
            name,
            settings,
            variable,
            ..
        } = self;
        let from = format_ident!("{from}{variable}");
        let next = format_ident!("{next}{variable}");
        let shown = match (&self.attribute.form, &self.attribute.playback) {
            (Form::Own, _) => quote!(replica::Replicate::between(#from, #next, share)),
            (_, Playback::Hold) => quote!(replica::derive::hold(#from, #next, share)),
            (Form::Quaternion { .. }, _) => {
                quote!(replica::derive::rotation_between(#from, #next, share))
            }
            _ => {
                let jump_over = self.jump_over();
                quote!(replica::derive::numbers_between(&#settings, #from, #next, share, #jump_over))
            }
        };
        quote!(#name: #shown)
    }
}
