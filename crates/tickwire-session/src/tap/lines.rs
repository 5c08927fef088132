//! Writing a line for everything that goes by.

use core::fmt::{self, Write};

use super::{Input, Observer};
use crate::{Instant, Transmit};

/// Writes one line a call: time, direction, path, size and the first bytes.
///
/// ```text
/// 0.016000s <- datagram 127.0.0.1:4000 5 bytes 3f68656c6c
/// 0.016000s -> datagram 127.0.0.1:4000 5 bytes 2168656c6c
/// ```
///
/// A writer that fails loses that line and nothing else: a log must not end a session.
#[derive(Clone, Debug)]
pub struct Lines<W> {
    /// Where the lines go.
    pub to: W,
}

/// Bytes shown of each datagram or piece.
const BYTES_SHOWN: usize = 24;

impl<W: Write> Lines<W> {
    /// Writes to `to`.
    pub const fn new(to: W) -> Self {
        Self { to }
    }

    fn line(&mut self, now: Instant, what: fmt::Arguments<'_>, bytes: Option<&[u8]>) {
        write_line(&mut self.to, now, what, bytes).ok();
    }
}

fn write_line(
    to: &mut impl Write,
    now: Instant,
    what: fmt::Arguments<'_>,
    bytes: Option<&[u8]>,
) -> fmt::Result {
    write!(to, "{now} {what}")?;
    if let Some(bytes) = bytes {
        write!(to, " {} bytes ", bytes.len())?;
        for byte in bytes.iter().take(BYTES_SHOWN) {
            write!(to, "{byte:02x}")?;
        }
        if bytes.len() > BYTES_SHOWN {
            write!(to, "…")?;
        }
    }
    writeln!(to)
}

impl<W: Write + Send> Observer for Lines<W> {
    fn input(&mut self, now: Instant, input: Input<'_>) {
        match input {
            Input::Datagram { from, bytes } => {
                self.line(now, format_args!("<- datagram {from}"), Some(bytes));
            }
            Input::Stream { on, bytes } => {
                self.line(now, format_args!("<- stream {on:?}"), Some(bytes));
            }
            Input::Opened { on, peer } => {
                self.line(now, format_args!("<- opened {on:?} {peer}"), None);
            }
            Input::Closed { path, why } => {
                self.line(now, format_args!("<- closed {path:?} {why:?}"), None);
            }
            // They come with every turn and would bury the rest.
            Input::Room { .. } | Input::Timeout => {}
        }
    }

    fn output(&mut self, now: Instant, transmit: Transmit, bytes: &[u8]) {
        match transmit {
            Transmit::Datagram { to } => {
                self.line(now, format_args!("-> datagram {to}"), Some(bytes));
            }
            Transmit::Segments { to, size } => {
                self.line(
                    now,
                    format_args!("-> datagrams {to} of {size}"),
                    Some(bytes),
                );
            }
            Transmit::Stream { on } => {
                self.line(now, format_args!("-> stream {on:?}"), Some(bytes));
            }
            other => self.line(now, format_args!("-> {other:?}"), None),
        }
    }
}
