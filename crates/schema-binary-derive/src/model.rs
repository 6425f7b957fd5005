//! What the macros know about a type: its fields and variants with their attributes understood.

use std::collections::HashSet;

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Generics, Lit, LitInt, LitStr, Result, Type,
    meta::ParseNestedMeta,
};

use crate::hash;

/// The property that tells variants apart.
const TAG_PROPERTY: &str = "_tag";

pub(crate) struct Model {
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    Struct(Fields),
    Newtype(Box<Type>),
    Literals(Vec<LiteralVariant>),
    Union(Vec<Variant>),
}

/// The fields of a struct or of a variant.
pub(crate) struct Fields {
    pub(crate) list: Vec<Field>,
    /// The tag a struct carries as a field when it stands alone.
    pub(crate) tag: Option<String>,
}

pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) name: String,
    pub(crate) id: u32,
    pub(crate) form: Form,
}

/// How a field is represented.
pub(crate) enum Form {
    /// By its type; `Option<T>` is an option.
    Plain,
    /// A union of the inner type of an `Option` with null.
    Nullable(Type),
    /// The inner type of an `Option`; the key may be absent. Perhaps nullable inside.
    Optional { inner: Type, nullable: Option<Type> },
    /// As optional, and the value may be undefined.
    Undefined { inner: Type, nullable: Option<Type> },
    /// By its type; the key may be absent.
    Default,
    /// A literal, held as `()`.
    Literal(Lit),
    /// A map of what is not declared.
    Rest,
}

pub(crate) struct Variant {
    pub(crate) ident: Ident,
    pub(crate) form: VariantForm,
}

pub(crate) enum VariantForm {
    /// Told by its tag; with fields of its own.
    Fields { tag: Tag, fields: Fields, unit: bool },
    /// Told by its tag; with the fields of a struct.
    Struct { tag: Tag, ty: Box<Type> },
    /// Told by the kind of its type.
    Kind(Box<Type>),
}

pub(crate) struct Tag {
    pub(crate) text: String,
    pub(crate) hash: u32,
}

pub(crate) struct LiteralVariant {
    pub(crate) ident: Ident,
    pub(crate) literal: Lit,
}

/// The attributes of a type.
#[derive(Default)]
struct TypeAttributes {
    tag: Option<String>,
    literals: bool,
    untagged: bool,
}

/// The attributes of a field or variant.
#[derive(Default)]
struct Attributes {
    rename: Option<String>,
    id: Option<u32>,
    optional: bool,
    undefined: bool,
    nullable: bool,
    default: bool,
    rest: bool,
    untagged: bool,
    literal: Option<Lit>,
}

impl Model {
    pub(crate) fn new(input: &DeriveInput) -> Result<Self> {
        let attributes = type_attributes(&input.attrs)?;
        let kind = match &input.data {
            Data::Struct(data) => struct_kind(&data.fields, attributes)?,
            Data::Enum(data) if attributes.literals => {
                Kind::Literals(data.variants.iter().map(literal_variant).collect::<Result<_>>()?)
            }
            Data::Enum(data) => {
                let variant = |variant| union_variant(variant, attributes.untagged);
                let variants: Vec<_> = data.variants.iter().map(variant).collect::<Result<_>>()?;
                distinct_tags(&variants)?;
                Kind::Union(variants)
            }
            Data::Union(data) => {
                return Err(Error::new(data.union_token.span(), "a Rust union has no layout"));
            }
        };
        Ok(Self { name: input.ident.clone(), generics: input.generics.clone(), kind })
    }
}

fn struct_kind(fields: &syn::Fields, attributes: TypeAttributes) -> Result<Kind> {
    match fields {
        syn::Fields::Unnamed(fields) => match fields.unnamed.first() {
            Some(field) if fields.unnamed.len() == 1 && attributes.tag.is_none() => {
                Ok(Kind::Newtype(Box::new(field.ty.clone())))
            }
            _ => Err(Error::new(
                fields.span(),
                "only tuple structs of one field have a layout: that of the field",
            )),
        },
        fields => Ok(Kind::Struct(Fields { list: named_fields(fields)?, tag: attributes.tag })),
    }
}

