//! What a program measures, for Prometheus: `--metrics ADDR`.
//!
//! In: a [`Report`] a second. Out: `GET /metrics` over HTTP, in Prometheus's text format. A thread of its own answers,
//! one request at a time and none for longer than [`PATIENCE`]; the game loop only leaves its last report here, so
//! that nobody who asks can hold it up. The names are those of [`PeerStats`](tickwire_session::PeerStats), the same
//! for every protocol.

mod text;

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant as WallClock};

use anyhow::Context;

use crate::serve::report::Report;

/// Bytes of a request that are read at most: what every scraper sends fits many times.
const REQUEST_MAX: usize = 4_096;

/// How long one request may take, from its first byte to the answer's last.
const PATIENCE: Duration = Duration::from_secs(1);

/// Bytes that are still read of whoever is answered before it has said everything, so that the answer is not lost
/// in a reset.
const DRAINED_MAX: usize = 64 * 1_024;

/// How long after a failed accept the next is tried: without a file to spare it would fail at once again.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Where metrics are served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct MetricsAddr(SocketAddr);

impl FromStr for MetricsAddr {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let port = typed.strip_prefix(':').unwrap_or(typed);
        if let Ok(port) = port.parse::<u16>() {
            return Ok(Self(SocketAddr::from(([127, 0, 0, 1], port))));
        }
        let addr = typed.parse().map(Self);
        addr.map_err(|_| {
            format!("{typed:?} is no place to listen: write a port, as in 9464, or an address, as in 0.0.0.0:9464")
        })
    }
}

/// Option of every command that can be asked for its metrics.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct MetricsArgs {
    /// Serve metrics for Prometheus at http://ADDR/metrics; a port alone means this machine only.
    #[arg(long, value_name = "[HOST:]PORT")]
    metrics: Option<MetricsAddr>,
}

impl MetricsArgs {
    /// Begins to answer, if it was asked for.
    pub(crate) fn open(&self) -> anyhow::Result<Option<Metrics>> {
        self.metrics.map(Metrics::open).transpose()
    }
}

/// What was measured last, for whoever asks.
#[derive(Debug)]
pub(crate) struct Metrics {
    addr: SocketAddr,
    newest: Newest,
}

type Newest = Arc<Mutex<Arc<Report>>>;

impl Metrics {
    fn open(MetricsAddr(addr): MetricsAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(addr)
            .with_context(|| format!("cannot serve metrics at {addr}: choose another --metrics"))?;
        let newest = Newest::default();
        let addr = listener.local_addr()?;
        let reports = Arc::clone(&newest);
        // It ends with the process: nothing can interrupt an accept.
        thread::spawn(move || answer_all(&listener, &reports));
        Ok(Self { addr, newest })
    }

    /// Where they are.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/metrics", self.addr)
    }

    /// Says where they are, once.
    pub(crate) fn announce(&self) {
        eprintln!("tickwire: metrics at {}", self.url());
    }

    /// Replaces what is told.
    pub(crate) fn set(&self, report: Report) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(report);
    }
}

fn answer_all(listener: &TcpListener, reports: &Newest) {
    for stream in listener.incoming() {
        match stream {
            // Whoever goes away misses the answer and nothing else.
            Ok(mut stream) => answer(&mut stream, reports).unwrap_or_default(),
            Err(_) => thread::sleep(ACCEPT_AGAIN),
        }
    }
}

fn answer(stream: &mut TcpStream, reports: &Newest) -> io::Result<()> {
    let deadline = WallClock::now() + PATIENCE;
    let head = read_head(stream, deadline)?;
    let answer = match asked(&head) {
        Asked::Metrics => {
            let report = Arc::clone(&reports.lock().unwrap_or_else(PoisonError::into_inner));
            reply("200 OK", &text::render(&report))
        }
        Asked::Elsewhere => reply("404 Not Found", "only /metrics is here\n"),
        Asked::Otherwise => reply("405 Method Not Allowed", "only GET is understood\n"),
        Asked::Nonsense => reply("400 Bad Request", "this is no request\n"),
    };
    stream.set_write_timeout(Some(left(deadline)?))?;
    stream.write_all(answer.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    drain(stream, deadline)
}

fn reply(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\nAllow: GET\r\n\r\n{body}",
        body.len()
    )
}

/// What somebody wants.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Asked {
    Metrics,
    /// Another page.
    Elsewhere,
    /// Another method.
    Otherwise,
    Nonsense,
}

fn asked(head: &[u8]) -> Asked {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == b' ').collect();
    match words[..] {
        [b"GET", path, version] if version.starts_with(b"HTTP/1.") => {
            let page = path.split(|byte| *byte == b'?').next();
            match page {
                Some(b"/metrics") => Asked::Metrics,
                _ => Asked::Elsewhere,
            }
        }
        [_, _, version] if version.starts_with(b"HTTP/1.") => Asked::Otherwise,
        _ => Asked::Nonsense,
    }
}

/// A request up to the empty line; what there is, if it is too long or ends before.
fn read_head(stream: &mut TcpStream, deadline: WallClock) -> io::Result<Vec<u8>> {
    let mut head = vec![0; REQUEST_MAX];
    let mut length = 0;
    while length < REQUEST_MAX && !ends(&head[..length]) {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(&mut head[length..])? {
            0 => break,
            read => length += read,
        }
    }
    head.truncate(length);
    // Without its end it is none.
    if !ends(&head) {
        head.clear();
    }
    Ok(head)
}

fn ends(head: &[u8]) -> bool {
    head.windows(4).any(|end| end == b"\r\n\r\n")
}

fn drain(stream: &mut TcpStream, deadline: WallClock) -> io::Result<()> {
    let mut drained = 0;
    let mut buffer = [0; 1_024];
    while drained < DRAINED_MAX {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(&mut buffer)? {
            0 => break,
            read => drained += read,
        }
    }
    Ok(())
}

/// The time that is left; an error if there is none.
fn left(deadline: WallClock) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(WallClock::now());
    match left.is_zero() {
        true => Err(io::ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_port_or_an_address() {
        let addr = |typed: &str| typed.parse::<MetricsAddr>().map(|addr| addr.0.to_string());
        assert_eq!(addr("9464"), Ok("127.0.0.1:9464".into()));
        assert_eq!(addr(":9464"), Ok("127.0.0.1:9464".into()));
        assert_eq!(addr("0.0.0.0:9464"), Ok("0.0.0.0:9464".into()));
        assert_eq!(addr("[::1]:0"), Ok("[::1]:0".into()));
        assert!(addr("70000").unwrap_err().contains("9464"));
        assert!(addr("localhost").is_err());
    }

    #[test]
    fn only_one_thing_can_be_asked_for() {
        for (head, expected) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", Asked::Metrics),
            ("GET /metrics?x=1 HTTP/1.0\r\n\r\n", Asked::Metrics),
            ("GET / HTTP/1.1\r\n\r\n", Asked::Elsewhere),
            ("GET /metricss HTTP/1.1\r\n\r\n", Asked::Elsewhere),
            ("POST /metrics HTTP/1.1\r\n\r\n", Asked::Otherwise),
            ("GET /metrics HTTP/2\r\n\r\n", Asked::Nonsense),
            ("GET /metrics\r\n\r\n", Asked::Nonsense),
            ("", Asked::Nonsense),
            ("\u{1}\u{2} \r\n\r\n", Asked::Nonsense),
        ] {
            assert_eq!(asked(head.as_bytes()), expected, "{head:?}");
        }
    }
}
