//! A recording as something that is wound: forward record by record, back to its beginning.
//!
//! A recording that was ended properly says at its end how long it is and where playing may begin; of one that
//! was cut off, that is found by reading it once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use tickwire_demo::recording::Replay;
use tickwire_session::tap::{About, Index, Input, Record, Recorded, Recording};
use tickwire_session::{Addr, Instant, StreamId, Transmit};

use crate::record::{NOBODY, Next, Records};

/// Clients, and streams, that are told apart when one of them is chosen.
const PEERS_MAX: usize = 4_096;

pub(super) struct Tape {
    records: Records<BufReader<File>>,
    name: String,
    about: OwnAbout,
    pub(super) began: Instant,
    pub(super) ends: Instant,
    pub(super) index: Index,
    /// Where the first record is behind the one that says what this is.
    first: u64,
    /// When the record happened that was read and not taken yet, and where it is.
    ahead: Option<(Instant, u64)>,
    /// Why there is no more of it, if it did not end properly.
    pub(super) fault: Option<String>,
}

struct OwnAbout {
    side: Recorded,
    peer: Addr,
    protocol: String,
    words: Vec<u8>,
}

impl Tape {
    /// Opens a recording; a server's is played back for this client of it, counted from 1, or for the one that
    /// was sent most.
    pub(super) fn open(path: &Path, client: Option<usize>) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        let mut records = Records::new(BufReader::new(file), name.clone())?;
        let (began, about) = match records.next()? {
            Next::Record(now, Record::About(about)) => (now, OwnAbout::from(about)),
            Next::Cut | Next::End => bail!("{name} is empty: nothing was recorded"),
            Next::Record(..) => {
                bail!("{name} does not say what it is of: `tickwire inspect` shows it")
            }
        };
        let mut tape = Self {
            first: records.at(),
            records,
            name,
            about,
            began,
            ends: began,
            index: Index::default(),
            ahead: None,
            fault: None,
        };
        if !tape.read_end()? {
            tape.scan()?;
        }
        let is_server = tape.about.side == Recorded::Server;
        if is_server && (client.is_some() || tape.about.peer == NOBODY) {
            tape.choose(client)?;
            // What is told anew is told to another.
            tape.index = Index::default();
        }
        Ok(tape)
    }

    /// What it is of, for people.
    pub(super) fn title(&self) -> String {
        let OwnAbout { peer, protocol, .. } = &self.about;
        match self.about.side {
            Recorded::Client => format!("{protocol} {peer}"),
            Recorded::Server => format!("{protocol} server, to {peer}"),
        }
    }

    /// Winds back to the beginning.
    pub(super) fn rewind(&mut self) -> anyhow::Result<Replay> {
        self.ahead = None;
        self.records.go_to(self.first)?;
        let OwnAbout {
            side,
            peer,
            protocol,
            words,
        } = &self.about;
        let about = About {
            side: *side,
            peer: *peer,
            protocol,
            words,
        };
        let replay = Replay::new(self.began, &about);
        let replay = replay.with_context(|| format!("{} is damaged", self.name))?;
        replay.ok_or_else(|| {
            anyhow!(
                "{} is of {protocol:?}, a protocol that is not known here",
                self.name
            )
        })
    }

    /// When the next record happened, and where it is; nothing if there is none.
    pub(super) fn ahead(&mut self) -> Option<(Instant, u64)> {
        if self.ahead.is_none() {
            let at = self.records.at();
            self.ahead = match self.records.next() {
                Ok(Next::Record(now, _)) => Some((now, at)),
                Ok(Next::Cut | Next::End) => None,
                Err(fault) => {
                    self.fault = Some(fault.to_string());
                    None
                }
            };
        }
        self.ahead
    }

    /// Takes the record that is [`ahead`](Self::ahead).
    pub(super) fn take(&mut self) -> Option<(Instant, Record<'_>)> {
        self.ahead.take()?;
        self.records.last()
    }

    /// Reads what a recording ends with; whether it does.
    fn read_end(&mut self) -> anyhow::Result<bool> {
        let end = self.records.length()?.checked_sub(Recording::END as u64);
        let Some(end) = end.filter(|end| *end >= self.first) else {
            return Ok(false);
        };
        self.records.go_to(end)?;
        let Ok(Next::Record(ends, Record::End { index })) = self.records.next() else {
            return Ok(false);
        };
        if index >= end {
            return Ok(false);
        }
        self.records.go_to(index)?;
        let Ok(Next::Record(_, Record::Index(index))) = self.records.next() else {
            return Ok(false);
        };
        let Ok(index) = Index::decode(index) else {
            return Ok(false);
        };
        (self.ends, self.index) = (ends, index);
        Ok(true)
    }

    /// Finds the same by reading everything.
    fn scan(&mut self) -> anyhow::Result<()> {
        self.records.go_to(self.first)?;
        while let Some((now, at)) = self.ahead() {
            self.ends = self.ends.max(now);
            if let Some((_, Record::Mark)) = self.take() {
                self.index.push(now, at);
            }
        }
        Ok(())
    }

    /// Finds the client for whom a server's recording is played back.
    fn choose(&mut self, wanted: Option<usize>) -> anyhow::Result<()> {
        let mut sent = Sent::default();
        self.records.go_to(self.first)?;
        while self.ahead().is_some() {
            if let Some((_, record)) = self.take() {
                sent.add(&record);
            }
        }
        sent.keep_openers();
        let count = sent.peers.len();
        let chosen = match wanted {
            Some(wanted) => sent.peers.get(wanted.wrapping_sub(1)),
            None => sent.peers.iter().max_by_key(|(_, bytes)| *bytes),
        };
        let Some((peer, _)) = chosen else {
            bail!(
                "{} has {count} clients: there is nobody to play it back for",
                self.name
            );
        };
        self.about.peer = *peer;
        Ok(())
    }
}

impl From<About<'_>> for OwnAbout {
    fn from(about: About<'_>) -> Self {
        Self {
            side: about.side,
            peer: about.peer,
            protocol: about.protocol.into(),
            words: about.words.into(),
        }
    }
}

/// How much a server sent to each of its clients, in the order in which they appear.
#[derive(Default)]
struct Sent {
    peers: Vec<(Addr, usize)>,
    streams: BTreeMap<StreamId, Addr>,
    openers: BTreeSet<Addr>,
}

impl Sent {
    /// Where clients have streams, an address without one is a client's second.
    fn keep_openers(&mut self) {
        if !self.openers.is_empty() {
            self.peers.retain(|(addr, _)| self.openers.contains(addr));
        }
    }

    fn add(&mut self, record: &Record<'_>) {
        match *record {
            Record::Input(Input::Opened { on, peer }) if self.streams.len() < PEERS_MAX => {
                self.streams.insert(on, peer);
                self.openers.insert(peer);
                self.count(peer, 0);
            }
            Record::Output(Transmit::Datagram { to } | Transmit::Segments { to, .. }, bytes) => {
                self.count(to, bytes.len());
            }
            Record::Output(Transmit::Stream { on }, bytes) => {
                if let Some(peer) = self.streams.get(&on) {
                    self.count(*peer, bytes.len());
                }
            }
            _ => {}
        }
    }

    fn count(&mut self, peer: Addr, bytes: usize) {
        if let Some((_, sum)) = self.peers.iter_mut().find(|(addr, _)| *addr == peer) {
            *sum += bytes;
        } else if self.peers.len() < PEERS_MAX {
            self.peers.push((peer, bytes));
        }
    }
}
