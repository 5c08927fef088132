//! A server's recording from the side of one of its clients: what was sent to it is what it receives.
//!
//! In: the server's records. Out: what is handed to a client that is made for playing back. What the client says
//! goes nowhere; the server of the recording was answered by another. What was lost on the way back then
//! arrives here.
//!
//! A client is known by one address, on which both its paths lie: a link. Of one that is not, its stream and its
//! datagrams have addresses of their own, and only one of them is seen.

use tickwire_session::Instant;
use tickwire_session::tap::{Input, Record};
use tickwire_session::{Addr, Ended, Path, Room, Session, StreamId, Transmit};

/// One client of a recorded server.
#[derive(Debug)]
pub(super) struct Peer {
    /// What the server calls it.
    addr: Addr,
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
                self.open(now, client);
            }
            Record::Output(Transmit::Datagram { to }, bytes) if to == self.addr => {
                client.handle_datagram(now, self.server, bytes);
            }
            Record::Output(Transmit::Segments { to, size }, bytes) if to == self.addr => {
                for datagram in bytes.chunks(usize::from(size).max(1)) {
                    client.handle_datagram(now, self.server, datagram);
                }
            }
            Record::Output(Transmit::Stream { on }, bytes) if self.is_own(on) => {
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
