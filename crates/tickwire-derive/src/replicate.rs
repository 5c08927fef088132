//! `#[derive(Replicate)]`: a struct's members, or an enum's variants, as one list of fields.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Ident, Variant};

use crate::member::Member;
use crate::path;

/// What is written for a type: constants, then the bodies of the trait's functions.
struct Expansion {
    constants: TokenStream,
    store: TokenStream,
    load: TokenStream,
    between: TokenStream,
}

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "a type that travels has no parameters, since both sides must know its fields: write a type \
             for each use",
        ));
    }
    let replica = path::replica(&input.attrs)?;
    let Expansion {
        constants,
        store,
        load,
        between,
    } = match &input.data {
        Data::Struct(data) => of_struct(&data.fields)?,
        Data::Enum(data) => of_enum(&input.ident, data)?,
        Data::Union(data) => {
            return Err(Error::new_spanned(
                data.union_token,
                "a union does not say which of its fields is there: write an enum",
            ));
        }
    };
    let name = &input.ident;
    Ok(quote! {
        #[allow(clippy::all, clippy::pedantic, clippy::nursery, unused_qualifications)]
        const _: () = {
            use #replica as replica;

            #constants

            #[automatically_derived]
            impl replica::Replicate for #name {
                const FIELDS: &'static [replica::Field] = &FIELDS;

                #[inline]
                fn store(
                    &self,
                    row: &mut replica::RowWriter<'_>,
                ) -> ::core::result::Result<(), replica::FieldError> {
                    #store
                    ::core::result::Result::Ok(())
                }

                fn load(row: &mut replica::RowReader<'_>) -> Self {
                    #load
                }

                fn between(&self, next: &Self, share: f32) -> Self {
                    #between
                }
            }

            #[automatically_derived]
            impl replica::derive::Blend for #name {
                fn blend(&self, next: &Self, share: f32) -> Self {
                    replica::Replicate::between(self, next, share)
                }
            }
        };
    })
}

