//! A bad network between two processes: a UDP proxy that loses datagrams, by seed.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tickwire_sim::{Chance, Rng};

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
        let front = socket();
        let addr = front.local_addr().expect("bound");
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let thread = std::thread::spawn(move || forward(&front, server, loss, seed, &ended));
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

fn forward(front: &UdpSocket, server: SocketAddr, loss: Chance, seed: u64, ended: &AtomicBool) {
    let mut rng = Rng::new(seed);
    let mut buffer = [0; 2_048];
    // One socket a client, so that the server can tell them apart.
    let mut clients: BTreeMap<SocketAddr, UdpSocket> = BTreeMap::new();
    front
        .set_read_timeout(Some(PAUSE))
        .expect("a timeout can be set");
    while !ended.load(Ordering::Relaxed) {
        while let Some((length, client)) = receive(front, &mut buffer) {
            let back = clients.entry(client).or_insert_with(|| {
                let back = socket();
                back.set_nonblocking(true)
                    .expect("sockets can be non-blocking");
                back
            });
            if !rng.happens(loss) {
                back.send_to(&buffer[..length], server).ok();
            }
        }
        for (client, back) in &clients {
            while let Some((length, _)) = receive(back, &mut buffer) {
                if !rng.happens(loss) {
                    front.send_to(&buffer[..length], client).ok();
                }
            }
        }
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
