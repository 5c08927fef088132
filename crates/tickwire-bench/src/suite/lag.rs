//! What `tickwire lag` adds by itself, when it is told to add nothing.
//!
//! The proxy is a process of its own; `cargo xtask bench` builds it and says where it is. One thread has a socket on
//! either side of it and sends one datagram at a time, through the proxy and past it by turns: what is measured is
//! from the call that sends to the call that has received, each way.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::ANY_PORT;
use super::report::{Figure, Target};
use super::rounds::Rounds;

const ROUNDS: usize = 30;

/// Datagrams there and back in a round.
const EXCHANGES: usize = 200;

/// Where the command is.
const PROGRAM: &str = "TICKWIRE_COMMAND";

/// What a datagram of a game is like.
const DATAGRAM: [u8; 100] = [7; 100];

/// How long one way took in a round, in microseconds.
struct Delays {
    p50: f64,
    p99: f64,
}

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let server = socket()?;
    let proxy = Proxy::start(server.local_addr()?)?;
    let (through, past) = (socket()?, socket()?);
    through.connect(proxy.addr)?;
    past.connect(server.local_addr()?)?;
    let rounds = Rounds::run(
        ROUNDS,
        &mut (),
        |()| exchange(&through, &server),
        |()| exchange(&past, &server),
    )?;
    let middle = rounds.compare(|delays| delays.p50);
    let slow = rounds.compare(|delays| delays.p99);
    Ok(vec![
        Figure::plain("lag, nothing added: p50", middle.first, "µs one way"),
        Figure {
            target: Some(Target::AtMost(1_000.0)),
            ..Figure::plain("lag, nothing added: p99", slow.first, "µs one way")
        },
        Figure::plain("· without it: p99", slow.second, "µs one way"),
    ])
}

fn socket() -> anyhow::Result<UdpSocket> {
    let socket = UdpSocket::bind(ANY_PORT)?;
    socket.set_read_timeout(Some(Duration::from_secs(5)))?;
    Ok(socket)
}

fn exchange(client: &UdpSocket, server: &UdpSocket) -> anyhow::Result<Delays> {
    let mut micros = Vec::with_capacity(EXCHANGES * 2);
    let mut buffer = [0; 128];
    for _ in 0..EXCHANGES {
        let sent = Instant::now();
        client.send(&DATAGRAM)?;
        let (_, from) = server.recv_from(&mut buffer)?;
        let arrived = Instant::now();
        server.send_to(&DATAGRAM, from)?;
        client.recv(&mut buffer)?;
        micros.push((arrived - sent).as_secs_f64() * 1e6);
        micros.push(arrived.elapsed().as_secs_f64() * 1e6);
    }
    micros.sort_by(f64::total_cmp);
    let at = |percent: usize| micros[(micros.len() - 1) * percent / 100];
    Ok(Delays {
        p50: at(50),
        p99: at(99),
    })
}

struct Proxy {
    child: Child,
    addr: SocketAddr,
    /// It would end if nobody could read what it says.
    _output: BufReader<ChildStdout>,
}

impl Proxy {
    fn start(to: SocketAddr) -> anyhow::Result<Self> {
        let program = env::var_os(PROGRAM).context(
            "this measures the command, which is built on demand: run `cargo xtask bench lag`",
        )?;
        let mut child = Command::new(program)
            .args(["lag", "--listen", "127.0.0.1:0", "--to", &to.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut output = BufReader::new(child.stdout.take().context("it was piped")?);
        let mut ready = String::new();
        output.read_line(&mut ready)?;
        let addr = ready.split(' ').nth(2);
        Ok(Self {
            addr: addr.context("it says where it listens")?.parse()?,
            child,
            _output: output,
        })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
