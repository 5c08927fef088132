//! Files that others made: other link types, cut off, broken, with pieces missing, and very large ones.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::Command;

use tickwire_capture::{Flags, Packet, Transport};
use tickwire_session::Instant;

use super::{inspect, name, objects};
use crate::command::Done;

/// A Connect of "rusty" to an lwar server.
const CONNECT: &[u8] = b"\xf2\x70\x87\xc5\0\0\0\0\0\0\0\0\x01\0\0\0\x01\x05rusty";

/// A pixmess client's login and chat.
const LOGIN: &[u8] = b"\x7b\x01\x00\x40\x00\x07\x00\x03ann\x58\x05hello";

const LWAR: u16 = 32_422;
const PIXMESS: u16 = 4_646;

/// An IP packet.
fn packet(from: &str, to: &str, transport: Transport, bytes: &[u8]) -> Vec<u8> {
    let packet = Packet {
        at: Instant::ZERO,
        from: from.parse().expect("an address"),
        to: to.parse().expect("an address"),
        is_inbound: true,
        transport,
        bytes: bytes.into(),
    };
    let mut out = Vec::new();
    packet.encode(&mut out).expect("it fits");
    out
}

fn connect() -> Vec<u8> {
    packet(
        "10.0.0.1:5000",
        &format!("10.0.0.2:{LWAR}"),
        Transport::Udp,
        CONNECT,
    )
}

/// A segment of a pixmess client's stream.
fn segment(seq: u32, flags: Flags, bytes: &[u8]) -> Vec<u8> {
    let transport = Transport::Tcp { seq, ack: 1, flags };
    packet(
        "10.0.0.1:5000",
        &format!("10.0.0.2:{PIXMESS}"),
        transport,
        bytes,
    )
}

const DATA: Flags = Flags {
    syn: false,
    ack: true,
    psh: true,
    fin: false,
    rst: false,
};
const SYN: Flags = Flags {
    syn: true,
    ack: false,
    ..DATA
};
const FIN: Flags = Flags { fin: true, ..DATA };

/// A pcap file, in either byte order, with a packet a millisecond.
fn pcap(link: u32, is_big: bool, is_nanos: bool, packets: &[Vec<u8>]) -> Vec<u8> {
    let word = |word: u32| match is_big {
        true => word.to_be_bytes(),
        false => word.to_le_bytes(),
    };
    let magic = if is_nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let version = if is_big { [0, 2, 0, 4] } else { [2, 0, 4, 0] };
    let mut file = [
        word(magic),
        version,
        word(0),
        word(0),
        word(65_535),
        word(link),
    ]
    .concat();
    for (number, packet) in (0..).zip(packets) {
        let unit = if is_nanos { 1_000_000 } else { 1_000 };
        let length = u32::try_from(packet.len()).expect("it is short");
        for field in [7, number * unit, length, length] {
            file.extend(word(field));
        }
        file.extend(packet);
    }
    file
}

fn shown(bytes: &[u8], options: &[&str]) -> Done {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, bytes).expect("it can be written");
    inspect(&file, options)
}

