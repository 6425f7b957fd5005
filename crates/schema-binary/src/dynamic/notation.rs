//! Values of any schema as JSON: plain JSON where it says enough, and objects with one `$` key elsewhere.
//!
//! | JSON | value |
//! |---|---|
//! | `{"$undefined":true}` | undefined |
//! | `{"$number":"NaN"}`, `"Infinity"`, `"-Infinity"`, `"-0"` | that number |
//! | `{"$f64":"4340000000000000"}` | the number with these bits |
//! | `{"$bigint":"-12"}` | an integer of any size |
//! | `{"$bytes":"00ff"}` | bytes |
//! | `{"$date":0}`, `{"$utc":0}` | a date, a moment in UTC (milliseconds; `null` is an invalid date) |
//! | `{"$zoned":{"epochMillis":0,"offsetMillis":0}}`, or `"zone"` instead of the offset | a moment in a zone |
//! | `{"$duration":"1000"}`, `"Infinity"`, `"-Infinity"` | a length of time, in nanoseconds |
//! | `{"$bigDecimal":{"value":"15","scale":1}}` | 1.5 |
//! | `{"$symbol":"key"}` | a symbol |
//! | `{"$some":v}`, `{"$none":true}` | an option |
//! | `{"$success":v}`, `{"$failure":v}` | a result |
//! | `{"$exit":{"success":v}}`, `{"$exit":{"cause":[reason]}}` | an exit |
//! | `{"$cause":[reason]}`, `{"$reason":reason}` | a cause; a reason is `{"fail":v}`, `{"die":v}` or `{"interrupt":id or null}` |
//! | `{"$utf16":[units]}` | a string that is not Unicode |
//! | `{"$entries":[[key,v]]}` | an object with a key that begins with `$` |

mod read;
mod write;

pub use read::read;
pub use write::write;
