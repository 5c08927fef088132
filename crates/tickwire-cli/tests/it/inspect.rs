//! `tickwire inspect`: every captured datagram, broken ones, and files of every form and size.
//!
//! What it prints is kept in `snapshots`, written anew with `TICKWIRE_BLESS=1`. A snapshot holds of
//! each datagram only the lines that differ from one before, so that it can be read.

mod snapshot;
mod streams;

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use snapshot::Snapshot;

/// A Connect of "rusty".
const CONNECT: &str = "f27087c500000000000000000100000001057275737479";

fn inspect(side: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tickwire"));
    command.args(["inspect", "lwar", "--from", side]);
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Shows what a client sent; standard input is `input`.
fn run(arguments: &[&str], input: &[u8]) -> Output {
    run_to_end(inspect("client", arguments), input)
}

fn run_to_end(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    std::thread::scope(|scope| {
        // It need not read everything.
        scope.spawn(move || stdin.write_all(input).ok());
        child.wait_with_output().expect("the command ends")
    })
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the command prints UTF-8")
}

#[track_caller]
fn check_refused(output: &Output, code: i32, sentence: &str) {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(sentence), "{stderr}");
}

/// Sender and digits of every datagram of the original conversation.
fn conversation() -> Vec<(&'static str, String)> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/lwar/original-conversation.txt");
    let text = fs::read_to_string(path).expect("the conversation is there");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split(' ');
            let sender = match words.next() {
                Some("C->S") => "client",
                _ => "server",
            };
            let digits = words.nth(1).expect("the third word is the datagram");
            (sender, digits.to_owned())
        })
        .collect()
}

/// A new place for a file.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("inspect-{}-{name}", std::process::id()))
}

