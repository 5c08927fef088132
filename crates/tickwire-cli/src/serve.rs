//! `tickwire serve`: the games on real sockets, with a dashboard or with lines.

mod camera;
mod company;
mod drain;
mod game;
mod lines;
mod listen;
pub(crate) mod meter;
mod reone;
pub(crate) mod report;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant as WallClock};

use anyhow::Context;
use tickwire_capture::Role;
use tickwire_demo::gateway::{Connect, Notice, PROTOCOLS, Paths, Protocol, Settings};
use tickwire_demo::tiles::TileWorld;
use tickwire_demo::{GameServer, Pace};
use tickwire_net::{Carries, Driver, NodeId};
use tickwire_session::Instant;

use crate::capture::{CaptureArgs, CaptureFile};
use crate::conditions::{Lags, NetworkArgs};
use crate::dashboard::Dashboard;
use crate::difficulty::Difficulty;
use crate::metrics::MetricsArgs;
use crate::misuse::Misuse;
use crate::quic;
use crate::record::RecordFile;
use crate::save::{self, SaveFile};
use crate::stop::Stop;
use crate::trace::{self, LogLevel};
use crate::{address, screen};
use camera::Camera;
use company::{Company, Wanted};
use drain::Drain;
use game::Game;
use lines::Lines;
use listen::Listen;
use meter::Meter;
use reone::ReoneArgs;
use report::Report;

/// Serve the arena and the tile world, on one protocol or on all of them.
///
/// Prints `ready PROTOCOL HOST:PORT` as soon as clients are accepted, one line a protocol, then a
/// line a second with what goes on; or shows a dashboard, with --dashboard. Ctrl-C or SIGTERM tells
/// every player and ends. With --quic a line ends with `quic` and the server's fingerprint.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which protocols to open. If none is named: native for `serve`, all of them without a subcommand.
    #[arg(value_name = "PROTOCOL", value_parser = address::protocols())]
    protocols: Vec<&'static [Protocol]>,

    /// Where to listen; 0.0.0.0 or [::] for other machines too. May be given once for each protocol.
    ///
    /// Otherwise 127.0.0.1 and each protocol's own port. A port is one protocol's: with several, write
    /// which one, as in --listen lwar=127.0.0.1:4000. Port 0 lets the system choose.
    #[arg(long, value_name = "[PROTOCOL=]HOST[:PORT]")]
    listen: Vec<Listen>,

    /// Computer players, each a client of one of the protocols, by turns; none, or 6 without a subcommand.
    ///
    /// A protocol with few places has bots on at most half of them; those who find none fly without a
    /// protocol.
    #[arg(long, value_name = "N")]
    bots: Option<usize>,

    /// Computer players who fly in the arena without any protocol.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pilots: usize,

    /// How good they are.
    #[arg(long, value_name = "LEVEL", default_value = "normal")]
    difficulty: Difficulty,

    /// What the worlds and the bots are made from: the same seed, the same world.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Where the tile world is kept; made if it is not there. Without it, what is built ends with the
    /// server.
    #[arg(long, value_name = "DIR")]
    world: Option<PathBuf>,

    /// Where the arena is saved, every minute and at the end; needs OpenDrakan, which has savegames.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,

    /// Go on from a savegame: planets and ships are where they were, scores begin anew.
    #[arg(long, value_name = "FILE")]
    load: Option<PathBuf>,

    /// Record what every client and the server say, for `tickwire replay` and `tickwire inspect`; with several
    /// protocols, each in FILE.PROTOCOL.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    #[command(flatten)]
    capture: CaptureArgs,

    /// End by itself after this time.
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,

    /// When asked to end, let nobody in any more and give those who play so many seconds to leave. Asked
    /// again, it ends at once.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    drain: u32,

    /// What is logged of connections, among the other lines.
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: LogLevel,

    /// Every line as a JSON object.
    #[arg(long)]
    json: bool,

    /// Draw the arena and its clients instead of printing lines.
    #[arg(long, conflicts_with_all = ["json", "plain"])]
    dashboard: bool,

    /// Print lines: the way of this command unless told otherwise.
    #[arg(long)]
    plain: bool,

    #[command(flatten)]
    reone: ReoneArgs,

    #[command(flatten)]
    encryption: quic::ServerArgs,

    #[command(flatten)]
    network: NetworkArgs,

    #[command(flatten)]
    metrics: MetricsArgs,
}

