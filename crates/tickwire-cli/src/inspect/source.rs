//! Where bytes come from: a file that holds a datagram or a stream, lines of digits, a recording, or a capture.
//!
//! The first bytes tell which; captures are read by [`captured`]. Nothing is read as a whole: what is held at a time is
//! one datagram, one line, one record or one message of each stream, and each has a limit, so a file of any size needs
//! the same memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use tickwire_capture::is_capture;
use tickwire_demo::gateway::{Protocol, Side};
use tickwire_session::tap::{About, Input, Record, Recorded as Watched, Recording};
use tickwire_session::{Addr, Instant, Path as Route, StreamId, Transmit};

use super::fields::Fields;
use super::stream::StreamReader;
use super::{Direction, Found, PathKind, Recorded, Show, Specimen, captured, hex, sender_unknown};
use crate::misuse::Misuse;
use crate::record::{Next, Records};

/// Bytes of a datagram alone in a file: no network carries more.
const DATAGRAM_MAX: usize = 64 * 1_024;

/// Bytes of a stream in a file of its own: about a million fields, which is what one can scroll through.
const STREAM_MAX: usize = 4 * 1_024 * 1_024;

/// Streams of a recording that are followed at a time: as many as a driver has connections.
const STREAMS_MAX: usize = 4_096;

/// Bytes of a line: the largest datagram, its bytes apart, and a comment.
const LINE_MAX: usize = 4 * DATAGRAM_MAX;

