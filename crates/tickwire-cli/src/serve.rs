//! `tickwire serve`: the arena on real sockets.

use std::process::ExitCode;
use std::time::{Duration, Instant as WallClock};

use anyhow::Context;
use serde_json::{Map, Value, json};
use tickwire_demo::gateway::{Notice, PROTOCOLS, Paths, Protocol};
use tickwire_demo::{Host, STEP};
use tickwire_net::{Carries, Driver};
use tickwire_session::{Instant, Session, Traffic};

use crate::address;
use crate::figures::{kbits, millis, percentile};
use crate::log::Log;
use crate::stop::Stop;

/// Serve the arena, on one protocol or on all of them.
///
/// Prints `ready PROTOCOL HOST:PORT` as soon as clients are accepted, one line a protocol, then a
/// line a second with what goes on. Ctrl-C or SIGTERM tells every player and ends.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which protocols to open; all of them if none is named.
    #[arg(value_name = "PROTOCOL", value_parser = address::protocol)]
    protocols: Vec<&'static Protocol>,

    /// Where to listen, with one protocol: 0.0.0.0:PORT or [::]:PORT for other machines too.
    ///
    /// Otherwise 127.0.0.1 and each protocol's own port. Port 0 lets the system choose.
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,

    /// Computer players in the arena.
    #[arg(long, value_name = "N", default_value_t = 0)]
    bots: usize,

    /// What the arena and its bots are made from: the same seed, the same world.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// End by itself after this time.
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,

    /// Every line as a JSON object.
    #[arg(long)]
    json: bool,
}

/// How long a server that ends waits for its players to hear of it.
const FAREWELL: Duration = Duration::from_millis(1_200);

/// How far the arena may fall behind the clock before it lets time pass instead of catching up.
const CATCH_UP: Duration = Duration::from_millis(250);

impl Args {
    /// What runs without a subcommand.
    pub(crate) const fn demo() -> Self {
        Self {
            protocols: Vec::new(),
            listen: None,
            bots: 6,
            seed: 1,
            seconds: None,
            json: false,
        }
    }

    fn protocols(&self) -> Vec<&'static Protocol> {
        if self.protocols.is_empty() {
            return PROTOCOLS.iter().collect();
        }
        let mut named: Vec<&'static Protocol> = Vec::new();
        for protocol in &self.protocols {
            if named.iter().all(|other| other.name != protocol.name) {
                named.push(protocol);
            }
        }
        named
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let protocols = args.protocols();
    if args.listen.is_some() && protocols.len() != 1 {
        anyhow::bail!(
            "--listen goes with one protocol: name it, as in `tickwire serve {} --listen …`",
            PROTOCOLS[0].name
        );
    }
    let stop = Stop::listen()?;
    let mut driver = Driver::new().context("the system has no way to wait for sockets")?;
    let mut host = Host::new(args.seed, args.bots);
    let log = Log::new();
    for protocol in &protocols {
        let wanted = args.listen.as_deref().unwrap_or("127.0.0.1");
        let addr = address::resolve(wanted, protocol.port)?;
        let node = driver
            .bind(addr, carries(protocol.paths))
            .with_context(|| format!("cannot serve {}", protocol.name))?;
        host.open((protocol.serve)(driver.now()));
        let addr = driver.local_addr(node).unwrap_or(addr);
        log.line(if args.json {
            json!({ "ready": protocol.name, "address": addr.to_string() }).to_string()
        } else {
            format!("ready {} {addr}", protocol.name)
        });
    }
    let until = args
        .seconds
        .map(|seconds| driver.now() + Duration::from_secs(seconds));
    let mut watch = Watch::new(protocols, args.json);
    serve(
        &mut driver,
        &mut host,
        &mut watch,
        &log,
        || stop.is_asked(),
        until,
    )?;
    farewell(&mut driver, &mut host)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the arena until it shall end.
fn serve(
    driver: &mut Driver,
    host: &mut Host,
    watch: &mut Watch,
    log: &Log,
    stop: impl Fn() -> bool,
    until: Option<Instant>,
) -> anyhow::Result<()> {
    let mut next_step = driver.now();
    let mut notices = Vec::new();
    while !stop() && until.is_none_or(|until| driver.now() < until) {
        driver
            .run_until(next_step, &mut host.sessions())
            .context("waiting for sockets failed")?;
        let now = driver.now();
        let began = WallClock::now();
        host.step(now, &mut notices);
        watch.add_step(began.elapsed());
        notices
            .drain(..)
            .for_each(|notice| log.line(watch.notice(now, &notice)));
        if let Some(line) = watch.line(now, host) {
            log.line(line);
        }
        next_step += STEP;
        if next_step + CATCH_UP < now {
            next_step = now;
        }
    }
    Ok(())
}

/// Tells every player that it is over.
fn farewell(driver: &mut Driver, host: &mut Host) -> anyhow::Result<()> {
    let now = driver.now();
    host.shut_down(now);
    let deadline = now + FAREWELL;
    while (!host.is_finished() || driver.farewells() > 0) && driver.now() < deadline {
        driver
            .turn(deadline, &mut host.sessions())
            .context("waiting for sockets failed")?;
    }
    Ok(())
}

const fn carries(paths: Paths) -> Carries {
    match paths {
        Paths::Datagrams => Carries::Datagrams,
        Paths::Streams => Carries::Streams,
        Paths::Both => Carries::Both,
    }
}

/// What a line a second says.
#[derive(Debug)]
struct Watch {
    protocols: Vec<&'static Protocol>,
    json: bool,
    steps: Vec<Duration>,
    last_line: Instant,
    /// Bytes received and sent up to the last line.
    last_bytes: (u64, u64),
}

/// What one protocol's server has to say.
struct Figures {
    players: usize,
    traffic: Traffic,
    counters: Vec<(&'static str, u64)>,
}

impl Watch {
    const fn new(protocols: Vec<&'static Protocol>, json: bool) -> Self {
        Self {
            protocols,
            json,
            steps: Vec::new(),
            last_line: Instant::ZERO,
            last_bytes: (0, 0),
        }
    }

