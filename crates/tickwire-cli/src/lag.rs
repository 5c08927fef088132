//! `tickwire lag`: a bad network between any client and server, on one port for UDP and TCP.
//!
//! A [`Forwarder`] whose entrance is lagged: whatever clients send goes on to one server, and back, as late and
//! incomplete as a [`Network`] says. The conditions change while it runs, by keys in a terminal, else by lines on
//! standard input.

pub(crate) mod keys;
mod panel;

use std::io::{self, BufRead as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use tickwire_capture::Role;
use tickwire_demo::gateway::PROTOCOLS;
use tickwire_net::{Carries, Driver};
use tickwire_session::Instant;
use tickwire_sim::{Lag, LinkCounters};

use crate::capture::{CaptureArgs, CaptureFile};
use crate::conditions::{Network, NetworkArgs};
use crate::figures::{kbits, per_second};
use crate::forward::{Exits, Forwarder};
use crate::log::Log;
use crate::stop::Stop;
use crate::{address, screen};
use panel::Panel;

/// Put a bad network between any client and server: UDP and TCP, unmodified programs.
///
/// In a terminal, the arrows change delay and loss, j and J the jitter, 1 to 6 choose a preset, x cuts the line, 0 makes
/// it perfect, q ends. Without a terminal, each line of standard input changes what its words say.
#[derive(Debug, clap::Args)]
#[command(after_help = WORDS)]
pub(crate) struct Args {
    /// Where clients connect instead of to the server.
    #[arg(long, value_name = "HOST:PORT")]
    listen: String,

    /// The server.
    #[arg(long, value_name = "HOST:PORT")]
    to: String,

    #[command(flatten)]
    network: NetworkArgs,

    #[command(flatten)]
    capture: CaptureArgs,
}

const WORDS: &str = "\
Words, for --lag and for lines of standard input, separated by commas or spaces:
  lan wifi transatlantic 4g satellite bad-hotel off
  delay=80ms       every way takes this long
  jitter=20ms      and up to so much more, at random
  clump=40ms       packets are held up to this long and arrive together, as on a busy Wi-Fi
  stall=900ms      nothing arrives for up to this long, every ten seconds or so
  loss=5%          datagrams lost one by one; in TCP they come later
  burst=3%         datagrams lost several in a row
  duplicate=1%     datagrams that arrive twice
  reorder=1%       datagrams that are overtaken
  rate=1mbit       what fits through
  queue=64k        what waits for it; more is lost
up. or down. in front of a word means that direction alone: up.loss=5%

Examples:
  tickwire lag --listen 127.0.0.1:7000 --to 127.0.0.1:32422 --lag wifi
  tickwire lag --listen 127.0.0.1:7000 --to 127.0.0.1:32422 --delay 75ms --loss 10%";

/// Clients at a time, streams counted by themselves. Each has a socket.
const ROUTES: usize = 4_096;

/// Between two reports, without a terminal.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// How soon a key or a line is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Lines of standard input that wait.
const LINES_WAITING: usize = 16;

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let stop = Stop::listen()?;
    let mut driver = Driver::new().context("the system has no way to wait for sockets")?;
    let to = address::resolve(&args.to, 0)?;
    let node = driver.bind(address::resolve(&args.listen, 0)?, Carries::Both)?;
    let listen = driver.local_addr(node).context("the port is gone")?;
    let mut forwarder = Forwarder::new(driver, Exits::sockets(to), ROUTES);
    let network = args.network.network().unwrap_or_default();
    // What the entrance sends goes down to the clients.
    forwarder.lag = Some(Lag::new(network.down, network.up, args.network.seed()));
    forwarder.capture = args.capture.create(forwarder.driver.now())?;
    if let Some(capture) = &mut forwarder.capture {
        // As if the clients had talked to the server itself, whose port says which protocol it is.
        let named = PROTOCOLS.iter().find(|protocol| protocol.port == to.port());
        let name = named.map_or("lag", |protocol| protocol.name);
        capture.add(name, to.port(), Role::Server(Some(to)));
    }
    let proxy = Proxy {
        forwarder,
        network,
        listen,
        to,
        last: Traffic::default(),
    };
    if screen::is_terminal() {
        proxy.run_with_panel(&stop)
    } else {
        proxy.run_with_lines(&stop)
    }
}

