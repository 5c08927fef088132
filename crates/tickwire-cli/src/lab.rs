//! `tickwire lab`: truth and what clients show of it, side by side, on any network.
//!
//! In: a protocol, a network and a seed. Out: how far off each client's picture is, as a table, as JSON, or live in a
//! terminal. Server, network and clients are a [`Bench`] in simulated time: the same seed gives the same numbers, on
//! every machine, and a minute of play takes a second. In a terminal it is shown at the speed of a clock.

mod bench;
mod errors;
mod panel;
mod subject;

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tickwire_demo::gateway::{PROTOCOLS, Protocol};
use tickwire_sim::PRESETS;

use crate::conditions::{Network, NetworkArgs};
use crate::log::print_line;
use crate::stop::Stop;
use crate::{address, screen};
use bench::{Bench, Wanted};
use errors::Errors;

/// See what clients make of the truth on a bad network, and by how much they are off.
///
/// A server, a network and clients of one protocol run in this process. In a terminal, truth and one client's view are
/// drawn side by side: Tab shows the next client, the keys of `tickwire lag` change the network, q ends. Otherwise,
/// and with --json or --all, everything runs in simulated time and only the figures are printed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The protocol to speak.
    #[arg(value_name = "PROTOCOL", default_value = address::PROTOCOL, value_parser = address::protocol())]
    protocol: &'static Protocol,

    /// Every protocol on every preset, as a table.
    #[arg(long, conflicts_with = "protocol")]
    all: bool,

    /// How many clients.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    clients: u8,

    /// How long is measured, once all have settled.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,

    /// What the world and its pilots are made from.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print figures as JSON, an object for each protocol and network.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    network: NetworkArgs,
}

impl Args {
    fn wanted(&self, protocol: &'static Protocol, network: Network) -> Wanted {
        Wanted {
            protocol,
            network,
            clients: self.clients,
            seed: self.seed,
            network_seed: self.network.seed(),
        }
    }

    fn length(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let stop = Stop::listen()?;
    if args.all {
        return run_all(args, &stop);
    }
    let network = args.network.network().unwrap_or_default();
    let wanted = args.wanted(args.protocol, network);
    if screen::is_terminal() && !args.json {
        return panel::run(wanted, &stop);
    }
    let errors = measure(wanted, args.length(), &stop)?;
    if args.json {
        print_line(&to_json(args.protocol, &network, &errors))?;
    } else {
        print_line(&format!(
            "{HEADINGS}\n{}",
            row(args.protocol, &network, &errors)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_all(args: &Args, stop: &Stop) -> anyhow::Result<ExitCode> {
    if !args.json {
        print_line(HEADINGS)?;
    }
    for protocol in PROTOCOLS {
        for network in PRESETS.iter().map(Network::from) {
            if stop.is_asked() {
                return Ok(ExitCode::SUCCESS);
            }
            let errors = measure(args.wanted(protocol, network), args.length(), stop)?;
            print_line(&match args.json {
                true => to_json(protocol, &network, &errors),
                false => row(protocol, &network, &errors),
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a bench to its end, in simulated time.
fn measure(wanted: Wanted, length: Duration, stop: &Stop) -> anyhow::Result<Vec<Errors>> {
    let mut bench = Bench::new(wanted)?;
    bench.settle()?;
    let end = bench.now() + length;
    while bench.now() < end && !stop.is_asked() {
        bench.step();
    }
    Ok(bench.errors())
}

const HEADINGS: &str = "\
| protocol | network | own mean | own p99 | others mean | others p99 | age mean | age p99 | kbit/s ↓ | kbit/s ↑ | in sight |
|---|---|---|---|---|---|---|---|---|---|---|";

/// All clients of a bench as a row of the table.
fn row(protocol: &Protocol, network: &Network, errors: &[Errors]) -> String {
    let all = Errors::sum(errors);
    let (own, others, age) = (&all.own, &all.others, &all.ages);
    format!(
        "| {} | {network} | {} | {} | {} | {} | {} ms | {} ms | {:.0} | {:.0} | {:.0} % |",
        protocol.name,
        own.mean_text(),
        own.quantile_text(0.99),
        others.mean_text(),
        others.quantile_text(0.99),
        age.mean_text(),
        age.quantile_text(0.99),
        all.kbits_in(),
        all.kbits_out(),
        all.in_sight() * 100.0,
    )
}

fn to_json(protocol: &Protocol, network: &Network, errors: &[Errors]) -> String {
    let clients: Vec<_> = errors.iter().map(Errors::json).collect();
    json!({
        "protocol": protocol.name,
        "network": network.to_string(),
        "all": Errors::sum(errors).json(),
        "clients": clients,
    })
    .to_string()
}
