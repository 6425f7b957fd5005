//! Code for enums that are a choice of literals.

use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::Lit;

use crate::Trait;
use crate::fields::literal_value;
use crate::model::{LiteralVariant, Model};

pub(crate) fn code(model: &Model, variants: &[LiteralVariant], which: Trait) -> Tokens {
    if !of_one_kind(variants) {
        return quote!(::core::compile_error!("the literals of an enum must be all strings, all numbers or all booleans"););
    }
    match which {
        Trait::Layout => layout(model, variants),
        Trait::Encode => encode(model, variants),
        Trait::Decode => decode(model, variants),
    }
}

fn kind(literal: &Lit) -> u8 {
    match literal {
        Lit::Bool(_) => 1,
        Lit::Int(_) | Lit::Float(_) => 4,
        _ => 5,
    }
}

fn of_one_kind(variants: &[LiteralVariant]) -> bool {
    let mut kinds = variants.iter().map(|variant| kind(&variant.literal));
    kinds.next().is_some_and(|first| kinds.all(|kind| kind == first))
}

fn layout(model: &Model, variants: &[LiteralVariant]) -> Tokens {
    let name = &model.name;
    let kind = variants.first().map_or(0, |variant| kind(&variant.literal));
    let (slot, kinds) = match kind {
        1 => (quote!(Fixed(1)), quote!(BOOL)),
        4 => (quote!(Sized), quote!(NUMBER)),
        _ => (quote!(Sized), quote!(SIZED)),
    };
    let literals = variants.iter().map(|variant| literal_value(&variant.literal));
    quote! {
        impl ::schema_binary::Layout for #name {
            const SLOT: __engine::Slot = __engine::Slot::#slot;
            const KINDS: __engine::Kinds = __engine::Kinds::#kinds;
            const UNION_KIND: u8 = #kind;

            fn node(builder: &mut __layout::Builder) -> __layout::NodeId {
                __engine::LiteralValue::node_of(&[#(#literals),*], builder)
            }
        }
    }
}

fn encode(model: &Model, variants: &[LiteralVariant]) -> Tokens {
    let name = &model.name;
    let arms = variants.iter().map(|variant| {
        let (ident, literal) = (&variant.ident, literal_value(&variant.literal));
        quote!(Self::#ident => #literal,)
    });
    quote! {
        impl #name {
            const fn __literal(&self) -> __engine::LiteralValue {
                match self {
                    #(#arms)*
                }
            }
        }

        impl ::schema_binary::Encode for #name {
            fn encode(&self, encoder: &mut __engine::Encoder) -> ::core::result::Result<(), __Error> {
                self.__literal().write_plain(encoder);
                ::core::result::Result::Ok(())
            }

            fn scalar(&self) -> ::core::result::Result<__engine::Scalar, __Error> {
                ::core::result::Result::Ok(self.__literal().scalar())
            }
        }
    }
}

fn decode(model: &Model, variants: &[LiteralVariant]) -> Tokens {
    let name = &model.name;
    let idents = variants.iter().map(|variant| &variant.ident);
    let literals = variants.iter().map(|variant| literal_value(&variant.literal));
    let first = variants.first().map(|variant| literal_value(&variant.literal));
    let result = quote!(::core::result::Result<Self, __Error>);
    quote! {
        impl #name {
            fn __from_literal(literal: __engine::LiteralValue<'_>) -> #result {
                #(if literal == #literals {
                    return ::core::result::Result::Ok(Self::#idents);
                })*
                ::core::result::Result::Err(__Code::Value.into())
            }
        }

        impl<'__de> ::schema_binary::Decode<'__de> for #name {
            fn decode(decoder: &mut __engine::Decoder<'__de>) -> #result {
                Self::__from_literal(decoder.nested(|decoder| #first.read_alike(decoder))?)
            }

            fn decode_tagged(kind: u8, decoder: &mut __engine::Decoder<'__de>) -> #result {
                match #first.read_alike_tagged(kind, decoder)? {
                    ::core::option::Option::Some(literal) => Self::__from_literal(literal),
                    ::core::option::Option::None => decoder.sized_value(Self::decode),
                }
            }
        }
    }
}
