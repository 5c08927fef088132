//! Captures: conversations of known protocols, followed in both directions, and whatever else is in the file.
//!
//! In: frames. Out: every datagram and every message as soon as it is whole, what could not be read, and figures of each
//! conversation for the summary. With an annotator, the file again with all of that as comments.

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufWriter, Read};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use tickwire_capture::{Annotator, Conversations, Ends, Event, Frame, Frames, Next, Said, Sliced};
use tickwire_demo::gateway::{PROTOCOLS, Paths, Protocol, Side};

use super::fields::{Fields, Held};
use super::stream::StreamReader;
use super::summary::Row;
use super::{Captured, Fault, Found, PathKind, Show, Specimen};

/// Datagrams of one direction among which repeated ones are noticed.
const REMEMBERED: usize = 32;

/// Datagrams that made sense after which their protocol is not doubted any more.
const CERTAIN: u32 = 16;

/// How far a counter may jump and still mean lost datagrams.
const JUMP_MAX: u64 = 10_000;

/// Shows everything that is in a capture.
pub(super) fn read(
    bytes: impl Read,
    name: &str,
    annotate: Option<&Path>,
    show: &mut Show<'_>,
) -> anyhow::Result<()> {
    let mut frames = Frames::new(bytes).map_err(|why| anyhow!("{name}: {why}"))?;
    let mut out = match annotate {
        None => None,
        Some(path) => {
            let file = File::create(path);
            let file = file.with_context(|| format!("cannot write {}", path.display()))?;
            Some(Annotator::new(BufWriter::new(file))?)
        }
    };
    let mut talks = Talks::default();
    loop {
        match frames.next() {
            Next::Frame(frame) => {
                talks.take(&frame, name, show)?;
                let comment = show.comment.as_mut().map(std::mem::take);
                if let Some(out) = &mut out {
                    let comment = comment.unwrap_or_default();
                    out.write_frame(frame, String::from_utf8_lossy(&comment).trim_end())?;
                }
            }
            Next::Block(block) => {
                if let Some(out) = &mut out {
                    out.write_block(&block)?;
                }
            }
            Next::Broken(why) => show.complain(&format!("{name}: left out: {why}")),
            Next::Cut(why) => {
                show.complain(&format!("{name}: {why}"));
                break;
            }
            Next::End => break,
        }
    }
    talks.finish(show)?;
    show.summary.dropped = frames.dropped();
    show.summary.forgotten = talks.conversations.forgotten();
    if let Some(out) = out {
        out.finish()?;
    }
    show.show_summary()
}

/// The conversations of a capture.
#[derive(Default)]
struct Talks {
    conversations: Conversations<Talk>,
    /// When the first frame went by.
    first: Option<Duration>,
    /// The last frame's number and time.
    last: (u64, Duration),
    /// Link types that were complained of.
    links: Vec<u32>,
}

impl Talks {
    fn take(&mut self, frame: &Frame<'_>, name: &str, show: &mut Show<'_>) -> anyhow::Result<()> {
        let first = *self.first.get_or_insert(frame.at);
        let at = frame.at.saturating_sub(first);
        self.last = (frame.number, at);
        show.summary.add_frame(at, frame.length);
        let hint = show.named.or_else(|| frame.name.and_then(Protocol::named));
        let place = Place {
            frame: frame.number,
            at,
            hint,
        };
        let (what, from, to, bytes) = match Sliced::of(frame) {
            Sliced::Segment(segment) => {
                let mut told = Ok(());
                self.conversations.add(&segment, &mut |talk, said| {
                    if told.is_ok() {
                        told = talk.handle(&said, place, show);
                    }
                });
                return told;
            }
            Sliced::Fragment { from, to, bytes } => {
                ("IP fragment, not put together", from, to, bytes)
            }
            Sliced::Other(what, bytes) => (what, NOBODY, NOBODY, bytes),
            Sliced::Link(link, bytes) => {
                if !self.links.contains(&link) && self.links.len() < REMEMBERED {
                    self.links.push(link);
                    show.complain(&format!("{name}: link type {link} is not known here"));
                }
                ("another link type", NOBODY, NOBODY, bytes)
            }
        };
        let found = match from {
            NOBODY => Found::Frame(frame.number, at),
            _ => Found::Captured(Captured {
                frame: frame.number,
                at,
                from: SocketAddr::new(from, 0),
                to: SocketAddr::new(to, 0),
                conversation: 0,
            }),
        };
        show.show(&Specimen {
            protocol: None,
            from: None,
            on: PathKind::Other(what),
            found,
            bytes,
            fields: &Fields::default(),
            fault: None,
        })
    }

