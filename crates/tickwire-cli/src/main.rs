//! The `tickwire` command.
//!
//! One file per subcommand; each is written over `tickwire_demo::gateway`. Of single protocols it knows only
//! their options.

mod address;
mod arena_canvas;
mod bot_client;
mod bots;
mod capture;
mod conditions;
mod dashboard;
mod difficulty;
mod figures;
mod forward;
mod inspect;
mod lab;
mod lag;
mod log;
mod metrics;
mod misuse;
mod name;
mod palette;
mod play;
mod quic;
mod record;
mod rendezvous;
mod save;
mod screen;
mod serve;
#[cfg(test)]
mod snapshot;
mod status;
mod stop;
mod ticket;
mod trace;
mod train;
mod tunnel;
mod wait;
mod weapons;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use misuse::Misuse;

/// Authoritative multiplayer for real-time games: serve, play, load and look at game protocols.
///
/// Without a subcommand: the arena with 6 bots, open on every protocol, on this machine alone, with a
/// dashboard if this is a terminal. It takes the options of `serve`.
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_CODES, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    demo: serve::Args,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done, or stopped by Ctrl-C or SIGTERM after telling every peer
  1  it ran, and the result is bad (a bot was lost, a server vanished, an address is taken)
  2  the command line makes no sense";

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Args>),
    Play(play::Args),
    Replay(play::replay::Args),
    Bots(bots::Args),
    Inspect(inspect::Args),
    Rendezvous(rendezvous::Args),
    Lab(lab::Args),
    Lag(lag::Args),
    Save(save::Args),
    Status(status::Args),
    Ticket(ticket::Args),
    Train(train::Args),
    Tunnel(tunnel::Args),
}

fn main() -> ExitCode {
    let Cli { command, demo } = Cli::parse();
    let result = match command {
        None => serve::run(&demo.with_company()),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Play(args)) => play::run(&args),
        Some(Command::Replay(args)) => play::replay::run(&args),
        Some(Command::Bots(args)) => bots::run(&args),
        Some(Command::Inspect(args)) => inspect::run(&args),
        Some(Command::Rendezvous(args)) => rendezvous::run(&args),
        Some(Command::Lab(args)) => lab::run(&args),
        Some(Command::Lag(args)) => lag::run(&args),
        Some(Command::Save(args)) => save::run(&args),
        Some(Command::Tunnel(args)) => tunnel::run(&args),
        Some(Command::Status(args)) => status::run(&args),
        Some(Command::Ticket(args)) => ticket::run(&args),
        Some(Command::Train(args)) => train::run(&args),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("tickwire: {error:#}");
            if error.is::<Misuse>() {
                ExitCode::from(2)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}
