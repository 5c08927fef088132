//! Where bytes come from: a file that holds a datagram or a stream, lines of digits, or a recording.
//!
//! The first bytes tell which. Nothing is read as a whole: what is held at a time is one datagram,
//! one line or one record, and each has a limit, so a file of any size needs the same memory. A stream
//! can only be read from its first byte on, so as much of it is held as can be shown.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use tickwire_demo::gateway::{PathKind, Paths, Protocol, Side};
use tickwire_session::tap::{About, Input, Record, Recorded as Watched, Recording};
use tickwire_session::{Instant, Transmit};

use super::gather::{Gathered, Half, Stream, Streams};
use super::{Direction, Found, Recorded, Show, Specimen, hex, sender_unknown};
use crate::misuse::Misuse;
use crate::record::{Next, Records};

/// Bytes of a datagram alone in a file: no network carries more.
const DATAGRAM_MAX: usize = 64 * 1_024;

/// Bytes of a stream: about a million fields, which is what one can scroll through.
pub(super) const STREAM_MAX: usize = 4 * 1_024 * 1_024;

/// Bytes of a line: the largest datagram, its bytes apart, and a comment.
const LINE_MAX: usize = 4 * DATAGRAM_MAX;

/// Shows every datagram of a file, or of standard input.
pub(super) fn read(
    file: Option<&Path>,
    (from, on): (Option<Side>, PathKind),
    show: &mut Show<'_>,
) -> anyhow::Result<()> {
    if let Some(path) = file.filter(|path| *path != Path::new("-")) {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        return Source {
            name,
            from,
            on,
            show,
        }
        .read(file);
    }
    let stdin = io::stdin();
    if stdin.is_terminal() {
        eprintln!("reading lines of hexadecimal digits, a datagram each; Ctrl-D ends");
    }
    let name = "standard input".to_owned();
    Source {
        name,
        from,
        on,
        show,
    }
    .read(stdin.lock())
}

struct Source<'a, 'b> {
    name: String,
    /// Who sent what is received.
    from: Option<Side>,
    on: PathKind,
    show: &'a mut Show<'b>,
}

impl Source<'_, '_> {
    fn read(mut self, mut bytes: impl Read) -> anyhow::Result<()> {
        let head = self.read_head(&mut bytes)?;
        let form = Form::of(&head);
        if form != Form::Recording {
            self.from()?;
        }
        let mut bytes = BufReader::new(Cursor::new(head).chain(bytes));
        match (form, self.on) {
            (Form::Recording, _) => self.read_recording(&mut bytes),
            (Form::Lines, PathKind::Stream) => self.read_stream_lines(&mut bytes),
            (Form::Lines, PathKind::Datagram) => self.read_lines(&mut bytes),
            (Form::Raw, PathKind::Stream) => self.read_stream(&mut bytes),
            (Form::Raw, PathKind::Datagram) => self.read_datagram(&mut bytes),
        }
    }

    fn from(&self) -> Result<Side, Misuse> {
        self.from.ok_or_else(sender_unknown)
    }

    /// Reads what comes first: as much as is there, so that lines typed by hand are shown one by one,
    /// and enough to know a recording.
    fn read_head(&self, bytes: &mut impl Read) -> anyhow::Result<Vec<u8>> {
        let mut head = vec![0; HEAD];
        let mut length = 0;
        loop {
            let read = bytes.read(&mut head[length..]);
            let read = read.with_context(|| self.unreadable())?;
            length += read;
            let may_be_recording =
                length < Recording::MAGIC.len() && Recording::MAGIC.starts_with(&head[..length]);
            if read == 0 || !may_be_recording {
                head.truncate(length);
                return Ok(head);
            }
        }
    }

    fn read_datagram(&mut self, bytes: &mut impl Read) -> anyhow::Result<()> {
        let mut datagram = Vec::new();
        self.take(bytes, DATAGRAM_MAX + 1, &mut datagram)?;
        if datagram.len() > DATAGRAM_MAX {
            bail!(
                "{} is no datagram, which has at most {DATAGRAM_MAX} bytes; \
                 nor lines of hexadecimal digits, nor a recording",
                self.name
            );
        }
        self.show.show(Specimen {
            bytes: &datagram,
            from: self.from()?,
            on: self.on,
            found: Found::Alone,
        })
    }

