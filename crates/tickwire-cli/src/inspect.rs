//! `tickwire inspect`: what bytes say, field by field.
//!
//! The decoder of the protocol reports what it reads, so what is shown is what was decoded, also of
//! bytes that turn out to be broken. Here they only get a source ([`source`]) and a form ([`text`],
//! [`json`]). Sources of any size are read piece by piece.

mod gather;
mod hex;
mod json;
mod source;
mod text;

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use tickwire_demo::gateway::{PROTOCOLS, PathKind, Paths, Protocol, Side};
use tickwire_session::{Addr, Instant};

use crate::address;
use crate::misuse::Misuse;

/// Show what datagrams say, field by field, broken ones too.
///
/// FILE holds one datagram as it was on the wire; or lines of hexadecimal digits, a datagram a line,
/// with comments behind a `#`; or a recording of a session. Which of them is seen from its first
/// bytes. Nothing is too large: files are read piece by piece.
///
/// With --stream, and of a protocol that is carried by TCP alone (pixmess), FILE holds all bytes of
/// one direction of a connection from the first on, as they are or as lines of digits. Of a
/// recording, all datagrams are shown, and both directions of every connection when it ends; it says by itself
/// what its protocol is and who sent what.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// The protocol that the bytes should be, native if none is named; and where they are: `-` or nothing for
    /// standard input.
    #[arg(value_name = "[PROTOCOL] [FILE]", num_args = 0..=2)]
    of: Vec<String>,

    /// Who sent them. A recording knows.
    #[arg(long, value_name = "SIDE")]
    from: Option<Sender>,

    /// One datagram, or with --stream a stream, in hexadecimal digits; spaces, colons, newlines and 0x are passed over.
    #[arg(long, value_name = "HEX", value_parser = hex::parse)]
    hex: Option<hex::Bytes>,

    /// The bytes are one direction of a connection by TCP.
    #[arg(long)]
    stream: bool,

    /// A JSON object a datagram, on a line of its own.
    #[arg(long)]
    json: bool,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  every datagram decodes
  1  a datagram, or what should hold them, is broken; what is wrong is shown
  2  the command line makes no sense";

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Sender {
    Client,
    Server,
}

impl From<Sender> for Side {
    fn from(sender: Sender) -> Self {
        match sender {
            Sender::Client => Self::Client,
            Sender::Server => Self::Server,
        }
    }
}

/// Bytes to be shown: a datagram, or one direction of a stream.
#[derive(Clone, Copy, Debug)]
struct Specimen<'a> {
    bytes: &'a [u8],
    from: Side,
    on: PathKind,
    found: Found,
}

/// Where they were found.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// On the command line, or alone in a file.
    Alone,
    /// On this line, counted from 1.
    Line(u64),
    /// In a recording.
    Recorded(Recorded),
}

#[derive(Clone, Copy, Debug)]
struct Recorded {
    at: Instant,
    direction: Direction,
    peer: Addr,
}

/// Which way recorded bytes went, as the recorded session saw it.
#[derive(Clone, Copy, Debug)]
enum Direction {
    In,
    Out,
}

/// Tells a protocol from a file.
fn protocol_and_file(of: &[String]) -> Result<(&'static Protocol, Option<&Path>), Misuse> {
    let native = Protocol::named(address::PROTOCOL).expect("it is in the table");
    match of {
        [] => Ok((native, None)),
        [word] => Ok(match Protocol::named(word) {
            Some(protocol) => (protocol, None),
            None => (native, Some(Path::new(word))),
        }),
        [name, file, ..] => match Protocol::named(name) {
            Some(protocol) => Ok((protocol, Some(Path::new(file)))),
            None => Err(unknown(name)),
        },
    }
}

fn unknown(name: &str) -> Misuse {
    let names: Vec<_> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
    Misuse(format!(
        "there is no protocol {name:?}; there are {}",
        names.join(", ")
    ))
}

/// Only a recording says who sent what.
fn sender_unknown() -> Misuse {
    Misuse("say who sent it: --from client or --from server".into())
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (protocol, file) = protocol_and_file(&args.of)?;
    let on = match protocol.paths {
        Paths::Datagrams if args.stream => {
            let name = protocol.name;
            return Err(Misuse(format!("--stream: {name} has datagrams only")).into());
        }
        Paths::Streams => PathKind::Stream,
        _ if args.stream => PathKind::Stream,
        _ => PathKind::Datagram,
    };
    let mut show = Show {
        protocol,
        json: args.json,
        out: BufWriter::new(io::stdout().lock()),
        shown: 0,
        wrong: false,
    };
    let from = args.from.map(Side::from);
    let result = match (&args.hex, file) {
        (Some(_), Some(_)) => Err(Misuse("--hex and FILE: give one of them".into()).into()),
        (Some(hex::Bytes(bytes)), None) => show.show(Specimen {
            bytes,
            from: from.ok_or_else(sender_unknown)?,
            on,
            found: Found::Alone,
        }),
        (None, file) => source::read(file, (from, on), &mut show),
    };
    match result {
        // Whoever read this has seen enough: `| head`.
        Err(error) if is_closed_pipe(&error) => {}
        result => result?,
    }
    Ok(if show.wrong {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Where bytes are shown.
struct Show<'a> {
    protocol: &'static Protocol,
    json: bool,
    out: BufWriter<io::StdoutLock<'a>>,
    shown: u64,
    wrong: bool,
}

impl Show<'_> {
    fn show(&mut self, specimen: Specimen<'_>) -> anyhow::Result<()> {
        let form = if self.json { json::show } else { text::show };
        if !self.json && self.shown > 0 {
            writeln!(self.out)?;
        }
        let decodes = form(self.protocol, specimen, &mut self.out)?;
        // At once: the next one may still be on its way through a pipe.
        self.out.flush()?;
        self.shown += 1;
        self.wrong |= !decodes;
        Ok(())
    }

    /// Says what is wrong with the source, where people look and programs do not.
    fn complain(&mut self, what: &str) {
        self.wrong = true;
        eprintln!("tickwire: {what}");
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

const fn side(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Server => "server",
    }
}
