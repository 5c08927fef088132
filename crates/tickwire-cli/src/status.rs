//! `tickwire status`: asks a server who it is, without a handshake.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use tickwire_net::quic::{status_answer, status_question};

use crate::address;
use crate::quic::PORT;

/// Ask a server that listens for QUIC who it is: its name, protocols, players and version.
///
/// Takes no handshake, and tells nothing that is secret. Exits with 1 if nobody answers.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server; without a port, 27443.
    #[arg(value_name = "HOST[:PORT]")]
    server: String,
}

/// Bytes of a question: more than any answer has.
const QUESTION: usize = 512;

/// How often it is asked, and how long each answer is waited for.
const TRIES: u32 = 3;
const PATIENCE: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let server = address::resolve(&args.server, PORT)?;
    let any: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).context("there is no socket to be had")?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let [a, b, c, d, e, f, g, h, ..] = tickwire_net::secret()?;
    let number = [a, b, c, d, e, f, g, h];
    let mut answer = [0; QUESTION];
    for _ in 0..TRIES {
        socket.send(&status_question(number, QUESTION))?;
        if let Ok(length) = socket.recv(&mut answer)
            && let Some(text) = status_answer(number, &answer[..length])
        {
            println!("{}", printable(text));
            return Ok(ExitCode::SUCCESS);
        }
    }
    anyhow::bail!("{server}: no server answered")
}

/// A stranger's text, without what a terminal would obey.
fn printable(text: &str) -> String {
    let is_plain = |letter: &char| *letter == '\n' || !letter.is_control();
    text.chars().filter(is_plain).collect()
}
