//! Types that name themselves `Self`, for code in which `Self` is another type.

use proc_macro2::{Group, TokenStream as Tokens, TokenTree};
use quote::{ToTokens, quote};
use syn::{DeriveInput, Result};

/// The same definition with the type's own name in place of `Self`.
pub(crate) fn without_self(input: &DeriveInput) -> Result<DeriveInput> {
    let name = &input.ident;
    let (_, arguments, _) = input.generics.split_for_impl();
    let own = quote!(#name #arguments);
    syn::parse2(replace(input.to_token_stream(), &own))
}

fn replace(tokens: Tokens, own: &Tokens) -> Tokens {
    let replace_one = |token| match token {
        TokenTree::Ident(ident) if ident == "Self" => own.clone(),
        TokenTree::Group(group) => {
            let mut replaced = Group::new(group.delimiter(), replace(group.stream(), own));
            replaced.set_span(group.span());
            TokenTree::Group(replaced).into()
        }
        other => other.into(),
    };
    tokens.into_iter().map(replace_one).collect::<Tokens>()
}
