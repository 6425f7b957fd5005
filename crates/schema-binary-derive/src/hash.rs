//! The hash that makes field ids and variant tags.

/// The FNV-1a start value.
pub(crate) const START: u32 = 0x811c_9dc5;

/// Adds bytes to a hash.
pub(crate) fn add(hash: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// The id of a field.
pub(crate) fn field_id(name: &str) -> u32 {
    add(START, name.as_bytes())
}

/// The tag of a variant that is told by one string property.
pub(crate) fn variant_tag(property: &str, text: &str) -> u32 {
    let hash = sized(add(START, &[1]), property);
    sized(add(hash, &[1]), text)
}

fn sized(hash: u32, text: &str) -> u32 {
    add(add(hash, &(text.len() as u32).to_le_bytes()), text.as_bytes())
}
