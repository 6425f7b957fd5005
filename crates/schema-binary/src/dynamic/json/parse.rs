//! From JSON text to values.

use crate::dynamic::{Object, Text, Value};
use crate::{Code, Error};

/// Levels of arrays and objects a JSON text may have; a limit of ours.
const MAX_DEPTH: usize = 512;

/// Reads a JSON text. Numbers become the nearest floats; of properties that come twice, the last counts.
///
/// # Errors
/// [`Code::Json`], or [`Code::Depth`] beyond 512 levels.
pub fn parse(text: &str) -> Result<Value, Error> {
    let mut parser = Parser { rest: text, depth: 0 };
    let value = parser.value()?;
    parser.skip_space();
    if parser.rest.is_empty() { Ok(value) } else { Err(Code::Json.into()) }
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Skips `token` and says whether it was there.
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), Error> {
        if self.eat(token) { Ok(()) } else { Err(Code::Json.into()) }
    }

    fn value(&mut self) -> Result<Value, Error> {
        self.skip_space();
        match self.rest.as_bytes().first() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b't') => self.expect("true").map(|()| Value::Bool(true)),
            Some(b'f') => self.expect("false").map(|()| Value::Bool(false)),
            Some(b'n') => self.expect("null").map(|()| Value::Null),
            _ => self.number().map(Value::Number),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Error>) -> Result<Value, Error> {
        if self.depth >= MAX_DEPTH {
            return Err(Code::Depth.into());
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result<Value, Error> {
        self.expect("[")?;
        let mut items = Vec::new();
        self.skip_space();
        if self.eat("]") {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_space();
            if self.eat("]") {
                return Ok(Value::Array(items));
            }
            self.expect(",")?;
        }
    }

    fn object(&mut self) -> Result<Value, Error> {
        self.expect("{")?;
        let mut entries = Vec::new();
        self.skip_space();
        if self.eat("}") {
            return Ok(Value::Object(Object::new()));
        }
        loop {
            self.skip_space();
            let key = self.string()?;
            self.skip_space();
            self.expect(":")?;
            entries.push((key, self.value()?));
            self.skip_space();
            if self.eat("}") {
                return Ok(Value::Object(entries.into_iter().collect()));
            }
            self.expect(",")?;
        }
    }

    fn number(&mut self) -> Result<f64, Error> {
        let start = self.rest;
        self.eat("-");
        if !self.eat("0") && self.digits() == 0 {
            return Err(Code::Json.into());
        }
        if self.eat(".") && self.digits() == 0 {
            return Err(Code::Json.into());
        }
        if self.eat("e") || self.eat("E") {
            let _ = self.eat("+") || self.eat("-");
            if self.digits() == 0 {
                return Err(Code::Json.into());
            }
        }
        let text = start.get(..start.len() - self.rest.len()).unwrap_or_default();
        text.parse().map_err(|_| Code::Json.into())
    }

    /// Skips digits and says how many there were.
    fn digits(&mut self) -> usize {
        let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = self.rest.len() - rest.len();
        self.rest = rest;
        count
    }

    fn string(&mut self) -> Result<Text, Error> {
        self.expect("\"")?;
        let end = self.rest.find(['"', '\\']).ok_or(Code::Json)?;
        let (plain, rest) = self.rest.split_at(end);
        if rest.starts_with('"') {
            self.rest = rest;
            self.eat("\"");
            return if has_controls(plain) { Err(Code::Json.into()) } else { Ok(plain.into()) };
        }
        self.escaped_string()
    }

    fn escaped_string(&mut self) -> Result<Text, Error> {
        let mut units = Vec::new();
        loop {
            let end = self.rest.find(['"', '\\']).ok_or(Code::Json)?;
            let (plain, rest) = self.rest.split_at(end);
            if has_controls(plain) {
                return Err(Code::Json.into());
            }
            units.extend(plain.encode_utf16());
            self.rest = rest;
            if self.eat("\"") {
                return Ok(Text::from_utf16(&units));
            }
            self.expect("\\")?;
            units.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<u16, Error> {
        let escape = self.take(1)?;
        let char = match escape {
            "\"" | "\\" | "/" => escape.bytes().next().unwrap_or_default(),
            "b" => 0x08,
            "f" => 0x0c,
            "n" => b'\n',
            "r" => b'\r',
            "t" => b'\t',
            "u" => {
                let digits = self.take(4)?;
                let hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                return u16::from_str_radix(digits, 16).ok().filter(|_| hex).ok_or(Code::Json.into());
            }
            _ => return Err(Code::Json.into()),
        };
        Ok(u16::from(char))
    }

    fn take(&mut self, n: usize) -> Result<&'t str, Error> {
        let (taken, rest) = self.rest.split_at_checked(n).ok_or(Code::Json)?;
        self.rest = rest;
        Ok(taken)
    }
}

fn has_controls(text: &str) -> bool {
    text.bytes().any(|byte| byte < 0x20)
}
