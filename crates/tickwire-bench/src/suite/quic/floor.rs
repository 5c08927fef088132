//! The floor under any encrypted server: AES-128-GCM and `sendmmsg`, and nothing else.
//!
//! No acknowledgements, no congestion control, no loss detection, no timers: 64 datagrams are sealed, each with
//! a number of its own, and go to 64 sockets in one call.

use std::net::UdpSocket;
use std::time::Duration;

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use super::table::{CLIENTS, SNAPSHOT, STEPS};
use crate::suite::ANY_PORT;
use crate::suite::clock::timed;
use crate::suite::echo::bare::Batch;

pub(super) struct Floor {
    server: UdpSocket,
    clients: Vec<UdpSocket>,
    /// Holds everybody's address.
    batch: Batch,
    key: LessSafeKey,
    number: u64,
}

impl Floor {
    pub(super) fn new() -> anyhow::Result<Self> {
        let server = UdpSocket::bind(ANY_PORT)?;
        let to = server.local_addr()?;
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let client = UdpSocket::bind(ANY_PORT)?;
            client.set_nonblocking(true)?;
            client.send_to(&[0], to)?;
            clients.push(client);
        }
        // On loopback all of them are there by now.
        let mut batch = Batch::new();
        let heard = batch.receive(&server)?;
        anyhow::ensure!(heard == CLIENTS, "{heard} of {CLIENTS} were heard");
        let key = UnboundKey::new(&AES_128_GCM, &[7; 16]);
        let key = key.map_err(|_| anyhow::anyhow!("sixteen bytes are a key"))?;
        Ok(Self {
            server,
            clients,
            batch,
            key: LessSafeKey::new(key),
            number: 0,
        })
    }

    /// A snapshot for everybody, so many times: nanoseconds for each.
    pub(super) fn play(&mut self) -> anyhow::Result<f64> {
        let mut spent = Duration::ZERO;
        for _ in 0..STEPS {
            let (time, sent) = timed(|| self.send());
            sent?;
            spent += time;
            let mut buffer = [0; 2_048];
            for client in &self.clients {
                while client.recv(&mut buffer).is_ok() {}
            }
        }
        Ok(spent.as_nanos() as f64 / (f64::from(STEPS) * CLIENTS as f64))
    }

    fn send(&mut self) -> anyhow::Result<()> {
        let Self { key, number, .. } = self;
        self.batch.fill(|slot| {
            *number += 1;
            let mut nonce = [0; NONCE_LEN];
            nonce[4..].copy_from_slice(&number.to_be_bytes());
            let (text, rest) = slot.split_at_mut(SNAPSHOT);
            text.fill(7);
            let nonce = Nonce::assume_unique_for_key(nonce);
            let tag = key
                .seal_in_place_separate_tag(nonce, Aad::empty(), text)
                .expect("a snapshot is shorter than what a key may seal");
            let tag = tag.as_ref();
            rest[..tag.len()].copy_from_slice(tag);
            SNAPSHOT + tag.len()
        });
        let sent = self.batch.send_back(&self.server)?;
        anyhow::ensure!(sent == CLIENTS, "{sent} of {CLIENTS} went");
        Ok(())
    }
}
