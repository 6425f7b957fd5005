//! Code for tuple structs of one field, which are written as the field.

use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::Type;

use crate::Trait;
use crate::fields::{bounded, decoding};
use crate::model::Model;

pub(crate) fn code(model: &Model, inner: &Type, which: Trait) -> Tokens {
    match which {
        Trait::Layout => layout(model, inner),
        Trait::Encode => encode(model, inner),
        Trait::Decode => decode(model, inner),
    }
}

fn layout(model: &Model, inner: &Type) -> Tokens {
    let name = &model.name;
    let generics = bounded(&model.generics, &quote!(::schema_binary::Layout));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let inner = quote!(<#inner as ::schema_binary::Layout>);
    quote! {
        impl #impl_generics ::schema_binary::Layout for #name #type_generics #where_clause {
            const SLOT: __engine::Slot = #inner::SLOT;
            const KINDS: __engine::Kinds = #inner::KINDS;
            const INTERN: __engine::Intern = #inner::INTERN;
            const UNION_KIND: u8 = #inner::UNION_KIND;

            fn node(builder: &mut __layout::Builder) -> __layout::NodeId {
                #inner::node(builder)
            }

            fn members(builder: &mut __layout::Builder) -> ::std::vec::Vec<(__engine::Selector, __layout::NodeId)> {
                #inner::members(builder)
            }

            fn selectors(each: &mut dyn ::core::ops::FnMut(__engine::Selector)) {
                #inner::selectors(each);
            }
        }
    }
}

fn encode(model: &Model, inner: &Type) -> Tokens {
    let name = &model.name;
    let generics = bounded(&model.generics, &quote!(::schema_binary::Encode));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let iterator = quote!(::core::iter::Iterator<Item = &'__v Self> + ::core::clone::Clone);
    let result = quote!(::core::result::Result<(), __Error>);
    let inner = quote!(<#inner as ::schema_binary::Encode>);
    quote! {
        impl #impl_generics ::schema_binary::Encode for #name #type_generics #where_clause {
            #[inline]
            fn encode(&self, encoder: &mut __engine::Encoder) -> #result {
                #inner::encode(&self.0, encoder)
            }

            #[inline]
            fn length(&self) -> ::core::option::Option<usize> {
                #inner::length(&self.0)
            }

            #[inline]
            fn scalar(&self) -> ::core::result::Result<__engine::Scalar, __Error> {
                #inner::scalar(&self.0)
            }

            #[inline]
            fn encode_region<'__v>(
                &'__v self,
                table: &mut __engine::WriteTable<'__v>,
                encoder: &mut __engine::Encoder,
            ) -> #result {
                #inner::encode_region(&self.0, table, encoder)
            }

            fn encode_elements<'__v, __I>(items: __I, encoder: &mut __engine::Encoder) -> #result
            where
                Self: '__v,
                __I: #iterator,
            {
                #inner::encode_elements(items.map(|item| &item.0), encoder)
            }

            fn encode_items<'__v, __I>(items: __I, encoder: &mut __engine::Encoder) -> #result
            where
                Self: '__v,
                __I: #iterator,
            {
                #inner::encode_items(items.map(|item| &item.0), encoder)
            }

            fn encode_member(&self, union: __engine::Selectors, encoder: &mut __engine::Encoder) -> #result {
                #inner::encode_member(&self.0, union, encoder)
            }
        }
    }
}

fn decode(model: &Model, inner: &Type) -> Tokens {
    let name = &model.name;
    let (_, type_generics, _) = model.generics.split_for_impl();
    let decoding = decoding(&model.generics);
    let (impl_generics, _, where_clause) = decoding.split_for_impl();
    let decoder = quote!(&mut __engine::Decoder<'__de>);
    let table = quote!(&mut __engine::ReadTable<'__de>);
    let push = quote!(&mut impl ::core::ops::FnMut(Self));
    let result = quote!(::core::result::Result<(), __Error>);
    let value = quote!(::core::result::Result<Self, __Error>);
    let inner = quote!(<#inner as ::schema_binary::Decode<'__de>>);
    quote! {
        impl #impl_generics ::schema_binary::Decode<'__de> for #name #type_generics #where_clause {
            #[inline]
            fn decode(decoder: #decoder) -> #value {
                #inner::decode(decoder).map(Self)
            }

            #[inline]
            fn decode_in(region: &'__de [u8], decoder: #decoder) -> #value {
                #inner::decode_in(region, decoder).map(Self)
            }

            #[inline]
            fn decode_tagged(kind: u8, decoder: #decoder) -> #value {
                #inner::decode_tagged(kind, decoder).map(Self)
            }

            #[inline]
            fn decode_region(table: #table, decoder: #decoder) -> #value {
                #inner::decode_region(table, decoder).map(Self)
            }

            fn decode_elements(count: usize, decoder: #decoder, push: #push) -> #result {
                #inner::decode_elements(count, decoder, &mut |item| push(Self(item)))
            }

            fn decode_items(count: usize, decoder: #decoder, push: #push) -> #result {
                #inner::decode_items(count, decoder, &mut |item| push(Self(item)))
            }

            fn decode_interned(count: usize, table: #table, decoder: #decoder, push: #push) -> #result {
                #inner::decode_interned(count, table, decoder, &mut |item| push(Self(item)))
            }

            fn decode_member(
                selector: __engine::Selector,
                decoder: #decoder,
            ) -> ::core::result::Result<::core::option::Option<Self>, __Error> {
                ::core::result::Result::Ok(#inner::decode_member(selector, decoder)?.map(Self))
            }
        }
    }
}
