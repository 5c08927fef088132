//! Recordings of protocols that are carried by streams.

use std::process::{Command, Output};

use serde_json::Value;
use tickwire_session::tap::{Input, Observer, Recorder};
use tickwire_session::{Addr, Host, Instant, StreamId, Transmit};

use super::{check_refused, run_to_end, text};

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

/// A C++evy client's Join, which goes by stream, and its Attach, which goes by datagram.
const JOIN: &[u8] = b"\0\0\0\0\x05\x04\x00\xff\x05\x01\x00ann\xff";
const ATTACH: &[u8] = b"\0\0\0\0\x06\x04\x01\xff\x08\x01\x02\x03\x04\x05\x06\x07\x08";

fn inspect(protocol: &str, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tickwire"));
    command.args(["inspect", protocol, "--from", "client"]);
    command.args(arguments);
    run_to_end(command, input)
}

#[track_caller]
fn headings(output: &Output) -> Vec<&str> {
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    text(&output.stdout)
        .lines()
        .filter(|line| line.contains("from the"))
        .collect()
}

#[test]
fn a_recording_of_both_paths_shows_both() {
    let mut file = Vec::new();
    let mut recorder = Recorder::new(|bytes| file.extend_from_slice(bytes));
    let (on, host) = (StreamId::Accepted(0), Host::Link(3));
    let peer = Addr { host, port: 0 };
    recorder.input(Instant::from_millis(16), Input::Opened { on, peer });
    for bytes in JOIN.chunks(4) {
        recorder.input(Instant::from_millis(17), Input::Stream { on, bytes });
    }
    let (from, bytes) = (peer, ATTACH);
    recorder.input(Instant::from_millis(18), Input::Datagram { from, bytes });
    let output = inspect("cppevy", &[], &file);
    assert_eq!(
        headings(&output),
        [
            "0.017000s <- link-3:0: cppevy, from the client by stream, 15 bytes",
            "0.018000s <- link-3:0: cppevy, from the client, 17 bytes",
        ]
    );
    for said in ["Join", "ann", "Attach"] {
        assert!(text(&output.stdout).contains(said), "{said} is missing");
    }
    let json = inspect("cppevy", &["--json"], &file);
    let objects = text(&json.stdout).lines();
    let objects = objects.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let carriers = objects.filter_map(|object| object.get("carrier").cloned());
    assert_eq!(carriers.collect::<Vec<_>>(), ["stream", "datagram"]);
}

#[test]
fn a_stream_is_many_payloads_and_a_datagram_is_one() {
    let twice = [JOIN, JOIN].concat();
    let stream = inspect("cppevy", &["--stream"], &twice);
    assert_eq!(
        headings(&stream),
        ["cppevy, from the client by stream, 15 bytes"; 2]
    );
    assert_eq!(text(&stream.stdout).matches("Join").count(), 2);
    let datagram = inspect("cppevy", &[], &twice);
    assert_eq!(datagram.status.code(), Some(1));
    // Where nothing is carried by streams, there is none to show.
    let none = inspect("lwar", &["--stream"], b"00");
    check_refused(&none, 2, "lwar has datagrams only");
}

#[test]
fn a_recording_of_streams_is_shown_message_by_message() {
    let output = inspect("pixmess", &[], &stream_recording());
    assert_eq!(
        headings(&output),
        [
            "0.019000s <- link-3:0: pixmess, from the client, 11 bytes",
            "0.021000s <- link-3:0: pixmess, from the client, 7 bytes",
            "0.030000s -> link-3:0: pixmess, from the server, 3 bytes"
        ]
    );
    for said in ["login", "ann", "chat", "hello", "player_id"] {
        assert!(text(&output.stdout).contains(said), "{said} is missing");
    }
    // What ends inside a packet says so, and the rest is shown.
    let whole = stream_recording();
    let cut = inspect("pixmess", &[], &whole[..whole.len() - 20]);
    assert_eq!(cut.status.code(), Some(1));
    assert!(text(&cut.stdout).contains("hello"));
}