    fn read_stream(&mut self, bytes: &mut impl Read) -> anyhow::Result<()> {
        let mut stream = Vec::new();
        self.take(bytes, STREAM_MAX + 1, &mut stream)?;
        self.show_stream(&stream)
    }

    /// Lines of digits that are pieces of one stream.
    fn read_stream_lines(&mut self, bytes: &mut impl BufRead) -> anyhow::Result<()> {
        let mut stream = Vec::new();
        let mut lines = bytes.by_ref().take((4 * STREAM_MAX) as u64);
        let (mut line, mut number) = (Vec::new(), 0_u64);
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line);
            if read.with_context(|| self.unreadable())? == 0 {
                break;
            }
            number += 1;
            let line = String::from_utf8_lossy(&line);
            let digits = line.split('#').next().unwrap_or_default().trim();
            if !digits.is_empty() {
                // Behind a piece that is missing nothing can be read.
                let hex::Bytes(piece) = hex::parse(digits)
                    .map_err(|error| anyhow!("{}, line {number}: {error}", self.name))?;
                stream.extend(piece);
            }
        }
        if stream.is_empty() {
            bail!("{} holds no stream", self.name);
        }
        self.show_stream(&stream)
    }

    fn show_stream(&mut self, stream: &[u8]) -> anyhow::Result<()> {
        if stream.len() > STREAM_MAX {
            bail!(
                "{} is longer than {STREAM_MAX} bytes: look at its beginning, as in \
                 `head -c {STREAM_MAX} FILE | tickwire inspect …`",
                self.name
            );
        }
        self.show.show(Specimen {
            bytes: stream,
            from: self.from()?,
            on: self.on,
            found: Found::Alone,
        })
    }

    fn read_lines(&mut self, bytes: &mut impl BufRead) -> anyhow::Result<()> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let limited = &mut bytes.by_ref().take(LINE_MAX as u64);
            let read = limited.read_until(b'\n', &mut line);
            if read.with_context(|| self.unreadable())? == 0 {
                break;
            }
            if line.len() == LINE_MAX && !line.ends_with(b"\n") {
                bail!("{}, line {number}: longer than {LINE_MAX} bytes", self.name);
            }
            self.read_line(number, &line)?;
        }
        if self.show.shown == 0 && !self.show.wrong {
            bail!("{} holds no datagram", self.name);
        }
        Ok(())
    }

    fn read_line(&mut self, number: u64, line: &[u8]) -> anyhow::Result<()> {
        let line = String::from_utf8_lossy(line);
        let digits = line.split('#').next().unwrap_or_default();
        if digits.trim().is_empty() {
            return Ok(());
        }
        match hex::parse(digits) {
            Ok(hex::Bytes(bytes)) => self.show.show(Specimen {
                bytes: &bytes,
                from: self.from()?,
                on: self.on,
                found: Found::Line(number),
            }),
            // The other lines may be fine.
            Err(error) => {
                let what = format!("{}, line {number}: {error}", self.name);
                self.show.complain(&what);
                Ok(())
            }
        }
    }

    fn read_recording(&mut self, bytes: &mut impl Read) -> anyhow::Result<()> {
        let mut streams = Streams::default();
        let read = self.read_records(bytes, &mut streams);
        // Whatever the recording ends with, what was in it before is shown.
        for stream in streams.finish() {
            self.show_halves(&stream)?;
        }
        read
    }

    fn read_records(&mut self, bytes: &mut impl Read, streams: &mut Streams) -> anyhow::Result<()> {
        let mut records = Records::new(bytes, self.name.clone())?;
        loop {
            let at = records.complaint("");
            let (now, found) = match records.next()? {
                Next::Record(now, found) => (now, found),
                Next::End => return Ok(()),
                Next::Cut => {
                    self.show.complain(&format!("{at}{CUT}"));
                    return Ok(());
                }
            };
            if let Record::About(about) = found {
                self.take_about(&about);
            }
            let gathered = match self.show.protocol.paths {
                Paths::Datagrams => Gathered::Nothing,
                Paths::Streams | Paths::Both => streams.add(now, &found),
            };
            match gathered {
                Gathered::Nothing => {}
                Gathered::Ended(stream) => self.show_halves(&stream)?,
                Gathered::Stray(on) => {
                    let what = format!("{at}the beginning of {on:?} is missing");
                    self.show.complain(&what);
                }
            }
            self.show_datagram(now, found)?;
        }
    }

    /// A recording knows what it is of better than whoever looks at it.
    fn take_about(&mut self, about: &About<'_>) {
        if let Some(protocol) = Protocol::named(about.protocol) {
            self.show.protocol = protocol;
        }
        self.from = Some(match about.side {
            Watched::Client => Side::Server,
            Watched::Server => Side::Client,
        });
    }

    fn show_halves(&mut self, stream: &Stream) -> anyhow::Result<()> {
        let halves = [
            (&stream.received, Direction::In),
            (&stream.sent, Direction::Out),
        ];
        for (half, direction) in halves {
            let Half {
                since: Some(at),
                bytes,
                lost,
            } = half
            else {
                continue;
            };
            let recorded = Recorded {
                at: *at,
                direction,
                peer: stream.peer,
            };
            self.show_recorded(recorded, PathKind::Stream, bytes)?;
            if *lost > 0 {
                let what = format!("{}: {lost} bytes more of that are left out", self.name);
                self.show.complain(&what);
            }
        }
        Ok(())
    }

    /// Shows a record that is a datagram; streams are gathered, and the rest has nothing to decode.
    fn show_datagram(&mut self, at: Instant, record: Record<'_>) -> anyhow::Result<()> {
        let (bytes, peer, direction) = match record {
            Record::Input(Input::Datagram { from, bytes }) => (bytes, from, Direction::In),
            Record::Output(Transmit::Datagram { to }, bytes) => (bytes, to, Direction::Out),
            _ => return Ok(()),
        };
        let recorded = Recorded {
            at,
            direction,
            peer,
        };
        self.show_recorded(recorded, PathKind::Datagram, bytes)
    }

    fn show_recorded(
        &mut self,
        recorded: Recorded,
        on: PathKind,
        bytes: &[u8],
    ) -> anyhow::Result<()> {
        let from = match (recorded.direction, self.from()?) {
            (Direction::In, side) => side,
            (Direction::Out, Side::Client) => Side::Server,
            (Direction::Out, Side::Server) => Side::Client,
        };
        self.show.show(Specimen {
            bytes,
            from,
            on,
            found: Found::Recorded(recorded),
        })
    }

    /// Reads `length` bytes, or as many as there are, in place of what `into` held.
    fn take(&self, bytes: &mut impl Read, length: usize, into: &mut Vec<u8>) -> anyhow::Result<()> {
        into.clear();
        let read = bytes.take(length as u64).read_to_end(into);
        read.map(drop).with_context(|| self.unreadable())
    }

    fn unreadable(&self) -> String {
        format!("cannot read {}", self.name)
    }
}

