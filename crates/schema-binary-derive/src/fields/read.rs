//! How fields are read.

use proc_macro2::{Ident, TokenStream as Tokens};
use quote::{format_ident, quote};
use syn::Generics;

use super::{decoding, in_wire_order, literal_value, wire_type};
use crate::model::{Field, Fields, Form};

/// A helper type that holds the fields until all are read, and how it takes them from the engine.
pub(crate) fn partial(helper: &Ident, fields: &Fields, generics: &Generics, owner: &Tokens) -> Tokens {
    let decoding = decoding(generics);
    let (impl_generics, type_generics, where_clause) = decoding.split_for_impl();
    let members = fields.list.iter().map(|field| {
        let (ident, ty) = (&field.ident, &field.ty);
        match &field.form {
            Form::Rest | Form::Optional { .. } | Form::Undefined { .. } => quote!(#ident: #ty),
            _ => quote!(#ident: ::core::option::Option<#ty>),
        }
    });
    let empty = fields.list.iter().map(|field| {
        let ident = &field.ident;
        match field.form {
            Form::Rest => quote!(#ident: ::schema_binary::types::Record::empty()),
            _ => quote!(#ident: ::core::option::Option::None),
        }
    });
    let read = fields.declared().map(|(number, field)| {
        let read = read(field);
        quote!(#number => #read)
    });
    let tag = fields.tag.as_ref().map(|tag| {
        let number = fields.list.len();
        quote!(#number => __engine::LiteralValue::Text(#tag).read(form, decoder)?,)
    });
    let row = read_row(fields);
    let entry = fields.rest().map(|field| {
        let ident = &field.ident;
        quote! {
            fn entry(
                &mut self,
                key: __engine::Key<'_, '__de>,
                kind: u8,
                decoder: &mut __engine::Decoder<'__de>,
            ) -> ::core::result::Result<__engine::EntryFate, __Error> {
                ::schema_binary::types::read_entry(&mut self.#ident, key, kind, decoder)
            }
        }
    });
    quote! {
        pub struct #helper #decoding #where_clause {
            #(#members,)*
            owner: ::core::marker::PhantomData<(&'__de (), fn() -> #owner)>,
        }

        impl #impl_generics ::core::default::Default for #helper #type_generics #where_clause {
            #[inline]
            fn default() -> Self {
                Self { #(#empty,)* owner: ::core::marker::PhantomData }
            }
        }

        impl #impl_generics __engine::StructSink<'__de> for #helper #type_generics #where_clause {
            #[inline]
            fn field(
                &mut self,
                number: usize,
                form: __engine::ReadForm<'_, '__de>,
                decoder: &mut __engine::Decoder<'__de>,
            ) -> ::core::result::Result<(), __Error> {
                match number {
                    #(#read)*
                    #tag
                    _ => return ::core::result::Result::Err(__Code::Schema.into()),
                }
                ::core::result::Result::Ok(())
            }

            #row
            #entry
        }
    }
}

/// Reads a row of all fields one after the other, so that the compiler knows each.
fn read_row(fields: &Fields) -> Option<Tokens> {
    let ordered = in_wire_order(fields)?;
    let tables: Vec<_> = (0..ordered.len()).map(|position| format_ident!("table{position}")).collect();
    let reads = ordered.iter().zip(&tables).map(|((_, field), table)| {
        let (name, optional, form) =
            (&field.name, field.optional(), quote!(__engine::ReadForm::Region(#table)));
        if let Form::Literal(literal) = &field.form {
            let (ident, literal) = (&field.ident, literal_value(literal));
            return quote! {
                self.#ident = __engine::row_field(#literal.read(#form, decoder), #name, #optional)?;
            };
        }
        let wire = wire_type(field);
        let read = quote!(<#wire as ::schema_binary::Decode<'__de>>::decode_region(#table, decoder));
        let assign = assign(field, &quote!(value));
        quote! {
            if let ::core::option::Option::Some(value) = __engine::row_field(#read, #name, #optional)? {
                #assign
            }
        }
    });
    Some(quote! {
        #[inline]
        fn whole_row(
            &mut self,
            tables: &mut [__engine::ReadTable<'__de>],
            decoder: &mut __engine::Decoder<'__de>,
        ) -> ::core::result::Result<bool, __Error> {
            let [#(#tables),*] = tables else { return ::core::result::Result::Ok(false) };
            #(#reads)*
            ::core::result::Result::Ok(true)
        }
    })
}

/// A match arm that reads a field into a partial.
fn read(field: &Field) -> Tokens {
    let ident = &field.ident;
    if let Form::Literal(literal) = &field.form {
        let literal = literal_value(literal);
        return quote! {{
            #literal.read(form, decoder)?;
            self.#ident = ::core::option::Option::Some(());
        }};
    }
    let wire = wire_type(field);
    let value = quote!(<#wire as ::schema_binary::Decode<'__de>>::decode_form(form, decoder)?);
    let assign = assign(field, &value);
    quote!({ #assign })
}

/// A statement that puts a value of the field's wire type into a partial.
fn assign(field: &Field, value: &Tokens) -> Tokens {
    let ident = &field.ident;
    match &field.form {
        Form::Nullable(_) | Form::Optional { nullable: Some(_), .. } => {
            quote!(self.#ident = ::core::option::Option::Some(#value.into());)
        }
        Form::Undefined { nullable: None, .. } => quote!(self.#ident = #value.into();),
        Form::Undefined { .. } => quote! {
            self.#ident = match #value {
                ::schema_binary::types::Undefined::Undefined => ::core::option::Option::None,
                ::schema_binary::types::Undefined::Value(value) => ::core::option::Option::Some(value.into()),
            };
        },
        _ => quote!(self.#ident = ::core::option::Option::Some(#value);),
    }
}

/// The members of a struct expression that takes its fields out of `partial`.
pub(crate) fn finished(fields: &Fields) -> Tokens {
    let members = fields.list.iter().map(|field| {
        let (ident, name) = (&field.ident, &field.name);
        match field.form {
            Form::Rest | Form::Optional { .. } | Form::Undefined { .. } => quote!(#ident: partial.#ident),
            Form::Default => quote!(#ident: partial.#ident.unwrap_or_default()),
            _ => quote!(#ident: partial.#ident.ok_or_else(|| __Error::from(__Code::MissingKey).at(#name))?),
        }
    });
    quote!(#(#members),*)
}
