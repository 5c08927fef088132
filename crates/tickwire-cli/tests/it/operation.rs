//! What an operator relies on: certificates that are renewed, ends that are announced, logs without secrets.

#![allow(
    clippy::unwrap_used,
    reason = "clippy knows test functions, but not what they call"
)]

use std::fs;
use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::command::{run, start, start_logged};
use crate::quic::{bots, report, serve};

/// An authority's certificate, and one that it signed for this machine with its key: PEM files in a folder.
fn certify(folder: &Path) {
    let authority = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = params.self_signed(&authority).unwrap();
    let issuer = Issuer::new(params, authority);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let signed = params.signed_by(&key, &issuer).unwrap();
    for (name, label, der) in [
        ("ca.pem", "CERTIFICATE", root.der().to_vec()),
        ("cert.pem", "CERTIFICATE", signed.der().to_vec()),
        ("key.pem", "PRIVATE KEY", key.serialize_der()),
    ] {
        fs::write(folder.join(name), pem(label, &der)).unwrap();
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = base64(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut three = [0; 3];
        three[..group.len()].copy_from_slice(group);
        let [a, b, c] = three.map(usize::from);
        let digits = [
            a >> 2,
            (a & 3) << 4 | b >> 4,
            (b & 15) << 2 | c >> 6,
            c & 63,
        ];
        for (at, digit) in digits.into_iter().enumerate() {
            text.push(if at <= group.len() {
                char::from(DIGITS[digit])
            } else {
                '='
            });
        }
    }
    text
}

#[test]
fn a_certificate_is_renewed_and_nobody_who_plays_notices() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [cert, key, root, old_root] = ["cert.pem", "key.pem", "ca.pem", "old.pem"].map(path);
    certify(folder.path());
    fs::copy(&root, &old_root).unwrap();
    let server = start(&[
        "serve",
        "lwar",
        "--quic=127.0.0.1:0",
        "--cert",
        &cert,
        "--key",
        &key,
        "--log",
        "info",
    ]);
    let ready = server.line_with("ready lwar");
    let at = ready.split(' ').nth(2).unwrap();
    let bots = |root: &str, seconds: &str| {
        [
            "bots",
            "lwar",
            "--connect",
            at,
            "--quic",
            "--server-ca",
            root,
            "--count",
            "2",
            "--seconds",
            seconds,
            "--json",
        ]
        .map(str::to_owned)
    };
    let players = bots(&root, "600");
    let players = start(&players.each_ref().map(String::as_str));
    server.line_with("bot-2 joined");

    certify(folder.path());
    server.signal("HUP");
    server.line_with("another certificate is shown");
    let try_with = |root: &str| {
        let arguments = bots(root, "2");
        run(&arguments.each_ref().map(String::as_str))
    };
    let refused = try_with(&old_root);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("the server is not trusted"),
        "{refused:?}"
    );
    let trusted = try_with(&root);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");

    // Half a file: what was there before stays.
    fs::write(&cert, "-----BEGIN CERTIFICATE-----\nAAAA").unwrap();
    server.signal("HUP");
    let trusted = try_with(&root);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");

    server.terminate();
    assert_eq!(server.wait().code, Some(0));
    let done = players.wait();
    let report = report(&done);
    assert_eq!(report["removed"].as_u64(), Some(2), "{report}");
}

#[test]
fn a_port_in_the_clear_says_so_and_how_to_do_better() {
    let listen = |at: &str| run(&["serve", "lwar", "--listen", at, "--seconds", "1"]);
    let open = listen("0.0.0.0:0");
    let lines: Vec<_> = open.stderr.lines().collect();
    let [line] = lines[..] else {
        panic!("{open:?}");
    };
    assert!(line.contains("lwar is in the clear on 0.0.0.0:"), "{line}");
    assert!(line.contains("serve --quic=HOST"), "{line}");
    assert_eq!(listen("127.0.0.1:0").stderr, "", "nobody else can read it");
}

