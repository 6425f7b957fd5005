//! Text to values, from any reader, in bounded memory.

use std::collections::HashMap;
use std::io::{self, Read};

use super::builder::StringBuilder;
use super::input::Input;
use super::{Json, Text};

/// What a reader may take up.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longest string in bytes that is kept whole. A longer one is cut after
    /// [`KEPT_OF_LONG_STRING`](super::KEPT_OF_LONG_STRING) bytes and counted in [`Parsed::cut`].
    pub string: usize,
    /// Most bytes of all strings, names and numbers together, with a fixed
    /// amount counted for each value. Above it, reading fails.
    pub total: usize,
}

impl Limits {
    /// No limits: for input that is already in memory.
    pub const NONE: Self = Self { string: usize::MAX, total: usize::MAX };
}

/// Values may be nested this deep; deeper input is refused, so that hostile
/// input cannot exhaust the stack.
const MAX_DEPTH: usize = 512;

/// What each value is taken to cost beside its text, in bytes.
const VALUE_COST: usize = 64;

/// A value and what had to be left out of it.
#[derive(Debug)]
pub struct Parsed {
    /// The value.
    pub value: Json,
    /// How many strings were cut because of [`Limits::string`].
    pub cut: usize,
}

/// Why text is not JSON.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxError {
    /// The text does not follow the grammar.
    #[error("{reason} at byte {offset}")]
    Malformed {
        /// What was wrong.
        reason: &'static str,
        /// Where, counted from the start of the input.
        offset: u64,
    },
    /// The value is larger than [`Limits::total`].
    #[error("larger than the limit of {limit} bytes at byte {offset}")]
    TooLarge {
        /// The limit.
        limit: usize,
        /// Where it was reached.
        offset: u64,
    },
    /// The reader failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Parses text in memory. A leading byte order mark is skipped.
///
/// # Errors
/// [`SyntaxError::Malformed`].
pub fn parse(text: &[u8]) -> Result<Json, SyntaxError> {
    parse_reader(text, Limits::NONE).map(|parsed| parsed.value)
}

/// Parses one value from a reader up to its end. A leading byte order mark is skipped.
///
/// # Errors
/// All of [`SyntaxError`].
pub fn parse_reader(reader: impl Read, limits: Limits) -> Result<Parsed, SyntaxError> {
    let mut parser = Parser { input: Input::new(reader), limits, used: 0, cut: 0 };
    parser.byte_order_mark()?;
    parser.space()?;
    if parser.input.peek()?.is_none() {
        return Err(parser.malformed("empty document"));
    }
    let value = parser.value(MAX_DEPTH)?;
    parser.space()?;
    match parser.input.peek()? {
        None => Ok(Parsed { value, cut: parser.cut }),
        Some(_) => Err(parser.malformed("more text after the end of the value")),
    }
}

struct Parser<R> {
    input: Input<R>,
    limits: Limits,
    used: usize,
    cut: usize,
}

