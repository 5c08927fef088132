//! The README's commands, run as they stand there.
//!
//! Only what must not meet other tests is replaced: ports, and the folder that files are written to.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use tickwire_demo::gateway::PROTOCOLS;

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
    is_encrypted: bool,
    addresses: BTreeMap<String, SocketAddr>,
}

impl Served {
    /// Starts a server, on ports that are free, and waits until it is ready on every protocol that it names.
    fn start(folder: &Path, typed: &[&str]) -> Self {
        let mut words = typed.to_vec();
        let quic = words.iter_mut().find(|word| word.starts_with("--quic"));
        let is_encrypted = quic.is_some();
        match quic {
            Some(quic) => *quic = "--quic=127.0.0.1:0",
            None => words.extend(["--listen", "127.0.0.1:0"]),
        }
        let server = start_in(folder, &words);
        // All protocols without a subcommand; otherwise those that are named, or native.
        let named = typed.iter().skip(1);
        let named = named.take_while(|word| !word.starts_with('-')).count();
        let is_all = typed.is_empty() || typed.get(1) == Some(&"all");
        let count = if is_all { ALL } else { named.max(1) };
        let ready = (0..count).map(|_| {
            let line = server.line_with("ready");
            let mut words = line.split(' ').skip(1);
            let protocol = words.next().expect("a protocol").to_owned();
            let addr = words.next().and_then(|addr| addr.parse().ok());
            (protocol, addr.expect("an address"))
        });
        let addresses = ready.collect();
        Self {
            server,
            is_encrypted,
            addresses,
        }
    }
}

/// Protocols that are served if none is named.
const ALL: usize = PROTOCOLS.len();

/// The arguments of a client, with the port of the newest server that it can mean.
fn connected(typed: &[&str], servers: &[Served]) -> Vec<String> {
    let is_encrypted = typed.contains(&"--quic");
    let protocol = typed.get(1).filter(|word| !word.starts_with('-'));
    let protocol = *protocol.unwrap_or(&"native");
    let mut meant = servers.iter().rev();
    let addr = meant.find_map(|served| {
        let addr = served.addresses.get(protocol)?;
        (served.is_encrypted == is_encrypted).then(|| addr.to_string())
    });
    let mut words: Vec<_> = typed.iter().map(ToString::to_string).collect();
    let at = typed.iter().position(|word| *word == "--connect");
    words[at.expect("a client connects") + 1] = addr.expect("a server was started before");
    words
}

#[test]
fn every_command_does_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut servers: Vec<Served> = Vec::new();
    for typed in commands() {
        match typed[..] {
            ["serve", ..] if typed.contains(&"--seconds") => {
                let done = run_in(folder, &[&typed, &["--listen", "127.0.0.1:0"][..]].concat());
                assert_eq!(done.code, Some(0), "{typed:?}: {done:?}");
            }
            [] | ["serve", ..] => servers.push(Served::start(folder, &typed)),
            ["play", ..] => {
                let words = connected(&typed, &servers);
                let words: Vec<_> = words.iter().map(String::as_str).collect();
                let mut player = Terminal::start_in(folder, &words);
                player.wait_for_text("q leave");
                player.press("q");
                assert_eq!(player.wait(), 0, "{typed:?}");
            }
            ["bots", ..] => {
                let words = connected(&typed, &servers);
                let words: Vec<_> = words.iter().map(String::as_str).collect();
                let done = run_in(folder, &words);
                assert_eq!(done.code, Some(0), "{typed:?}: {done:?}");
            }
            ["lag", ..] => {
                let free = |word: &&'static str| match *word {
                    "127.0.0.1:7000" => "127.0.0.1:0",
                    other => other,
                };
                let words: Vec<_> = typed.iter().map(free).collect();
                let proxy = start_in(folder, &words);
                proxy.line_with("ready lag");
                proxy.terminate();
                assert_eq!(proxy.wait().code, Some(0), "{typed:?}");
            }
            ["status", ..] => {
                let asked = servers.iter().rev().find(|served| served.is_encrypted);
                let addr = asked.and_then(|served| served.addresses.values().next());
                let addr = addr
                    .expect("a server that encrypts was started")
                    .to_string();
                let done = run_in(folder, &["status", &addr]);
                assert_eq!(done.code, Some(0), "{typed:?}: {done:?}");
                assert!(done.stdout.contains("native"), "{done:?}");
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