impl Args {
    /// What runs without a subcommand: with bots to watch, and a dashboard if somebody can.
    pub(crate) fn with_company(mut self) -> Self {
        self.bots = self.bots.or(Some(6));
        if self.protocols.is_empty() {
            self.protocols.push(PROTOCOLS);
        }
        self.dashboard |= screen::is_terminal() && !self.plain && !self.json;
        self
    }

    /// Makes a protocol's node: bound in the clear, unless it is only served over QUIC.
    fn open_port(
        &self,
        driver: &mut Driver,
        protocol: &Protocol,
        addr: SocketAddr,
    ) -> anyhow::Result<NodeId> {
        if self.encryption.is_wanted() && self.listen.is_empty() {
            return Ok(driver.open());
        }
        let bound = driver.bind(addr, carries(protocol.paths));
        bound.with_context(|| format!("cannot serve {}", protocol.name))
    }

    fn protocols(&self) -> Vec<&'static Protocol> {
        let mut named: Vec<&'static Protocol> = Vec::new();
        for protocol in self.protocols.iter().copied().flatten() {
            if named.iter().all(|other| other.name != protocol.name) {
                named.push(protocol);
            }
        }
        if named.is_empty() {
            named.extend(Protocol::named(address::PROTOCOL));
        }
        named
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let protocols = args.protocols();
    let places = listen::places(&args.listen, &protocols)?;
    let settings = Settings {
        reone: args.reone.settings(&protocols)?,
    };
    if args.dashboard && !screen::is_terminal() {
        anyhow::bail!("--dashboard needs a terminal to draw on; leave it out for lines");
    }
    let stop = Stop::listen()?;
    let mut driver = Driver::new().context("the system has no way to wait for sockets")?;
    let skill = args.difficulty.into();
    let count = args.bots.unwrap_or_default();
    let pilots = args.pilots + company::share(count, &protocols).1;
    let mut host = GameServer::with_skill(args.seed, pilots, skill);
    if let Some(tiles) = open_world(args, &protocols)? {
        host.set_tiles(tiles);
    }
    let mut nodes = Vec::new();
    for (protocol, addr) in protocols.iter().zip(places) {
        let secret = tickwire_net::secret().context("the system has no randomness")?;
        host.serve(protocol, driver.now(), secret, &settings);
        nodes.push(args.open_port(&mut driver, protocol, addr)?);
    }
    let names: Vec<_> = protocols.iter().map(|protocol| protocol.name).collect();
    let encrypted = args.encryption.listen(&mut driver, &names, &nodes)?;
    let open = open_places(&driver, &names, &nodes, encrypted.as_ref());
    let wanted = Wanted {
        count,
        pilots,
        seed: args.seed,
        skill,
    };
    let doors: Vec<_> = protocols.iter().copied().zip(nodes).collect();
    let company = Company::connect(&mut driver, &doors, wanted)?;
    let record = args.record.as_deref();
    let records = record.map_or(Ok(Vec::new()), |file| RecordFile::create_all(file, &names))?;
    let camera = Camera::install(&mut driver, &doors, &records);
    let capture = open_capture(args, &driver, &doors)?;
    let saves = open_saves(args, &mut host, driver.now())?;
    let until = args
        .seconds
        .map(|seconds| driver.now() + Duration::from_secs(seconds));
    let mut face = Face::open(args, open)?;
    let mut game = Game {
        host,
        company,
        meter: Meter::new(protocols),
        saves,
        records,
        camera,
        capture,
        encrypted,
        drain: Drain::new(args.drain),
        lags: Lags::of_servers(&args.network),
        metrics: args.metrics.open()?,
    };
    let served = serve(&mut driver, &mut game, &mut face, &stop, until);
    close(&mut driver, game, face, served)?;
    Ok(ExitCode::SUCCESS)
}