/// What a recording looks like whose writer was stopped.
const CUT: &str = "the recording ends inside it";

/// Bytes by which a form is told from another.
const HEAD: usize = 4_096;

/// What a file holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Recording,
    Lines,
    Raw,
}

impl Form {
    fn of(head: &[u8]) -> Self {
        if head.starts_with(Recording::MAGIC) {
            return Self::Recording;
        }
        let text = match std::str::from_utf8(head) {
            Ok(text) => text,
            // A character may be cut at the end.
            Err(error) if error.error_len().is_none() && head.len() > error.valid_up_to() => {
                std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return Self::Raw,
        };
        let is_control = |c: char| c.is_control() && !matches!(c, '\t' | '\r' | '\n');
        if text.contains(is_control) {
            Self::Raw
        } else {
            Self::Lines
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &[u8], form: Form) {
        assert_eq!(Form::of(head), form, "{head:?}");
    }

    #[test]
    fn the_first_bytes_tell_the_form() {
        check(b"tickrec\x02\0\0", Form::Recording);
        check(b"tickrec\x01\0\0", Form::Raw);
        check(b"f27087c5\r\n# caf\xc3\xa9\n", Form::Lines);
        check(b"", Form::Lines);
        check(&[0xf2, 0x70, 0x87, 0xc5], Form::Raw);
        check(b"ab\0cd", Form::Raw);
    }

    #[test]
    fn a_character_cut_by_the_end_of_the_head_is_still_text() {
        check(b"# caf\xc3", Form::Lines);
        check(b"# caf\xc3 ", Form::Raw);
    }
}
