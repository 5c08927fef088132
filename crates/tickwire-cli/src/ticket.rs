//! `tickwire ticket`: issues what lets one client in, once; and how it is typed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use tickwire_net::quic::{Identity, TicketIssuer};

use crate::quic::{TICKETS, folder};

/// Issue a ticket that lets one client in, once.
///
/// For a server that runs with --tickets and the same identity. Prints the ticket, for `--ticket`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where the server's key is kept; otherwise in the user's state folder.
    #[arg(long, value_name = "DIR")]
    identity: Option<PathBuf>,

    /// The certificate that the server shows (PEM), if it runs with --cert.
    #[arg(
        long,
        value_name = "FILE",
        requires = "key",
        conflicts_with = "identity"
    )]
    cert: Option<PathBuf>,

    /// The certificate's key (PEM).
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// How long it is good. That it was used is forgotten when the server restarts: let it be short.
    #[arg(long, value_name = "N", default_value_t = 10)]
    minutes: u32,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let identity = match (&args.cert, &args.key) {
        (Some(certificates), Some(key)) => Identity::from_pem_files(certificates, key)?,
        _ => Identity::load_or_create(&folder(args.identity.as_ref(), "identity")?)?,
    };
    let issuer = TicketIssuer::new(&identity.derive(TICKETS));
    let lifetime = Duration::from_secs(60 * u64::from(args.minutes));
    let ticket = issuer
        .issue(lifetime)
        .context("the system has no randomness")?;
    let digits: String = ticket.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{digits}");
    Ok(ExitCode::SUCCESS)
}

/// A ticket as people pass it on: in hexadecimal digits.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Ticket(pub(crate) Vec<u8>);

impl Ticket {
    pub(crate) fn parse(typed: &str) -> Result<Self, String> {
        let broken = || "a ticket is what `tickwire ticket` prints: hexadecimal digits".to_owned();
        let pairs = typed.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
        let bytes = pairs.map(byte).collect::<Option<_>>().ok_or_else(broken)?;
        if typed.len() % 2 == 1 || !typed.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(broken());
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_read_in_whole_bytes() {
        assert_eq!(Ticket::parse("00ff1A"), Ok(Ticket(vec![0, 0xff, 0x1a])));
        for wrong in ["0", "0g", "+1", "a€"] {
            assert!(Ticket::parse(wrong).is_err(), "{wrong}");
        }
    }
}