    fn finish(&mut self, show: &mut Show<'_>) -> anyhow::Result<()> {
        let (frame, at) = self.last;
        let place = Place {
            frame,
            at,
            hint: show.named,
        };
        let mut told = Ok(());
        self.conversations.finish(&mut |talk, said| {
            if told.is_ok() {
                told = talk.handle(&said, place, show);
            }
        });
        told
    }
}

/// Stands for no address.
const NOBODY: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// Where in a capture something is.
#[derive(Clone, Copy)]
struct Place {
    frame: u64,
    at: Duration,
    /// The protocol, if somebody said it.
    hint: Option<&'static Protocol>,
}

/// One conversation.
#[derive(Default)]
struct Talk {
    /// Which protocol it is, and what the one is who opened it.
    known: Option<(&'static Protocol, Side)>,
    /// Of who opened it, and of the other.
    halves: [Half; 2],
    began: Option<Duration>,
    /// Datagrams that made sense.
    read_well: u32,
}

/// One direction of a conversation.
#[derive(Default)]
struct Half {
    reader: StreamReader,
    units: u64,
    bytes: u64,
    resent: u64,
    missing: u64,
    /// Sums of the last datagrams.
    recent: Vec<u64>,
    /// What the counter of its datagrams said last.
    counter: Option<u64>,
    lost: u64,
}

impl Talk {
    fn handle(&mut self, said: &Said<'_>, place: Place, show: &mut Show<'_>) -> anyhow::Result<()> {
        self.began.get_or_insert(place.at);
        let half = &mut self.halves[usize::from(!said.from_opener)];
        match said.event {
            Event::Datagram(bytes, is_cut) => {
                half.units += 1;
                half.bytes += bytes.len() as u64;
                half.resent += u64::from(half.is_repeated(bytes));
                self.show_datagram(said, place, (bytes, is_cut), show)
            }
            Event::Begin => {
                half.reader = StreamReader::default();
                Ok(())
            }
            Event::Bytes(bytes) => {
                half.units += 1;
                half.bytes += bytes.len() as u64;
                if half.reader.is_undecided() {
                    self.decide(said, place, bytes);
                }
                self.read(said, place, show, |reader, emit| reader.add(bytes, emit))
            }
            Event::Gap(missing) => {
                half.missing += missing;
                self.read(said, place, show, |reader, emit| reader.skip(missing, emit))
            }
            Event::End => self.read(said, place, show, StreamReader::finish),
            Event::Resent(count) => {
                half.resent += count;
                Ok(())
            }
            Event::Over => {
                show.summary.add_conversation(self.row(said.ends, place));
                Ok(())
            }
        }
    }

    /// Which protocol a stream is, once that can be told.
    fn decide(&mut self, said: &Said<'_>, place: Place, bytes: &[u8]) {
        if self.known.is_none() {
            let named = place.hint.or_else(|| by_port(said.ends));
            let held = self.halves[usize::from(!said.from_opener)].reader.held();
            let begin = [held, bytes].concat();
            self.known = match named.filter(|protocol| protocol.inspect.stream.is_some()) {
                Some(protocol) => Some((protocol, opener(protocol, said.ends))),
                None => guess(said, |protocol, from| {
                    let mut inspector = protocol.inspect.stream?(from);
                    let (mut at, mut sense) = (0, Sense::default());
                    // Whole messages up to its end, or it is something else, or more has to come.
                    while at < begin.len() {
                        let mut fields = Fields::default();
                        at += inspector(&begin[at..], &mut fields)
                            .ok()
                            .filter(|length| *length > 0)?;
                        sense.add(&fields);
                    }
                    Some(sense.share(begin.len()))
                }),
            };
        }
        if let Some((protocol, side)) = self.known
            && let Some(inspector) = protocol.inspect.stream
        {
            for (half, side) in self.halves.iter_mut().zip([side, flip(side)]) {
                if half.reader.is_undecided() {
                    half.reader.decide(inspector(side));
                }
            }
        }
    }

