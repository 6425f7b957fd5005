//! The derive macros of `schema-binary`, which documents and re-exports them.
//!
//! Each macro reads the same model of a type and writes one trait's code: `structs` and `enums` for what has
//! fields, `literals` for enums that are a choice of literals, `newtypes` for wrappers.

mod enums;
mod fields;
mod hash;
mod literals;
mod model;
mod newtypes;
mod selfless;
mod structs;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;

use crate::model::{Kind, Model};

/// Which trait to write code for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trait {
    Layout,
    Encode,
    Decode,
}

/// Tells the layout of a type. See the crate `schema-binary`.
#[proc_macro_derive(Layout, attributes(schema))]
pub fn derive_layout(input: TokenStream) -> TokenStream {
    derive(input, Trait::Layout)
}

/// Writes values of a type; needs `Layout`. See the crate `schema-binary`.
#[proc_macro_derive(Encode, attributes(schema))]
pub fn derive_encode(input: TokenStream) -> TokenStream {
    derive(input, Trait::Encode)
}

/// Reads values of a type; needs `Layout`. See the crate `schema-binary`.
#[proc_macro_derive(Decode, attributes(schema))]
pub fn derive_decode(input: TokenStream) -> TokenStream {
    derive(input, Trait::Decode)
}

fn derive(input: TokenStream, which: Trait) -> TokenStream {
    let input = syn::parse(input).and_then(|input| selfless::without_self(&input));
    let code = input.and_then(|input| Model::new(&input)).map(|model| code(&model, which));
    code.unwrap_or_else(|error| error.to_compile_error()).into()
}

fn code(model: &Model, which: Trait) -> Tokens {
    let code = match &model.kind {
        Kind::Struct(fields) => structs::code(model, fields, which),
        Kind::Newtype(inner) => newtypes::code(model, inner, which),
        Kind::Literals(variants) => literals::code(model, variants, which),
        Kind::Union(variants) => enums::code(model, variants, which),
    };
    // A block of its own keeps the names of the helper types from meeting others.
    quote::quote! {
        #[doc(hidden)]
        #[allow(dead_code, unreachable_code, unused_variables, clippy::all, clippy::pedantic, clippy::restriction)]
        const _: () = {
            use ::schema_binary::engine as __engine;
            use ::schema_binary::layout as __layout;
            use ::schema_binary::{Code as __Code, Error as __Error};
            #code
        };
    }
}
