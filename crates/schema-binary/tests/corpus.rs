//! The corpus of the fuzz targets, replayed.
//!
//! ```text
//! cargo +nightly fuzz run codec_dynamic        # from the root; also codec_derived, codec_stream
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[allow(unreachable_pub, reason = "public for the fuzz targets")]
#[path = "../../../fuzz/src/codec.rs"]
mod targets;

/// Runs a target on every file of its corpus.
fn replay(target: &str, run: fn(&[u8])) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/codec_");
    let files = std::fs::read_dir(format!("{folder}{target}")).unwrap();
    let inputs: Vec<_> = files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(inputs.len() >= 8, "a corpus of {} files", inputs.len());
    inputs.iter().for_each(|input| run(input));
}

#[test]
fn dynamic() {
    replay("dynamic", targets::dynamic);
}

#[test]
fn derived() {
    replay("derived", targets::derived);
}

#[test]
fn stream() {
    replay("stream", targets::stream);
}
