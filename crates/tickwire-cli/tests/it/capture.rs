//! `--capture` and `inspect` of captures: what a session saw is what the file says, for every protocol, in simulation
//! and on sockets; and files of others.

mod foreign;
mod simulated;
mod tools;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{Done, run, serve};

const PROTOCOLS: [&str; 6] = ["native", "lwar", "cppevy", "pixmess", "opendrakan", "reone"];

fn name(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn inspect(file: &Path, options: &[&str]) -> Done {
    let mut words = vec!["inspect", name(file)];
    words.extend(options);
    run(&words)
}

/// Everything that `inspect --json` shows but the summary, which comes last.
#[track_caller]
fn objects(done: &Done) -> (Vec<Value>, Value) {
    let lines = done.stdout.lines();
    let mut objects: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect("an object a line"))
        .collect();
    let summary = objects.pop().expect("a summary")["summary"].take();
    assert!(summary.is_object(), "{done:?}");
    (objects, summary)
}

/// Who said what, without where it was found.
#[track_caller]
fn messages(file: &Path) -> Vec<String> {
    let done = inspect(file, &["--json"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{file:?}");
    let (objects, _) = objects(&done);
    let said = |object: &Value| {
        assert!(object["error"].is_null(), "{object}");
        let [from, on] = ["from", "carrier"].map(|key| object[key].as_str().expect("a word"));
        format!(
            "{from} {on} {} {} {}",
            object["protocol"], object["bytes"], object["fields"]
        )
    };
    objects.iter().map(said).collect()
}

/// A server and a bot on real sockets, both recorded and captured; where the files are: of the server, then of the bot.
fn play(folder: &Path, protocol: &str, options: &[&str]) -> [[PathBuf; 2]; 2] {
    let file = |what: &str| folder.join(format!("{protocol}-{what}"));
    let [of_server, of_bot] = ["server", "bot"].map(|side| {
        [
            file(&format!("{side}.rec")),
            file(&format!("{side}.pcapng")),
        ]
    });
    let record = |files: &[PathBuf; 2]| {
        let [record, capture] = files.each_ref().map(|file| name(file).to_owned());
        ["--record".into(), record, "--capture".into(), capture]
    };
    let server_options = record(&of_server);
    let server_options: Vec<_> = server_options.iter().map(String::as_str).collect();
    let (server, addr) = serve(protocol, &server_options);
    let addr = addr.to_string();
    let mut words = vec!["bots", protocol, "--connect", &addr, "--count", "1"];
    words.extend(["--seconds", "2"]);
    words.extend(options);
    let bot_options = record(&of_bot);
    words.extend(bot_options.iter().map(String::as_str));
    let done = run(&words);
    assert_eq!(done.code, Some(0), "{protocol}: {done:?}");
    assert!(done.stderr.contains("captured"), "{done:?}");
    server.terminate();
    assert_eq!(server.wait().code, Some(0), "{protocol}");
    [of_server, of_bot]
}

#[test]
fn a_capture_says_what_the_session_saw_on_sockets_in_every_protocol() {
    let folder = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        for protocol in PROTOCOLS {
            let folder = folder.path();
            scope.spawn(move || {
                for [record, capture] in play(folder, protocol, &[]) {
                    let (recorded, captured) = (messages(&record), messages(&capture));
                    assert!(recorded.len() > 20, "{protocol}: {}", recorded.len());
                    assert_eq!(recorded, captured, "{protocol}");
                }
            });
        }
    });
}

#[test]
fn an_encrypted_link_is_captured_above_the_encryption() {
    let folder = tempfile::tempdir().expect("a folder");
    let [record, capture] = ["rec", "pcapng"].map(|end| folder.path().join(end));
    let mut words = vec!["serve", "--quic=127.0.0.1:0", "--record", name(&record)];
    words.extend(["--capture", name(&capture)]);
    let server = crate::command::start_in(folder.path(), &words);
    let ready = server.line_with("ready");
    let addr = ready
        .split(' ')
        .find(|word| word.starts_with("127."))
        .expect("an address");
    let words = [
        "bots",
        "--quic",
        "--connect",
        addr,
        "--count",
        "2",
        "--seconds",
        "2",
    ];
    let done = crate::command::run_in(folder.path(), &words);
    assert_eq!(done.code, Some(0), "{done:?}");
    server.terminate();
    assert_eq!(server.wait().code, Some(0));
    let recorded = messages(&record);
    assert!(recorded.len() > 50, "{}", recorded.len());
    assert_eq!(recorded, messages(&capture));
}

#[test]
fn what_passes_a_bad_network_is_captured_as_clients_see_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lag.pcapng");
    let (server, addr) = serve("lwar", &[]);
    let to = addr.to_string();
    let words = [
        "lag",
        "--listen",
        "127.0.0.1:0",
        "--to",
        &to,
        "--loss",
        "10%",
    ];
    let words = [&words[..], &["--capture", name(&file)]].concat();
    let proxy = crate::command::start(&words);
    let ready = proxy.line_with("ready lag");
    let through = ready.split(' ').nth(2).expect("an address");
    let words = [
        "bots",
        "lwar",
        "--connect",
        through,
        "--count",
        "2",
        "--seconds",
        "2",
    ];
    assert_eq!(run(&words).code, Some(0));
    proxy.terminate();
    assert_eq!(proxy.wait().code, Some(0));
    drop(server);
    // Neither the port nor the file says what it is: only the bytes do.
    let done = inspect(&file, &["--json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let (objects, summary) = objects(&done);
    assert!(objects.len() > 50, "{summary}");
    assert!(
        objects.iter().all(|object| object["protocol"] == "lwar"),
        "{summary}"
    );
    assert_eq!(summary["conversation_count"], 2);
    let names: Vec<_> = summary["messages"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    let has = |from: &str, name: &str| {
        names
            .iter()
            .any(|message| message["from"] == from && message["name"] == name)
    };
    assert!(
        has("client", "Input") && has("server", "Update"),
        "{summary}"
    );
    assert!(
        summary["snapshots"]["count"].as_u64() > Some(20),
        "{summary}"
    );
}

#[test]
fn what_cannot_be_written_is_said_before_anything_begins() {
    for words in [
        &["serve", "--capture", "/no/such/folder/file"][..],
        &["bots", "--in-process", "--capture", "/no/such/folder/file"],
    ] {
        let done = run(words);
        assert_eq!(
            (done.code, done.stderr.lines().count()),
            (Some(1), 1),
            "{done:?}"
        );
        assert!(done.stderr.contains("cannot capture to"), "{done:?}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("capture");
    let mut words = vec!["bots", "--in-process", "--count", "1", "--seconds", "1"];
    words.extend(["--capture", name(&file)]);
    assert_eq!(run(&words).code, Some(0));
    let done = inspect(&file, &["--annotate", "/no/such/folder/file"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let done = run(&[
        "inspect",
        "lwar",
        "--from",
        "client",
        "--annotate",
        "x",
        "Cargo.toml",
    ]);
    assert_eq!(done.code, Some(2), "{done:?}");
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_with_success() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("capture");
    let mut words = vec!["bots", "--in-process", "--count", "3", "--seconds", "3"];
    words.extend(["--capture", name(&file)]);
    assert_eq!(run(&words).code, Some(0));
    let done = crate::command::read_two_lines(&["inspect", name(&file)]);
    assert_eq!(done.code, Some(0), "{done:?}");
}
