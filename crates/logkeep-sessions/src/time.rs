//! Milliseconds since 1970 as people read them.

/// For instance `2026-08-14 11:19:55 UTC`. Years outside 0 to 9999 are shown as milliseconds.
pub(crate) fn utc(milliseconds: i64) -> String {
    let seconds = milliseconds.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    if !(0..=9999).contains(&year) {
        return format!("{milliseconds} ms");
    }
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02} UTC", second % 60)
}

/// Year, month and day of a day counted from 1970-01-01, by the rules of the Gregorian calendar.
///
/// Counting years from March puts the leap day last, so that the months have fixed lengths.
fn date(days: i64) -> (i64, i64, i64) {
    let since_march = days + 719_468;
    let era = since_march.div_euclid(146_097);
    let day_of_era = since_march.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn known_moments() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_786_706_395_136), "2026-08-14 11:19:55 UTC");
        assert_eq!(utc(-1), "1969-12-31 23:59:59 UTC");
        assert_eq!(utc(i64::MAX), "9223372036854775807 ms");
    }
}
