//! Code for the fields of a struct or variant.

use proc_macro2::{Ident, Span, TokenStream as Tokens};
use quote::{format_ident, quote};
use syn::{Generics, Lit, Type};

use crate::hash;
use crate::model::{Field, Fields, Form, tag_property};

/// The type whose layout a field has on the wire.
pub(crate) fn wire_type(field: &Field) -> Tokens {
    let ty = &field.ty;
    match &field.form {
        Form::Plain | Form::Default | Form::Rest | Form::Literal(_) => quote!(#ty),
        Form::Nullable(inner) => quote!(::schema_binary::types::Nullable<#inner>),
        Form::Optional { inner, nullable } => nullable_or(inner, nullable.as_ref()),
        Form::Undefined { inner, nullable } => {
            let inner = nullable_or(inner, nullable.as_ref());
            quote!(::schema_binary::types::Undefined<#inner>)
        }
    }
}

fn nullable_or(inner: &Type, nullable: Option<&Type>) -> Tokens {
    nullable.map_or_else(|| quote!(#inner), |inner| quote!(::schema_binary::types::Nullable<#inner>))
}

/// A constant expression for the engine's view of the fields; `alone` adds the tag of a struct as a field.
pub(crate) fn fields_const(fields: &Fields, alone: bool, hidden: &[&str]) -> Tokens {
    let mut infos: Vec<(u32, Tokens)> =
        fields.declared().map(|(number, field)| (field.id, info(number, field))).collect();
    if let Some(_tag) = fields.tag.as_ref().filter(|_| alone) {
        let (id, number, name) = (hash::field_id(tag_property()), fields.list.len(), tag_property());
        let literal = literal_consts(&Lit::Str(syn::LitStr::new("", Span::call_site())));
        infos.push((id, field_info(name, id, number, false, &literal)));
    }
    infos.sort_by_key(|(id, _)| *id);
    let infos = infos.iter().map(|(_, info)| info);
    let open = fields.rest().is_some();
    quote! {
        __engine::Fields::new(
            &[#(#infos),*],
            &[#(::std::borrow::Cow::Borrowed(#hidden)),*],
            #open,
            true,
        )
    }
}

fn info(number: usize, field: &Field) -> Tokens {
    let consts = match &field.form {
        Form::Literal(literal) => literal_consts(literal),
        _ => {
            let ty = wire_type(field);
            quote! {
                kinds: <#ty as ::schema_binary::Layout>::KINDS,
                intern: <#ty as ::schema_binary::Layout>::INTERN,
            }
        }
    };
    field_info(&field.name, field.id, number, field.optional(), &consts)
}

fn field_info(name: &str, id: u32, number: usize, optional: bool, consts: &Tokens) -> Tokens {
    quote! {
        __engine::FieldInfo {
            name: ::std::borrow::Cow::Borrowed(#name),
            id: #id,
            number: #number,
            optional: #optional,
            #consts
        }
    }
}

fn literal_consts(literal: &Lit) -> Tokens {
    let kinds = match literal {
        Lit::Bool(_) => quote!(BOOL),
        Lit::Int(_) | Lit::Float(_) => quote!(NUMBER),
        _ => quote!(SIZED),
    };
    quote! {
        kinds: __engine::Kinds::#kinds,
        intern: __engine::Intern::None,
    }
}

/// An expression of the literal as the runtime knows literals.
pub(crate) fn literal_value(literal: &Lit) -> Tokens {
    match literal {
        Lit::Bool(bool) => quote!(__engine::LiteralValue::Bool(#bool)),
        Lit::Int(number) => {
            let number = proc_macro2::Literal::f64_suffixed(number.base10_parse().unwrap_or(f64::NAN));
            quote!(__engine::LiteralValue::Number(#number))
        }
        Lit::Float(number) => quote!(__engine::LiteralValue::Number(#number)),
        other => quote!(__engine::LiteralValue::Text(#other)),
    }
}

/// The layout nodes of the fields, in wire order, and the whole struct node.
pub(crate) fn node(
    fields: &Fields,
    alone: bool,
    hidden: &[(&str, &str)],
    fields_expression: &Tokens,
) -> Tokens {
    let mut nodes: Vec<(u32, Tokens)> =
        fields.declared().map(|(_, field)| (field.id, field_node(field))).collect();
    if let Some(tag) = fields.tag.as_ref().filter(|_| alone) {
        let node = quote!(__engine::LiteralValue::Text(#tag).node(builder));
        nodes.push((hash::field_id(tag_property()), node));
    }
    nodes.sort_by_key(|(id, _)| *id);
    let nodes = nodes.iter().map(|(_, node)| node);
    let rest = fields.rest().map_or_else(
        || quote!(::core::option::Option::None),
        |field| {
            let value = rest_value(field);
            quote! {
                ::core::option::Option::Some((
                    <#value as ::schema_binary::Layout>::node(builder),
                    <#value as ::schema_binary::Layout>::KINDS,
                ))
            }
        },
    );
    let sentinels = hidden.iter().map(|(name, text)| quote!((#name, #text)));
    quote! {
        {
            let layouts = ::std::vec![#(#nodes),*];
            let rest = #rest;
            __layout::struct_node(#fields_expression, layouts, rest, &[#(#sentinels),*])
        }
    }
}

fn field_node(field: &Field) -> Tokens {
    if let Form::Literal(literal) = &field.form {
        let literal = literal_value(literal);
        return quote!(#literal.node(builder));
    }
    let ty = wire_type(field);
    quote!(<#ty as ::schema_binary::Layout>::node(builder))
}

fn rest_value(field: &Field) -> Tokens {
    let ty = &field.ty;
    quote!(<#ty as ::schema_binary::types::Record>::Value)
}

/// The generics of a type with `extra` lifetimes in front.
fn extended(generics: &Generics, extra: &str) -> Generics {
    let mut extended = generics.clone();
    let lifetime = syn::Lifetime::new(extra, Span::call_site());
    let mut parameter = syn::LifetimeParam::new(lifetime);
    if extra == "'__de" {
        parameter.bounds = generics.lifetimes().map(|other| other.lifetime.clone()).collect();
    }
    extended.params.insert(0, syn::GenericParam::Lifetime(parameter));
    extended
}

/// The generics of a type with a bound on each type parameter.
pub(crate) fn bounded(generics: &Generics, bound: &Tokens) -> Generics {
    let mut bounded = generics.clone();
    for parameter in bounded.type_params_mut() {
        parameter.bounds.push(syn::parse_quote!(#bound));
    }
    bounded
}

/// The generics of an implementation of `Decode`.
pub(crate) fn decoding(generics: &Generics) -> Generics {
    bounded(&extended(generics, "'__de"), &quote!(::schema_binary::Decode<'__de>))
}

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
        let write = quote!(row.field(field, encoder, |form, encoder| #write)?);
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

/// The declared fields by id; `None` for structs that carry a tag, whose fields are not always the same.
fn in_wire_order(fields: &Fields) -> Option<Vec<(usize, &Field)>> {
    if fields.tag.is_some() {
        return None;
    }
    let mut ordered: Vec<_> = fields.declared().collect();
    ordered.sort_by_key(|(_, field)| field.id);
    Some(ordered)
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
        let read = quote!(<#wire as ::schema_binary::Decode<'__de>>::decode_form(#form, decoder));
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

/// The name of a helper type.
pub(crate) fn helper(owner: &Ident, what: &str) -> Ident {
    format_ident!("__{owner}{what}")
}
