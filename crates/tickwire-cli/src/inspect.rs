//! `tickwire inspect`: what bytes say, field by field.
//!
//! The decoder of the protocol reports what it reads, so what is shown is what was decoded, also of
//! bytes that turn out to be broken. Here they only get a source ([`source`] for files, recordings and digits,
//! [`captured`] for captures), a form ([`text`], [`json`]) and a [`summary`]. Sources of any size are read piece by
//! piece.

mod captured;
mod chart;
mod fields;
mod hex;
mod json;
mod source;
mod stream;
mod summary;
mod text;

use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use tickwire_demo::gateway::{PROTOCOLS, Paths, Protocol, Side};
use tickwire_session::{Addr, Instant};
use tickwire_wire::DecodeError;

use crate::address;
use crate::misuse::Misuse;
use crate::train;
use fields::Fields;
use summary::Summary;

/// Show what datagrams and streams say, field by field, broken ones too; of captures and recordings also a summary.
///
/// FILE is a capture (pcap or pcapng, of `--capture`, tcpdump or Wireshark), or a recording of a session; or it holds one
/// datagram as it was on the wire, or lines of hexadecimal digits, a datagram a line, with comments behind a `#`. Which
/// of them is seen from its first bytes. Nothing is too large: files are read piece by piece.
///
/// Of a capture, both directions of every conversation are followed and streams put together; the protocol is known by its
/// name here, by the file, by the port, or by what makes sense, in this order. A recording says by itself what its
/// protocol is and who sent what. With --stream, and of a protocol that is carried by TCP alone (pixmess), other files
/// hold all bytes of one direction of a connection from the first on.
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

    /// A JSON object for each datagram and message, on a line of its own; of captures and recordings, the last is
    /// the summary.
    #[arg(long)]
    json: bool,

    /// Of a capture or a recording, show the summary alone.
    #[arg(long)]
    summary: bool,

    /// Write the capture again, with what its packets say as their comments, which Wireshark shows. Prints the summary
    /// alone.
    #[arg(long, value_name = "OUT.pcapng")]
    annotate: Option<PathBuf>,

    /// Of a recording of our own protocol: how many bits each field takes, for a send and for an entity told.
    #[arg(long, conflicts_with_all = ["from", "hex", "stream", "json", "summary", "annotate"])]
    bits: bool,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  everything decodes that is of a known protocol, or whoever read this has seen enough
  1  a datagram, or what should hold them, is broken or cut off; what is there is shown, and what is wrong
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

/// Bytes to be shown, and what they say.
#[derive(Clone, Copy, Debug)]
struct Specimen<'a> {
    /// `None`: none that is known.
    protocol: Option<&'static Protocol>,
    from: Option<Side>,
    on: PathKind,
    found: Found,
    bytes: &'a [u8],
    fields: &'a Fields,
    fault: Option<Fault>,
}

