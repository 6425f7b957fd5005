//! Code for enums that are unions.

use proc_macro2::TokenStream as Tokens;
use quote::quote;

use crate::Trait;
use crate::fields::{self, bounded, decoding, helper};
use crate::model::{Model, Variant, VariantForm, tag_property};

pub(crate) fn code(model: &Model, variants: &[Variant], which: Trait) -> Tokens {
    match which {
        Trait::Layout => layout(model, variants),
        Trait::Encode => encode(model, variants),
        Trait::Decode => decode(model, variants),
    }
}

fn layout(model: &Model, variants: &[Variant]) -> Tokens {
    let name = &model.name;
    let generics = bounded(&model.generics, &quote!(::schema_binary::Layout));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let field_impls = variants.iter().enumerate().filter_map(|(n, variant)| {
        let VariantForm::Fields { tag, fields, .. } = &variant.form else { return None };
        let hidden = [(tag_property(), tag.text.as_str())];
        let constant = fields::fields_const(fields, false, &[tag_property()]);
        let own = quote!(<Self as __engine::DerivedFields<#n>>::FIELDS);
        let node = fields::node(fields, false, &hidden, &own);
        Some(quote! {
            impl #impl_generics __engine::DerivedFields<#n> for #name #type_generics #where_clause {
                const FIELDS: __engine::Fields<'static> = #constant;

                fn node(builder: &mut __layout::Builder) -> __layout::Node {
                    #node
                }
            }
        })
    });
    let members = variants.iter().enumerate().map(|(n, variant)| member(n, variant));
    let selectors = variants.iter().map(|variant| match &variant.form {
        VariantForm::Fields { tag, .. } | VariantForm::Struct { tag, .. } => {
            let hash = tag.hash;
            quote!(each(__engine::Selector::Variant(#hash));)
        }
        VariantForm::Kind(ty) => quote!(<#ty as ::schema_binary::Layout>::selectors(each);),
    });
    let kinds = variants.iter().filter_map(|variant| match &variant.form {
        VariantForm::Kind(ty) => Some(quote!(<#ty as ::schema_binary::Layout>::UNION_KIND)),
        _ => None,
    });
    quote! {
        #(#field_impls)*

        impl #impl_generics ::schema_binary::Layout for #name #type_generics #where_clause {
            const UNION_KIND: u8 = 0;

            fn node(builder: &mut __layout::Builder) -> __layout::NodeId {
                builder.define::<Self>(|builder| {
                    let members = <Self as ::schema_binary::Layout>::members(builder);
                    __layout::union_node(members)
                })
            }

            fn members(builder: &mut __layout::Builder) -> ::std::vec::Vec<(__engine::Selector, __layout::NodeId)> {
                let mut members = ::std::vec::Vec::new();
                #(#members)*
                members
            }

            fn selectors(each: &mut dyn ::core::ops::FnMut(__engine::Selector)) {
                const { assert!(__engine::distinct(&[#(#kinds),*]), "two untagged variants are of one kind") }
                #(#selectors)*
            }
        }
    }
}

/// A statement that adds a variant to `members`.
fn member(n: usize, variant: &Variant) -> Tokens {
    let (hash, node) = match &variant.form {
        VariantForm::Kind(ty) => {
            return quote!(members.extend(<#ty as ::schema_binary::Layout>::members(builder)););
        }
        VariantForm::Fields { tag, .. } => {
            (tag.hash, quote!(<Self as __engine::DerivedFields<#n>>::node(builder)))
        }
        VariantForm::Struct { tag, ty } => {
            (tag.hash, quote!(<#ty as __engine::DerivedFields<1>>::node(builder)))
        }
    };
    quote! {{
        let node = #node;
        members.push((__engine::Selector::Variant(#hash), builder.add(node)));
    }}
}

fn encode(model: &Model, variants: &[Variant]) -> Tokens {
    let name = &model.name;
    let generics = bounded(&model.generics, &quote!(::schema_binary::Encode));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let (_, plain_generics, _) = model.generics.split_for_impl();
    let sources = variants.iter().filter_map(|variant| {
        let VariantForm::Fields { fields, .. } = &variant.form else { return None };
        let source = helper(&variant.ident, "Source");
        Some(fields::source(&source, fields, &model.generics, &quote!(#name #plain_generics)))
    });
    let arms = variants.iter().enumerate().map(|(n, variant)| encode_arm(n, variant));
    quote! {
        #(#sources)*

        impl #impl_generics ::schema_binary::Encode for #name #type_generics #where_clause {
            fn encode(&self, encoder: &mut __engine::Encoder) -> ::core::result::Result<(), __Error> {
                self.encode_member(<Self as ::schema_binary::Layout>::selectors, encoder)
            }

            fn encode_member(
                &self,
                union: __engine::Selectors,
                encoder: &mut __engine::Encoder,
            ) -> ::core::result::Result<(), __Error> {
                match self {
                    #(#arms)*
                }
            }
        }
    }
}

fn encode_arm(n: usize, variant: &Variant) -> Tokens {
    let ident = &variant.ident;
    match &variant.form {
        VariantForm::Kind(_) => {
            quote!(Self::#ident(value) => ::schema_binary::Encode::encode_member(value, union, encoder),)
        }
        VariantForm::Struct { tag, ty } => {
            let hash = tag.hash;
            quote! {
                Self::#ident(value) => {
                    encoder.select(union, __engine::Selector::Variant(#hash));
                    let fields = <#ty as __engine::DerivedFields<1>>::FIELDS;
                    __engine::WriteStruct::write(value, fields, encoder, ::core::option::Option::None)
                }
            }
        }
        VariantForm::Fields { tag, fields, .. } => {
            let (hash, source) = (tag.hash, helper(ident, "Source"));
            let idents: Vec<_> = fields.list.iter().map(|field| &field.ident).collect();
            quote! {
                Self::#ident { #(#idents),* } => {
                    encoder.select(union, __engine::Selector::Variant(#hash));
                    let source = #source { #(#idents,)* owner: ::core::marker::PhantomData::<&Self> };
                    let fields = <Self as __engine::DerivedFields<#n>>::FIELDS;
                    __engine::write_struct(encoder, fields, &source, ::core::option::Option::None)
                }
            }
        }
    }
}

fn decode(model: &Model, variants: &[Variant]) -> Tokens {
    let name = &model.name;
    let (_, type_generics, _) = model.generics.split_for_impl();
    let decoding = decoding(&model.generics);
    let (impl_generics, _, where_clause) = decoding.split_for_impl();
    let partials = variants.iter().filter_map(|variant| {
        let VariantForm::Fields { fields, .. } = &variant.form else { return None };
        let partial = helper(&variant.ident, "Partial");
        Some(fields::partial(&partial, fields, &model.generics, &quote!(#name #type_generics)))
    });
    let steps = variants.iter().enumerate().map(|(n, variant)| decode_step(n, variant));
    quote! {
        #(#partials)*

        impl #impl_generics ::schema_binary::Decode<'__de> for #name #type_generics #where_clause {
            fn decode(decoder: &mut __engine::Decoder<'__de>) -> ::core::result::Result<Self, __Error> {
                let selector = decoder.selector(<Self as ::schema_binary::Layout>::selectors)?;
                match <Self as ::schema_binary::Decode<'__de>>::decode_member(selector, decoder)? {
                    ::core::option::Option::Some(value) => ::core::result::Result::Ok(value),
                    ::core::option::Option::None => ::core::result::Result::Err(decoder.unknown_member()),
                }
            }

            fn decode_member(
                selector: __engine::Selector,
                decoder: &mut __engine::Decoder<'__de>,
            ) -> ::core::result::Result<::core::option::Option<Self>, __Error> {
                #(#steps)*
                ::core::result::Result::Ok(::core::option::Option::None)
            }
        }
    }
}

/// A statement that returns a variant if the selector names it.
fn decode_step(n: usize, variant: &Variant) -> Tokens {
    let ident = &variant.ident;
    let (hash, read) = match &variant.form {
        VariantForm::Kind(ty) => {
            return quote! {
                if let ::core::option::Option::Some(value) =
                    <#ty as ::schema_binary::Decode<'__de>>::decode_member(selector, decoder)?
                {
                    return ::core::result::Result::Ok(::core::option::Option::Some(Self::#ident(value)));
                }
            };
        }
        VariantForm::Struct { tag, ty } => {
            let read = quote! {
                let fields = <#ty as __engine::DerivedFields<1>>::FIELDS;
                let value = <#ty as __engine::ReadStruct<'__de>>::read(fields, decoder, ::core::option::Option::None)?;
                ::core::result::Result::Ok(Self::#ident(value))
            };
            (tag.hash, read)
        }
        VariantForm::Fields { tag, fields, unit } => {
            let partial = helper(ident, "Partial");
            let finished = fields::finished(fields);
            let value = if *unit { quote!(Self::#ident) } else { quote!(Self::#ident { #finished }) };
            let read = quote! {
                let mut partial = #partial::default();
                let fields = <Self as __engine::DerivedFields<#n>>::FIELDS;
                __engine::read_struct(decoder, fields, &mut partial, ::core::option::Option::None)?;
                let _: ::core::marker::PhantomData<(&'__de (), fn() -> Self)> = partial.owner;
                ::core::result::Result::Ok(#value)
            };
            (tag.hash, read)
        }
    };
    quote! {
        if selector == __engine::Selector::Variant(#hash) {
            return decoder.member(|decoder| { #read }).map(::core::option::Option::Some);
        }
    }
}
