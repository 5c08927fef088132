//! A forwarder with nothing around its system calls.
//!
//! Each address that comes in has a socket of its own towards the server, as at the end of a tunnel. It waits for
//! all of them, and moves what is there: in batches where many share a socket.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::suite::ANY_PORT;
use crate::suite::clock::thread_time;
use crate::suite::echo::bare::{Batch, Name};

pub(super) struct Bare {
    pub(super) entrance: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    /// Processor time of the thread, in nanoseconds, whenever it begins to wait.
    spent: AtomicU64,
}

impl Bare {
    pub(super) fn start(server: SocketAddr) -> anyhow::Result<Self> {
        let entrance = UdpSocket::bind(ANY_PORT)?;
        entrance.set_nonblocking(true)?;
        let at = entrance.local_addr()?;
        let shared = Arc::<Shared>::default();
        let mut forwarder = Forwarder {
            entrance,
            server,
            exits: Vec::new(),
            by_name: HashMap::new(),
            batch: Batch::new(),
            ready: Vec::new(),
        };
        let of_thread = Arc::clone(&shared);
        thread::spawn(move || {
            while !of_thread.is_over.load(Ordering::Relaxed) {
                let spent = u64::try_from(thread_time().as_nanos()).unwrap_or(u64::MAX);
                of_thread.spent.store(spent, Ordering::Relaxed);
                forwarder.turn().expect("loopback does not fail");
            }
        });
        Ok(Self {
            entrance: at,
            shared,
        })
    }

    pub(super) fn time(&self) -> Duration {
        Duration::from_nanos(self.shared.spent.load(Ordering::Relaxed))
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

struct Forwarder {
    entrance: UdpSocket,
    server: SocketAddr,
    exits: Vec<(Name, UdpSocket)>,
    by_name: HashMap<Name, usize>,
    batch: Batch,
    /// The entrance, and then the exits.
    ready: Vec<libc::pollfd>,
}

impl Forwarder {
    fn turn(&mut self) -> io::Result<()> {
        self.ready.clear();
        let exits = self.exits.iter().map(|(_, exit)| exit);
        for socket in [&self.entrance].into_iter().chain(exits) {
            self.ready.push(libc::pollfd {
                fd: socket.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            });
        }
        let count = self.ready.len() as libc::nfds_t;
        // SAFETY: there are `count` places, which outlive the call and which nothing else touches during it.
        unsafe { libc::poll(self.ready.as_mut_ptr(), count, 100) };
        if self.ready[0].revents != 0 {
            self.enter()?;
        }
        self.batch.clear();
        for (ready, (name, exit)) in self.ready[1..].iter().zip(&self.exits) {
            if ready.revents == 0 {
                continue;
            }
            while let Some(slot) = self.batch.slot()
                && let Ok(length) = exit.recv(slot)
            {
                self.batch.push(*name, length);
            }
        }
        self.batch.send_back(&self.entrance)?;
        Ok(())
    }

    /// Takes what clients sent, and sends it on.
    fn enter(&mut self) -> io::Result<()> {
        while self.batch.receive(&self.entrance)? > 0 {
            for (name, bytes) in self.batch.iter() {
                let exit = match self.by_name.get(&name) {
                    Some(exit) => *exit,
                    None => {
                        let exit = UdpSocket::bind(ANY_PORT)?;
                        exit.set_nonblocking(true)?;
                        exit.connect(self.server)?;
                        self.exits.push((name, exit));
                        self.by_name.insert(name, self.exits.len() - 1);
                        self.exits.len() - 1
                    }
                };
                self.exits[exit].1.send(bytes)?;
            }
        }
        Ok(())
    }
}
