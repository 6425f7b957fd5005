//! Patterns of strings: template literals, and the keys of index signatures.

use super::check::Check;
use crate::dynamic::{Text, Value};

/// The keys an index signature takes.
#[derive(Debug, Clone)]
pub(super) enum Key {
    All,
    String(Vec<Check>),
    Number(Vec<Check>),
    Template(Template),
}

impl Key {
    pub(super) fn matches(&self, key: &str) -> bool {
        match self {
            Self::All => true,
            Self::String(checks) => passes(checks, &Value::from(key)),
            Self::Number(checks) => match key {
                "Infinity" => passes(checks, &Value::Number(f64::INFINITY)),
                "-Infinity" => passes(checks, &Value::Number(f64::NEG_INFINITY)),
                "NaN" => passes(checks, &Value::Number(f64::NAN)),
                _ => is_number(key) && passes(checks, &Value::Number(key.parse().unwrap_or(f64::NAN))),
            },
            Self::Template(template) => template.matches(key),
        }
    }
}

fn passes(checks: &[Check], value: &Value) -> bool {
    checks.iter().all(|check| check.passes(value))
}

/// A pattern of strings.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pattern: Pattern,
    checks: Vec<Check>,
}

#[derive(Debug, Clone)]
enum Pattern {
    Any,
    Literal(String),
    Number,
    BigInt,
    Choice(Vec<Template>),
    Sequence(Vec<Template>),
}

impl From<Pattern> for Template {
    fn from(pattern: Pattern) -> Self {
        Self { pattern, checks: Vec::new() }
    }
}

impl Template {
    pub(super) fn any() -> Self {
        Pattern::Any.into()
    }

    pub(super) fn literal(text: &str) -> Self {
        Pattern::Literal(text.to_owned()).into()
    }

    pub(super) fn number(checks: Vec<Check>) -> Self {
        Self { pattern: Pattern::Number, checks }
    }

    pub(super) fn bigint() -> Self {
        Pattern::BigInt.into()
    }

    pub(super) fn choice(parts: Vec<Self>) -> Self {
        Pattern::Choice(parts).into()
    }

    pub(super) fn sequence(parts: Vec<Self>) -> Self {
        Pattern::Sequence(parts).into()
    }

    pub(super) fn checked(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }

    /// Whether the whole of `text` fits.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let fits = match &self.pattern {
            Pattern::Any => true,
            Pattern::Literal(literal) => text == literal,
            Pattern::Number => is_number(text),
            Pattern::BigInt => is_integer(text),
            Pattern::Choice(parts) => parts.iter().any(|part| part.matches(text)),
            Pattern::Sequence(parts) => sequence_matches(parts, text),
        };
        fits && (self.checks.is_empty() || passes(&self.checks, &self.value(text)))
    }

    /// What the checks look at.
    fn value(&self, text: &str) -> Value {
        match self.pattern {
            Pattern::Number => Value::Number(text.parse().unwrap_or(f64::NAN)),
            _ => Value::String(Text::from(text)),
        }
    }
}

/// Follows all ways at once: `ends` are the places which the parts so far can end at.
fn sequence_matches(parts: &[Template], text: &str) -> bool {
    let mut ends = vec![0];
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        let mut next: Vec<usize> =
            ends.iter().flat_map(|start| part_ends(part, text, *start, last)).collect();
        next.sort_unstable();
        next.dedup();
        ends = next;
    }
    ends.contains(&text.len())
}

/// The places at which `part` can end if it starts at `start`.
fn part_ends(part: &Template, text: &str, start: usize, last: bool) -> Vec<usize> {
    let rest = text.get(start..).unwrap_or_default();
    let fits = |length: &usize| rest.get(..*length).is_some_and(|piece| part.matches(piece));
    match &part.pattern {
        _ if last => [rest.len()].into_iter().filter(fits).map(|length| start + length).collect(),
        Pattern::Literal(literal) => {
            [literal.len()].into_iter().filter(fits).map(|length| start + length).collect()
        }
        _ => (0..=rest.len()).filter(fits).map(|length| start + length).collect(),
    }
}

/// `[+-]?(\d+(\.\d+)?|\.\d+)([Ee][+-]?\d+)?`
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let mantissa_fits = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole.is_empty() || is_digits(whole)) && is_digits(fraction),
        None => is_digits(mantissa),
    };
    mantissa_fits && exponent.is_none_or(is_digits)
}

fn is_integer(text: &str) -> bool {
    is_digits(text.strip_prefix('-').unwrap_or(text))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_match_whole_strings() {
        let id = Template::sequence(vec![Template::literal("id-"), Template::any()]);
        assert!(id.matches("id-") && id.matches("id-7é") && !id.matches("xid-7"));
        let version = Template::sequence(vec![
            Template::number(Vec::new()),
            Template::literal("."),
            Template::number(vec![Check::SafeInteger]),
        ]);
        assert!(version.matches("1.5.2") && version.matches("1.2") && !version.matches("1.x"));
        let hostile = Template::sequence(vec![Template::any(); 20]);
        assert!(hostile.matches(&"a".repeat(300)));
    }
}
