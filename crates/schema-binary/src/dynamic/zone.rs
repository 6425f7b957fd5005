//! Time zones: offsets, and the names of the time zone database.

use super::Zone;

/// The names of the time zone database, links included, one a line, sorted without regard to case.
const NAMES: &str = include_str!("zones.txt");

/// Instants of zoned moments, in milliseconds, stay so far from the ends of time that every zone can show them.
pub(super) fn reaches(epoch_millis: f64) -> bool {
    const HOUR: f64 = 3_600_000.0;
    (-8.64e15 + 12.0 * HOUR..=8.64e15 - 14.0 * HOUR).contains(&epoch_millis)
}

/// The zone that a text names: an offset such as `+02:00`, or a name such as `Europe/London` in any case.
pub(super) fn parse(text: &str) -> Option<Zone> {
    let offset = text.strip_prefix("GMT").unwrap_or(text);
    if offset.starts_with(['+', '-']) {
        return parse_offset(text).map(Zone::Offset);
    }
    let name = NAMES.lines().find(|name| name.eq_ignore_ascii_case(text))?;
    Some(Zone::Named(name.to_owned()))
}

/// The milliseconds of an offset `±hh:mm` or `±hhmm` at the end of a text.
fn parse_offset(text: &str) -> Option<i32> {
    let digits_at = |tail: &str| {
        Some((tail.get(0..1)?.to_owned(), two(tail.get(1..3)?)?, two(tail.get(tail.len() - 2..)?)?))
    };
    let with_colon =
        text.len().checked_sub(6).and_then(|at| text.get(at..)).filter(|tail| tail.get(3..4) == Some(":"));
    let tail = with_colon.or_else(|| text.len().checked_sub(5).and_then(|at| text.get(at..)))?;
    let (sign, hours, minutes) = digits_at(tail)?;
    let millis = (hours * 60 + minutes) * 60_000;
    match sign.as_str() {
        "+" => Some(millis),
        "-" => Some(-millis),
        _ => None,
    }
}

fn two(digits: &str) -> Option<i32> {
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_by_name_and_offset() {
        assert_eq!(parse("europe/london"), Some(Zone::Named("Europe/London".to_owned())));
        assert_eq!(parse("UTC"), Some(Zone::Named("UTC".to_owned())));
        assert_eq!(parse("-03:30"), Some(Zone::Offset(-12_600_000)));
        assert_eq!(parse("GMT+0200"), Some(Zone::Offset(7_200_000)));
        assert_eq!(parse("+2"), None);
        assert_eq!(parse("Nope"), None);
    }
}
