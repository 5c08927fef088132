//! The README's commands, run as they stand there.
//!
//! Only what must not meet other tests is replaced: ports, and the folder that files are written to.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use crate::command::{Running, run_in, start_in};
use crate::pty::Terminal;

/// The commands of the block under "The command", without their comments.
fn commands() -> Vec<Vec<&'static str>> {
    let readme = include_str!("../../../../README.md");
    let (_, rest) = readme.split_once("## The command").expect("the section");
    let (_, block) = rest.split_once("```sh\n").expect("its block");
    let (block, _) = block.split_once("```").expect("the end of the block");
    let words = |line: &'static str| {
        let typed = line.split(" #").next().unwrap_or_default();
        typed.split_whitespace().skip(1).collect()
    };
    block.lines().map(words).collect()
}

/// A server that was started, and where it listens.
struct Served {
    server: Running,
    addresses: BTreeMap<String, SocketAddr>,
}

/// Starts a server and waits until it is ready on every protocol that it names.
fn serve(folder: &Path, typed: &[&str]) -> Served {
    let server = start_in(folder, &[typed, &["--listen", "127.0.0.1:0"]].concat());
    let count = match typed {
        ["serve", rest @ ..] => rest
            .iter()
            .take_while(|word| !word.starts_with('-'))
            .count(),
        _ => 5,
    };
    let ready = (0..count).map(|_| {
        let line = server.line_with("ready");
        let mut words = line.split(' ').skip(1);
        let protocol = words.next().expect("a protocol").to_owned();
        let addr = words.next().and_then(|addr| addr.parse().ok());
        (protocol, addr.expect("an address"))
    });
    let addresses = ready.collect();
    Served { server, addresses }
}

/// The arguments of a client, with the port of a server that was started before.
fn connected<'a>(typed: &[&'a str], addr: &'a str) -> Vec<&'a str> {
    let mut words = typed.to_vec();
    let at = words.iter().position(|word| *word == "--connect");
    words[at.expect("a client connects") + 1] = addr;
    words
}

#[test]
fn every_command_does_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut servers: Vec<Served> = Vec::new();
    for typed in commands() {
        let server_of = |protocol: &str| {
            let mut newest_first = servers.iter().rev();
            let found = newest_first.find_map(|served| served.addresses.get(protocol));
            found.expect("a server of it was started").to_string()
        };
        match typed[..] {
            [] | ["serve", ..] => servers.push(serve(folder, &typed)),
            ["play", protocol, ..] => {
                let addr = server_of(protocol);
                let mut player = Terminal::start(&connected(&typed, &addr));
                player.wait_for_text("q leave");
                player.press("q");
                assert_eq!(player.wait(), 0, "{typed:?}");
            }
            ["bots", protocol, ..] => {
                let addr = server_of(protocol);
                let done = run_in(folder, &connected(&typed, &addr));
                assert_eq!(done.code, Some(0), "{typed:?}: {done:?}");
            }
            _ => {
                let done = run_in(folder, &typed);
                assert_eq!(done.code, Some(0), "{typed:?}: {done:?}");
            }
        }
    }
    for Served { server, .. } in servers {
        server.terminate();
        assert_eq!(server.wait().code, Some(0));
    }
    assert!(folder.join("my-world").is_dir());
    assert!(folder.join("arena.save").is_file());
}
