//! Code for the fields of a struct or variant.

mod layout;
mod read;
mod write;

use proc_macro2::{Ident, Span, TokenStream as Tokens};
use quote::{format_ident, quote};
use syn::{Generics, Lit, Type};

pub(crate) use self::layout::{fields_const, node};
pub(crate) use self::read::{finished, partial};
pub(crate) use self::write::source;
use crate::model::{Field, Fields, Form};

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

/// The declared fields by id; `None` for structs that carry a tag, whose fields are not always the same.
fn in_wire_order(fields: &Fields) -> Option<Vec<(usize, &Field)>> {
    if fields.tag.is_some() {
        return None;
    }
    let mut ordered: Vec<_> = fields.declared().collect();
    ordered.sort_by_key(|(_, field)| field.id);
    Some(ordered)
}

/// The name of a helper type.
pub(crate) fn helper(owner: &Ident, what: &str) -> Ident {
    format_ident!("__{owner}{what}")
}
