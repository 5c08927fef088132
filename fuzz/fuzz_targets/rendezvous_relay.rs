#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tickwire_fuzz::rendezvous_relay(bytes));
