//! renet over netcode at the work of the benchmark `peers`: 64 clients on loopback, a snapshot for each and an
//! input of each, sixty times over.
//!
//! In: a line for every round that is to be played. Out: a line for each, with the nanoseconds of the server's
//! thread, the kernel's included, for a datagram that is sent and for one that is received. It is used as its
//! README shows; netcode encrypts in its unsecure mode, too, by a key that everybody knows.

use std::error::Error;
use std::io::{self, BufRead as _, Write as _};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime};

use renet::{ConnectionConfig, DefaultChannel, RenetClient, RenetServer};
use renet_netcode::{
    ClientAuthentication, NetcodeClientTransport, NetcodeServerTransport, ServerAuthentication,
    ServerConfig,
};

/// As in the benchmark.
const STEPS: u32 = 60;
const SNAPSHOT: usize = 300;
const INPUT: usize = 40;
const CLIENTS: u64 = 64;

/// What both sides believe that passes between two steps.
const STEP: Duration = Duration::from_micros(16_667);

const PATIENCE: Duration = Duration::from_secs(20);

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let mut table = Table::new()?;
    for line in io::stdin().lock().lines() {
        line?;
        let (sending, receiving) = table.play()?;
        println!("{sending} {receiving}");
        io::stdout().flush()?;
    }
    Ok(())
}

struct Table {
    server: RenetServer,
    transport: NetcodeServerTransport,
    clients: Vec<(RenetClient, NetcodeClientTransport)>,
}

impl Table {
    fn new() -> Fallible<Self> {
        let any: SocketAddr = ([127, 0, 0, 1], 0).into();
        let socket = UdpSocket::bind(any)?;
        let server_addr = socket.local_addr()?;
        let current_time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let config = ServerConfig {
            current_time,
            max_clients: usize::try_from(CLIENTS)?,
            protocol_id: 0,
            public_addresses: vec![server_addr],
            authentication: ServerAuthentication::Unsecure,
        };
        let mut table = Self {
            server: RenetServer::new(ConnectionConfig::default()),
            transport: NetcodeServerTransport::new(config, socket)?,
            clients: Vec::new(),
        };
        for client_id in 0..CLIENTS {
            let authentication = ClientAuthentication::Unsecure {
                server_addr,
                client_id,
                user_data: None,
                protocol_id: 0,
            };
            let transport =
                NetcodeClientTransport::new(current_time, authentication, UdpSocket::bind(any)?)?;
            let client = RenetClient::new(ConnectionConfig::default());
            table.clients.push((client, transport));
        }
        let deadline = Instant::now() + PATIENCE;
        while table.server.connected_clients() < table.clients.len() {
            if Instant::now() > deadline {
                return Err("not everybody connected".into());
            }
            table.turn_clients(false)?;
            table.receive()?;
            table.transport.send_packets(&mut table.server);
        }
        Ok(table)
    }

    /// Nanoseconds for a datagram that the server sends, and for one that it receives.
    fn play(&mut self) -> Fallible<(f64, f64)> {
        let (mut sending, mut receiving) = (Duration::ZERO, Duration::ZERO);
        let mut heard = 0;
        for _ in 0..STEPS {
            let began = thread_time();
            for client in 0..CLIENTS {
                self.server
                    .send_message(client, DefaultChannel::Unreliable, vec![7; SNAPSHOT]);
            }
            self.transport.send_packets(&mut self.server);
            sending += thread_time() - began;
            self.turn_clients(true)?;
            let began = thread_time();
            heard += self.receive()?;
            receiving += thread_time() - began;
        }
        let datagrams = f64::from(STEPS) * CLIENTS as f64;
        if (heard as f64) < 0.9 * datagrams {
            return Err(format!("the server heard {heard} of {datagrams} inputs").into());
        }
        Ok((
            sending.as_nanos() as f64 / datagrams,
            receiving.as_nanos() as f64 / datagrams,
        ))
    }

    /// Hands in everything that came, and takes it; returns how many messages that were.
    fn receive(&mut self) -> Fallible<usize> {
        self.server.update(STEP);
        self.transport.update(STEP, &mut self.server)?;
        while self.server.get_event().is_some() {}
        let mut heard = 0;
        for client in 0..CLIENTS {
            while self
                .server
                .receive_message(client, DefaultChannel::Unreliable)
                .is_some()
            {
                heard += 1;
            }
        }
        Ok(heard)
    }

    fn turn_clients(&mut self, has_input: bool) -> Fallible<()> {
        for (client, transport) in &mut self.clients {
            client.update(STEP);
            transport.update(STEP, client)?;
            while client.receive_message(DefaultChannel::Unreliable).is_some() {}
            if has_input {
                client.send_message(DefaultChannel::Unreliable, vec![7; INPUT]);
            }
            // One that is not connected yet has nothing to send.
            transport.send_packets(client).ok();
        }
        Ok(())
    }
}

/// What the calling thread has used so far, in the program and in the kernel on its behalf.
fn thread_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for one `timespec`, and outlives the call.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "every Linux has this clock");
    Duration::new(
        time.tv_sec.cast_unsigned(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}