/// Ends everything, whatever else went wrong, and says what did.
fn close(
    driver: &mut Driver,
    mut game: Game,
    face: Face,
    served: anyhow::Result<()>,
) -> anyhow::Result<()> {
    // First, so that what comes next can be read, and a second Ctrl-C ends it at once.
    let closed = face.close();
    // Before everybody is sent away, and their ships with them.
    let save = game.saves.take();
    let saved = save.map_or(Ok(()), |saves| saves.close(game.host.save()));
    let told = game.farewell(driver);
    let recorded = game.finish_records(driver.now());
    let captured = game.capture.take().map_or(Ok(()), CaptureFile::finish);
    // Whatever else went wrong, what was built is stored.
    let stored = game
        .host
        .close_tiles()
        .context("not everything built is stored");
    let ended = [served, closed, saved, told, recorded, captured, stored];
    ended.into_iter().collect()
}

/// Begins to capture every server's session, if that is wanted.
fn open_capture(
    args: &Args,
    driver: &Driver,
    doors: &[(&'static Protocol, NodeId)],
) -> anyhow::Result<Option<CaptureFile>> {
    let Some(mut capture) = args.capture.create(driver.now())? else {
        return Ok(None);
    };
    for (protocol, node) in doors {
        let role = Role::Server(driver.local_addr(*node));
        capture.add(protocol.name, protocol.port, role);
    }
    Ok(Some(capture))
}

/// What is open where, for people; and a warning of what others can read.
fn open_places(
    driver: &Driver,
    names: &[&'static str],
    nodes: &[NodeId],
    encrypted: Option<&quic::Listening>,
) -> Vec<(&'static str, String)> {
    let bound = |(name, node): (&&'static str, &NodeId)| Some((*name, driver.local_addr(*node)?));
    let clear: Vec<_> = names.iter().zip(nodes).filter_map(bound).collect();
    quic::warn_of_clear_ports(&clear);
    let clear = clear.into_iter();
    let clear = clear.map(|(name, addr)| (name, addr.to_string()));
    let encrypted = encrypted.into_iter().flat_map(|encrypted| {
        let names = names.iter();
        names.map(move |name| (*name, encrypted.to_string()))
    });
    clear.chain(encrypted).collect()
}

/// The tile world in its folder, if one is named.
fn open_world(args: &Args, protocols: &[&Protocol]) -> anyhow::Result<Option<TileWorld>> {
    let Some(folder) = &args.world else {
        return Ok(None);
    };
    let is_tiles = |protocol: &&Protocol| matches!(protocol.connect, Connect::Tiles(_));
    if !protocols
        .iter()
        .copied()
        .any(|protocol| is_tiles(&protocol))
    {
        let tiles = PROTOCOLS.iter().find(is_tiles);
        anyhow::bail!(Misuse(format!(
            "--world keeps the tile world, which none of these protocols has: add {}, or leave \
             --world out",
            tiles.map_or("one that has", |protocol| protocol.name)
        )));
    }
    Ok(Some(TileWorld::open(folder, args.seed)?))
}

/// Loads the savegame that is named, and finds where to keep the next.
fn open_saves(
    args: &Args,
    host: &mut GameServer,
    now: Instant,
) -> anyhow::Result<Option<SaveFile>> {
    if host.save().is_none() && (args.save.is_some() || args.load.is_some()) {
        anyhow::bail!(Misuse(
            "--save and --load are about savegames, which none of these protocols has: add \
             opendrakan, or leave them out"
                .into()
        ));
    }
    if let Some(file) = &args.load {
        let save = save::read(file)?;
        host.load(&save)
            .with_context(|| format!("cannot load {}", file.display()))?;
    }
    let saves = args.save.as_deref();
    saves.map(|file| SaveFile::open(file, now)).transpose()
}

/// Where people see what goes on.
enum Face {
    Lines(Lines),
    Dashboard(Box<Dashboard>),
}

impl Face {
    fn open(args: &Args, open: Vec<(&'static str, String)>) -> anyhow::Result<Self> {
        if args.dashboard {
            return Ok(Self::Dashboard(Box::new(Dashboard::open(open)?)));
        }
        let lines = Lines::open(args.json, &open);
        trace::install(args.log, args.json, lines.writer())?;
        Ok(Self::Lines(lines))
    }

    /// Shows what happened; whoever looks may want it to end.
    fn show(
        &mut self,
        now: Instant,
        host: &GameServer,
        notices: &[Notice],
        report: Option<Report>,
        stop: &Stop,
    ) {
        match self {
            Self::Lines(lines) => {
                notices.iter().for_each(|notice| lines.notice(now, notice));
                report.iter().for_each(|report| lines.report(report));
                if !lines.is_read() {
                    stop.ask();
                }
            }
            Self::Dashboard(dashboard) => {
                let texts = notices.iter().map(ToString::to_string);
                texts.for_each(|text| dashboard.add_notice(now, text));
                report
                    .into_iter()
                    .for_each(|report| dashboard.add_report(report));
                dashboard.refresh(now, host, stop);
            }
        }
    }

    fn close(self) -> anyhow::Result<()> {
        match self {
            Self::Lines(_) => Ok(()),
            Self::Dashboard(dashboard) => dashboard.close(),
        }
    }
}

/// Runs the arena until it shall end.
fn serve(
    driver: &mut Driver,
    game: &mut Game,
    face: &mut Face,
    stop: &Stop,
    until: Option<Instant>,
) -> anyhow::Result<()> {
    let mut pace = Pace::new(driver.now());
    let mut notices: Vec<_> = game.opening_notices().collect();
    let mut was_busy = false;
    while until.is_none_or(|until| driver.now() < until) {
        if stop.is_asked() {
            notices.extend(game.drain(driver));
            if game.drain.is_over(driver.now(), game.guests()) {
                break;
            }
        }
        game.drive(driver, pace.due(), Driver::run_until)?;
        let now = driver.now();
        let Game {
            host,
            company,
            meter,
            saves,
            records,
            camera,
            encrypted,
            drain,
            metrics,
            ..
        } = &mut *game;
        if let Some(encrypted) = encrypted {
            encrypted.read_again(driver);
            notices.extend(encrypted.meet(driver)?);
        }
        for record in &mut *records {
            record.keep(now)?;
        }
        let began = WallClock::now();
        host.step(now, &mut notices);
        meter.add_step(began.elapsed());
        company.step(now);
        if let Some(camera) = camera {
            camera.step(now);
        }
        if let Some(saves) = saves
            && let Err(why) = saves.keep(now, || host.save())
        {
            let stores = Err(format!("{why:#}"));
            notices.push(Notice::Storage { stores });
        }
        let report = meter.measure(now, host, driver.counters());
        if let (Some(metrics), Some(report)) = (metrics, &report) {
            metrics.set(report.clone());
        }
        if let (Some(encrypted), Some(report)) = (encrypted, &report) {
            encrypted.tell_status(driver, report, drain.is_begun());
        }
        face.show(now, host, &notices, report, stop);
        notices.clear();
        pace.made_step(driver.now());
        if pace.is_busy() != was_busy {
            was_busy = pace.is_busy();
            host.set_busy(was_busy || drain.is_begun());
            notices.push(Notice::Busy { is_busy: was_busy });
        }
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
