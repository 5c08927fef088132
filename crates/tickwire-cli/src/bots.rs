//! `tickwire bots`: headless players, over the real network or in memory, and what became of them.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use serde_json::json;
use tickwire_demo::gateway::{Ending, Notice, Protocol, Settings, Status};
use tickwire_demo::recording::Log;
use tickwire_demo::{GameServer, STEP};
use tickwire_net::quic::LinkFailure;
use tickwire_net::{Carries, Driver, NodeId};
use tickwire_session::{Addr, Instant, Session, Traffic};

use crate::address;
use crate::bot_client::{self, BotClient, Character};
use crate::capture::{self, CaptureArgs, CaptureFile};
use crate::conditions::{Lags, NetworkArgs};
use crate::difficulty::Difficulty;
use crate::figures::{loading_bar, millis, percentile};
use crate::misuse::Misuse;
use crate::quic::{self, Route};
use crate::record::RecordFile;
use crate::stop::Stop;

/// Load a server with computer players, and report what became of them.
///
/// Each bot is a client of its own, with its own socket; of many, 64 connect at a time. Exits with 1
/// unless every bot got in and was still there at the end.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The protocol to speak.
    #[arg(value_name = "PROTOCOL", default_value = address::PROTOCOL, value_parser = address::protocol())]
    protocol: &'static Protocol,

    /// The server; without a port, the protocol's own.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1")]
    connect: String,

    /// Serve the game in this process instead, and let the bots reach it without a network.
    #[arg(long, conflicts_with = "connect")]
    in_process: bool,

    /// How many bots.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=4_096))]
    count: u16,

    /// How long they play.
    #[arg(long, value_name = "N", default_value_t = 10)]
    seconds: u64,

    /// How good they are.
    #[arg(long, value_name = "LEVEL", default_value = "normal")]
    difficulty: Difficulty,

    /// What the bots are made from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Record the first bot, for `tickwire replay` and `tickwire inspect`.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Report as a JSON object, with the clients' counters.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    capture: CaptureArgs,

    #[command(flatten)]
    encryption: quic::ClientArgs,

    #[command(flatten)]
    network: NetworkArgs,
}

/// Bots that connect at a time; the others follow as these get in. A server need not put up with more
/// from one machine, and ours do not.
const CONNECTING_MAX: usize = 64;

/// How long bots that leave wait for the server's answer.
const FAREWELL: Duration = Duration::from_secs(2);

/// A bot, its client, and what happened to it.
struct Player {
    body: Box<dyn BotClient>,
    /// What its session calls the server.
    server: Addr,
    connected: bool,
}

/// What became of them all.
#[derive(Debug, Default)]
struct Report {
    connected: usize,
    refused: usize,
    timed_out: usize,
    removed: usize,
    traffic: Traffic,
    /// What all clients counted, by name.
    counters: BTreeMap<&'static str, u64>,
    round_trips: Vec<Duration>,
}

/// The bots, and the server that they play on.
struct Load {
    driver: Driver,
    server: Server,
    /// Those that have begun to connect.
    players: Vec<Player>,
    /// Of the first of them.
    record: Option<RecordFile>,
    /// Of all of them.
    capture: Option<CaptureFile>,
    /// The network that each of them is on.
    lags: Lags,
}

