//! `tickwire bots`: headless players, over the real network or in memory, and what became of them.
//!
//! In: a server, and how it shall be loaded. Out: a [`Report`] of what the bots saw of it, and whether that is good
//! enough.

mod player;
mod progress;
mod report;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use tickwire_demo::gateway::{Protocol, Settings, Status};
use tickwire_demo::{GameServer, STEP};
use tickwire_net::quic::LinkFailure;
use tickwire_net::{Carries, Driver, NodeId};
use tickwire_session::{Addr, Instant, Session};

use crate::address;
use crate::bot_client::Pattern;
use crate::capture::{self, CaptureArgs, CaptureFile};
use crate::conditions::{Lags, NetworkArgs, parse_time};
use crate::difficulty::Difficulty;
use crate::figures::loading_bar;
use crate::log::print_line;
use crate::metrics::{Metrics, MetricsArgs};
use crate::quic::{self, Route};
use crate::record::RecordFile;
use crate::stop::Stop;
use player::{Fate, Player};
use progress::Progress;
use report::{Report, Thresholds};

/// Load a server with computer players, and report what became of them.
///
/// Each bot is a client of its own, with its own socket; of many, 64 connect at a time. Exits with 1
/// if more bots were lost than --max-lost allows, or another threshold was missed, and says which.
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

    /// How long they play, once all had their turn to connect.
    #[arg(long, value_name = "N", default_value_t = 10)]
    seconds: u64,

    /// Let them come one by one over so long, as in 10s, instead of as fast as they get in.
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = parse_time)]
    ramp: Duration,

    /// What they do.
    #[arg(long, value_name = "PATTERN", value_enum, default_value_t)]
    pattern: Pattern,

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
    thresholds: Thresholds,

    #[command(flatten)]
    encryption: quic::ClientArgs,

    #[command(flatten)]
    network: NetworkArgs,

    #[command(flatten)]
    metrics: MetricsArgs,
}

/// Bots that connect at a time; the others follow as these get in. A server need not put up with more
/// from one machine, and ours do not.
const CONNECTING_MAX: usize = 64;

/// How long bots that leave wait for the server's answer.
const FAREWELL: Duration = Duration::from_secs(2);

