//! How fields are written.

use proc_macro2::{Ident, TokenStream as Tokens};
use quote::quote;
use syn::Generics;

use super::{bounded, extended, in_wire_order, literal_value};
use crate::model::{Field, Fields, Form};

/// A helper type that lends the fields, and how it gives them to the engine.
pub(crate) fn source(helper: &Ident, fields: &Fields, generics: &Generics, owner: &Tokens) -> Tokens {
    let lending = bounded(&extended(generics, "'__v"), &quote!(::schema_binary::Encode));
    let (impl_generics, type_generics, where_clause) = lending.split_for_impl();
    let members = fields.list.iter().map(|field| {
        let (ident, ty) = (&field.ident, &field.ty);
        quote!(#ident: &'__v #ty)
    });
    let has = fields
        .declared()
        .filter(|(_, field)| matches!(field.form, Form::Optional { .. } | Form::Undefined { .. }));
    let has = has.map(|(number, field)| {
        let ident = &field.ident;
        quote!(#number => self.#ident.is_some(),)
    });
    let write = fields.declared().map(|(number, field)| {
        let write = write(field);
        quote!(#number => #write,)
    });
    let tag = fields.tag.as_ref().map(|tag| {
        let number = fields.list.len();
        quote!(#number => __engine::LiteralValue::Text(#tag).write(form, encoder),)
    });
    let row = write_row(fields);
    let entries = fields.rest().map(|field| {
        let ident = &field.ident;
        quote! {
            fn entries(&self) -> ::core::option::Option<::std::boxed::Box<dyn __engine::Entries<'__v> + '_>> {
                ::core::option::Option::Some(::std::boxed::Box::new(
                    ::schema_binary::types::Record::sorted(self.#ident),
                ))
            }
        }
    });
    quote! {
        pub struct #helper #lending #where_clause {
            #(#members,)*
            owner: ::core::marker::PhantomData<&'__v #owner>,
        }

        impl #impl_generics __engine::StructSource<'__v> for #helper #type_generics #where_clause {
            #[inline]
            fn has(&self, number: usize) -> bool {
                match number {
                    #(#has)*
                    _ => true,
                }
            }

            #[inline]
            fn write(
                &self,
                number: usize,
                form: __engine::WriteForm<'_, '__v>,
                encoder: &mut __engine::Encoder,
            ) -> ::core::result::Result<(), __Error> {
                match number {
                    #(#write)*
                    #tag
                    _ => ::core::result::Result::Err(__Code::Schema.into()),
                }
            }

            #row
            #entries
        }
    }
}

/// The fields of a row one after the other, so that the compiler knows each; `None` for structs that carry a tag.
fn write_row(fields: &Fields) -> Option<Tokens> {
    let writes = in_wire_order(fields)?.into_iter().enumerate().map(|(position, (_, field))| {
        let (ident, write) = (&field.ident, write(field));
        let write = match field.form {
            Form::Plain | Form::Default | Form::Rest => {
                quote!(::schema_binary::Encode::encode_region(self.#ident, table, encoder))
            }
            Form::Optional { nullable: None, .. } => quote! {
                match self.#ident {
                    ::core::option::Option::Some(value) => {
                        ::schema_binary::Encode::encode_region(value, table, encoder)
                    }
                    ::core::option::Option::None => ::core::result::Result::Ok(()),
                }
            },
            _ => quote!({
                let form = __engine::WriteForm::Region(table);
                #write
            }),
        };
        let write = quote!(row.field(field, encoder, |table, encoder| #write)?);
        let write = match field.form {
            Form::Optional { .. } | Form::Undefined { .. } => quote! {
                if self.#ident.is_some() {
                    #write
                } else {
                    row.skip()
                }
            },
            _ => write,
        };
        quote! {
            let field = row.fields.get(#position).ok_or(__Code::Schema)?;
            #write;
        }
    });
    Some(quote! {
        #[inline]
        fn write_row(
            &self,
            row: &mut __engine::RowFields<'_, '__v>,
            encoder: &mut __engine::Encoder,
        ) -> ::core::result::Result<(), __Error> {
            #(#writes)*
            ::core::result::Result::Ok(())
        }
    })
}

/// An expression that writes a field of a source.
fn write(field: &Field) -> Tokens {
    let ident = &field.ident;
    let nullable = |value: Tokens| quote!(::schema_binary::types::Nullable::from(#value.as_ref()));
    let sized = |value: Tokens| quote!(encoder.sized_form(form, |encoder| ::schema_binary::Encode::encode(&#value, encoder)));
    let some = |written: Tokens| {
        quote! {
            match self.#ident {
                ::core::option::Option::Some(value) => #written,
                ::core::option::Option::None => ::core::result::Result::Ok(()),
            }
        }
    };
    match &field.form {
        Form::Plain | Form::Default | Form::Rest => {
            quote!(::schema_binary::Encode::encode_form(self.#ident, form, encoder))
        }
        Form::Nullable(_) => sized(nullable(quote!(self.#ident))),
        Form::Optional { nullable: None, .. } => {
            some(quote!(::schema_binary::Encode::encode_form(value, form, encoder)))
        }
        Form::Optional { .. } => some(sized(nullable(quote!(value)))),
        Form::Undefined { nullable: None, .. } => {
            some(sized(quote!(::schema_binary::types::Undefined::Value(value))))
        }
        Form::Undefined { .. } => {
            let value = nullable(quote!(value));
            some(sized(quote!(::schema_binary::types::Undefined::Value(#value))))
        }
        Form::Literal(literal) => {
            let literal = literal_value(literal);
            quote!(#literal.write(form, encoder))
        }
    }
}
