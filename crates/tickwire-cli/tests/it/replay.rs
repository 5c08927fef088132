//! `tickwire replay`: what was recorded is seen again, whoever recorded it and however it ended.

use std::fs;
use std::path::Path;

use crate::command::{Done, run};
use crate::pty::Terminal;

/// Lets bots play in a process of their own, and records the first.
fn record_bot(protocol: &str, file: &Path, seconds: &str) {
    let file = file.to_str().expect("a plain path");
    let mut words = vec!["bots", protocol, "--in-process", "--count", "3"];
    words.extend(["--seconds", seconds, "--record", file]);
    let done = run(&words);
    assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
}

fn check(file: &Path) -> Done {
    run(&["replay", "--check", file.to_str().expect("a plain path")])
}

/// The number before these words, in what was printed.
fn number_before(done: &Done, words: &str) -> u64 {
    let (before, _) = done.stdout.split_once(words).unwrap_or_default();
    let number = before.rsplit(' ').next().and_then(|it| it.parse().ok());
    number.unwrap_or_else(|| panic!("no number before {words:?}: {done:?}"))
}

#[test]
fn what_a_bot_saw_is_seen_again_in_every_protocol() {
    let folder = tempfile::tempdir().expect("a folder");
    for protocol in ["native", "lwar", "cppevy", "pixmess", "opendrakan", "reone"] {
        let file = folder.path().join(protocol);
        record_bot(protocol, &file, "3");
        let done = check(&file);
        assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
        assert_eq!(number_before(&done, " of "), 0, "{protocol}: {done:?}");
        assert!(number_before(&done, " looks") > 20, "{protocol}: {done:?}");
    }
}

#[test]
fn what_a_server_sent_is_seen_again() {
    let folder = tempfile::tempdir().expect("a folder");
    for protocol in ["native", "lwar", "cppevy", "opendrakan", "reone"] {
        let file = folder.path().join(protocol);
        let name = file.to_str().expect("a plain path");
        let mut words = vec!["serve", protocol, "--listen", "127.0.0.1:0", "--bots", "3"];
        words.extend(["--seconds", "5", "--record", name]);
        let done = run(&words);
        assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
        let done = check(&file);
        assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
        assert!(number_before(&done, " things") > 1, "{protocol}: {done:?}");
    }
}

#[test]
fn what_a_server_sent_to_clients_on_sockets_is_seen_again_in_every_protocol() {
    let folder = tempfile::tempdir().expect("a folder");
    for protocol in ["native", "lwar", "cppevy", "pixmess", "opendrakan", "reone"] {
        let file = folder.path().join(protocol);
        let name = file.to_str().expect("a plain path");
        let (server, addr) = crate::command::serve(protocol, &["--record", name]);
        let addr = addr.to_string();
        let words = [
            "bots",
            protocol,
            "--connect",
            &addr,
            "--count",
            "3",
            "--seconds",
            "3",
        ];
        assert_eq!(run(&words).code, Some(0), "{protocol}");
        server.terminate();
        assert_eq!(server.wait().code, Some(0), "{protocol}");
        for client in ["1", "2", "3"] {
            let done = run(&["replay", "--check", name, "--client", client]);
            assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
            assert!(
                number_before(&done, " things") > 1,
                "{protocol} {client}: {done:?}"
            );
        }
        let done = run(&["replay", "--check", name, "--client", "9"]);
        assert_eq!(done.code, Some(1), "{protocol}: {done:?}");
    }
}

#[test]
fn one_that_was_cut_off_plays_to_where_it_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("whole");
    record_bot("native", &file, "3");
    let looks = number_before(&check(&file), " looks");
    let whole = fs::read(&file).expect("it was written");
    fs::write(&file, &whole[..whole.len() / 2 + 1]).expect("it can be written");
    let done = check(&file);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(number_before(&done, " of "), 0, "{done:?}");
    let half = number_before(&done, " looks");
    assert!((1..looks).contains(&half), "{half} of {looks}");
}

#[test]
fn what_is_no_recording_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    let too_long = b"tickrec\x02\xff\xff\xff\xff".as_slice();
    let cases = [
        (b"".as_slice(), "is no recording"),
        (b"#!/bin/sh\necho hello\n", "is no recording"),
        (b"tickrec\x02", "nothing was recorded"),
        (too_long, "the recording is damaged"),
    ];
    for (bytes, words) in cases {
        fs::write(&file, bytes).expect("it can be written");
        let done = check(&file);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stderr.contains(words), "{done:?}");
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    }
    let done = check(&folder.path().join("missing"));
    assert_eq!((done.code, done.stderr.lines().count()), (Some(1), 1));
}

#[test]
fn a_person_pauses_seeks_and_leaves() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("recording");
    let name = file.to_str().expect("a plain path");
    let mut words = vec!["serve", "--listen", "127.0.0.1:0", "--bots", "3"];
    words.extend(["--seconds", "8", "--record", name]);
    assert_eq!(run(&words).code, Some(0));
    let mut terminal = Terminal::start(&["replay", name, "--at", "0:04", "--speed", "0.25"]);
    terminal.wait_for_text("recording 0:04 of 0:0");
    terminal.press(" ");
    terminal.wait_for_text("×0.25 paused");
    // The end, back from it, and the beginning.
    terminal.press("\x1b[F");
    terminal.wait_for_text("the end");
    terminal.press("\x1b[D");
    terminal.wait_for_text("recording 0:0");
    terminal.wait_for_text("paused");
    terminal.press("\x1b[H");
    terminal.wait_for_text("recording 0:00");
    terminal.press("\x1b[A");
    terminal.wait_for_text("×0.5");
    terminal.leave();
}