fn named_fields(fields: &syn::Fields) -> Result<Vec<Field>> {
    let mut list: Vec<Field> = Vec::new();
    for field in fields {
        let field = named_field(field)?;
        if let Some(other) =
            list.iter().find(|other| other.id == field.id && !field.is_rest() && !other.is_rest())
        {
            let problem =
                format!("`{}` and `{}` have the same field id {}", other.name, field.name, field.id);
            return Err(Error::new(field.ident.span(), problem));
        }
        list.push(field);
    }
    Ok(list)
}

fn named_field(field: &syn::Field) -> Result<Field> {
    let Some(ident) = field.ident.clone() else {
        return Err(Error::new(field.span(), "a field without name"));
    };
    let attributes = attributes(&field.attrs)?;
    let plain_name = ident.to_string();
    let name = attributes.rename.clone().unwrap_or_else(|| plain_name.trim_start_matches("r#").to_owned());
    let id = attributes.id.unwrap_or_else(|| hash::field_id(&name));
    if id == 0 {
        return Err(Error::new(ident.span(), "field id 0 is taken; give another with `id = …`"));
    }
    let form = form(&field.ty, attributes)?;
    Ok(Field { ident, ty: field.ty.clone(), name, id, form })
}

fn form(ty: &Type, attributes: Attributes) -> Result<Form> {
    let option = |ty: &Type| {
        inner_of_option(ty)
            .ok_or_else(|| Error::new(ty.span(), "this attribute needs a field of type `Option<…>`"))
    };
    let Attributes { optional, undefined, nullable, default, rest, literal, .. } = attributes;
    match (literal, rest, default, optional || undefined) {
        (Some(literal), false, false, false) => Ok(Form::Literal(literal)),
        (None, true, false, false) => Ok(Form::Rest),
        (None, false, true, false) if !nullable => Ok(Form::Default),
        (None, false, false, false) if nullable => Ok(Form::Nullable(option(ty)?)),
        (None, false, false, false) => Ok(Form::Plain),
        (None, false, false, true) => {
            let inner = option(ty)?;
            let nullable = if nullable { Some(option(&inner)?) } else { None };
            Ok(if undefined {
                Form::Undefined { inner, nullable }
            } else {
                Form::Optional { inner, nullable }
            })
        }
        _ => Err(Error::new(ty.span(), "these attributes exclude each other")),
    }
}

/// The `T` of an `Option<T>`.
fn inner_of_option(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
}

fn union_variant(variant: &syn::Variant, untagged: bool) -> Result<Variant> {
    let attributes = attributes(&variant.attrs)?;
    let text = attributes.rename.unwrap_or_else(|| variant.ident.to_string());
    let tag = Tag { hash: hash::variant_tag(TAG_PROPERTY, &text), text };
    let form = match &variant.fields {
        syn::Fields::Unnamed(fields) => match fields.unnamed.first() {
            Some(field) if fields.unnamed.len() == 1 => {
                let ty = Box::new(field.ty.clone());
                if untagged || attributes.untagged {
                    VariantForm::Kind(ty)
                } else {
                    VariantForm::Struct { tag, ty }
                }
            }
            _ => return Err(Error::new(fields.span(), "a variant holds one value, or named fields")),
        },
        fields if untagged || attributes.untagged => {
            return Err(Error::new(fields.span(), "an untagged variant holds one value"));
        }
        fields => {
            let unit = matches!(fields, syn::Fields::Unit);
            VariantForm::Fields { tag, fields: Fields { list: named_fields(fields)?, tag: None }, unit }
        }
    };
    Ok(Variant { ident: variant.ident.clone(), form })
}