fn of_struct(fields: &Fields) -> syn::Result<Expansion> {
    let members = Member::all(fields, "")?;
    let settings = members.iter().map(Member::settings);
    let parts = members.iter().map(Member::part);
    let flat = flat(&format_ident!("FIELDS"), quote!(&[#(#parts),*]));
    let pattern = members.iter().map(|member| member.pattern(""));
    let store = members.iter().map(Member::store);
    let load = members.iter().map(Member::load);
    let from = members.iter().map(|member| member.pattern("from_"));
    let next = members.iter().map(|member| member.pattern("next_"));
    let between = members
        .iter()
        .map(|member| member.between("from_", "next_"));
    Ok(Expansion {
        constants: quote!(#(#settings)* #flat),
        store: quote! {
            let Self { #(#pattern),* } = self;
            #(#store)*
        },
        load: quote!(Self { #(#load),* }),
        between: quote! {
            let Self { #(#from),* } = self;
            let Self { #(#next),* } = next;
            Self { #(#between),* }
        },
    })
}

fn of_enum(name: &Ident, data: &DataEnum) -> syn::Result<Expansion> {
    let variants = data
        .variants
        .iter()
        .enumerate()
        .map(|(at, variant)| Case::new(at, variant, data.variants.len()))
        .collect::<syn::Result<Vec<_>>>()?;
    let Some(last) = variants
        .len()
        .checked_sub(1)
        .and_then(|last| u32::try_from(last).ok())
    else {
        return Err(Error::new_spanned(
            name,
            "an enum without variants has no values: add one",
        ));
    };
    let constants = variants.iter().map(Case::constants);
    let parts = variants.iter().map(Case::part);
    let fields = flat(
        &format_ident!("FIELDS"),
        quote! {&[
            replica::derive::Part {
                name: "variant",
                fields: &[replica::Field::new("", replica::Kind::Unsigned { max: #last })],
            },
            #(#parts),*
        ]},
    );
    let store = variants.iter().map(|case| case.store(&variants));
    let load = variants.iter().map(|case| case.load(&variants));
    let between = variants.iter().map(Case::between);
    Ok(Expansion {
        constants: quote!(#(#constants)* #fields),
        store: quote!(match self { #(#store),* }),
        load: quote! {
            let value;
            match row.take() { #(#load),* }
            value
        },
        between: quote! {
            match (self, next) {
                #(#between,)*
                #[allow(unreachable_patterns)]
                (from, next) => replica::derive::hold(from, next, share),
            }
        },
    })
}

/// One variant.
struct Case<'a> {
    number: u32,
    name: &'a Ident,
    members: Vec<Member>,
    /// The constant with its fields.
    fields: Ident,
    is_last: bool,
}

impl<'a> Case<'a> {
    fn new(at: usize, variant: &'a Variant, count: usize) -> syn::Result<Self> {
        let members = Member::all(&variant.fields, &format!("_{at}"))?;
        if members.iter().any(Member::is_position) {
            return Err(Error::new_spanned(
                &variant.fields,
                "a variant's field may be absent, and a `position` is always there: write it in the \
                 struct that holds the enum",
            ));
        }
        Ok(Self {
            number: u32::try_from(at).unwrap_or(u32::MAX),
            name: &variant.ident,
            members,
            fields: format_ident!("VARIANT_{at}"),
            is_last: at + 1 == count,
        })
    }

    fn constants(&self) -> TokenStream {
        let settings = self.members.iter().map(Member::settings);
        let parts = self.members.iter().map(Member::part);
        let fields = flat(&self.fields, quote!(&[#(#parts),*]));
        quote!(#(#settings)* #fields)
    }

    fn part(&self) -> TokenStream {
        let name = self.name.to_string();
        let fields = &self.fields;
        quote!(replica::derive::Part { name: #name, fields: &#fields })
    }

    fn store(&self, all: &[Self]) -> TokenStream {
        let Self { number, name, .. } = self;
        let pattern = self.members.iter().map(|member| member.pattern(""));
        let store = self.members.iter().map(Member::store);
        let [before, after] = self.others(all);
        quote! {
            Self::#name { #(#pattern),* } => {
                row.put(#number);
                #(row.skip(&#before);)*
                #(#store)*
                #(row.skip(&#after);)*
            }
        }
    }

    fn load(&self, all: &[Self]) -> TokenStream {
        let Self { number, name, .. } = self;
        let load = self.members.iter().map(Member::load);
        let [before, after] = self.others(all);
        // There are no numbers above the last: decoders see to that.
        let number = if self.is_last {
            quote!(_)
        } else {
            quote!(#number)
        };
        quote! {
            #number => {
                #(row.skip(&#before);)*
                value = Self::#name { #(#load),* };
                #(row.skip(&#after);)*
            }
        }
    }

    fn between(&self) -> TokenStream {
        let name = self.name;
        let from = self.members.iter().map(|member| member.pattern("from_"));
        let next = self.members.iter().map(|member| member.pattern("next_"));
        let between = self
            .members
            .iter()
            .map(|member| member.between("from_", "next_"));
        quote! {
            (Self::#name { #(#from),* }, Self::#name { #(#next),* }) => {
                Self::#name { #(#between),* }
            }
        }
    }

    /// The fields of the variants before it, and of those after it.
    fn others<'b>(&self, all: &'b [Self]) -> [Vec<&'b Ident>; 2] {
        let with_fields = |case: &&Self| !case.members.is_empty();
        let (before, after): (Vec<_>, Vec<_>) = all
            .iter()
            .filter(with_fields)
            .filter(|case| case.number != self.number)
            .partition(|case| case.number < self.number);
        [before, after].map(|cases| cases.into_iter().map(|case| &case.fields).collect())
    }
}

/// A constant with the fields of these parts, each with its path.
fn flat(name: &Ident, parts: TokenStream) -> TokenStream {
    let [list, count, len, paths] =
        ["PARTS", "COUNT", "LEN", "PATHS"].map(|word| format_ident!("{name}_{word}"));
    quote! {
        const #list: &[replica::derive::Part] = #parts;
        const #count: usize = replica::derive::count(#list);
        const #len: usize = replica::derive::paths_len(#list);
        const #paths: [u8; #len] = replica::derive::paths(#list);
        const #name: [replica::Field; #count] = replica::derive::fields(#list, &#paths);
    }
}
