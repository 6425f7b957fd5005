#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| logkeep_fuzz::codec::stream(data));
