//! What fuzzing runs: each target is a function that takes any bytes and panics if something that
//! must hold does not.
//!
//! `fuzz/fuzz_targets` hands them to the fuzzer (`cargo xtask fuzz TARGET`), and a test of this crate
//! runs them on every input kept in `fuzz/corpus`, so that what was once found stays found.
//!
//! The bytes of a session's target are a *script*: each byte chooses what happens next, and the bytes
//! behind it how. Packets are built as the peer expects them and then a little wrong, because a
//! fuzzer alone would not guess an application id, let alone the number of the next message.

#![forbid(unsafe_code)]

mod bit_reader;
mod byte_reader;
mod capture;
mod coder;
mod cppevy;
mod driven;
mod echo;
mod lwar;
mod opendrakan;
mod pixmess;
mod recording;
mod rendezvous;
mod reone;
mod replica;
mod script;
mod scripted;
mod trace;

pub use bit_reader::bit_reader;
pub use byte_reader::byte_reader;
pub use capture::capture;
pub use coder::{replica_coded, replica_packed};
pub use cppevy::{cppevy_client_session, cppevy_payload, cppevy_server_session};
pub use echo::{echo_datagrams, echo_streams};
pub use lwar::{lwar_client_session, lwar_datagram, lwar_server_session};
pub use opendrakan::{
    opendrakan_bundle, opendrakan_client_session, opendrakan_messages, opendrakan_savegame,
    opendrakan_server_session,
};
pub use pixmess::{pixmess_client_session, pixmess_server_session, pixmess_stream};
pub use recording::recording;
pub use rendezvous::{
    rendezvous_lobby, rendezvous_member, rendezvous_messages, rendezvous_relay, rendezvous_stun,
};
pub use reone::{
    reone_client_session, reone_datagram, reone_delta, reone_frames, reone_huffman,
    reone_server_session,
};
pub use replica::replica;

/// Something to fuzz.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line, and of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Runs it on one input.
    pub run: fn(bytes: &[u8]),
}

macro_rules! targets {
    ($($target:ident)+) => {
        /// Every target there is.
        pub const TARGETS: &[Target] = &[$(Target { name: stringify!($target), run: $target }),+];
    };
}

targets! {
    bit_reader
    byte_reader
    capture
    cppevy_client_session
    cppevy_payload
    cppevy_server_session
    echo_datagrams
    echo_streams
    lwar_client_session
    lwar_datagram
    lwar_server_session
    opendrakan_bundle
    opendrakan_client_session
    opendrakan_messages
    opendrakan_savegame
    opendrakan_server_session
    pixmess_client_session
    pixmess_server_session
    pixmess_stream
    recording
    rendezvous_lobby
    rendezvous_member
    rendezvous_messages
    rendezvous_relay
    rendezvous_stun
    replica
    replica_coded
    replica_packed
    reone_client_session
    reone_datagram
    reone_delta
    reone_frames
    reone_huffman
    reone_server_session
}
