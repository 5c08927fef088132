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
mod driven;
mod echo;
mod lwar;
mod recording;
mod script;
mod trace;

pub use bit_reader::bit_reader;
pub use byte_reader::byte_reader;
pub use echo::{echo_datagrams, echo_streams};
pub use lwar::{lwar_client_session, lwar_datagram, lwar_server_session};
pub use recording::recording;

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
        name: "recording",
        run: recording,
    },
];
