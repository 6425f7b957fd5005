//! What the engine and the layout graph know of fields.

use proc_macro2::{Span, TokenStream as Tokens};
use quote::quote;
use syn::Lit;

use super::{literal_value, wire_type};
use crate::hash;
use crate::model::{Field, Fields, Form, tag_property};

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