    fn read(
        &mut self,
        said: &Said<'_>,
        place: Place,
        show: &mut Show<'_>,
        act: impl FnOnce(&mut StreamReader, &mut super::stream::Emit<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (protocol, from) = self.sender(said);
        let found = found(said, place);
        let reader = &mut self.halves[usize::from(!said.from_opener)].reader;
        act(reader, &mut |bytes: &[u8], fields: &Fields, fault| {
            show.show(&Specimen {
                protocol,
                from,
                on: PathKind::Stream,
                found,
                bytes,
                fields,
                fault,
            })
        })
    }

    fn show_datagram(
        &mut self,
        said: &Said<'_>,
        place: Place,
        (bytes, is_cut): (&[u8], bool),
        show: &mut Show<'_>,
    ) -> anyhow::Result<()> {
        if self.known.is_none() {
            self.known = recognise(said, place.hint, bytes);
        }
        let (mut protocol, mut from) = self.sender(said);
        let (mut fields, mut fault) = decode(protocol, from, bytes);
        // A guess that was made from few bytes may be wrong.
        if fault.is_some() && !is_cut && self.read_well < CERTAIN {
            self.known = recognise(said, place.hint, bytes).or(self.known);
            (protocol, from) = self.sender(said);
            (fields, fault) = decode(protocol, from, bytes);
        }
        self.read_well += u32::from(fault.is_none());
        if let (Some(protocol), Some(from)) = (protocol, from) {
            let half = &mut self.halves[usize::from(!said.from_opener)];
            half.count(protocol, from, &fields);
        }
        if is_cut {
            fault = Some(Fault::Unread("the capture has only a part of it"));
        }
        show.show(&Specimen {
            protocol,
            from,
            on: PathKind::Datagram,
            found: found(said, place),
            bytes,
            fields: &fields,
            fault,
        })
    }

    fn sender(&self, said: &Said<'_>) -> (Option<&'static Protocol>, Option<Side>) {
        match self.known {
            None => (None, None),
            Some((protocol, opener)) if said.from_opener => (Some(protocol), Some(opener)),
            Some((protocol, opener)) => (Some(protocol), Some(flip(opener))),
        }
    }

    fn row(&self, ends: Ends, place: Place) -> Row {
        let sum = |figure: fn(&Half) -> u64| self.halves.iter().map(figure).sum();
        let [opener, other] = &self.halves;
        Row {
            ends,
            protocol: self.known.map(|(protocol, _)| protocol.name),
            span: place.at.saturating_sub(self.began.unwrap_or(place.at)),
            units: [opener.units, other.units],
            bytes: [opener.bytes, other.bytes],
            resent: sum(|half| half.resent),
            missing: sum(|half| half.missing),
            lost: sum(|half| half.lost),
        }
    }
}

impl Half {
    /// Whether the same datagram went by not long ago.
    fn is_repeated(&mut self, bytes: &[u8]) -> bool {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let sum = hasher.finish();
        if self.recent.contains(&sum) {
            return true;
        }
        if self.recent.len() == REMEMBERED {
            self.recent.remove(0);
        }
        self.recent.push(sum);
        false
    }