struct Proxy {
    forwarder: Forwarder,
    network: Network,
    listen: SocketAddr,
    to: SocketAddr,
    /// As of the last report.
    last: Traffic,
}

/// What went through, up and down.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    at: Instant,
    links: [LinkCounters; 2],
    bytes: [u64; 2],
}

impl Proxy {
    fn run_with_panel(mut self, stop: &Stop) -> anyhow::Result<ExitCode> {
        let mut panel = Panel::open(self.listen, self.to)?;
        while !stop.is_asked() && panel.is_open() {
            self.turn()?;
            let before = self.network;
            if panel.handle_keys(&mut self.network).is_break() {
                break;
            }
            if self.network != before {
                self.apply();
            }
            let (traffic, clients) = (self.traffic(), self.forwarder.routes());
            panel.show(&self.network, traffic, clients);
        }
        panel.close()?;
        println!("{}", self.summary());
        self.finish_capture()
    }

    fn run_with_lines(mut self, stop: &Stop) -> anyhow::Result<ExitCode> {
        let log = Log::new();
        let lines = read_lines();
        log.line(format!(
            "ready lag {} to {}: {}",
            self.listen, self.to, self.network
        ));
        let mut next_report = self.forwarder.driver.now() + REPORT_EVERY;
        while !stop.is_asked() && log.is_read() {
            self.turn()?;
            for line in lines.try_iter() {
                match self.network.change(&line) {
                    Ok(()) => {
                        self.apply();
                        log.line(format!("network {}", self.network));
                    }
                    Err(why) => log.line(format!("unchanged: {why}")),
                }
            }
            if self.forwarder.driver.now() >= next_report {
                next_report += REPORT_EVERY;
                log.line(self.report());
            }
        }
        log.line(self.summary());
        self.finish_capture()
    }

    fn finish_capture(self) -> anyhow::Result<ExitCode> {
        let capture = self.forwarder.capture;
        capture.map_or(Ok(()), CaptureFile::finish)?;
        Ok(ExitCode::SUCCESS)
    }

    fn turn(&mut self) -> anyhow::Result<()> {
        let until = self.forwarder.driver.now() + LOOK_EVERY;
        self.forwarder.turn(until)
    }

    fn apply(&mut self) {
        if let Some(lag) = &mut self.forwarder.lag {
            lag.set_conditions(self.network.down, self.network.up);
        }
    }

    fn traffic(&self) -> Traffic {
        let lag = self.forwarder.lag.as_ref();
        let [down, up] = lag.map(Lag::counters).unwrap_or_default();
        let [bytes_down, bytes_up] = lag.map(Lag::bytes).unwrap_or_default();
        Traffic {
            at: self.forwarder.driver.now(),
            links: [up, down],
            bytes: [bytes_up, bytes_down],
        }
    }

    /// What happened since the last one.
    fn report(&mut self) -> String {
        let now = self.traffic();
        let span = now.at.since(self.last.at);
        let mut report = format!("clients {}", self.forwarder.routes());
        for (direction, name) in ["up", "down"].into_iter().enumerate() {
            let (links, before) = (now.links[direction], self.last.links[direction]);
            let bytes = now.bytes[direction] - self.last.bytes[direction];
            report += &format!(
                "; {name} {:.0} datagrams/s {:.0} kbit/s, lost {}, overflowed {}, duplicated {}, reordered {}",
                per_second(links.pushed - before.pushed, span),
                kbits(bytes, span),
                links.lost - before.lost,
                links.overflowed - before.overflowed,
                links.duplicated - before.duplicated,
                links.reordered - before.reordered,
            );
        }
        self.last = now;
        report
    }

    fn summary(&self) -> String {
        let Traffic { links, bytes, .. } = self.traffic();
        let [up, down] = links;
        format!(
            "carried {} of {} datagrams up and {} of {} down; {} and {} bytes in all",
            up.delivered, up.pushed, down.delivered, down.pushed, bytes[0], bytes[1]
        )
    }
}

/// Lines of standard input as they come; its end ends nothing.
fn read_lines() -> Receiver<String> {
    let (sender, lines) = sync_channel(LINES_WAITING);
    // It ends with the process: nothing can interrupt a read.
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
