//! `tickwire tunnel` against a forwarder that does nothing else.
//!
//! Both ends of the tunnel are programs of their own, as somebody would run them; the bare forwarder is a thread.
//! 64 clients send an input each and wait for the answers of one server, so many times over; what is between them
//! is the only difference. An end of a tunnel stands where the forwarder stands, each on a machine of its own, so
//! the slower end is what is compared, by its processor's time for each datagram.

#[allow(unsafe_code, reason = "waiting for sockets has no safe interface")]
mod bare;

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio, id};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::ANY_PORT;
use super::clock::process_time;
use super::quic::table::{CLIENTS, INPUT, SNAPSHOT};
use super::report::{Figure, Ratio, Target};
use super::rounds::{Rounds, Spread};
use bare::Bare;

const ROUNDS: usize = 20;

/// Answers that each client waits for in a round.
const STEPS: usize = 60;

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where the command is.
const PROGRAM: &str = "TICKWIRE_COMMAND";

/// Processor time of one forwarded datagram in nanoseconds, at each end.
struct Slice {
    near: f64,
    far: f64,
}

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let server = Answering::start()?;
    let bare = Bare::start(server.at)?;
    let tunnel = Tunnel::start(server.at)?;
    let mut sides = (
        (Load::new(tunnel.entrance)?, tunnel),
        (Load::new(bare.entrance)?, bare),
    );
    let rounds = Rounds::run(
        ROUNDS,
        &mut sides,
        |((load, tunnel), _)| {
            let before = tunnel.times();
            let datagrams = load.play()?;
            let [near, far] = tunnel.times();
            Ok(Slice {
                near: (near - before[0]).as_nanos() as f64 / datagrams,
                far: (far - before[1]).as_nanos() as f64 / datagrams,
            })
        },
        |(_, (load, bare))| {
            let before = bare.time();
            let datagrams = load.play()?;
            let each = (bare.time() - before).as_nanos() as f64 / datagrams;
            Ok(Slice {
                near: each,
                far: each,
            })
        },
    )?;
    let slower = rounds.compare(|slice| slice.near.max(slice.far));
    let Spread { low, median, high } = slower.ratio;
    Ok(vec![
        Figure {
            ratio: Some(Ratio {
                spread: Spread {
                    low: 1.0 / high,
                    median: 1.0 / median,
                    high: 1.0 / low,
                },
                to: "the bare forwarder's rate",
            }),
            target: Some(Target::RatioAtLeast(0.5)),
            ..Figure::plain("tunnel, slower end", slower.first, "ns/datagram")
        },
        Figure::plain("· bare forwarder", slower.second, "ns/datagram"),
        Figure::plain(
            "· near end",
            rounds.compare(|slice| slice.near).first,
            "ns/datagram",
        ),
        Figure::plain(
            "· far end",
            rounds.compare(|slice| slice.far).first,
            "ns/datagram",
        ),
    ])
}

/// Clients, each with a socket of its own.
struct Load {
    clients: Vec<UdpSocket>,
}

impl Load {
    fn new(to: SocketAddr) -> anyhow::Result<Self> {
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let client = UdpSocket::bind(ANY_PORT)?;
            client.connect(to)?;
            client.set_read_timeout(Some(PATIENCE))?;
            clients.push(client);
        }
        Ok(Self { clients })
    }

    /// An input of each and the answers, so many times; returns how many datagrams that were.
    fn play(&self) -> anyhow::Result<f64> {
        let mut answers = 0;
        for _ in 0..STEPS {
            for client in &self.clients {
                client.send(&[7; INPUT])?;
            }
            let mut buffer = [0; 2_048];
            let heard = self.clients.iter().map(|client| client.recv(&mut buffer));
            answers += heard.filter(Result::is_ok).count();
        }
        // Every answer was an input before.
        let asked = STEPS * CLIENTS;
        ensure!(
            answers * 10 >= asked * 9,
            "{answers} of {asked} were answered"
        );
        Ok(2.0 * answers as f64)
    }
}

/// A server that answers every input.
struct Answering {
    at: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Answering {
    fn start() -> anyhow::Result<Self> {
        let socket = UdpSocket::bind(ANY_PORT)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let at = socket.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        thread::spawn(move || {
            let mut buffer = [0; 2_048];
            while !ends.load(Ordering::Relaxed) {
                if let Ok((_, from)) = socket.recv_from(&mut buffer) {
                    socket.send_to(&[7; SNAPSHOT], from).ok();
                }
            }
        });
        Ok(Self { at, is_over })
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Both ends, and where clients come in.
struct Tunnel {
    near: End,
    far: End,
    entrance: SocketAddr,
    folder: PathBuf,
}

struct End(Child);

impl Tunnel {
    fn start(server: SocketAddr) -> anyhow::Result<Self> {
        let folder = env::temp_dir().join(format!("tickwire-bench-{}", id()));
        fs::create_dir_all(&folder)?;
        let secret = folder.join("secret");
        fs::write(&secret, [7; 32])?;
        let secret = secret.display().to_string();
        let identity = folder.join("identity").display().to_string();
        let server = server.to_string();
        let any = ANY_PORT.to_string();
        let (far, ready) = End::start(&[
            "far",
            "--listen",
            &any,
            "--target",
            &server,
            "--identity",
            &identity,
            "--secret",
            &secret,
        ])?;
        let words: Vec<_> = ready.split(' ').collect();
        let ["ready", "far", at, "quic", fingerprint] = words[..] else {
            anyhow::bail!("the far end said {ready:?}");
        };
        let (near, ready) = End::start(&[
            "near",
            "--listen",
            &any,
            "--connect",
            at,
            "--server-fingerprint",
            fingerprint,
            "--secret",
            &secret,
        ])?;
        let entrance = ready.strip_prefix("ready near ").context("the near end")?;
        Ok(Self {
            near,
            far,
            entrance: entrance.parse()?,
            folder,
        })
    }

    fn times(&self) -> [Duration; 2] {
        [&self.near, &self.far].map(|End(child)| process_time(child.id()))
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).ok();
    }
}

impl End {
    /// Returns what it says when it is ready.
    fn start(arguments: &[&str]) -> anyhow::Result<(Self, String)> {
        let program = env::var_os(PROGRAM).context(
            "this measures a program that is built on demand: run `cargo xtask bench tunnel`",
        )?;
        let mut child = Command::new(program)
            .arg("tunnel")
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().context("it was piped")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok((Self(child), line.trim_end().to_owned()))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
