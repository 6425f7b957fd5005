//! Looking into values and changing fields.

use std::borrow::Cow;

use super::{Json, Text};

impl Json {
    /// The value behind a path of field names, for instance `["time", "created"]`.
    pub fn get(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, name| match value {
            Self::Object(fields) => fields.iter().find(|(field, _)| field == *name).map(|(_, value)| value),
            _ => None,
        })
    }

    /// The string behind a path.
    pub fn text(&self, path: &[&str]) -> Option<Cow<'_, str>> {
        match self.get(path)? {
            Self::String(text) => Some(text.plain()),
            _ => None,
        }
    }

    /// The whole number behind a path. A fraction (`1.5e3` counts as 1500) is cut off.
    pub fn integer(&self, path: &[&str]) -> Option<i64> {
        match self.get(path)? {
            Self::Number(digits) => integer(digits),
            _ => None,
        }
    }

    /// The number behind a path, as near as a double gets.
    pub fn number(&self, path: &[&str]) -> Option<f64> {
        match self.get(path)? {
            Self::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// The elements of the array behind a path.
    pub fn array(&self, path: &[&str]) -> Option<&[Self]> {
        match self.get(path)? {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Whether this is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// The fields of an object; nothing for any other value.
    pub fn fields(&self) -> &[(Text, Self)] {
        match self {
            Self::Object(fields) => fields,
            _ => &[],
        }
    }

    /// Sets a field of an object in place, or appends it. Does nothing to other values.
    pub fn set(&mut self, name: &str, value: Self) {
        let Self::Object(fields) = self else { return };
        match fields.iter_mut().find(|(field, _)| field == name) {
            Some((_, old)) => *old = value,
            None => fields.push((Text::from(name), value)),
        }
    }

    /// Takes a field out of an object.
    pub fn remove(&mut self, name: &str) -> Option<Self> {
        let Self::Object(fields) = self else { return None };
        let index = fields.iter().position(|(field, _)| field == name)?;
        Some(fields.remove(index).1)
    }

    /// The same value with the fields of every object sorted by name, for comparing.
    pub fn sorted(&self) -> Self {
        match self {
            Self::Array(items) => Self::Array(items.iter().map(Self::sorted).collect()),
            Self::Object(fields) => {
                let mut fields: Vec<_> =
                    fields.iter().map(|(name, value)| (name.clone(), value.sorted())).collect();
                fields.sort_by(|(a, _), (b, _)| a.cmp(b));
                Self::Object(fields)
            }
            other => other.clone(),
        }
    }

    /// Applies a JSON merge patch (RFC 7396): absent keeps, `null` removes,
    /// objects merge, anything else replaces. Fields keep their order.
    pub fn merge_patch(&mut self, patch: Self) {
        let Self::Object(changes) = patch else {
            *self = patch;
            return;
        };
        if !self.is_object() {
            *self = Self::Object(Vec::new());
        }
        for (name, change) in changes {
            self.merge_field(name, change);
        }
    }

    /// The merge patch that leads from this object to another; `None` if they differ in order at most.
    pub fn patch_to(&self, target: &Self) -> Option<Self> {
        if self == target {
            return None;
        }
        let (Self::Object(before), Self::Object(after)) = (self, target) else { return Some(target.clone()) };
        let mut patch = Vec::new();
        for (name, _) in before.iter().filter(|(name, _)| !after.iter().any(|(other, _)| other == name)) {
            patch.push((name.clone(), Self::Null));
        }
        for (name, value) in after {
            match before.iter().find(|(other, _)| other == name) {
                Some((_, old)) => patch.extend(old.patch_to(value).map(|change| (name.clone(), change))),
                None => patch.push((name.clone(), value.clone())),
            }
        }
        (!patch.is_empty()).then_some(Self::Object(patch))
    }

    fn merge_field(&mut self, name: Text, change: Self) {
        let Self::Object(fields) = self else { return };
        let position = fields.iter().position(|(field, _)| *field == name);
        match (position, change) {
            (Some(index), Self::Null) => {
                fields.remove(index);
            }
            (None, Self::Null) => {}
            (Some(index), change) => {
                if let Some((_, value)) = fields.get_mut(index) {
                    value.merge_patch(change);
                }
            }
            (None, change) => {
                let mut value = Self::Null;
                value.merge_patch(change);
                fields.push((name, value));
            }
        }
    }
}

/// Whole part of a number as written. `None` beyond 64 bits.
fn integer(digits: &str) -> Option<i64> {
    if let Ok(exact) = digits.parse() {
        return Some(exact);
    }
    let near: f64 = digits.parse().ok()?;
    // 2^63 as a double; the comparison also refuses infinities.
    (near.abs() < 9_223_372_036_854_775_808.0).then_some(near as i64)
}
