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

/// Every target there is.
pub const TARGETS: &[Target] = &[
    Target {
        name: "bit_reader",
        run: bit_reader,
    },
    Target {
        name: "byte_reader",
        run: byte_reader,
    },
    Target {
        name: "capture",
        run: capture,
    },
    Target {
        name: "cppevy_client_session",
        run: cppevy_client_session,
    },
    Target {
        name: "cppevy_payload",
        run: cppevy_payload,
    },
    Target {
        name: "cppevy_server_session",
        run: cppevy_server_session,
    },
    Target {
        name: "echo_datagrams",
        run: echo_datagrams,
    },
    Target {
        name: "echo_streams",
        run: echo_streams,
    },
    Target {
        name: "lwar_client_session",
        run: lwar_client_session,
    },
    Target {
        name: "lwar_datagram",
        run: lwar_datagram,
    },
    Target {
        name: "lwar_server_session",
        run: lwar_server_session,
    },
    Target {
        name: "opendrakan_bundle",
        run: opendrakan_bundle,
    },
    Target {
        name: "opendrakan_client_session",
        run: opendrakan_client_session,
    },
    Target {
        name: "opendrakan_messages",
        run: opendrakan_messages,
    },
    Target {
        name: "opendrakan_savegame",
        run: opendrakan_savegame,
    },
    Target {
        name: "opendrakan_server_session",
        run: opendrakan_server_session,
    },
    Target {
        name: "pixmess_client_session",
        run: pixmess_client_session,
    },
    Target {
        name: "pixmess_server_session",
        run: pixmess_server_session,
    },
    Target {
        name: "pixmess_stream",
        run: pixmess_stream,
    },
    Target {
        name: "recording",
        run: recording,
    },
    Target {
        name: "replica",
        run: replica,
    },
    Target {
        name: "replica_coded",
        run: replica_coded,
    },
    Target {
        name: "replica_packed",
        run: replica_packed,
    },
    Target {
        name: "reone_client_session",
        run: reone_client_session,
    },
    Target {
        name: "reone_datagram",
        run: reone_datagram,
    },
    Target {
        name: "reone_delta",
        run: reone_delta,
    },
    Target {
        name: "reone_frames",
        run: reone_frames,
    },
    Target {
        name: "reone_huffman",
        run: reone_huffman,
    },
    Target {
        name: "reone_server_session",
        run: reone_server_session,
    },
];