/// Shows every datagram of a file, or of standard input.
pub(super) fn read(
    file: Option<&Path>,
    (from, on): (Option<Side>, PathKind),
    annotate: Option<&Path>,
    show: &mut Show<'_>,
) -> anyhow::Result<()> {
    if let Some(path) = file.filter(|path| *path != Path::new("-")) {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        return Source {
            name,
            from,
            on,
            annotate,
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
        annotate,
        show,
    }
    .read(stdin.lock())
}

struct Source<'a, 'b> {
    name: String,
    /// Who sent what is received.
    from: Option<Side>,
    on: PathKind,
    annotate: Option<&'a Path>,
    show: &'a mut Show<'b>,
}

impl Source<'_, '_> {
    fn read(mut self, mut bytes: impl Read) -> anyhow::Result<()> {
        let head = self.read_head(&mut bytes)?;
        let form = Form::of(&head);
        if form != Form::Capture && self.annotate.is_some() {
            bail!(Misuse(format!("--annotate: {} is no capture", self.name)));
        }
        if !matches!(form, Form::Recording | Form::Capture) {
            self.from()?;
        }
        let mut bytes = BufReader::new(Cursor::new(head).chain(bytes));
        match (form, self.on) {
            (Form::Capture, _) => captured::read(bytes, &self.name, self.annotate, self.show),
            (Form::Recording, _) => self.read_recording(&mut bytes),
            (Form::Lines, PathKind::Stream) => self.read_stream_lines(&mut bytes),
            (Form::Lines, _) => self.read_lines(&mut bytes),
            (Form::Raw, PathKind::Stream) => self.read_stream(&mut bytes),
            (Form::Raw, _) => self.read_datagram(&mut bytes),
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
            let may_be_capture = length < 4 && matches!(head[0], 0x0a | 0xa1 | 0xd4 | 0x4d);
            if read == 0 || !(may_be_recording || may_be_capture) {
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
                 nor lines of hexadecimal digits, nor a recording or a capture",
                self.name
            );
        }
        let from = self.from()?;
        self.show.show_bytes(from, self.on, Found::Alone, &datagram)
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
        let from = self.from()?;
        self.show.show_bytes(from, self.on, Found::Alone, stream)
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
            Ok(hex::Bytes(bytes)) => {
                let from = self.from()?;
                self.show
                    .show_bytes(from, self.on, Found::Line(number), &bytes)
            }
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
        for (_, stream) in std::mem::take(&mut streams.open) {
            self.finish_stream(stream)?;
        }
        self.show.show_summary()?;
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
            match found {
                Record::About(about) => self.take_about(&about),
                Record::Input(Input::Datagram { from, bytes }) => {
                    self.show_datagram(now, Direction::In, from, bytes)?;
                }
                Record::Output(Transmit::Datagram { to }, bytes) => {
                    self.show_datagram(now, Direction::Out, to, bytes)?;
                }
                Record::Output(Transmit::Segments { to, size }, bytes) => {
                    for bytes in bytes.chunks(usize::from(size).max(1)) {
                        self.show_datagram(now, Direction::Out, to, bytes)?;
                    }
                }
                found => {
                    if let Some(on) = self.read_stream_record(now, &found, streams)? {
                        let what = format!("{at}the beginning of {on:?} is missing");
                        self.show.complain(&what);
                    }
                }
            }
        }
    }

    /// Takes a record of a stream. Returns one of which the beginning is not there, once.
    fn read_stream_record(
        &mut self,
        now: Instant,
        record: &Record<'_>,
        streams: &mut Streams,
    ) -> anyhow::Result<Option<StreamId>> {
        let (on, direction, bytes) = match *record {
            Record::Input(Input::Opened { on, peer })
            | Record::Output(Transmit::Dial { on, to: peer }, _) => {
                streams.begin(on, peer);
                return Ok(None);
            }
            Record::Input(Input::Closed {
                path: Route::Stream(on),
                ..
            })
            | Record::Output(Transmit::Finish { on } | Transmit::Abort { on }, _) => {
                streams.strays.remove(&on);
                // Both sides may end it.
                let ended = streams.open.remove(&on);
                return ended
                    .map_or(Ok(()), |stream| self.finish_stream(stream))
                    .map(|()| None);
            }
            Record::Input(Input::Stream { on, bytes }) => (on, Direction::In, bytes),
            Record::Output(Transmit::Stream { on }, bytes) => (on, Direction::Out, bytes),
            _ => return Ok(None),
        };
        // A protocol without streams says nothing on one.
        if self.show.protocol.inspect.stream.is_none() {
            return Ok(None);
        }
        let Some(stream) = streams.open.get_mut(&on) else {
            let is_new = streams.strays.len() < STREAMS_MAX && streams.strays.insert(on);
            return Ok(is_new.then_some(on));
        };
        stream.last = now;
        let peer = stream.peer;
        let half = &mut stream.halves[usize::from(matches!(direction, Direction::Out))];
        self.with_stream(half, (now, direction, peer), |half, emit| {
            half.add(bytes, emit)
        })?;
        Ok(None)
    }

    fn finish_stream(&mut self, stream: Stream) -> anyhow::Result<()> {
        let Stream { peer, last, halves } = stream;
        for (mut half, direction) in halves.into_iter().zip([Direction::In, Direction::Out]) {
            let place = (last, direction, peer);
            self.with_stream(&mut half, place, |half, emit| half.finish(emit))?;
        }
        Ok(())
    }

    /// Does something with one direction of a stream, and shows what comes of it.
    fn with_stream(
        &mut self,
        half: &mut StreamReader,
        (at, direction, peer): (Instant, Direction, Addr),
        act: impl FnOnce(&mut StreamReader, &mut super::stream::Emit<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let from = self.sender(direction)?;
        let protocol = self.show.protocol;
        if let (true, Some(inspector)) = (half.is_undecided(), protocol.inspect.stream) {
            half.decide(inspector(from));
        }
        let found = Found::Recorded(Recorded {
            at,
            direction,
            peer,
        });
        act(half, &mut |bytes: &[u8], fields: &Fields, fault| {
            self.show.show(&Specimen {
                protocol: Some(protocol),
                from: Some(from),
                on: PathKind::Stream,
                found,
                bytes,
                fields,
                fault,
            })
        })
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

    fn show_datagram(
        &mut self,
        at: Instant,
        direction: Direction,
        peer: Addr,
        bytes: &[u8],
    ) -> anyhow::Result<()> {
        let from = self.sender(direction)?;
        let found = Found::Recorded(Recorded {
            at,
            direction,
            peer,
        });
        let protocol = self.show.protocol;
        self.show.show_datagram(protocol, from, found, bytes)
    }

    fn sender(&self, direction: Direction) -> Result<Side, Misuse> {
        Ok(match (direction, self.from()?) {
            (Direction::In, side) => side,
            (Direction::Out, Side::Client) => Side::Server,
            (Direction::Out, Side::Server) => Side::Client,
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

/// The streams of a recording that have begun and not ended.
#[derive(Default)]
struct Streams {
    open: BTreeMap<StreamId, Stream>,
    /// Those whose beginning is not there; it is said once of each.
    strays: BTreeSet<StreamId>,
}

struct Stream {
    peer: Addr,
    /// When it was last heard of.
    last: Instant,
    /// What was received, and what was sent.
    halves: [StreamReader; 2],
}

impl Streams {
    fn begin(&mut self, on: StreamId, peer: Addr) {
        if self.open.len() < STREAMS_MAX {
            // A client's stream is dialled, then opened: it is one.
            self.open.entry(on).or_insert_with(|| Stream {
                peer,
                last: Instant::ZERO,
                halves: Default::default(),
            });
        }
    }
}

/// What a recording looks like whose writer was stopped.
const CUT: &str = "the recording ends inside it";

/// Bytes by which a form is told from another.
const HEAD: usize = 4_096;

/// What a file holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Capture,
    Recording,
    Lines,
    Raw,
}

impl Form {
    fn of(head: &[u8]) -> Self {
        if is_capture(head) {
            return Self::Capture;
        }
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
        check(b"\x0a\x0d\x0d\x0a\x1c", Form::Capture);
        check(b"\xd4\xc3\xb2\xa1\x02", Form::Capture);
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