/// The bots, and the server that they play on.
struct Load<'a> {
    args: &'a Args,
    driver: Driver,
    server: Server,
    began: Instant,
    /// Those that have begun to connect, each at a place of its own.
    players: Vec<Player>,
    /// How many there were, with those whose place another took.
    made: u64,
    /// Of the first of them.
    record: Option<RecordFile>,
    /// Of all of them.
    capture: Option<CaptureFile>,
    /// The network that each of them is on.
    lags: Lags,
    metrics: Option<Metrics>,
    report: Report,
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
    let mut driver = Driver::new().context("the system has no way to wait for sockets")?;
    let server = if args.in_process {
        serve_here(args, &mut driver)?
    } else {
        let typed = (args.connect.as_str(), args.protocol.port);
        Server::Elsewhere(args.encryption.route(&mut driver, typed, &stop)?)
    };
    let record = args.record.as_deref();
    let capture = args.capture.create(driver.now())?;
    let mut load = Load {
        args,
        began: driver.now(),
        driver,
        server,
        players: Vec::new(),
        made: 0,
        record: record.map(RecordFile::create).transpose()?,
        capture,
        lags: Lags::of_clients(&args.network),
        metrics: args.metrics.open()?,
        report: Report::new(args.protocol.name, args.count),
    };
    load.metrics.iter().for_each(Metrics::announce);
    load.play(&stop)?;
    if let Some(failure) = load.failure() {
        eprintln!("tickwire: {failure}");
    }
    let (now, wanted) = (load.driver.now(), usize::from(args.count));
    load.report.count(now, &load.players, wanted);
    load.leave()?;
    // What they say in leaving is traffic too.
    load.players
        .iter()
        .for_each(|player| load.report.add_traffic(player));
    let failures = load.report.failures(&args.thresholds);
    let network = load.lags.network().map(ToString::to_string);
    print_line(&match args.json {
        true => load.report.json(network, &failures),
        false => load.report.text(),
    })?;
    for failure in &failures {
        eprintln!("tickwire: {failure}");
    }
    Ok(match failures.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn serve_here(args: &Args, driver: &mut Driver) -> anyhow::Result<Server> {
    // Nobody is told the port; a link needs a node to lead to.
    let node = driver.bind("127.0.0.1:0".parse()?, Carries::Both)?;
    let secret = tickwire_net::secret().context("the system has no randomness")?;
    let mut host = GameServer::new(args.seed, 0);
    host.serve(args.protocol, driver.now(), secret, &Settings::default());
    Ok(Server::Here {
        host: host.into(),
        node,
    })
}

impl Load<'_> {
    /// Lets as many more bots connect as may at a time, and as the ramp lets in.
    fn add_players(&mut self) -> anyhow::Result<()> {
        let connects = |player: &&Player| player.status() == Status::Connecting;
        let mut connecting = self.players.iter().filter(connects).count();
        let let_in = self.let_in();
        while connecting < CONNECTING_MAX && self.players.len() < let_in {
            let (node, server) = self.connect()?;
            let player = self.new_player(node, server)?;
            self.players.push(player);
            if let Some(capture) = &mut self.capture {
                capture.add_client(self.args.protocol.name, self.args.protocol.port);
            }
            connecting += 1;
        }
        Ok(())
    }

    /// How many the ramp lets in by now.
    fn let_in(&self) -> usize {
        let count = usize::from(self.args.count);
        let passed = self.driver.now().since(self.began);
        if passed >= self.args.ramp {
            return count;
        }
        let share = passed.div_duration_f64(self.args.ramp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a count of at most 4,096"
        )]
        let let_in = (share * count as f64) as usize + 1;
        let_in.min(count)
    }

    /// A way to the server for one more.
    fn connect(&mut self) -> anyhow::Result<(NodeId, Addr)> {
        let args = self.args;
        Ok(match &self.server {
            Server::Elsewhere(route) => {
                let node = self.driver.open();
                let asked = (args.connect.as_str(), args.protocol.name);
                let way = args
                    .encryption
                    .connect(&mut self.driver, node, route, asked)?;
                (node, way)
            }
            Server::Here { node, .. } => self.driver.link(*node),
        })
    }

    fn new_player(&mut self, node: NodeId, server: Addr) -> anyhow::Result<Player> {
        let record = self.record.as_ref().filter(|_| self.made == 0);
        let log = record.map(RecordFile::log);
        let player = Player::new(self.args, self.made, (self.driver.now(), node, server), log);
        self.made += 1;
        player
    }

    /// Lets the bots play until their time is up, or nobody is left.
    fn play(&mut self, stop: &Stop) -> anyhow::Result<()> {
        let args = self.args;
        let length = args.ramp + Duration::from_secs(args.seconds);
        let end = self.began + length;
        let mut next_step = self.driver.now();
        let mut next_second = next_step + Duration::from_secs(1);
        let progress = Progress::new(args.json, length);
        self.add_players()?;
        while self.driver.now() < end && !stop.is_asked() && self.anybody_there() {
            self.drive(next_step, Driver::run_until)?;
            if let Server::Elsewhere(route) = &mut self.server {
                for line in route.meet(&mut self.driver)? {
                    eprintln!("tickwire: {line}");
                }
            }
            let now = self.driver.now();
            self.step(now)?;
            self.add_players()?;
            if now >= next_second {
                next_second += Duration::from_secs(1);
                self.report.sample(&self.players);
                self.tell_metrics(now);
                let loading = self.loading().unwrap_or_default();
                progress.show(now.since(self.began), &self.players, &self.report, &loading);
            }
            next_step = (next_step + STEP).max(now);
        }
        progress.finish();
        self.report.sample(&self.players);
        Ok(())
    }

    fn step(&mut self, now: Instant) -> anyhow::Result<()> {
        let mut notices = Vec::new();
        if let Server::Here { host, .. } = &mut self.server {
            host.step(now, &mut notices);
        }
        for place in 0..self.players.len() {
            let player = &mut self.players[place];
            player.step(now, &mut notices, &mut self.report);
            if player.fate(now) == Fate::Gone {
                self.replace(place)?;
            }
            notices.clear();
        }
        Ok(())
    }

    /// Puts another bot at the place of one that left as it was meant to.
    fn replace(&mut self, place: usize) -> anyhow::Result<()> {
        let gone = &self.players[place];
        self.report.add_traffic(gone);
        self.report.left += 1;
        self.driver.close(gone.node);
        let (node, server) = self.connect()?;
        anyhow::ensure!(
            node == self.players[place].node,
            "a closed place is the next to be taken"
        );
        self.lags.renew(place);
        self.players[place] = self.new_player(node, server)?;
        if let Some(capture) = &mut self.capture {
            capture.renew_client(place, self.args.protocol.name, self.args.protocol.port);
        }
        Ok(())
    }

    fn tell_metrics(&self, now: Instant) {
        if let Some(metrics) = &self.metrics {
            let report = self.report.metrics(now, &self.players);
            metrics.set(report);
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
        self.players.iter().any(Player::is_there) || self.players.len() < self.let_in()
    }
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
