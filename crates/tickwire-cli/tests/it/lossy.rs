//! A bad network between two processes: a UDP proxy that loses and delays datagrams, by seed.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tickwire_session::Instant;
use tickwire_sim::{Chance, Conditions, Link, Rng};

/// Forwards between clients and one server until dropped.
pub(crate) struct LossyProxy {
    pub(crate) addr: SocketAddr,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How long the proxy waits for a datagram before it looks at the other sockets.
const PAUSE: Duration = Duration::from_millis(1);

impl LossyProxy {
    pub(crate) fn new(server: SocketAddr, loss: Chance, seed: u64) -> Self {
        let conditions = Conditions {
            loss,
            ..Conditions::IDEAL
        };
        Self::with(server, conditions, seed)
    }

    /// The same network in both directions.
    pub(crate) fn with(server: SocketAddr, conditions: Conditions, seed: u64) -> Self {
        let front = socket();
        let addr = front.local_addr().expect("bound");
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let thread = std::thread::spawn(move || forward(&front, server, conditions, seed, &ended));
        Self {
            addr,
            ends,
            thread: Some(thread),
        }
    }
}

impl Drop for LossyProxy {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn forward(
    front: &UdpSocket,
    server: SocketAddr,
    conditions: Conditions,
    seed: u64,
    ended: &AtomicBool,
) {
    let mut buffer = [0; 2_048];
    // One socket a client, so that the server can tell them apart.
    let mut clients: BTreeMap<SocketAddr, UdpSocket> = BTreeMap::new();
    let mut up: Link<(SocketAddr, Vec<u8>)> = Link::new(conditions, Rng::new(seed));
    let mut down: Link<(SocketAddr, Vec<u8>)> = Link::new(conditions, Rng::new(!seed));
    let began = std::time::Instant::now();
    let now = || Instant::ZERO + began.elapsed();
    front
        .set_read_timeout(Some(PAUSE))
        .expect("a timeout can be set");
    while !ended.load(Ordering::Relaxed) {
        while let Some((length, client)) = receive(front, &mut buffer) {
            clients.entry(client).or_insert_with(|| {
                let back = socket();
                back.set_nonblocking(true)
                    .expect("sockets can be non-blocking");
                back
            });
            up.push(now(), (client, buffer[..length].to_vec()), length);
            pass_on(&mut up, now(), |client, bytes| {
                clients[&client].send_to(bytes, server).ok();
            });
        }
        for (client, back) in &clients {
            while let Some((length, _)) = receive(back, &mut buffer) {
                down.push(now(), (*client, buffer[..length].to_vec()), length);
            }
        }
        pass_on(&mut up, now(), |client, bytes| {
            clients[&client].send_to(bytes, server).ok();
        });
        pass_on(&mut down, now(), |client, bytes| {
            front.send_to(bytes, client).ok();
        });
    }
}

fn pass_on(
    link: &mut Link<(SocketAddr, Vec<u8>)>,
    now: Instant,
    mut send: impl FnMut(SocketAddr, &[u8]),
) {
    while let Some((client, bytes)) = link.pop(now) {
        send(client, &bytes);
    }
}

fn socket() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").expect("a free port")
}

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
    loop {
        match socket.recv_from(buffer) {
            Ok(received) => return Some(received),
            // An earlier datagram found nobody; the next may.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(_) => return None,
        }
    }
}
