//! The load: datagrams under way to a server that sends them back, always about as many.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::ensure;
use tickwire_net::limits::DATAGRAM_BATCH;

use super::bare::{Batch, ask_for_buffers};
use crate::suite::ANY_PORT;

/// Bytes of a datagram, the kind that the echo protocol wants included.
const DATAGRAM: usize = 100;

/// Datagrams under way: enough that the server finds full batches, and few enough for every buffer
/// between here and there.
const UNDER_WAY: usize = 4 * DATAGRAM_BATCH;

/// What is not back by then was lost. A server can wait for the processor longer than for anything
/// else, but hardly as long.
const PATIENCE: Duration = Duration::from_millis(200);

pub(super) struct Load {
    socket: UdpSocket,
    questions: Batch,
    answers: Batch,
}

/// What came back, and in what time.
pub(super) struct Carried {
    pub(super) datagrams: usize,
    pub(super) took: Duration,
}

impl Load {
    pub(super) fn new(server: SocketAddr) -> anyhow::Result<Self> {
        let socket = UdpSocket::bind(ANY_PORT)?;
        ask_for_buffers(&socket)?;
        socket.connect(server)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut question = [b'.'; DATAGRAM];
        question[0] = b'?';
        Ok(Self {
            socket,
            questions: Batch::full_of(&question),
            answers: Batch::new(),
        })
    }

    /// Keeps the server busy for `span`, then takes in what is still under way.
    pub(super) fn run(&mut self, span: Duration) -> anyhow::Result<Carried> {
        let began = Instant::now();
        let (mut datagrams, mut under_way) = (0, 0);
        let mut took = began.elapsed();
        while took < span || under_way > 0 {
            // Whole batches only: a load that sends single datagrams would be the bottleneck.
            while took < span && under_way + DATAGRAM_BATCH <= UNDER_WAY {
                under_way += self.questions.send(&self.socket)?;
            }
            match self.answers.receive(&self.socket)? {
                0 => under_way = 0,
                count => {
                    under_way = under_way.saturating_sub(count);
                    datagrams += count;
                }
            }
            took = began.elapsed();
        }
        ensure!(datagrams > 0, "no datagram came back");
        Ok(Carried { datagrams, took })
    }

    /// Wakes the server once.
    pub(super) fn nudge(&self) -> anyhow::Result<()> {
        self.socket.send(b".")?;
        Ok(())
    }
}
