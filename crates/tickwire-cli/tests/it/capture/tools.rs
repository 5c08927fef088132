//! Other programs: tcpdump makes captures, and Wireshark's tshark reads ours.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{PROTOCOLS, inspect, messages, messages_where, name, play};
use crate::command::{run, serve};

/// Whether a program is there, installed if it can be. Whoever only builds need not have it; whoever decides what is
/// merged must.
fn has(program: &str) -> bool {
    let works = || {
        Command::new(program)
            .arg("--version")
            .output()
            .is_ok_and(|it| it.status.success())
    };
    if works() {
        return true;
    }
    let install = format!("apt-get install -y {program}");
    // A new machine has no list of packages yet, and two tests may want one at a time.
    let wait = "-o DPkg::Lock::Timeout=300";
    let first = format!("apt-get {wait} update; {install} {wait}");
    let installed = Command::new("sh")
        .args(["-c", &first])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .output();
    if installed.is_ok() && works() {
        return true;
    }
    let hint = format!("{program} is needed: `{install}`");
    assert!(std::env::var_os("CI").is_none(), "{hint}");
    eprintln!("not run: {hint}");
    false
}

/// What tshark prints of a file.
fn tshark(file: &Path, port: u16, words: &[&str]) -> String {
    let mut command = Command::new("tshark");
    command.args(["-r", name(file)]);
    for check in ["ip", "udp", "tcp"] {
        command
            .arg("-o")
            .arg(format!("{check}.check_checksum:TRUE"));
    }
    // Its own guesses of what is on these ports are none of ours.
    for carrier in ["udp", "tcp"] {
        command
            .arg("-d")
            .arg(format!("{carrier}.port=={port},data"));
    }
    let output = command.args(words).output().expect("tshark starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into()
}

const TROUBLE: &str = "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0 || \
                       tcp.checksum.status == 0 || tcp.analysis.flags";

#[test]
fn wireshark_shows_our_comments_and_finds_nothing_wrong() {
    if !has("tshark") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for protocol in PROTOCOLS {
        let port = tickwire_demo::gateway::Protocol::named(protocol)
            .expect("it is known")
            .port;
        let file = folder.path().join(protocol);
        let mut words = vec!["bots", protocol, "--in-process", "--count", "2"];
        words.extend(["--seconds", "2", "--capture", name(&file)]);
        assert_eq!(run(&words).code, Some(0));
        let annotated = folder.path().join("annotated");
        let done = inspect(&file, &["--annotate", name(&annotated)]);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.stdout.starts_with("summary: "), "{done:?}");

        let trouble = tshark(&annotated, port, &["-Y", TROUBLE]);
        assert_eq!(trouble, "", "{protocol}");
        let comments = tshark(&annotated, port, &["-T", "fields", "-e", "frame.comment"]);
        let commented = comments.lines().filter(|line| !line.is_empty()).count();
        assert!(commented > 20, "{protocol}: {commented}");
        assert!(
            comments.contains(&format!("{protocol}, from the client")),
            "{comments}"
        );
        assert!(
            comments.contains(&format!("{protocol}, from the server")),
            "{comments}"
        );
        // The packets are the same.
        let fields = [
            "-T",
            "fields",
            "-e",
            "frame.time_epoch",
            "-e",
            "frame.len",
            "-e",
            "data.data",
        ];
        assert_eq!(
            tshark(&file, port, &fields),
            tshark(&annotated, port, &fields)
        );
        // And so is what they say, with or without comments.
        assert_eq!(messages(&file), messages(&annotated));
    }
}

#[test]
fn wireshark_finds_nothing_wrong_with_captures_of_sockets() {
    if !has("tshark") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for [_, capture] in play(folder.path(), "reone", &[]) {
        let port = tickwire_demo::gateway::Protocol::named("reone")
            .expect("it is known")
            .port;
        assert_eq!(tshark(&capture, port, &["-Y", TROUBLE]), "");
    }
}

/// Lets two bots play on a server that records, while tcpdump captures; both files. Nothing, if it may not capture.
fn captured_by_tcpdump(folder: &Path, protocol: &str, device: &str) -> Option<[PathBuf; 2]> {
    // What the kernel had no room for, tcpdump counts: that is no file to compare.
    for _ in 0..5 {
        let [record, file] = ["record", "tcpdump"].map(|name| folder.join(name));
        let (server, addr) = serve(protocol, &["--record", name(&record)]);
        let filter = format!("port {}", addr.port());
        let buffer = ["--immediate-mode", "-U", "-s", "65535", "-B", "65536"];
        let mut tcpdump = Command::new("tcpdump")
            .args(buffer)
            .args(["-i", device, "-w", name(&file), &filter])
            .stderr(Stdio::piped())
            .spawn()
            .expect("tcpdump starts");
        let said = BufReader::new(tcpdump.stderr.take().expect("it is piped"));
        let mut lines = said.lines().map_while(Result::ok);
        if !lines.any(|line| line.contains("listening on")) {
            tcpdump.wait().expect("it ends");
            return None;
        }
        let addr = addr.to_string();
        let words = [
            "bots",
            protocol,
            "--connect",
            &addr,
            "--count",
            "2",
            "--seconds",
            "2",
        ];
        assert_eq!(run(&words).code, Some(0));
        server.terminate();
        assert_eq!(server.wait().code, Some(0));
        let interrupt = format!("kill -INT {}", tcpdump.id());
        let told = Command::new("sh").args(["-c", &interrupt]).status();
        assert!(told.expect("sh is there").success());
        let is_whole = lines.any(|line| line == "0 packets dropped by kernel");
        tcpdump.wait().expect("it ends");
        if is_whole {
            return Some([record, file]);
        }
    }
    panic!("tcpdump never captured everything");
}

#[test]
fn what_tcpdump_captured_is_what_the_server_saw() {
    if !has("tcpdump") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // Ethernet on the loopback device, and Linux' cooked header on all of them.
    let devices = PROTOCOLS.iter().zip(["lo", "any"].iter().cycle());
    for (protocol, device) in devices {
        let Some([record, file]) = captured_by_tcpdump(folder.path(), protocol, device) else {
            // It says why; only who may capture can run this.
            assert!(std::env::var_os("CI").is_none(), "tcpdump may not capture");
            eprintln!("not run: tcpdump may not capture here");
            return;
        };
        // Who looks on for a recording does so over a link, which no network carries.
        let is_on_network = |object: &Value| {
            let peer = object["peer"].as_str();
            peer.is_some_and(|peer| !peer.starts_with("link-"))
        };
        // The port says nothing; the bytes do.
        let mut recorded = messages_where(&record, is_on_network);
        let mut captured = messages(&file);
        assert!(recorded.len() > 50);
        recorded.sort();
        captured.sort();
        if *device == "any" {
            // There a packet on the loopback device may be seen when it leaves and when it arrives.
            captured.dedup();
            recorded.dedup();
        }
        assert_eq!(recorded, captured, "{protocol}");
    }
}
