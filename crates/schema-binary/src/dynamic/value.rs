//! A value of any schema.

use num_bigint::BigInt;

use super::Text;

/// A value on the encoded side of a schema.
///
/// Equality is that of the format: NaN equals NaN, 0 and -0 differ, the order of object keys does not matter.
#[derive(Debug, Clone)]
pub enum Value {
    /// `undefined`, which is not the same as an absent field.
    Undefined,
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number, integer or not.
    Number(f64),
    /// A string.
    String(Text),
    /// An integer of any size.
    BigInt(Box<BigInt>),
    /// Bytes; also a nested frame.
    Bytes(Vec<u8>),
    /// A registered symbol, by its key.
    Symbol(Text),
    /// Milliseconds since the epoch; NaN is an invalid date, which cannot be written.
    Date(f64),
    /// Milliseconds since the epoch, as a moment in UTC.
    DateTimeUtc(f64),
    /// A moment in a time zone.
    DateTimeZoned(Box<Zoned>),
    /// A length of time.
    Duration(Box<Duration>),
    /// A decimal number of any precision.
    BigDecimal(Box<BigDecimal>),
    /// An array or tuple.
    Array(Vec<Self>),
    /// A struct or record.
    Object(Object),
    /// A value or none.
    Option(Option<Box<Self>>),
    /// A success or a failure.
    Result(Result<Box<Self>, Box<Self>>),
    /// How a computation ended: with a value, or with the reasons of its failure.
    Exit(Result<Box<Self>, Vec<Reason>>),
    /// The reasons of a failure.
    Cause(Vec<Reason>),
    /// One reason of a failure.
    Reason(Box<Reason>),
}

/// A moment in a time zone.
#[derive(Debug, Clone, PartialEq)]
pub struct Zoned {
    /// Milliseconds since the epoch.
    pub epoch_millis: f64,
    /// The zone.
    pub zone: Zone,
}

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zone {
    /// Milliseconds ahead of UTC.
    Offset(i32),
    /// An IANA name such as `Europe/London`.
    Named(String),
}

/// A length of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Duration {
    /// So many nanoseconds; may be negative.
    Nanos(BigInt),
    /// For ever.
    Infinity,
    /// The opposite of for ever.
    NegativeInfinity,
}

/// `value * 10^-scale`.
#[derive(Debug, Clone)]
pub struct BigDecimal {
    /// The digits.
    pub value: BigInt,
    /// The number of digits behind the point; at most 2^53 - 1 either way.
    pub scale: i64,
}

impl BigDecimal {
    /// The same number without trailing zeros; zero has scale 0.
    #[must_use]
    pub fn normalized(&self) -> Self {
        if self.value == BigInt::ZERO {
            return Self { value: BigInt::ZERO, scale: 0 };
        }
        let digits = self.value.to_string();
        let kept = digits.trim_end_matches('0');
        let dropped = (digits.len() - kept.len()) as i64;
        // What was printed and cut at the end is still a number, so the fallback is never taken.
        let value = kept.parse().unwrap_or_else(|_| self.value.clone());
        Self { value, scale: self.scale.saturating_sub(dropped) }
    }
}

impl PartialEq for BigDecimal {
    fn eq(&self, other: &Self) -> bool {
        let (left, right) = (self.normalized(), other.normalized());
        left.value == right.value && left.scale == right.scale
    }
}

/// One reason of a failure.
#[derive(Debug, Clone)]
pub enum Reason {
    /// An expected error.
    Fail(Value),
    /// A defect.
    Die(Value),
    /// An interruption, by a fiber or by nobody known.
    Interrupt(Option<f64>),
}

impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fail(left), Self::Fail(right)) | (Self::Die(left), Self::Die(right)) => left == right,
            (Self::Interrupt(Some(left)), Self::Interrupt(Some(right))) => same_number(*left, *right),
            (Self::Interrupt(left), Self::Interrupt(right)) => left.is_none() && right.is_none(),
            _ => false,
        }
    }
}

/// The properties of a struct or record, in the order they were put in.
#[derive(Debug, Clone, Default)]
pub struct Object {
    entries: Vec<(Text, Value)>,
}

impl Object {
    /// An object without properties.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// An object without properties that has room for some.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { entries: Vec::with_capacity(capacity) }
    }

    /// The value of a property.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Sets a property, in place if it is there already.
    pub fn set(&mut self, key: impl Into<Text>, value: Value) {
        let key = key.into();
        match self.entries.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => self.entries.push((key, value)),
        }
    }

    /// Adds a property that is known not to be there yet.
    pub(crate) fn push(&mut self, key: Text, value: Value) {
        self.entries.push((key, value));
    }

    /// The properties.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Text, &Value)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// The number of properties.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no property.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<K: Into<Text>> FromIterator<(K, Value)> for Object {
    /// Later properties replace earlier ones of the same name.
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        let mut places = std::collections::HashMap::<Text, usize>::new();
        let mut object = Self::new();
        for (key, value) in entries {
            let key = key.into();
            match places.get(&key).and_then(|place| object.entries.get_mut(*place)) {
                Some((_, old)) => *old = value,
                None => {
                    places.insert(key.clone(), object.len());
                    object.push(key, value);
                }
            }
        }
        object
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        let sorted = |object: &Self| {
            let mut order: Vec<_> = (0..object.len()).collect();
            order.sort_by_key(|at| object.entries.get(*at).map(|(key, _)| key.identity().to_vec()));
            order
        };
        let pairs = sorted(self).into_iter().zip(sorted(other));
        self.len() == other.len()
            && pairs.into_iter().all(|(left, right)| self.entries.get(left) == other.entries.get(right))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undefined, Self::Undefined) | (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Number(left), Self::Number(right))
            | (Self::Date(left), Self::Date(right))
            | (Self::DateTimeUtc(left), Self::DateTimeUtc(right)) => same_number(*left, *right),
            (Self::String(left), Self::String(right)) | (Self::Symbol(left), Self::Symbol(right)) => {
                left == right
            }
            (Self::BigInt(left), Self::BigInt(right)) => left == right,
            (Self::Bytes(left), Self::Bytes(right)) => left == right,
            (Self::DateTimeZoned(left), Self::DateTimeZoned(right)) => left == right,
            (Self::Duration(left), Self::Duration(right)) => left == right,
            (Self::BigDecimal(left), Self::BigDecimal(right)) => left == right,
            (Self::Array(left), Self::Array(right)) => left == right,
            (Self::Object(left), Self::Object(right)) => left == right,
            (Self::Option(left), Self::Option(right)) => left == right,
            (Self::Result(left), Self::Result(right)) => left == right,
            (Self::Exit(left), Self::Exit(right)) => left == right,
            (Self::Cause(left), Self::Cause(right)) => left == right,
            (Self::Reason(left), Self::Reason(right)) => left == right,
            _ => false,
        }
    }
}

fn same_number(left: f64, right: f64) -> bool {
    left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(bool: bool) -> Self {
        Self::Bool(bool)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<T: Into<Self>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}
