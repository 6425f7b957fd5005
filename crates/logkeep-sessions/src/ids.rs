//! Identifiers of sessions and what is in them.
//!
//! The full form is a prefix, `_`, twelve hex digits and fourteen base62
//! characters (SY-120). The hex digits are the low 48 bits of milliseconds ×
//! 4096 + counter, complemented for sessions. They wrap every 2^36 ms, about 795
//! days, so they tell a time only beside another one, and never an order.

/// How much time fits an id, in milliseconds.
const WRAP: i64 = 1 << 36;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// What an id stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Session,
    Message,
    Part,
}

/// Whether a file or folder name is an id of this kind.
///
/// Shorter and longer forms than the full one occur, but a full id with
/// something behind it is a copy that a sync tool or a person made.
pub(crate) fn is_id(kind: Kind, name: &str) -> bool {
    let prefixes: &[&str] = match kind {
        Kind::Session => &["ses_"],
        Kind::Message => &["msg_"],
        Kind::Part => &["prt_", "part_"],
    };
    let Some(body) = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)) else { return false };
    let plain = !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let starts_full = body.get(..26).is_some_and(|front| hex_field(front).is_some());
    plain && (!starts_full || body.len() == 26)
}

/// Whether a name can be the id of a project: a commit, `global`, or a slug.
pub(crate) fn is_project_id(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The milliseconds an id carries, modulo [`WRAP`]. `None` unless it has the full form.
fn milliseconds(id: &str) -> Option<i64> {
    let (prefix, body) = id.split_once('_')?;
    let field = hex_field(body)?;
    let field = if prefix == "ses" { !field & 0xffff_ffff_ffff } else { field };
    i64::try_from(field >> 12).ok()
}

fn hex_field(body: &str) -> Option<u64> {
    let (hex, tail) = body.split_at_checked(12)?;
    let full = hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && tail.len() == 14
        && tail.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if full { u64::from_str_radix(hex, 16).ok() } else { None }
}

/// The time an id carries, nearest to a time that is known (DS-097).
pub(crate) fn time_near(id: &str, known: i64) -> Option<i64> {
    let carried = milliseconds(id)?;
    let ahead = (carried - known).rem_euclid(WRAP);
    Some(known + if ahead > WRAP / 2 { ahead - WRAP } else { ahead })
}

/// The latest time an id can stand for that is not after another time, give or take a day.
pub(crate) fn time_before(id: &str, latest: i64) -> Option<i64> {
    const DAY: i64 = 86_400_000;
    let carried = milliseconds(id)?;
    let limit = latest.saturating_add(DAY);
    Some(limit - (limit - carried).rem_euclid(WRAP))
}

/// An id of the full form that carries a time; the rest comes from a digest.
pub(crate) fn with_time(prefix: &str, time: i64, digest: &[u8]) -> String {
    let field = time.wrapping_mul(4096) & 0xffff_ffff_ffff;
    let tail: String = digest.iter().take(14).map(|byte| base62(*byte)).collect();
    format!("{prefix}_{field:012x}{tail}")
}

fn base62(byte: u8) -> char {
    BASE62.get(usize::from(byte) % BASE62.len()).copied().map_or('0', char::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_wrap_hold() {
        for (time, field) in [
            (1_700_000_000_000, "bcfe56800"),
            (1_786_706_395_135, "fffffffff"),
            (1_786_706_395_136, "000000000"),
        ] {
            let id = format!("msg_{field}001abcdefghijklmn");
            assert_eq!(time_near(&id, time + 1000), Some(time));
            assert_eq!(time_near(&id, time - 86_400_000), Some(time));
            assert_eq!(time_before(&id, time), Some(time));
            assert_eq!(time_before(&id, time + 700 * 86_400_000), Some(time));
        }
        assert_eq!(time_near("ses_4301a97ffffeabcdefghijklmn", 1_700_000_000_000), Some(1_700_000_000_000));
        assert_eq!(time_near("msg_1", 0), None);
        assert_eq!(with_time("evt", 1_700_000_000_000, &[1; 32]), "evt_bcfe5680000011111111111111");
    }

    #[test]
    fn copies_are_no_ids() {
        let full = "ses_4876de3ffffeF1cv9gKE0fjyVY";
        for name in [full, "ses_1", "ses_missing_project"] {
            assert!(is_id(Kind::Session, name), "{name}");
        }
        let copies = [
            " (conflicted copy 2026-01-02)",
            " 2",
            "-DESKTOP",
            ".sync-conflict-20260102-120000-ABC",
            "_copy",
            "~",
        ];
        for copy in copies {
            assert!(!is_id(Kind::Session, &format!("{full}{copy}")), "{copy}");
        }
        for name in ["", "ses_", "msg_1", "ses", "up"] {
            assert!(!is_id(Kind::Session, name), "{name}");
        }
        assert!(is_id(Kind::Part, "part_ok") && is_id(Kind::Part, "prt_1") && is_id(Kind::Message, "msg_1"));
        assert!(is_project_id("srv-demo-lantern") && !is_project_id("a (copy)"));
    }
}