/// What carried bytes.
#[derive(Clone, Copy, Debug)]
enum PathKind {
    /// They are a datagram.
    Datagram,
    /// They are a message of a stream.
    Stream,
    /// Neither, in words.
    Other(&'static str),
}

/// What is wrong with bytes.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Wrong(DecodeError),
    /// They cannot be read, and why.
    Unread(&'static str),
    /// So many are not there.
    Gap(u64),
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
    /// In a capture.
    Captured(Captured),
    /// In a capture, between nobody: which frame, and when.
    Frame(u64, Duration),
}

#[derive(Clone, Copy, Debug)]
struct Recorded {
    at: Instant,
    direction: Direction,
    peer: Addr,
}

#[derive(Clone, Copy, Debug)]
struct Captured {
    /// Which frame of the file completed it.
    frame: u64,
    /// Since the file's first frame.
    at: Duration,
    from: SocketAddr,
    to: SocketAddr,
    /// 0 if it is part of none.
    conversation: u64,
}

/// Which way recorded bytes went, as the recorded session saw it.
#[derive(Clone, Copy, Debug)]
enum Direction {
    In,
    Out,
}

/// Tells a protocol from a file.
fn protocol_and_file(of: &[String]) -> Result<(Option<&'static Protocol>, Option<&Path>), Misuse> {
    match of {
        [] => Ok((None, None)),
        [word] => Ok(match Protocol::named(word) {
            Some(protocol) => (Some(protocol), None),
            None => (None, Some(Path::new(word))),
        }),
        [name, file, ..] => match Protocol::named(name) {
            Some(protocol) => Ok((Some(protocol), Some(Path::new(file)))),
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
    let (named, file) = protocol_and_file(&args.of)?;
    if args.bits {
        let file = file.ok_or_else(|| Misuse("--bits: name a recording".into()))?;
        train::show(file)?;
        return Ok(ExitCode::SUCCESS);
    }
    let native = Protocol::named(address::PROTOCOL).expect("it is in the table");
    let protocol = named.unwrap_or(native);
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
        named,
        json: args.json,
        is_quiet: args.summary || args.annotate.is_some(),
        out: BufWriter::new(io::stdout().lock()),
        comment: args.annotate.is_some().then(Vec::new),
        summary: Summary::default(),
        shown: 0,
        wrong: false,
    };
    let from = args.from.map(Side::from);
    let result = match (&args.hex, file) {
        (Some(_), Some(_)) => Err(Misuse("--hex and FILE: give one of them".into()).into()),
        (Some(hex::Bytes(bytes)), None) => {
            let from = from.ok_or_else(sender_unknown)?;
            show.show_bytes(from, on, Found::Alone, bytes)
        }
        (None, file) => source::read(file, (from, on), args.annotate.as_deref(), &mut show),
    };
    match result {
        // Whoever read this has seen enough: `| head`.
        Err(error) if is_closed_pipe(&error) => return Ok(ExitCode::SUCCESS),
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
    /// Of bytes that do not say it themselves.
    protocol: &'static Protocol,
    /// The one that was named on the command line.
    named: Option<&'static Protocol>,
    json: bool,
    /// Whether only the summary is shown.
    is_quiet: bool,
    out: BufWriter<io::StdoutLock<'a>>,
    /// What is said of the frame at hand, if it gets a comment.
    comment: Option<Vec<u8>>,
    summary: Summary,
    shown: u64,
    wrong: bool,
}

impl Show<'_> {
    /// Shows a datagram, or a stream that is here from its first byte to its last.
    fn show_bytes(
        &mut self,
        from: Side,
        on: PathKind,
        found: Found,
        bytes: &[u8],
    ) -> anyhow::Result<()> {
        let protocol = self.protocol;
        if let PathKind::Stream = on {
            let mut reader = stream::StreamReader::default();
            if let Some(inspector) = protocol.inspect.stream {
                reader.decide(inspector(from));
            }
            let mut emit = |bytes: &[u8], fields: &Fields, fault| {
                self.show(&Specimen {
                    protocol: Some(protocol),
                    from: Some(from),
                    on,
                    found,
                    bytes,
                    fields,
                    fault,
                })
            };
            reader.add(bytes, &mut emit)?;
            return reader.finish(&mut emit);
        }
        self.show_datagram(protocol, from, found, bytes)
    }

    fn show_datagram(
        &mut self,
        protocol: &'static Protocol,
        from: Side,
        found: Found,
        bytes: &[u8],
    ) -> anyhow::Result<()> {
        let mut fields = Fields::default();
        let read = protocol.inspect.datagram.map_or(
            Some(Fault::Unread("the protocol has no datagrams")),
            |inspect| inspect(from, bytes, &mut fields).err().map(Fault::Wrong),
        );
        self.show(&Specimen {
            protocol: Some(protocol),
            from: Some(from),
            on: PathKind::Datagram,
            found,
            bytes,
            fields: &fields,
            fault: read,
        })
    }

    fn show(&mut self, specimen: &Specimen<'_>) -> anyhow::Result<()> {
        self.summary.add(specimen);
        self.wrong |= matches!(specimen.fault, Some(Fault::Wrong(_)));
        self.shown += 1;
        if let Some(comment) = &mut self.comment {
            text::show(specimen, comment)?;
        }
        if self.is_quiet {
            return Ok(());
        }
        if self.json {
            json::show(specimen, &mut self.out)?;
        } else {
            if self.shown > 1 {
                writeln!(self.out)?;
            }
            text::show(specimen, &mut self.out)?;
        }
        // At once: the next one may still be on its way through a pipe.
        self.out.flush()?;
        Ok(())
    }

    /// Shows what it came to.
    fn show_summary(&mut self) -> anyhow::Result<()> {
        if self.json {
            writeln!(self.out, "{}", self.summary.json())?;
        } else {
            if !self.is_quiet && self.shown > 0 {
                writeln!(self.out)?;
            }
            self.out.write_all(self.summary.text().as_bytes())?;
        }
        self.out.flush()?;
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
