//! Recordings of protocols that are carried by streams.

use std::process::Command;

use tickwire_session::tap::{Input, Observer, Recorder};
use tickwire_session::{Addr, Host, Instant, StreamId, Transmit};

use super::{run_to_end, text};

/// A recording of a pixmess server: a login and a chat, cut where no packet ends.
fn stream_recording() -> Vec<u8> {
    let mut file = Vec::new();
    let mut recorder = Recorder::new(|bytes| file.extend_from_slice(bytes));
    let (on, host) = (StreamId::Accepted(0), Host::Link(3));
    let peer = Addr { host, port: 0 };
    recorder.input(Instant::from_millis(16), Input::Opened { on, peer });
    let said = b"\x7b\x01\x00\x40\x00\x07\x00\x03ann\x58\x05hello";
    for (piece, millis) in said.chunks(4).zip(17..) {
        let bytes = piece;
        recorder.input(Instant::from_millis(millis), Input::Stream { on, bytes });
    }
    for piece in [&[0x7e, 0x01][..], &[0x00]] {
        recorder.output(Instant::from_millis(30), Transmit::Stream { on }, piece);
    }
    file
}

#[test]
fn a_recording_of_streams_is_gathered_before_it_is_read() {
    let inspect = |file: &[u8]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tickwire"));
        command.args(["inspect", "pixmess", "--from", "client"]);
        run_to_end(command, file)
    };
    let output = inspect(&stream_recording());
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let headings: Vec<_> = text(&output.stdout)
        .lines()
        .filter(|line| line.contains("from the"))
        .collect();
    assert_eq!(
        headings,
        [
            "0.017000s <- link-3:0: pixmess, from the client, 18 bytes",
            "0.030000s -> link-3:0: pixmess, from the server, 3 bytes"
        ]
    );
    for said in ["login", "ann", "chat", "hello", "player_id"] {
        assert!(text(&output.stdout).contains(said), "{said} is missing");
    }
    // What ends inside a packet says so, and the rest is shown.
    let whole = stream_recording();
    let cut = inspect(&whole[..whole.len() - 20]);
    assert_eq!(cut.status.code(), Some(1));
    assert!(text(&cut.stdout).contains("hello"));
}
