//! `tickwire bots`: headless players over the real network, and what became of them.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use serde_json::json;
use tickwire_demo::gateway::{ClientGateway, Ending, Protocol, Status};
use tickwire_demo::{Bot, STEP};
use tickwire_net::Driver;
use tickwire_session::{Addr, Session, Traffic};

use crate::address;
use crate::figures::{millis, percentile};
use crate::stop::Stop;

/// Load a server with computer players, and report what became of them.
///
/// Each bot is a client of its own, with its own socket. Exits with 1 unless every bot got in and
/// was still there at the end.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The protocol to speak.
    #[arg(value_name = "PROTOCOL", value_parser = address::protocol)]
    protocol: &'static Protocol,

    /// The server; without a port, the protocol's own.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1")]
    connect: String,

    /// How many bots.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=4_096))]
    count: u16,

    /// How long they play.
    #[arg(long, value_name = "N", default_value_t = 10)]
    seconds: u64,

    /// What the bots are made from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Report as a JSON object.
    #[arg(long)]
    json: bool,
}

/// How long bots that leave wait for the server's answer.
const FAREWELL: Duration = Duration::from_secs(2);

/// A bot, its client, and what happened to it.
struct Player {
    bot: Bot,
    gateway: Box<dyn ClientGateway>,
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
    round_trips: Vec<Duration>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let server: Addr = address::resolve(&args.connect, args.protocol.port)?.into();
    let stop = Stop::listen()?;
    let mut driver = Driver::new().context("the system has no way to wait for sockets")?;
    let mut players: Vec<_> = (0..u64::from(args.count))
        .map(|number| {
            driver.open();
            let bot = Bot::new(args.seed.wrapping_add(number));
            let name = format!("bot-{}", number + 1);
            let gateway = (args.protocol.connect)(driver.now(), server, &name, bot.loadout());
            Player {
                bot,
                gateway,
                connected: false,
            }
        })
        .collect();
    let mut report = Report::default();
    play(&mut driver, &mut players, &mut report, args, &stop)?;
    let good = report.count(&players);
    leave(&mut driver, &mut players)?;
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

/// Lets the bots play until their time is up, or nobody is left.
fn play(
    driver: &mut Driver,
    players: &mut [Player],
    report: &mut Report,
    args: &Args,
    stop: &Stop,
) -> anyhow::Result<()> {
    let end = driver.now() + Duration::from_secs(args.seconds);
    let mut next_step = driver.now();
    let mut next_line = driver.now() + Duration::from_secs(1);
    let mut notices = Vec::new();
    while driver.now() < end && !stop.is_asked() && players.iter().any(Player::is_there) {
        driver
            .run_until(next_step, &mut sessions(players))
            .context("waiting for sockets failed")?;
        let now = driver.now();
        for player in players.iter_mut() {
            player.gateway.collect(now, &mut notices);
            notices.clear();
            if player.gateway.status() == Status::Playing {
                player.connected = true;
                let view = player.gateway.view(now);
                player.gateway.act(&player.bot.think(&view));
            }
        }
        if now >= next_line {
            next_line += Duration::from_secs(1);
            report.sample(players);
            let there = players.iter().filter(|player| player.is_there()).count();
            if !args.json {
                eprintln!(
                    "{:>4} s  {there} of {} bots play",
                    now.as_millis() / 1_000,
                    args.count
                );
            }
        }
        next_step = (next_step + STEP).max(now);
    }
    report.sample(players);
    Ok(())
}

/// Lets them leave in the protocol's own way.
fn leave(driver: &mut Driver, players: &mut [Player]) -> anyhow::Result<()> {
    let now = driver.now();
    players
        .iter_mut()
        .for_each(|player| player.gateway.disconnect(now));
    let deadline = now + FAREWELL;
    while driver.now() < deadline && players.iter().any(Player::is_there) {
        driver
            .turn(deadline, &mut sessions(players))
            .context("waiting for sockets failed")?;
    }
    Ok(())
}

fn sessions(players: &mut [Player]) -> Vec<&mut dyn Session> {
    players
        .iter_mut()
        .map(|player| player.gateway.session())
        .collect()
}

impl Player {
    fn is_there(&self) -> bool {
        !matches!(self.gateway.status(), Status::Ended(_))
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
                .gateway
                .figures()
                .visit_peers(&mut |peer| samples.extend(peer.round_trip));
        }
    }

    /// Counts what became of everybody; whether all is well.
    fn count(&mut self, players: &[Player]) -> bool {
        for player in players {
            self.connected += usize::from(player.connected);
            match player.gateway.status() {
                Status::Ended(Ending::Full) => self.refused += 1,
                Status::Ended(Ending::Unreachable | Ending::TimedOut) => self.timed_out += 1,
                Status::Ended(_) => self.removed += 1,
                // The time was up before anybody answered.
                Status::Connecting => self.timed_out += 1,
                Status::Playing => {}
            }
            let traffic = &mut self.traffic;
            player.gateway.figures().visit_peers(&mut |peer| {
                traffic.bytes_in += peer.traffic.bytes_in;
                traffic.bytes_out += peer.traffic.bytes_out;
                traffic.packets_in += peer.traffic.packets_in;
                traffic.packets_out += peer.traffic.packets_out;
                traffic.messages_in += peer.traffic.messages_in;
                traffic.messages_out += peer.traffic.messages_out;
            });
        }
        players
            .iter()
            .all(|player| player.connected && player.is_there())
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
        })
        .to_string()
    }
}