/// Where the server is.
enum Server {
    /// Each bot has a socket of its own, or all share that of a meeting.
    Elsewhere(Route),
    /// It is in this process, and each bot reaches it over a memory link.
    Here { host: Box<GameServer>, node: NodeId },
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let stop = Stop::listen()?;
    let mut load = if args.in_process {
        Load::in_process(args)?
    } else {
        Load::over_network(args, &stop)?
    };
    let mut report = Report::default();
    load.play(&mut report, args, &stop)?;
    let good = report.count(&load.players, args.count);
    if let Some(failure) = load.failure() {
        eprintln!("tickwire: {failure}");
    }
    load.leave()?;
    // What they say in leaving is traffic too.
    report.add_traffic(&load.players);
    if args.json {
        println!("{}", report.json(args));
    } else {
        println!("{}", report.text(args));
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Load {
    fn over_network(args: &Args, stop: &Stop) -> anyhow::Result<Self> {
        let mut driver = new_driver()?;
        let typed = (args.connect.as_str(), args.protocol.port);
        let route = args.encryption.route(&mut driver, typed, stop)?;
        let capture = args.capture.create(driver.now())?;
        Ok(Self {
            driver,
            server: Server::Elsewhere(route),
            players: Vec::new(),
            record: open_record(args)?,
            capture,
            lags: Lags::of_clients(&args.network),
        })
    }

    fn in_process(args: &Args) -> anyhow::Result<Self> {
        let mut driver = new_driver()?;
        // Nobody is told the port; a link needs a node to lead to.
        let node = driver.bind("127.0.0.1:0".parse()?, Carries::Both)?;
        let secret = tickwire_net::secret().context("the system has no randomness")?;
        let mut host = GameServer::new(args.seed, 0);
        host.serve(args.protocol, driver.now(), secret, &Settings::default());
        let capture = args.capture.create(driver.now())?;
        Ok(Self {
            driver,
            server: Server::Here {
                host: host.into(),
                node,
            },
            players: Vec::new(),
            record: open_record(args)?,
            capture,
            lags: Lags::of_clients(&args.network),
        })
    }

    /// Lets as many more bots connect as may at a time.
    fn add_players(&mut self, args: &Args) -> anyhow::Result<()> {
        let connects = |player: &&Player| player.status() == Status::Connecting;
        let mut connecting = self.players.iter().filter(connects).count();
        while connecting < CONNECTING_MAX && self.players.len() < args.count.into() {
            let server = match &self.server {
                Server::Elsewhere(route) => {
                    let node = self.driver.open();
                    let asked = (args.connect.as_str(), args.protocol.name);
                    args.encryption
                        .connect(&mut self.driver, node, route, asked)?
                }
                Server::Here { node, .. } => self.driver.link(*node).1,
            };
            let number = u16::try_from(self.players.len())?;
            let at = (self.driver.now(), server);
            let record = self.record.as_ref().filter(|_| number == 0);
            let log = record.map(RecordFile::log);
            self.players.push(Player::new(args, number, at, log)?);
            if let Some(capture) = &mut self.capture {
                capture.add_client(args.protocol.name, args.protocol.port);
            }
            connecting += 1;
        }
        Ok(())
    }

    /// Lets the bots play until their time is up, or nobody is left.
    fn play(&mut self, report: &mut Report, args: &Args, stop: &Stop) -> anyhow::Result<()> {
        let end = self.driver.now() + Duration::from_secs(args.seconds);
        let mut next_step = self.driver.now();
        let mut next_line = next_step + Duration::from_secs(1);
        self.add_players(args)?;
        while self.driver.now() < end && !stop.is_asked() && self.anybody_there() {
            self.drive(next_step, Driver::run_until)?;
            if let Server::Elsewhere(route) = &mut self.server {
                for line in route.meet(&mut self.driver)? {
                    eprintln!("tickwire: {line}");
                }
            }
            let now = self.driver.now();
            self.step(now);
            self.add_players(args)?;
            if now >= next_line {
                next_line += Duration::from_secs(1);
                report.sample(&self.players);
                if !args.json {
                    let there = self
                        .players
                        .iter()
                        .filter(|player| player.status() == Status::Playing)
                        .count();
                    let seconds = now.as_millis() / 1_000;
                    let loading = self.loading().unwrap_or_default();
                    eprintln!(
                        "{seconds:>4} s  {there} of {} bots play{loading}",
                        args.count
                    );
                }
            }
            next_step = (next_step + STEP).max(now);
        }
        report.sample(&self.players);
        Ok(())
    }

    fn step(&mut self, now: Instant) {
        let mut notices = Vec::new();
        if let Server::Here { host, .. } = &mut self.server {
            host.step(now, &mut notices);
        }
        for player in &mut self.players {
            player.step(now, &mut notices);
        }
    }

    /// Lets them leave in the protocol's own way.
    fn leave(&mut self) -> anyhow::Result<()> {
        let now = self.driver.now();
        for player in &mut self.players {
            player.body.gateway_mut().disconnect(now);
        }
        let deadline = now + FAREWELL;
        while self.driver.now() < deadline && (self.anybody_there() || !self.lags.is_idle()) {
            self.drive(deadline, Driver::turn)?;
        }
        let now = self.driver.now();
        let record = self.record.as_mut();
        record.map_or(Ok(()), |record| record.finish(now))?;
        self.capture.take().map_or(Ok(()), CaptureFile::finish)
    }

    /// Lets the driver have the sessions.
    fn drive(
        &mut self,
        until: Instant,
        run: fn(&mut Driver, Instant, &mut [&mut dyn Session]) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        if let Some(record) = &mut self.record {
            record.keep(self.driver.now())?;
        }
        let count = self.players.len();
        let mut sessions = sessions(&mut self.server, &mut self.players);
        let players = sessions.len() - count..sessions.len();
        // What the sessions say, whatever becomes of it on their network.
        let Self {
            capture,
            lags,
            driver,
            ..
        } = self;
        let first = players.start;
        let ran = capture::run(capture.as_mut(), &mut sessions, first, |sessions| {
            lags.run(sessions, players, |sessions| run(driver, until, sessions))
        });
        ran.context("waiting for sockets failed")
    }

    /// How far those are that load, together.
    fn loading(&self) -> Option<String> {
        let (mut all, mut count) = ((0, 0), 0);
        for player in &self.players {
            if let Status::Loading { have, of } = player.status() {
                all = (all.0 + have, all.1 + of);
                count += 1;
            }
        }
        let bar = loading_bar(all.0, all.1);
        (count > 0).then(|| format!(", {count} load {bar}"))
    }

    /// What the link of one of them ended with, if any did by itself.
    fn failure(&self) -> Option<&LinkFailure> {
        let mut players = self.players.iter();
        players.find_map(|player| self.driver.link_failure(player.server))
    }

    fn anybody_there(&self) -> bool {
        self.players.iter().any(Player::is_there)
    }
}

fn open_record(args: &Args) -> anyhow::Result<Option<RecordFile>> {
    args.record.as_deref().map(RecordFile::create).transpose()
}

fn new_driver() -> anyhow::Result<Driver> {
    Driver::new().context("the system has no way to wait for sockets")
}

/// Every session in the order of its node: the server's first, if it is here.
fn sessions<'a>(server: &'a mut Server, players: &'a mut [Player]) -> Vec<&'a mut dyn Session> {
    let mut sessions = match server {
        Server::Here { host, .. } => host.sessions(),
        Server::Elsewhere(Route::By(meeting)) => vec![meeting.session()],
        Server::Elsewhere(Route::At(_)) => Vec::new(),
    };
    let players = players.iter_mut();
    sessions.extend(players.map(|player| player.body.gateway_mut().session()));
    sessions
}

impl Player {
    fn new(
        args: &Args,
        number: u16,
        at: (Instant, Addr),
        log: Option<&Log>,
    ) -> anyhow::Result<Self> {
        let character = Character {
            name: format!("bot-{}", number + 1),
            seed: args.seed.wrapping_add(number.into()),
            skill: args.difficulty.into(),
        };
        let body = bot_client::connect(args.protocol, &character, at, log);
        let body = body.map_err(Misuse)?;
        Ok(Self {
            body,
            server: at.1,
            connected: false,
        })
    }

    fn step(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        self.body.gateway_mut().collect(now, notices);
        if self.status() == Status::Playing {
            self.connected = true;
            self.body.act(now);
        }
    }

    fn status(&self) -> Status {
        self.body.gateway().status()
    }

    fn figures(&self) -> &dyn Session {
        self.body.gateway().figures()
    }

    fn is_there(&self) -> bool {
        !matches!(self.status(), Status::Ended(_))
    }
}

impl Report {
    /// Notes the round trips of this moment.
    fn sample(&mut self, players: &[Player]) {
        for player in players
            .iter()
            .filter(|player| player.connected && player.is_there())
        {
            let samples = &mut self.round_trips;
            player
                .figures()
                .visit_peers(&mut |peer| samples.extend(peer.round_trip));
        }
    }

    /// Counts what became of everybody; whether all is well.
    fn count(&mut self, players: &[Player], wanted: u16) -> bool {
        // It was not even their turn to connect.
        self.timed_out += usize::from(wanted) - players.len();
        for player in players {
            self.connected += usize::from(player.connected);
            match player.status() {
                Status::Ended(Ending::Full | Ending::Refused) => self.refused += 1,
                Status::Ended(Ending::Unreachable | Ending::Lost) => self.timed_out += 1,
                Status::Ended(_) => self.removed += 1,
                // The time was up before anybody answered.
                Status::Connecting | Status::Loading { .. } => self.timed_out += 1,
                Status::Playing => {}
            }
        }
        // One that is only on its way back at the end is lost.
        let plays = |player: &&Player| player.status() == Status::Playing;
        players.iter().filter(plays).count() == usize::from(wanted)
    }

    fn add_traffic(&mut self, players: &[Player]) {
        for player in players {
            let counters = &mut self.counters;
            player
                .figures()
                .visit_counters(&mut |name, count| *counters.entry(name).or_default() += count);
            let traffic = &mut self.traffic;
            player.figures().visit_peers(&mut |peer| {
                traffic.bytes_in += peer.traffic.bytes_in;
                traffic.bytes_out += peer.traffic.bytes_out;
                traffic.packets_in += peer.traffic.packets_in;
                traffic.packets_out += peer.traffic.packets_out;
                traffic.messages_in += peer.traffic.messages_in;
                traffic.messages_out += peer.traffic.messages_out;
            });
        }
    }

    fn text(&mut self, args: &Args) -> String {
        let round_trip = |percent| match percentile(&mut self.round_trips, percent) {
            Some(span) => format!("{:.1} ms", millis(span)),
            None => "unknown".into(),
        };
        let [p50, p99] = [50, 99].map(round_trip);
        let Traffic {
            packets_in,
            packets_out,
            bytes_in,
            bytes_out,
            messages_in,
            messages_out,
        } = self.traffic;
        format!(
            "{} bots on {}: {} connected, {} refused, {} timed out, {} removed\n\
             messages {messages_in} in, {messages_out} out; \
             packets {packets_in} in, {packets_out} out; \
             bytes {bytes_in} in, {bytes_out} out\n\
             round trip p50 {p50}, p99 {p99}",
            args.count,
            args.protocol.name,
            self.connected,
            self.refused,
            self.timed_out,
            self.removed,
        )
    }

    fn json(&mut self, args: &Args) -> String {
        let [p50, p99] = [50, 99].map(|p| percentile(&mut self.round_trips, p).map(millis));
        json!({
            "protocol": args.protocol.name,
            "bots": args.count,
            "connected": self.connected,
            "refused": self.refused,
            "timed_out": self.timed_out,
            "removed": self.removed,
            "messages_in": self.traffic.messages_in,
            "messages_out": self.traffic.messages_out,
            "packets_in": self.traffic.packets_in,
            "packets_out": self.traffic.packets_out,
            "bytes_in": self.traffic.bytes_in,
            "bytes_out": self.traffic.bytes_out,
            "round_trip_ms": { "p50": p50, "p99": p99 },
            "counters": self.counters,
        })
        .to_string()
    }
}
