//! QUIC links beside renet over netcode, at the same work, by turns in one run.
//!
//! The other library is a program of its own (`peers/` in the root), which plays a round for every line that it
//! is sent; `cargo xtask bench` builds it and says where it is. Both encrypt, both have 64 clients on
//! loopback, and of both only the server's thread counts.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context as _;

use super::quic::table::{CLIENTS, Slice, Table};
use super::report::{Figure, Ratio, Target};
use super::rounds::Rounds;

const ROUNDS: usize = 30;

/// Where the other program is.
const PROGRAM: &str = "TICKWIRE_PEERS";

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut sides = (Table::encrypted(CLIENTS)?, Renet::start()?);
    let rounds = Rounds::run(
        ROUNDS,
        &mut sides,
        |(ours, _)| ours.play(),
        |(_, renet)| renet.play(),
    )?;
    let both = rounds.compare(|slice| slice.sending + slice.receiving);
    let sending = rounds.compare(|slice| slice.sending);
    let ratio = |spread| {
        let to = "renet_netcode";
        Some(Ratio { spread, to })
    };
    Ok(vec![
        Figure {
            ratio: ratio(both.ratio),
            target: Some(Target::RatioAtMost(0.75)),
            ..Figure::plain("QUIC snapshot and input", both.first, "ns/datagram")
        },
        Figure::plain("· renet_netcode", both.second, "ns/datagram"),
        Figure {
            ratio: ratio(sending.ratio),
            ..Figure::plain("· the snapshot alone", sending.first, "ns/datagram")
        },
    ])
}

struct Renet {
    child: Child,
    orders: ChildStdin,
    results: BufReader<ChildStdout>,
}

impl Renet {
    fn start() -> anyhow::Result<Self> {
        let program = env::var_os(PROGRAM).context(
            "this compares with a program that is built on demand: run `cargo xtask bench peers`",
        )?;
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = child.stdin.take().context("it was piped")?;
        let results = child.stdout.take().context("it was piped")?;
        Ok(Self {
            child,
            orders,
            results: BufReader::new(results),
        })
    }

    fn play(&mut self) -> anyhow::Result<Slice> {
        writeln!(self.orders, "play")?;
        let mut line = String::new();
        self.results.read_line(&mut line)?;
        let (sending, receiving) = line.trim().split_once(' ').context("renet ended early")?;
        Ok(Slice {
            sending: sending.parse()?,
            receiving: receiving.parse()?,
        })
    }
}

impl Drop for Renet {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