#[track_caller]
fn check_connect(bytes: &[u8]) {
    let done = shown(bytes, &["--json"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    let (objects, _) = objects(&done);
    assert_eq!(objects.len(), 2, "{done:?}");
    for (object, micros) in objects.iter().zip([0, 1_000]) {
        assert_eq!(
            (&object["protocol"], &object["from"]),
            (&"lwar".into(), &"client".into())
        );
        assert_eq!(object["time_us"], micros);
        assert_eq!(object["source"], "10.0.0.1:5000");
        assert!(object["fields"].to_string().contains("rusty"));
    }
}

#[test]
fn every_link_type_is_read() {
    let ethernet = [&[0; 12][..], &[0x08, 0x00]].concat();
    let vlan = [&[0; 12][..], &[0x81, 0x00, 0, 7, 0x08, 0x00]].concat();
    let cooked = [&[0; 14][..], &[0x08, 0x00]].concat();
    let cooked_2 = [&[0x08, 0x00][..], &[0; 18]].concat();
    let cases = [
        (101, vec![]),
        (228, vec![]),
        (1, ethernet),
        (1, vlan),
        (113, cooked),
        (276, cooked_2),
        (0, vec![2, 0, 0, 0]),
        (108, vec![0, 0, 0, 2]),
    ];
    for (link, header) in cases {
        let framed = [header, connect()].concat();
        let packets = [framed.clone(), framed];
        check_connect(&pcap(link, false, false, &packets));
        check_connect(&pcap(link, true, true, &packets));
    }
}

#[test]
fn what_is_not_known_is_shown_and_said() {
    let done = shown(&pcap(105, false, false, &[connect()]), &[]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stderr.contains("link type 105 is not known here"),
        "{done:?}"
    );
    assert!(
        done.stdout.contains("unknown, another link type, 51 bytes"),
        "{done:?}"
    );

    let stranger = packet("10.0.0.1:5000", "10.0.0.2:53", Transport::Udp, b"\xffhello");
    let done = shown(&pcap(101, false, false, &[stranger]), &[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let heading = "frame 1 0.000000s 10.0.0.1:5000 -> 10.0.0.2:53: unknown, 6 bytes";
    assert!(done.stdout.contains(heading), "{done:?}");
    assert!(done.stdout.contains("ff 68 65 6c 6c 6f"), "{done:?}");

    let mut fragment = connect();
    fragment[6] = 0x20; // More fragments follow.
    let done = shown(&pcap(101, false, false, &[fragment]), &[]);
    assert!(
        done.stdout
            .contains("unknown, IP fragment, not put together"),
        "{done:?}"
    );

    let mut broken = connect();
    broken.truncate(40);
    let done = shown(&pcap(101, false, false, &[broken]), &[]);
    assert!(
        done.stdout
            .contains("not read: the capture has only a part of it"),
        "{done:?}"
    );
}

#[test]
fn a_stream_out_of_order_and_repeated_is_put_together() {
    let (first, second) = LOGIN.split_at(7);
    let seq = 1_001 + 7;
    let packets = [
        segment(1_000, SYN, b""),
        segment(seq, FIN, second),
        segment(1_001, DATA, first),
        segment(1_001, DATA, first),
    ];
    let done = shown(&pcap(101, false, false, &packets), &["--json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let (objects, summary) = objects(&done);
    let meanings: Vec<_> = objects
        .iter()
        .map(|object| object["fields"][1]["meaning"].clone())
        .collect();
    assert_eq!(meanings, ["login", "chat"]);
    assert_eq!(objects[0]["frame"], 3, "that completed it");
    assert_eq!(
        (&summary["repeated"], &summary["missing_bytes"]),
        (&1.into(), &0.into())
    );
}

#[test]
fn a_missing_piece_is_a_gap_and_what_follows_is_shown_as_it_is() {
    let packets = [
        segment(1_000, SYN, b""),
        segment(1_001, DATA, &LOGIN[..11]),
        segment(1_001 + 14, FIN, &LOGIN[14..]),
    ];
    let done = shown(&pcap(101, false, false, &packets), &[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for words in [
        "login",
        "gap: 3 bytes are missing",
        "6c 6c 6f",
        "not read: behind a gap",
    ] {
        assert!(done.stdout.contains(words), "{words}: {done:?}");
    }
}

#[test]
fn a_file_that_was_cut_off_is_shown_to_where_it_ends() {
    let whole = pcap(101, false, false, &[connect(), connect()]);
    for cut in [1, 20, 60] {
        let done = shown(&whole[..whole.len() - cut], &[]);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(
            done.stderr.contains("the file ends inside a packet"),
            "{done:?}"
        );
        assert_eq!(done.stdout.matches("rusty").count(), 1, "{done:?}");
        assert!(done.stdout.contains("summary: "), "{done:?}");
    }
    for nothing in [
        &whole[..4],
        &whole[..24],
        b"\x0a\x0d\x0d\x0a",
        b"\x0a\x0d\x0d\x0a\x1c\0\0\0",
    ] {
        let done = shown(nothing, &[]);
        let is_whole = nothing.len() == 24;
        assert_eq!(done.code, Some(i32::from(!is_whole)), "{done:?}");
        assert!(done.stderr.lines().count() <= 1, "{done:?}");
    }
}

#[test]
fn a_cut_or_changed_capture_of_ours_never_fails_otherwise_than_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    let mut words = vec![
        "bots",
        "cppevy",
        "--in-process",
        "--count",
        "1",
        "--seconds",
        "1",
    ];
    words.extend(["--capture", name(&file)]);
    assert_eq!(crate::command::run(&words).code, Some(0));
    let whole = fs::read(&file).expect("it was written");
    for step in 1..40 {
        let at = whole.len() * step / 40;
        let mut changed = whole.clone();
        changed[at] ^= 0xff;
        for bytes in [&whole[..at], &changed] {
            fs::write(&file, bytes).expect("it can be written");
            let annotated = folder.path().join("annotated");
            for options in [&[][..], &["--annotate", name(&annotated)]] {
                let done = inspect(&file, options);
                assert!(matches!(done.code, Some(0 | 1)), "byte {at}: {done:?}");
                assert!(!done.stderr.contains("panicked"), "byte {at}: {done:?}");
            }
        }
    }
}

/// Inspects a file in a process that may not have more than 256 MiB of memory.
#[cfg(unix)]
fn run_in_little_memory(file: &Path) -> Done {
    let command = "ulimit -v 262144; exec \"$0\" inspect --summary \"$1\"";
    let output = Command::new("sh")
        .args(["-c", command, env!("CARGO_BIN_EXE_tickwire"), name(file)])
        .output()
        .expect("sh is there");
    Done {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into(),
        stderr: String::from_utf8_lossy(&output.stderr).into(),
    }
}

#[cfg(unix)]
#[test]
fn gigabytes_need_no_more_memory_than_a_packet() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    let mut file = fs::File::create(&path).expect("a file");
    file.write_all(&pcap(1, false, false, &[]))
        .expect("it can be written");
    // Two gigabytes of packets that are holes: they read as zeros and take no space on the disk.
    let length = 256 * 1_024_u32;
    for _ in 0..8_192 {
        let header = [0, 0, length, length].map(u32::to_le_bytes).concat();
        file.write_all(&header).expect("it can be written");
        file.seek(SeekFrom::Current(length.into()))
            .expect("a file can be sought");
    }
    let end = file.stream_position().expect("a file has one");
    file.set_len(end).expect("a file has a length");
    let done = run_in_little_memory(&path);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("8192 frames"), "{done:?}");
}

#[cfg(unix)]
#[test]
fn any_number_of_conversations_needs_no_more_memory_than_a_few() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    // Streams that each wait for a piece that never comes.
    let waiting = vec![7; 32 * 1_024];
    let packets: Vec<_> = (0..6_000_u16)
        .flat_map(|port| {
            let from = format!("10.0.0.1:{}", 1_000 + port);
            let to = format!("10.0.0.2:{PIXMESS}");
            [(0, SYN, &[][..]), (100, DATA, &waiting)].map(|(seq, flags, bytes)| {
                packet(&from, &to, Transport::Tcp { seq, ack: 0, flags }, bytes)
            })
        })
        .collect();
    fs::write(&path, pcap(101, false, false, &packets)).expect("it can be written");
    let done = run_in_little_memory(&path);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("6000 conversations"), "{done:?}");
    let forgotten = "1904 conversations were too many to be followed to their end";
    assert!(done.stdout.contains(forgotten), "{done:?}");
    assert!(
        done.stdout
            .contains(&format!("missing from streams {} bytes", 6_000 * 99)),
        "{done:?}"
    );
}
