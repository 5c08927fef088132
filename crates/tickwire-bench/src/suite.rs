//! The benchmarks, and the command that runs them.

mod arena;
mod bots;
#[allow(unsafe_code, reason = "processor time has no safe interface")]
mod clock;
mod coding;
mod copying;
mod echo;
#[allow(unsafe_code, reason = "the allocator's figures have no safe interface")]
mod heap;
mod lag;
mod masks;
mod metrics;
mod native;
mod objects;
mod peers;
mod quic;
mod records;
mod rendezvous;
mod reone;
mod replica;
mod report;
mod rounds;
mod simulation;
mod snapshots;
mod swarm;
mod table;
mod traffic;
mod tunnel;
mod walkers;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser};

use report::{Figure, Verdict};

/// Where every server listens: on this machine, at a port that the system chooses.
const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// One benchmark: its name, what it measures, and how.
struct Benchmark {
    name: &'static str,
    about: &'static str,
    run: fn() -> anyhow::Result<Vec<Figure>>,
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "echo",
        about: "the driver against a bare loop of system calls",
        run: echo::run,
    },
    Benchmark {
        name: "quic",
        about: "links over QUIC against UDP in the clear",
        run: quic::run,
    },
    Benchmark {
        name: "flood",
        about: "64 QUIC clients under 50,000 first packets a second",
        run: quic::flood::run,
    },
    Benchmark {
        name: "congestion",
        about: "congestion controllers of QUIC links, at 5 % loss and 100 ms",
        run: quic::congestion::run,
    },
    Benchmark {
        name: "rendezvous",
        about: "a relay against a bare forwarder, sessions, joining by code",
        run: rendezvous::run,
    },
    Benchmark {
        name: "peers",
        about: "links over QUIC against renet_netcode",
        run: peers::run,
    },
    Benchmark {
        name: "tunnel",
        about: "`tickwire tunnel` against a bare forwarder",
        run: tunnel::run,
    },
    Benchmark {
        name: "lag",
        about: "what the lag proxy adds when it is told to add nothing",
        run: lag::run,
    },
    Benchmark {
        name: "metrics",
        about: "what it costs to be measured",
        run: metrics::run,
    },
    Benchmark {
        name: "records",
        about: "lwar's entity records, read and written",
        run: records::run,
    },
    Benchmark {
        name: "objects",
        about: "C++evy's objects, read",
        run: objects::run,
    },
    Benchmark {
        name: "snapshots",
        about: "OpenDrakan's deltas against copying the world",
        run: snapshots::run,
    },
    Benchmark {
        name: "coding",
        about: "the replication engine's two forms of a record",
        run: coding::run,
    },
    Benchmark {
        name: "bots",
        about: "a bot in the server's process against one over loopback",
        run: bots::run,
    },
    Benchmark {
        name: "swarm",
        about: "five hundred C++evy bots in the server's process",
        run: swarm::run,
    },
    Benchmark {
        name: "reone",
        about: "reone's modes, loading, and a thousand clients",
        run: reone::run,
    },
    Benchmark {
        name: "replica",
        about: "the replication engine's server: one world, many clients",
        run: replica::run,
    },
    Benchmark {
        name: "native",
        about: "the native protocol's server: a thousand clients, and an idle tick",
        run: native::run,
    },
    Benchmark {
        name: "simulation",
        about: "the simulator",
        run: simulation::run,
    },
    Benchmark {
        name: "arena",
        about: "a step of the arena",
        run: arena::run,
    },
    Benchmark {
        name: "traffic",
        about: "what an lwar client costs a network",
        run: traffic::run,
    },
    Benchmark {
        name: "masks",
        about: "what pixmess's masks spare",
        run: masks::run,
    },
    Benchmark {
        name: "walkers",
        about: "a thousand pixmess walkers over loopback",
        run: walkers::run,
    },
];

/// Measures how fast Tickwire is, and compares with the targets.
///
/// Exits with 0 if every target is met, 1 if one is missed by more than the noise of this run, 2 if
/// it was called wrongly.
#[derive(Parser)]
#[command(name = "tickwire-bench")]
struct Args {
    /// Only these benchmarks; all of them if left out
    #[arg(value_name = "NAME", value_parser = names())]
    names: Vec<String>,
    /// Report as a JSON array
    #[arg(long)]
    json: bool,
}

fn names() -> PossibleValuesParser {
    let value = |benchmark: &Benchmark| PossibleValue::new(benchmark.name).help(benchmark.about);
    BENCHMARKS.iter().map(value).collect::<Vec<_>>().into()
}

pub(super) fn main() -> ExitCode {
    run(&Args::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut figures = Vec::new();
    let is_chosen = |benchmark: &&Benchmark| {
        args.names.is_empty() || args.names.iter().any(|name| name == benchmark.name)
    };
    for benchmark in BENCHMARKS.iter().filter(is_chosen) {
        eprintln!("{}: {} …", benchmark.name, benchmark.about);
        figures.extend((benchmark.run)()?);
    }
    if args.json {
        println!("{}", report::json(&figures));
    } else {
        print!("{}", report::table(&figures));
    }
    let missed = figures
        .iter()
        .any(|figure| figure.verdict() == Some(Verdict::Missed));
    Ok(ExitCode::from(u8::from(missed)))
}