    fn add_step(&mut self, took: Duration) {
        self.steps.push(took);
    }

    fn notice(&self, now: Instant, notice: &Notice) -> String {
        let text = notice.to_string();
        if self.json {
            json!({ "time": now.since(Instant::ZERO).as_secs_f64(), "notice": text }).to_string()
        } else {
            format!("{:>6} s  {text}", now.as_millis() / 1_000)
        }
    }

    /// The line, when a second has passed.
    fn line(&mut self, now: Instant, host: &Host) -> Option<String> {
        let span = now.since(self.last_line);
        if span < Duration::from_secs(1) {
            return None;
        }
        self.last_line = now;
        let figures: Vec<_> = host
            .gateways()
            .map(|gateway| figures(gateway.figures()))
            .collect();
        let bytes = figures
            .iter()
            .fold((0, 0), |(bytes_in, bytes_out), figures| {
                (
                    bytes_in + figures.traffic.bytes_in,
                    bytes_out + figures.traffic.bytes_out,
                )
            });
        let received = kbits(bytes.0.saturating_sub(self.last_bytes.0), span);
        let sent = kbits(bytes.1.saturating_sub(self.last_bytes.1), span);
        self.last_bytes = bytes;
        let steps = std::mem::take(&mut self.steps);
        let line = if self.json {
            self.json_line(now, host, &figures, steps, [received, sent])
        } else {
            self.text_line(now, host, &figures, steps, [received, sent])
        };
        Some(line)
    }

    fn text_line(
        &self,
        now: Instant,
        host: &Host,
        figures: &[Figures],
        mut steps: Vec<Duration>,
        [received, sent]: [f64; 2],
    ) -> String {
        let p50 = percentile(&mut steps, 50).unwrap_or_default();
        let p99 = percentile(&mut steps, 99).unwrap_or_default();
        let mut line = format!(
            "{:>6} s  {} steps, p50 {:.2} ms, p99 {:.2} ms; {} entities; {received:.0} kbit/s in, {sent:.0} out",
            now.as_millis() / 1_000,
            steps.len(),
            millis(p50),
            millis(p99),
            host.arena().entities().count(),
        );
        for (protocol, figures) in self.protocols.iter().zip(figures) {
            line += &format!("; {} {} players", protocol.name, figures.players);
            for (name, count) in figures.counters.iter().filter(|(_, count)| *count > 0) {
                line += &format!(" {name}={count}");
            }
        }
        line
    }

    fn json_line(
        &self,
        now: Instant,
        host: &Host,
        figures: &[Figures],
        mut steps: Vec<Duration>,
        [received, sent]: [f64; 2],
    ) -> String {
        let protocols: Map<String, Value> = self
            .protocols
            .iter()
            .zip(figures)
            .map(|(protocol, figures)| {
                let counters: Map<_, _> = figures
                    .counters
                    .iter()
                    .map(|&(name, n)| (name.to_owned(), n.into()))
                    .collect();
                let value = json!({ "players": figures.players, "counters": counters });
                (protocol.name.to_owned(), value)
            })
            .collect();
        json!({
            "time": now.since(Instant::ZERO).as_secs_f64(),
            "steps": steps.len(),
            "step_ms": {
                "p50": percentile(&mut steps, 50).map(millis),
                "p99": percentile(&mut steps, 99).map(millis),
            },
            "entities": host.arena().entities().count(),
            "kbit_in": received,
            "kbit_out": sent,
            "protocols": protocols,
        })
        .to_string()
    }
}

fn figures(session: &dyn Session) -> Figures {
    let mut figures = Figures {
        players: 0,
        traffic: Traffic::NONE,
        counters: Vec::new(),
    };
    session.visit_peers(&mut |peer| {
        figures.players += 1;
        figures.traffic.bytes_in += peer.traffic.bytes_in;
        figures.traffic.bytes_out += peer.traffic.bytes_out;
    });
    session.visit_counters(&mut |name, count| figures.counters.push((name, count)));
    figures
}
