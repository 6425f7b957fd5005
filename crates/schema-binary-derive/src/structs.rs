//! Code for structs with named fields.

use proc_macro2::TokenStream as Tokens;
use quote::quote;

use crate::Trait;
use crate::fields::{self, bounded, decoding, helper};
use crate::model::{Fields, Model, tag_property};

pub(crate) fn code(model: &Model, fields: &Fields, which: Trait) -> Tokens {
    match which {
        Trait::Layout => layout(model, fields),
        Trait::Encode => encode(model, fields),
        Trait::Decode => decode(model, fields),
    }
}

fn layout(model: &Model, fields: &Fields) -> Tokens {
    let name = &model.name;
    let generics = bounded(&model.generics, &quote!(::schema_binary::Layout));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let hidden: Vec<_> = fields.tag.iter().map(|tag| (tag_property(), tag.as_str())).collect();
    let hidden_names: Vec<_> = hidden.iter().map(|(name, _)| *name).collect();
    let alone = fields::fields_const(fields, true, &[]);
    let payload = fields::fields_const(fields, false, &hidden_names);
    let own = |n: usize| quote!(<Self as __engine::DerivedFields<#n>>::FIELDS);
    let alone_node = fields::node(fields, true, &[], &own(0));
    let payload_node = fields::node(fields, false, &hidden, &own(1));
    let intern = if fields.rest().is_some() { quote!(Keys) } else { quote!(None) };
    quote! {
        impl #impl_generics __engine::DerivedFields<0> for #name #type_generics #where_clause {
            const FIELDS: __engine::Fields<'static> = #alone;

            fn node(builder: &mut __layout::Builder) -> __layout::Node {
                #alone_node
            }
        }

        impl #impl_generics __engine::DerivedFields<1> for #name #type_generics #where_clause {
            const FIELDS: __engine::Fields<'static> = #payload;

            fn node(builder: &mut __layout::Builder) -> __layout::Node {
                #payload_node
            }
        }

        impl #impl_generics ::schema_binary::Layout for #name #type_generics #where_clause {
            const INTERN: __engine::Intern = __engine::Intern::#intern;
            const UNION_KIND: u8 = 9;

            fn node(builder: &mut __layout::Builder) -> __layout::NodeId {
                builder.define::<Self>(<Self as __engine::DerivedFields<0>>::node)
            }
        }
    }
}

fn encode(model: &Model, fields: &Fields) -> Tokens {
    let name = &model.name;
    let generics = bounded(&model.generics, &quote!(::schema_binary::Encode));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let (_, plain_generics, _) = model.generics.split_for_impl();
    let source = helper(name, "Source");
    let source_code = fields::source(&source, fields, &model.generics, &quote!(#name #plain_generics));
    let arguments = model.generics.params.iter().map(argument);
    let members = fields.list.iter().map(|field| {
        let ident = &field.ident;
        quote!(#ident: &self.#ident)
    });
    let region = fields.rest().map(|_| {
        quote! {
            fn encode_region<'__v>(
                &'__v self,
                table: &mut __engine::WriteTable<'__v>,
                encoder: &mut __engine::Encoder,
            ) -> ::core::result::Result<(), __Error> {
                let fields = <Self as __engine::DerivedFields<0>>::FIELDS;
                encoder.region(|encoder| __engine::WriteStruct::write(self, fields, encoder, ::core::option::Option::Some(table)))
            }
        }
    });
    quote! {
        #source_code

        impl #impl_generics __engine::WriteStruct for #name #type_generics #where_clause {
            type Source<'__v> = #source<'__v, #(#arguments),*> where Self: '__v;

            #[inline]
            fn source(&self) -> Self::Source<'_> {
                #source { #(#members,)* owner: ::core::marker::PhantomData }
            }
        }

        impl #impl_generics ::schema_binary::Encode for #name #type_generics #where_clause {
            #[inline]
            fn encode(&self, encoder: &mut __engine::Encoder) -> ::core::result::Result<(), __Error> {
                let fields = <Self as __engine::DerivedFields<0>>::FIELDS;
                __engine::WriteStruct::write(self, fields, encoder, ::core::option::Option::None)
            }

            fn encode_elements<'__v, __I>(
                items: __I,
                encoder: &mut __engine::Encoder,
            ) -> ::core::result::Result<(), __Error>
            where
                Self: '__v,
                __I: ::core::iter::Iterator<Item = &'__v Self> + ::core::clone::Clone,
            {
                <Self as __engine::WriteStruct>::write_rows(items, encoder)
            }

            #region
        }
    }
}

fn decode(model: &Model, fields: &Fields) -> Tokens {
    let name = &model.name;
    let (_, type_generics, _) = model.generics.split_for_impl();
    let decoding = decoding(&model.generics);
    let (impl_generics, _, where_clause) = decoding.split_for_impl();
    let partial = helper(name, "Partial");
    let partial_code = fields::partial(&partial, fields, &model.generics, &quote!(#name #type_generics));
    let arguments = model.generics.params.iter().map(argument);
    let finished = fields::finished(fields);
    let region = fields.rest().map(|_| {
        quote! {
            fn decode_region(
                table: &mut __engine::ReadTable<'__de>,
                decoder: &mut __engine::Decoder<'__de>,
            ) -> ::core::result::Result<Self, __Error> {
                let fields = <Self as __engine::DerivedFields<0>>::FIELDS;
                decoder.region(|decoder| {
                    <Self as __engine::ReadStruct<'__de>>::read(fields, decoder, ::core::option::Option::Some(table))
                })
            }
        }
    });
    quote! {
        #partial_code

        impl #impl_generics __engine::ReadStruct<'__de> for #name #type_generics #where_clause {
            type Partial = #partial<'__de, #(#arguments),*>;

            #[inline]
            fn finish(partial: Self::Partial) -> ::core::result::Result<Self, __Error> {
                ::core::result::Result::Ok(Self { #finished })
            }
        }

        impl #impl_generics ::schema_binary::Decode<'__de> for #name #type_generics #where_clause {
            #[inline]
            fn decode(decoder: &mut __engine::Decoder<'__de>) -> ::core::result::Result<Self, __Error> {
                let fields = <Self as __engine::DerivedFields<0>>::FIELDS;
                <Self as __engine::ReadStruct<'__de>>::read(fields, decoder, ::core::option::Option::None)
            }

            fn decode_elements(
                count: usize,
                decoder: &mut __engine::Decoder<'__de>,
                push: &mut impl ::core::ops::FnMut(Self),
            ) -> ::core::result::Result<(), __Error> {
                <Self as __engine::ReadStruct<'__de>>::read_rows(count, decoder, push)
            }

            #region
        }
    }
}

/// A generic parameter as an argument.
pub(crate) fn argument(parameter: &syn::GenericParam) -> Tokens {
    match parameter {
        syn::GenericParam::Lifetime(lifetime) => {
            let lifetime = &lifetime.lifetime;
            quote!(#lifetime)
        }
        syn::GenericParam::Type(ty) => {
            let ident = &ty.ident;
            quote!(#ident)
        }
        syn::GenericParam::Const(constant) => {
            let ident = &constant.ident;
            quote!(#ident)
        }
    }
}
