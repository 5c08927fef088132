//! `#[derive(Archetypes)]`: an enum of newtype variants as the list of a world's entity types.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Ident, Type, Variant};

use crate::path;

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let cases = cases(input)?;
    let replica = path::replica(&input.attrs)?;
    let name = &input.ident;
    let variants: Vec<_> = cases.iter().map(|(variant, _)| variant).collect();
    let names: Vec<_> = variants.iter().map(ToString::to_string).collect();
    let types: Vec<_> = cases.iter().map(|(_, ty)| ty).collect();
    let numbers: Vec<_> = (0..cases.len()).collect();
    let types_of = expand_types(name, &cases);
    Ok(quote! {
        const _: () = {
            use #replica as replica;

            #[automatically_derived]
            impl replica::Archetypes for #name {
                fn schema() -> replica::Schema {
                    replica::Schema::new([
                        #(replica::ArchetypeSchema::of::<#types>(#names)),*
                    ].into())
                }

                fn archetype(&self) -> usize {
                    match self { #(Self::#variants(_) => #numbers),* }
                }

                fn store(
                    &self,
                    row: &mut replica::RowWriter<'_>,
                ) -> ::core::result::Result<(), replica::FieldError> {
                    match self {
                        #(Self::#variants(value) => replica::Replicate::store(value, row)),*
                    }
                }

                fn load(
                    archetype: usize,
                    row: &mut replica::RowReader<'_>,
                ) -> ::core::option::Option<Self> {
                    match archetype {
                        #(#numbers => ::core::option::Option::Some(
                            Self::#variants(replica::Replicate::load(row)),
                        ),)*
                        _ => ::core::option::Option::None,
                    }
                }

                #[allow(unreachable_patterns, reason = "there may be one variant only")]
                fn between(&self, next: &Self, share: f32) -> Self {
                    match (self, next) {
                        #((Self::#variants(from), Self::#variants(next)) => {
                            Self::#variants(replica::Replicate::between(from, next, share))
                        })*
                        #((Self::#variants(from), _) => {
                            Self::#variants(::core::clone::Clone::clone(from))
                        })*
                    }
                }
            }

            #types_of
        };
    })
}

/// What each of the types knows about the list.
fn expand_types(name: &Ident, cases: &[(&Ident, &Type)]) -> TokenStream {
    let variants = cases.iter().map(|(variant, _)| variant);
    let types: Vec<_> = cases.iter().map(|(_, ty)| ty).collect();
    let numbers = 0..cases.len();
    let of = variants.clone();
    quote! {
        #(
            #[automatically_derived]
            impl replica::Archetype<#name> for #types {
                const INDEX: usize = #numbers;

                #[allow(unreachable_patterns, reason = "there may be one variant only")]
                fn of(value: #name) -> ::core::option::Option<Self> {
                    match value {
                        #name::#of(value) => ::core::option::Option::Some(value),
                        _ => ::core::option::Option::None,
                    }
                }
            }

            #[automatically_derived]
            impl ::core::convert::From<#types> for #name {
                fn from(value: #types) -> Self {
                    Self::#variants(value)
                }
            }
        )*
    }
}

/// The name and the type of each variant.
fn cases(input: &DeriveInput) -> syn::Result<Vec<(&Ident, &Type)>> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "`Archetypes` is for an enum with a variant for each entity type, such as \
             `enum Entity { Ship(Ship), Rock(Rock) }`",
        ));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "a list of entity types has no parameters",
        ));
    }
    if data.variants.is_empty() {
        return Err(Error::new_spanned(
            &input.ident,
            "a world without entity types: add a variant such as `Ship(Ship)`",
        ));
    }
    data.variants.iter().map(newtype).collect()
}

/// The name and the type of a variant that holds one value.
fn newtype(variant: &Variant) -> syn::Result<(&Ident, &Type)> {
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields
            .unnamed
            .first()
            .map(|field| (&variant.ident, &field.ty))
            .ok_or_else(|| Error::new_spanned(variant, "a variant holds one type")),
        _ => Err(Error::new_spanned(
            variant,
            format!(
                "a variant holds one entity type: write `{0}({0})`, and what it consists of in `struct {0}`",
                variant.ident
            ),
        )),
    }
}