#[test]
fn captured_datagrams_read_as_they_always_did() {
    let conversation = conversation();
    let mut shown = Vec::new();
    for side in ["client", "server"] {
        // The other side's lines stay empty, so that a number means the same line in both.
        let lines: String = conversation
            .iter()
            .map(|(sender, digits)| match *sender == side {
                true => format!("{digits}\n"),
                false => "\n".to_owned(),
            })
            .collect();
        let output = run_to_end(inspect(side, &[]), lines.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let datagrams = text(&output.stdout).split("\n\n").map(str::to_owned);
        shown.extend(datagrams.map(|datagram| (line_number(&datagram), datagram)));
    }
    shown.sort();
    assert_eq!(shown.len(), conversation.len());
    let mut snapshot = Snapshot::new("inspect-conversation.txt");
    for (_, datagram) in &shown {
        snapshot.add(datagram);
    }
    snapshot.check();
}

/// The line that a datagram stood on, as its heading says: `line 7: …`.
fn line_number(shown: &str) -> u32 {
    let (number, _) = shown["line ".len()..].split_once(':').expect("a number");
    number.parse().expect("a number")
}

#[test]
fn a_datagram_cut_at_any_byte_says_where() {
    let conversation = conversation();
    let whole = &conversation[1].1;
    let mut lines = format!("{whole}\n");
    for cut in (1..whole.len() / 2).rev() {
        lines += &format!("{}\n", &whole[..2 * cut]);
    }
    let output = run(&[], lines.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let mut snapshot = Snapshot::new("inspect-cut.txt");
    for datagram in text(&output.stdout).split("\n\n") {
        snapshot.add(datagram);
    }
    let empty = run(&["--hex", ""], b"");
    assert_eq!(empty.status.code(), Some(1));
    snapshot.add(text(&empty.stdout));
    snapshot.check();
}

#[test]
fn digits_may_be_written_in_many_ways() {
    let plain = run(&["--hex", CONNECT], b"");
    assert_eq!(plain.status.code(), Some(0));
    let pairs: Vec<_> = (0..CONNECT.len())
        .step_by(2)
        .map(|at| &CONNECT[at..at + 2])
        .collect();
    for written in [
        CONNECT.to_uppercase(),
        format!("0x{CONNECT}"),
        pairs.join(" "),
        pairs.join(":"),
        format!("\n  {}\n", pairs.join("\n\t")),
        format!("0x{}", pairs.join(" 0x")),
    ] {
        let again = run(&["--hex", &written], b"");
        assert_eq!(text(&again.stdout), text(&plain.stdout), "{written:?}");
    }
}

#[test]
fn digits_that_are_none_are_pointed_at() {
    let refused = |digits: &str, sentence: &str| {
        check_refused(&run(&["--hex", digits], b""), 2, sentence);
    };
    refused("f2 7q", "character 5, 'q', is no hexadecimal digit");
    refused(
        "f2 707",
        "character 6, '7', stands alone: a byte has two digits",
    );
}

#[test]
fn a_file_may_hold_one_datagram_as_it_was() {
    let path = scratch("raw");
    let bytes: Vec<u8> = (0..CONNECT.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&CONNECT[at..at + 2], 16).unwrap())
        .collect();
    fs::write(&path, &bytes).unwrap();
    let typed = run(&["--hex", CONNECT], b"");
    let read = run(&[path.to_str().unwrap()], b"");
    fs::remove_file(path).unwrap();
    assert_eq!(text(&read.stdout), text(&typed.stdout));
    assert_eq!(text(&run(&["-"], &bytes).stdout), text(&typed.stdout));
    assert_eq!(text(&run(&[], &bytes).stdout), text(&typed.stdout));
}

#[test]
fn a_bad_line_does_not_hide_the_others() {
    let lines = format!("# two good ones\n{CONNECT} # Connect\n\nf2 7\n  {CONNECT}");
    let output = run(&[], lines.as_bytes());
    check_refused(
        &output,
        1,
        "standard input, line 4: character 4, '7', stands alone",
    );
    let headings: Vec<_> = text(&output.stdout)
        .lines()
        .filter(|line| line.contains("from"))
        .collect();
    assert_eq!(
        headings,
        [
            "line 2: lwar, from the client, 23 bytes",
            "line 5: lwar, from the client, 23 bytes"
        ]
    );
}

#[test]
fn nothing_to_show_is_an_answer_too() {
    check_refused(
        &run(&[], b"# nothing\n"),
        1,
        "standard input holds no datagram",
    );
    check_refused(&run(&[], b""), 1, "standard input holds no datagram");
    check_refused(&run(&["no/such/file"], b""), 1, "cannot open no/such/file");
}

/// A recording of one datagram each way, with a stream's piece between them.
fn recording() -> Vec<u8> {
    use tickwire_session::tap::{Input, Observer, Recorder};
    use tickwire_session::{Addr, Host, Instant, StreamId, Transmit};
    let mut file = Vec::new();
    let mut recorder = Recorder::new(|bytes| file.extend_from_slice(bytes));
    let peer = Addr {
        host: Host::Link(3),
        port: 0,
    };
    let acknowledgement = [0xf2, 0x70, 0x87, 0xc5, 0, 0, 0, 1, 0, 0, 0, 9];
    let (from, bytes) = (peer, &acknowledgement[..]);
    recorder.input(Instant::from_millis(16), Input::Datagram { from, bytes });
    let on = StreamId::Accepted(0);
    recorder.input(Instant::from_millis(17), Input::Stream { on, bytes });
    let to = peer;
    recorder.output(
        Instant::from_millis(18),
        Transmit::Datagram { to },
        &bytes[..9],
    );
    file
}

#[test]
fn a_recording_shows_time_and_direction() {
    let output = run(&[], &recording());
    assert_eq!(output.status.code(), Some(1), "the second datagram is cut");
    let headings: Vec<_> = text(&output.stdout)
        .lines()
        .filter(|line| line.contains("from the"))
        .collect();
    assert_eq!(
        headings,
        [
            "0.016000s <- link-3:0: lwar, from the client, 12 bytes",
            "0.018000s -> link-3:0: lwar, from the server, 9 bytes"
        ]
    );
    let json = run(&["--json"], &recording());
    let objects: Vec<Value> = text(&json.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(objects[0]["time_us"], 16_000);
    assert_eq!(objects[1]["direction"], "out");
    assert_eq!(objects[1]["peer"], "link-3:0");
}

#[test]
fn a_damaged_recording_reads_up_to_the_damage() {
    let whole = recording();
    let cut = run(&[], &whole[..whole.len() - 1]);
    check_refused(&cut, 1, "the recording ends inside it");
    assert!(text(&cut.stdout).contains("12 bytes"));
    let absurd = [&whole[..], &[0xff; 4]].concat();
    check_refused(&run(&[], &absurd), 1, "the recording is damaged");
    let unknown = [&whole[..], &[9, 0, 0, 0], &[0; 8], &[99]].concat();
    check_refused(&run(&[], &unknown), 1, "kind may not be 99");
}

#[test]
fn json_is_an_object_a_line_with_every_field() {
    let lines: String = conversation()
        .iter()
        .map(|(_, digits)| digits.to_owned() + "\n")
        .collect();
    let output = run(&["--json"], format!("{lines}f27087c5\n").as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let objects: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is an object"))
        .collect();
    let (broken, whole) = objects.split_last().expect("a line a datagram");
    for object in whole {
        assert_eq!(object["error"], Value::Null);
        let bits = object["bytes"].as_str().unwrap().len() as u64 * 4;
        let fields = object["fields"].as_array().unwrap();
        let mut end = 0;
        for field in fields.iter().filter(|field| !field["bits"].is_null()) {
            assert_eq!(field["offset_bits"], end);
            assert!(!field["value"].is_null() && field["depth"].is_u64());
            end += field["bits"].as_u64().unwrap();
        }
        assert_eq!(end, bits);
    }
    let id = &whole[0]["fields"][5];
    assert_eq!((&id["name"], &id["value"]), (&"id".into(), &1.into()));
    assert_eq!(id["meaning"], "Connect");
    assert_eq!(broken["error"]["offset_bits"], 32);
    assert_eq!(broken["error"]["what"], "input ends inside ack (at byte 4)");
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let path = scratch("many");
    fs::write(&path, format!("{CONNECT}\n").repeat(20_000)).unwrap();
    let mut command = inspect("client", &[path.to_str().unwrap()]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdout = child.stdout.take().expect("stdout is piped");
    stdout
        .read_exact(&mut [0; 64])
        .expect("it prints something");
    drop(stdout);
    let output = child.wait_with_output().expect("it ends by itself");
    fs::remove_file(path).unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

/// Inspects a file in a process that may not have more than 256 MiB of memory.
#[cfg(unix)]
fn run_in_little_memory(file: &Path) -> Output {
    let command = "ulimit -v 262144; exec \"$0\" inspect lwar --from client \"$1\"";
    Command::new("sh")
        .args(["-c", command, env!("CARGO_BIN_EXE_tickwire")])
        .arg(file)
        .output()
        .expect("sh is there")
}

#[cfg(unix)]
#[test]
fn gigabytes_need_no_more_memory_than_a_datagram() {
    let gigabytes = 4 << 30;
    let path = scratch("gigabytes");
    let mut file = fs::File::create(&path).unwrap();

    // Holes read as zeros and take no space on the disk.
    file.set_len(gigabytes).unwrap();
    check_refused(
        &run_in_little_memory(&path),
        1,
        "is no datagram, which has at most 65536 bytes",
    );

    let lines = format!("{CONNECT}\n").repeat(1_000);
    file.write_all(lines.as_bytes()).unwrap();
    check_refused(
        &run_in_little_memory(&path),
        1,
        "line 1001: longer than 262144 bytes",
    );
    fs::remove_file(path).unwrap();
}

#[cfg(unix)]
#[test]
fn a_large_recording_is_read_record_by_record() {
    use tickwire_session::tap::Recording;
    let path = scratch("recording");
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(Recording::MAGIC).unwrap();
    // Half a gigabyte of pieces of streams, mostly holes, and a datagram behind them.
    for _ in 0..4_096 {
        let length = u32::try_from(Recording::RECORD_MAX).unwrap();
        file.write_all(&length.to_le_bytes()).unwrap();
        file.write_all(&[0, 0, 0, 0, 0, 0, 0, 0, 1]).unwrap();
        let rest = i64::from(length) - 9;
        file.seek(SeekFrom::Current(rest)).unwrap();
    }
    file.write_all(&recording()[Recording::MAGIC.len()..])
        .unwrap();
    drop(file);
    let output = run_in_little_memory(&path);
    fs::remove_file(path).unwrap();
    assert_eq!(text(&output.stderr), "");
    assert!(
        text(&output.stdout).starts_with("0.016000s <- link-3:0"),
        "{}",
        text(&output.stdout)
    );
}
