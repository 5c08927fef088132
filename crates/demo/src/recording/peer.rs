//! A server's recording from the side of one of its clients: what was sent to it is what it receives.
//!
//! In: the server's records. Out: what is handed to a client that is made for playing back. What the client says
//! goes nowhere; the server of the recording was answered by another. What was lost on the way back then
//! arrives here.
//!
//! A client on a link has one address for both its paths. On sockets its datagrams come from an address of their own,
//! which shows by a token that it belongs to the stream on which that token was told: so it is found here, too,
//! whatever the protocol.

use tickwire_session::Instant;
use tickwire_session::tap::{Input, Record};
use tickwire_session::{Addr, Ended, Path, Room, Session, StreamId, Transmit};

/// Bytes of a token; see [`tickwire_session::Token`].
const TOKEN: usize = 8;

/// Bytes of a stream among which its token is: every protocol tells it in the first message, or soon after.
const TOLD_MAX: usize = 4_096;

/// Bytes of a datagram among which a token is.
const ATTACH_MAX: usize = 64;

/// One client of a recorded server.
#[derive(Debug)]
pub(super) struct Peer {
    /// What the server calls it.
    addr: Addr,
    /// Where its datagrams come from, once that is known.
    datagrams: Option<Addr>,
    /// What was sent on its stream first.
    told: Vec<u8>,
    /// What the client calls the server.
    server: Addr,
    /// Its stream, as the server calls it.
    stream: Option<StreamId>,
    /// The same, as the client does: the last that it dialled.
    dialled: Option<StreamId>,
}

impl Peer {
    pub(super) const fn new(addr: Addr, server: Addr) -> Self {
        Self {
            addr,
            datagrams: None,
            told: Vec::new(),
            server,
            stream: None,
            dialled: None,
        }
    }

    /// Hands a record to the client, if it concerns it.
    pub(super) fn apply(&mut self, now: Instant, record: &Record<'_>, client: &mut dyn Session) {
        self.drain(now, client);
        match *record {
            Record::Input(Input::Opened { on, peer }) if peer == self.addr => {
                self.stream = Some(on);
                self.told.clear();
                self.open(now, client);
            }
            Record::Input(Input::Datagram { from, bytes }) if self.shows_token(from, bytes) => {
                self.datagrams = Some(from);
            }
            Record::Output(Transmit::Datagram { to }, bytes) if self.is_at(to) => {
                client.handle_datagram(now, self.server, bytes);
            }
            Record::Output(Transmit::Segments { to, size }, bytes) if self.is_at(to) => {
                for datagram in bytes.chunks(usize::from(size).max(1)) {
                    client.handle_datagram(now, self.server, datagram);
                }
            }
            Record::Output(Transmit::Stream { on }, bytes) if self.is_own(on) => {
                let room = TOLD_MAX.saturating_sub(self.told.len());
                self.told.extend(bytes.iter().take(room));
                if let Some(on) = self.dialled {
                    client.handle_stream(now, on, bytes);
                }
            }
            Record::Output(Transmit::Finish { on } | Transmit::Abort { on }, _)
                if self.is_own(on) =>
            {
                self.close(now, client);
            }
            Record::Input(Input::Closed {
                path: Path::Stream(on),
                ..
            }) if self.is_own(on) => self.close(now, client),
            _ => return,
        }
        self.drain(now, client);
    }

    /// Whether a record would be skipped by somebody who only wants to know what must arrive.
    pub(super) const fn is_datagram(record: &Record<'_>) -> bool {
        matches!(
            record,
            Record::Output(Transmit::Datagram { .. } | Transmit::Segments { .. }, _)
        )
    }

    fn is_at(&self, addr: Addr) -> bool {
        addr == self.addr || self.datagrams == Some(addr)
    }

    /// Whether a datagram from elsewhere has a token that was told on this client's stream.
    fn shows_token(&self, from: Addr, bytes: &[u8]) -> bool {
        if self.stream.is_none() || self.datagrams.is_some() || self.is_at(from) {
            return false;
        }
        let may_attach = bytes.get(..bytes.len().min(ATTACH_MAX)).unwrap_or_default();
        may_attach.windows(TOKEN).any(|token| {
            // Eight bytes that anybody could say are no token.
            let mut distinct = token.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            distinct.len() >= TOKEN / 2 && self.told.windows(TOKEN).any(|told| told == token)
        })
    }

    fn is_own(&self, on: StreamId) -> bool {
        self.stream == Some(on)
    }

    /// Tells the client that its stream is open, and that there is room for whatever it says.
    fn open(&mut self, now: Instant, client: &mut dyn Session) {
        let Some(on) = self.dialled else {
            return;
        };
        client.handle_opened(now, on, self.server);
        let room = Room {
            bytes: u32::MAX,
            largest: 0,
        };
        client.handle_room(now, Path::Stream(on), room);
        client.handle_room(now, Path::Datagrams(self.server), Room::DATAGRAMS);
    }

    fn close(&mut self, now: Instant, client: &mut dyn Session) {
        self.stream = None;
        if let Some(on) = self.dialled.take() {
            client.handle_closed(now, Path::Stream(on), Ended::Finished);
        }
    }

    /// Takes what the client wants to send, and remembers what it dialled.
    fn drain(&mut self, now: Instant, client: &mut dyn Session) {
        let mut said = Vec::new();
        while let Some(transmit) = client.poll_transmit(now, &mut said) {
            said.clear();
            if let Transmit::Dial { on, .. } = transmit {
                self.dialled = Some(on);
                if self.stream.is_some() {
                    self.open(now, client);
                }
            }
        }
    }
}