    /// Looks at the counter of a datagram, if its protocol has one.
    fn count(&mut self, protocol: &Protocol, from: Side, fields: &Fields) {
        let mut counts = protocol.inspect.counts.iter();
        let Some((_, name)) = counts.find(|(side, _)| *side == from) else {
            return;
        };
        let value = fields
            .entries()
            .iter()
            .find_map(|entry| match &entry.field {
                Some((_, Held::Unsigned(value))) if entry.name == *name => Some(*value),
                _ => None,
            });
        let Some(value) = value else {
            return;
        };
        match self.counter.map(|last| value.checked_sub(last)) {
            Some(Some(0) | None) => {}
            Some(Some(ahead)) => {
                if ahead <= JUMP_MAX {
                    self.lost += ahead - 1;
                }
                self.counter = Some(value);
            }
            None => self.counter = Some(value),
        }
    }
}

fn found(said: &Said<'_>, place: Place) -> Found {
    let Ends { opener, other, .. } = said.ends;
    let (from, to) = if said.from_opener {
        (opener, other)
    } else {
        (other, opener)
    };
    Found::Captured(Captured {
        frame: place.frame,
        at: place.at,
        from,
        to,
        conversation: said.ends.number,
    })
}

/// Which protocol a datagram is of, and what the one is who opened the conversation.
fn recognise(
    said: &Said<'_>,
    hint: Option<&'static Protocol>,
    bytes: &[u8],
) -> Option<(&'static Protocol, Side)> {
    let reads = |protocol: &Protocol, from| {
        let (mut fields, mut sense) = (Fields::default(), Sense::default());
        protocol.inspect.datagram?(from, bytes, &mut fields).ok()?;
        sense.add(&fields);
        Some(sense.share(bytes.len()))
    };
    let named = hint.or_else(|| by_port(said.ends));
    let named = named.filter(|protocol| protocol.inspect.datagram.is_some());
    let Some(protocol) = named else {
        return guess(said, reads);
    };
    let likely = opener(protocol, said.ends);
    // The port says who is the server. Without one, whoever makes sense as a server is.
    let is_server = |side| if said.from_opener { side } else { flip(side) };
    let is_certain = [said.ends.opener, said.ends.other]
        .iter()
        .any(|end| end.port() == protocol.port);
    let other = flip(likely);
    if !is_certain
        && reads(protocol, is_server(likely)).is_none()
        && reads(protocol, is_server(other)).is_some()
    {
        return Some((protocol, other));
    }
    Some((protocol, likely))
}

/// Reads a datagram, if it is known how.
fn decode(
    protocol: Option<&'static Protocol>,
    from: Option<Side>,
    bytes: &[u8],
) -> (Fields, Option<Fault>) {
    let mut fields = Fields::default();
    let mut fault = None;
    if let (Some(protocol), Some(from)) = (protocol, from)
        && let Some(inspect) = protocol.inspect.datagram
    {
        fault = inspect(from, bytes, &mut fields).err().map(Fault::Wrong);
    }
    (fields, fault)
}

/// How much of some bytes is more than bytes: any protocol can carry those.
#[derive(Default)]
struct Sense {
    bits: u64,
}

impl Sense {
    fn add(&mut self, fields: &Fields) {
        let fields = fields
            .entries()
            .iter()
            .filter_map(|entry| entry.field.as_ref());
        let bits = fields.map(|(place, held)| match held {
            Held::Bytes(_) => 0,
            _ => u64::from(place.bits),
        });
        self.bits += bits.sum::<u64>();
    }

    /// Thousandths of that many bytes.
    fn share(&self, bytes: usize) -> u64 {
        1_000 * self.bits / (8 * bytes.max(1) as u64)
    }
}

/// The protocol of which the bytes make most sense, if they do of any.
fn guess(
    said: &Said<'_>,
    reads: impl Fn(&Protocol, Side) -> Option<u64>,
) -> Option<(&'static Protocol, Side)> {
    let mut best = None;
    for opener in [Side::Client, Side::Server] {
        let from = if said.from_opener {
            opener
        } else {
            flip(opener)
        };
        for protocol in PROTOCOLS {
            let sense = reads(protocol, from);
            if sense.is_some() && sense > best.map(|(sense, _)| sense) {
                best = sense.map(|sense| (sense, (protocol, opener)));
            }
        }
    }
    best.map(|(_, found)| found)
}

/// The protocol whose port one of them has.
fn by_port(ends: Ends) -> Option<&'static Protocol> {
    PROTOCOLS.iter().find(|protocol| {
        let carries = match protocol.paths {
            Paths::Both => true,
            Paths::Streams => ends.is_stream,
            Paths::Datagrams => !ends.is_stream,
        };
        carries && [ends.opener.port(), ends.other.port()].contains(&protocol.port)
    })
}

/// What the one is who opened a conversation.
fn opener(protocol: &Protocol, ends: Ends) -> Side {
    let is_server = |end: SocketAddr| end.port() == protocol.port;
    match is_server(ends.opener) && !is_server(ends.other) {
        true => Side::Server,
        false => Side::Client,
    }
}

const fn flip(side: Side) -> Side {
    match side {
        Side::Client => Side::Server,
        Side::Server => Side::Client,
    }
}
