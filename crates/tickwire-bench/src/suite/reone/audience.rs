//! The other ends of a crowd's sockets, on a thread of their own.
//!
//! In: the datagrams of snapshots. Out: an acknowledgement of each client's newest one. It is the load, and
//! not what is measured.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tickwire_dialects::reone::SnapshotSeq;
use tickwire_dialects::reone::limits::DATAGRAM_MAX;
use tickwire_dialects::reone::message::{Down, Packet};
use tickwire_session::Addr;

use super::guest::Guest;

/// Between two looks at all sockets.
const PAUSE: Duration = Duration::from_millis(10);

/// What all clients heard together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    pub(super) snapshots: usize,
    pub(super) bytes: usize,
}

pub(super) struct Audience {
    sockets: Vec<UdpSocket>,
}

impl Audience {
    pub(super) fn open(clients: u16) -> anyhow::Result<Self> {
        let open = |_| {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let sockets = (0..clients).map(open).collect::<anyhow::Result<_>>()?;
        Ok(Self { sockets })
    }

    pub(super) fn addrs(&self) -> anyhow::Result<Vec<Addr>> {
        let addr = |socket: &UdpSocket| Ok(socket.local_addr()?.into());
        self.sockets.iter().map(addr).collect()
    }

    /// Acknowledges what comes until it is over.
    pub(super) fn listen(
        &self,
        mut guests: Vec<Guest>,
        server: SocketAddr,
        over: &AtomicBool,
    ) -> anyhow::Result<Heard> {
        let mut newest = vec![SnapshotSeq::NONE; self.sockets.len()];
        let mut buffer = [0; DATAGRAM_MAX];
        let mut heard = Heard::default();
        while !over.load(Ordering::Relaxed) {
            for ((socket, guest), newest) in self.sockets.iter().zip(&mut guests).zip(&mut newest) {
                let before = *newest;
                loop {
                    let length = match socket.recv(&mut buffer) {
                        Ok(length) => length,
                        Err(none) if none.kind() == ErrorKind::WouldBlock => break,
                        Err(error) => return Err(error.into()),
                    };
                    let datagram = &buffer[..length];
                    heard.bytes += length;
                    let packet = Packet::<Down>::decode(datagram)?;
                    if packet.header.sequence > *newest {
                        *newest = packet.header.sequence;
                        heard.snapshots += 1;
                    }
                }
                if *newest > before {
                    socket.send_to(guest.acknowledgement(*newest)?, server)?;
                }
            }
            thread::sleep(PAUSE);
        }
        Ok(heard)
    }
}
