//! JSON text as JavaScript reads and writes it.

mod parse;
mod print;

pub use parse::parse;
pub use print::{number_text, print};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic::Value;

    #[test]
    fn prints_numbers_as_javascript_does() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1e21, "1e+21"),
            (123e18, "123000000000000000000"),
            (1e-7, "1e-7"),
            (1e-6, "0.000001"),
            (1.5e300, "1.5e+300"),
            (-12.25, "-12.25"),
            (5e-324, "5e-324"),
            (0.1 + 0.2, "0.30000000000000004"),
        ];
        for (number, text) in cases {
            assert_eq!(number_text(number), text);
        }
    }

    #[test]
    fn objects_print_integer_keys_first() {
        let value = parse(r#"{"b":1,"10":2,"2":3,"01":4,"b":5}"#).unwrap();
        assert_eq!(print(&value).unwrap(), r#"{"2":3,"10":2,"b":5,"01":4}"#);
    }

    #[test]
    fn surrogates_survive() {
        let value = parse(r#""a\ud800b\ud83d\ude00""#).unwrap();
        assert_eq!(print(&value).unwrap(), r#""a\ud800b😀""#);
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in [
            "",
            "{",
            "[1,]",
            "01",
            "1.",
            ".5",
            "+1",
            "\"\t\"",
            "nul",
            "[1] 2",
            "'a'",
            "{a:1}",
            "\"\\x\"",
            "-",
            "1e",
            "\u{feff}1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn drops_what_json_cannot_hold() {
        let value = Value::Array(vec![Value::Undefined, Value::Number(f64::NAN), Value::Number(-0.0)]);
        assert_eq!(print(&value).unwrap(), "[null,null,0]");
        assert_eq!(print(&Value::Undefined), None);
    }
}