#[test]
fn a_server_that_drains_waits_for_its_players_and_lets_nobody_in() {
    let folder = tempfile::tempdir().unwrap();
    let (server, addr, fingerprint) = serve(folder.path(), "127.0.0.1:0", &["--drain", "600"]);
    let at = addr.to_string();
    let play = |seconds: &'static str| {
        let mut arguments = bots("lwar", &at, &fingerprint);
        arguments.extend(["--count", "2", "--seconds", seconds]);
        arguments
    };
    let players = start(&play("8"));
    server.line_with("bot-2 joined");
    server.terminate();
    server.line_with("the server ends in 600 s: please leave");
    // What is answered is told anew with every report.
    server.line_with("steps");
    let status = run(&["status", &at]);
    assert!(status.stdout.ends_with("draining\n"), "{status:?}");
    let late = run(&play("2"));
    assert_eq!(late.code, Some(1), "{late:?}");
    // They were let finish, and their end is the server's.
    let done = players.wait();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(server.wait().code, Some(0));
}

#[test]
fn those_who_stay_are_sent_away_when_the_time_is_up() {
    for protocol in ["lwar", "native", "cppevy"] {
        let folder = tempfile::tempdir().unwrap();
        let (server, addr, fingerprint) = serve(folder.path(), "127.0.0.1:0", &["--drain", "1"]);
        let at = addr.to_string();
        let mut arguments = bots(protocol, &at, &fingerprint);
        arguments.extend(["--count", "2", "--seconds", "600"]);
        let players = start(&arguments);
        server.line_with("bot-2 joined");
        server.terminate();
        assert_eq!(server.wait().code, Some(0));
        let done = players.wait();
        assert_eq!(done.code, Some(1), "{done:?}");
        assert_eq!(report(&done)["removed"].as_u64(), Some(2), "{done:?}");
    }
}

#[test]
fn logs_name_connections_and_hold_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().to_str().unwrap();
    let server = start_logged(
        folder.path(),
        &[
            "serve",
            "lwar",
            "--quic=127.0.0.1:0",
            "--identity",
            identity,
            "--tickets",
            "--json",
            "--log",
            "debug",
        ],
    );
    let ready = server.line_with("ready");
    let ready: serde_json::Value = serde_json::from_str(&ready).unwrap();
    let words: Vec<_> = ready["address"].as_str().unwrap().split(' ').collect();
    let [at, "quic", fingerprint] = words[..] else {
        panic!("{ready}");
    };
    let issued = run(&["ticket", "--identity", identity]);
    let ticket = issued.stdout.trim();
    for code in [0, 1] {
        let mut arguments = bots("lwar", at, fingerprint);
        arguments.extend(["--count", "1", "--seconds", "2", "--ticket", ticket]);
        let done = run(&arguments);
        assert_eq!(done.code, Some(code), "{done:?}");
    }
    server.terminate();
    let log = server.wait().stdout + &fs::read_to_string(folder.path().join("stderr")).unwrap();
    for (message, field) in [
        ("handshake begins", "peer"),
        ("link opened", "protocol"),
        ("link refused", "reason"),
        ("link ended", "link"),
    ] {
        let line = log.lines().find(|line| line.contains(message));
        let line: serde_json::Value = serde_json::from_str(line.expect(message)).unwrap();
        assert!(line["link"].is_u64() && !line[field].is_null(), "{line}");
    }
    let key = fs::read(folder.path().join("key.der")).unwrap();
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    for secret in [ticket, &hex, &base64(&key)] {
        for part in secret.as_bytes().windows(12) {
            let part = str::from_utf8(part).unwrap();
            assert!(!log.contains(part), "{part:?} is in the log");
        }
    }
}

#[test]
fn one_address_has_its_share_of_places() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, addr, fingerprint) =
        serve(folder.path(), "127.0.0.1:0", &["--max-per-address", "2"]);
    let at = addr.to_string();
    let mut arguments = bots("native", &at, &fingerprint);
    arguments.extend(["--count", "3", "--seconds", "2"]);
    let done = run(&arguments);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_eq!(report(&done)["connected"].as_u64(), Some(2), "{done:?}");
}