impl<R: Read> Parser<R> {
    fn byte_order_mark(&mut self) -> Result<(), SyntaxError> {
        if self.take(0xef)? {
            self.expect(0xbb, "no JSON value")?;
            self.expect(0xbf, "no JSON value")?;
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Json, SyntaxError> {
        self.spend(VALUE_COST)?;
        match self.input.peek()? {
            Some(b'{' | b'[') if depth == 0 => Err(self.malformed("nested too deep")),
            Some(b'{') => self.object(depth - 1),
            Some(b'[') => self.array(depth - 1),
            Some(b'"') => self.string().map(Json::String),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(0) => Err(self.malformed("NUL byte in place of a value")),
            Some(_) => Err(self.malformed("no JSON value")),
            None => Err(self.malformed("unexpected end")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, SyntaxError> {
        self.input.bump();
        let mut items = Vec::new();
        self.space()?;
        if self.take(b']')? {
            return Ok(Json::Array(items));
        }
        loop {
            self.space()?;
            items.push(self.value(depth)?);
            self.space()?;
            if self.take(b']')? {
                return Ok(Json::Array(items));
            }
            self.expect(b',', "expected a comma or ']'")?;
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, SyntaxError> {
        self.input.bump();
        let mut fields = Vec::new();
        self.space()?;
        if self.take(b'}')? {
            return Ok(Json::Object(fields));
        }
        loop {
            self.space()?;
            if self.input.peek()? != Some(b'"') {
                return Err(self.malformed("expected a field name"));
            }
            let name = self.string()?;
            self.space()?;
            self.expect(b':', "expected a colon")?;
            self.space()?;
            let value = self.value(depth)?;
            fields.push((name, value));
            self.space()?;
            if self.take(b'}')? {
                return Ok(Json::Object(last_of_each_name(fields)));
            }
            self.expect(b',', "expected a comma or '}'")?;
        }
    }

    fn number(&mut self) -> Result<Json, SyntaxError> {
        let mut digits = String::new();
        if self.take(b'-')? {
            digits.push('-');
        }
        if self.take(b'0')? {
            digits.push('0');
        } else {
            self.digits(&mut digits)?;
        }
        if self.take(b'.')? {
            digits.push('.');
            self.digits(&mut digits)?;
        }
        if let Some(mark @ (b'e' | b'E')) = self.input.peek()? {
            self.input.bump();
            digits.push(char::from(mark));
            if let Some(sign @ (b'+' | b'-')) = self.input.peek()? {
                self.input.bump();
                digits.push(char::from(sign));
            }
            self.digits(&mut digits)?;
        }
        self.spend(digits.len())?;
        Ok(Json::Number(digits.into()))
    }

    fn digits(&mut self, out: &mut String) -> Result<(), SyntaxError> {
        let before = out.len();
        while let Some(digit @ b'0'..=b'9') = self.input.peek()? {
            self.input.bump();
            out.push(char::from(digit));
            if out.len() > 4096 {
                return Err(self.malformed("number of more than 4096 digits"));
            }
        }
        if out.len() == before { Err(self.malformed("expected a digit")) } else { Ok(()) }
    }

    fn string(&mut self) -> Result<Text, SyntaxError> {
        self.input.bump();
        let mut out = StringBuilder::new(self.limits.string);
        loop {
            match self.input.peek()? {
                Some(b'"') => break self.input.bump(),
                Some(b'\\') => self.escape(&mut out)?,
                Some(0..0x20) => return Err(self.malformed("control character in a string")),
                Some(_) => self.run(&mut out)?,
                None => return Err(self.malformed("unexpected end of a string")),
            }
            if !out.cut {
                self.check(out.escaped.len())?;
            }
        }
        self.cut += usize::from(out.cut);
        let text = out.finish();
        self.spend(text.escaped().len())?;
        Ok(text)
    }

    /// Takes the bytes up to the next quote, backslash or control character, as far as they are buffered.
    fn run(&mut self, out: &mut StringBuilder) -> Result<(), SyntaxError> {
        let run = self.input.run();
        match std::str::from_utf8(run) {
            Ok(text) => {
                let length = text.len();
                out.push_str(text);
                self.input.skip(length);
                Ok(())
            }
            // A character may be cut off by the end of the buffer; what is before it can be taken.
            Err(error) if error.valid_up_to() > 0 => {
                let valid = error.valid_up_to();
                let text = run.get(..valid).map(std::str::from_utf8).and_then(Result::ok).unwrap_or_default();
                out.push_str(text);
                self.input.skip(valid);
                Ok(())
            }
            Err(_) => self.split_character(out),
        }
    }

    /// Takes a character whose bytes do not lie in the buffer together.
    fn split_character(&mut self, out: &mut StringBuilder) -> Result<(), SyntaxError> {
        let mut bytes = Vec::with_capacity(4);
        while bytes.len() < 4 {
            let Some(byte @ 0x80..) = self.input.peek()? else { break };
            self.input.bump();
            bytes.push(byte);
            if let Ok(text) = std::str::from_utf8(&bytes) {
                out.push_str(text);
                return Ok(());
            }
        }
        Err(self.malformed("bytes that are not UTF-8"))
    }

    fn escape(&mut self, out: &mut StringBuilder) -> Result<(), SyntaxError> {
        self.input.bump();
        let Some(code) = self.input.peek()? else { return Err(self.malformed("unexpected end of a string")) };
        self.input.bump();
        match code {
            b'"' | b'\\' | b'/' => out.push(char::from(code)),
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'u' => {
                let unit = self.unit()?;
                out.push_unit(unit);
            }
            _ => return Err(self.malformed("unknown escape")),
        }
        Ok(())
    }

    fn unit(&mut self) -> Result<u16, SyntaxError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.input.peek()?.and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return Err(self.malformed("expected four hex digits")) };
            self.input.bump();
            unit = unit * 16 + digit as u16;
        }
        Ok(unit)
    }

    fn word(&mut self, word: &'static str, value: Json) -> Result<Json, SyntaxError> {
        for expected in word.bytes() {
            if self.input.peek()? != Some(expected) {
                return Err(self.malformed("no JSON value"));
            }
            self.input.bump();
        }
        Ok(value)
    }

    fn space(&mut self) -> Result<(), SyntaxError> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.input.peek()? {
            self.input.bump();
        }
        Ok(())
    }

    fn take(&mut self, byte: u8) -> Result<bool, SyntaxError> {
        let found = self.input.peek()? == Some(byte);
        if found {
            self.input.bump();
        }
        Ok(found)
    }

    fn expect(&mut self, byte: u8, reason: &'static str) -> Result<(), SyntaxError> {
        if self.take(byte)? { Ok(()) } else { Err(self.malformed(reason)) }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), SyntaxError> {
        self.check(bytes)?;
        self.used += bytes;
        Ok(())
    }

    fn check(&self, more: usize) -> Result<(), SyntaxError> {
        if self.used.saturating_add(more) <= self.limits.total {
            return Ok(());
        }
        Err(SyntaxError::TooLarge { limit: self.limits.total, offset: self.input.offset() })
    }

    fn malformed(&self, reason: &'static str) -> SyntaxError {
        SyntaxError::Malformed { reason, offset: self.input.offset() }
    }
}

/// Keeps the last value of a repeated name at the place of its first, as JavaScript does.
fn last_of_each_name(fields: Vec<(Text, Json)>) -> Vec<(Text, Json)> {
    if fields.len() <= 16 && !repeats_a_name(&fields) {
        return fields;
    }
    let mut places: HashMap<Text, usize> = HashMap::with_capacity(fields.len());
    let mut kept: Vec<(Text, Json)> = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        match places.get(&name).and_then(|place| kept.get_mut(*place)) {
            Some((_, old)) => *old = value,
            None => {
                places.insert(name.clone(), kept.len());
                kept.push((name, value));
            }
        }
    }
    kept
}

fn repeats_a_name(fields: &[(Text, Json)]) -> bool {
    fields
        .iter()
        .enumerate()
        .any(|(index, (name, _))| fields.iter().take(index).any(|(other, _)| other == name))
}