fn distinct_tags(variants: &[Variant]) -> Result<()> {
    let mut seen = HashSet::new();
    for variant in variants {
        if let VariantForm::Fields { tag, .. } | VariantForm::Struct { tag, .. } = &variant.form
            && !seen.insert(tag.hash)
        {
            return Err(Error::new(
                variant.ident.span(),
                format!("another variant has the tag of \"{}\"", tag.text),
            ));
        }
    }
    Ok(())
}

fn literal_variant(variant: &syn::Variant) -> Result<LiteralVariant> {
    if !matches!(variant.fields, syn::Fields::Unit) {
        return Err(Error::new(variant.fields.span(), "a literal holds nothing"));
    }
    let attributes = attributes(&variant.attrs)?;
    let text = || attributes.rename.clone().unwrap_or_else(|| variant.ident.to_string());
    let literal =
        attributes.literal.clone().unwrap_or_else(|| Lit::Str(LitStr::new(&text(), Span::call_site())));
    Ok(LiteralVariant { ident: variant.ident.clone(), literal })
}

fn type_attributes(attributes: &[Attribute]) -> Result<TypeAttributes> {
    let mut found = TypeAttributes::default();
    each(attributes, |meta| {
        match name(meta).as_str() {
            "tag" => found.tag = Some(string(meta)?),
            "literals" => found.literals = true,
            "untagged" => found.untagged = true,
            _ => return Err(meta.error("unknown attribute of a type")),
        }
        Ok(())
    })?;
    Ok(found)
}

fn attributes(attributes: &[Attribute]) -> Result<Attributes> {
    let mut found = Attributes::default();
    each(attributes, |meta| {
        match name(meta).as_str() {
            "rename" => found.rename = Some(string(meta)?),
            "id" => found.id = Some(meta.value()?.parse::<LitInt>()?.base10_parse()?),
            "optional" => found.optional = true,
            "undefined" => found.undefined = true,
            "nullable" => found.nullable = true,
            "default" => found.default = true,
            "rest" => found.rest = true,
            "untagged" => found.untagged = true,
            "literal" => found.literal = Some(literal(meta)?),
            _ => return Err(meta.error("unknown attribute of a field or variant")),
        }
        Ok(())
    })?;
    Ok(found)
}

fn each(attributes: &[Attribute], mut read: impl FnMut(&ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("schema")) {
        attribute.parse_nested_meta(|meta| read(&meta))?;
    }
    Ok(())
}

fn name(meta: &ParseNestedMeta<'_>) -> String {
    meta.path.get_ident().map(Ident::to_string).unwrap_or_default()
}

fn string(meta: &ParseNestedMeta<'_>) -> Result<String> {
    meta.value()?.parse::<LitStr>().map(|text| text.value())
}

/// A literal; numbers may be negative.
fn literal(meta: &ParseNestedMeta<'_>) -> Result<Lit> {
    let expression: Expr = meta.value()?.parse()?;
    match &expression {
        Expr::Lit(literal) => Ok(literal.lit.clone()),
        Expr::Unary(negative) => syn::parse_str(&quote::quote!(#negative).to_string().replace(' ', "")),
        _ => Err(Error::new(expression.span(), "a string, number or boolean")),
    }
}

impl Field {
    pub(crate) fn is_rest(&self) -> bool {
        matches!(self.form, Form::Rest)
    }

    /// Whether the key may be absent.
    pub(crate) fn optional(&self) -> bool {
        matches!(self.form, Form::Optional { .. } | Form::Undefined { .. } | Form::Default)
    }
}

impl Fields {
    /// The fields that have a tag of their own.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (usize, &Field)> {
        self.list.iter().enumerate().filter(|(_, field)| !field.is_rest())
    }

    /// The map of what is not declared.
    pub(crate) fn rest(&self) -> Option<&Field> {
        self.list.iter().find(|field| field.is_rest())
    }
}

/// The property that holds the tag of a struct.
pub(crate) const fn tag_property() -> &'static str {
    TAG_PROPERTY
}
