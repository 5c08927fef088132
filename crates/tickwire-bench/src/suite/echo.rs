//! The driver against a bare loop: how many datagrams of 100 bytes each echoes a second.
//!
//! Both servers have one socket and one thread, both move up to `DATAGRAM_BATCH` datagrams in a
//! system call, and the same load keeps the same number of them under way. The load may be what
//! limits both, which would flatter the slower; so the processor time that each server takes for a
//! datagram, in the program and in the kernel, is compared too.

#[allow(
    unsafe_code,
    reason = "the batched system calls have no safe interface"
)]
pub(super) mod bare;
mod load;

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use tickwire_net::{Carries, Driver};
use tickwire_session::echo::DatagramEcho;

use super::ANY_PORT;
use super::clock::timed;
use super::report::{Figure, Ratio, Target};
use super::rounds::Rounds;
use bare::{Batch, ask_for_buffers};
use load::Load;

const ROUNDS: usize = 60;

/// How long a side is measured in one round.
const SLICE: Duration = Duration::from_millis(100);

/// How long a server waits for a datagram before it looks whether it shall end.
const PATIENCE: Duration = Duration::from_millis(100);

/// What one server did in one slice.
struct Slice {
    datagrams_a_second: f64,
    server_nanos_a_datagram: f64,
}

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut bench = Bench::new()?;
    let rounds = Rounds::run(ROUNDS, &mut bench, Bench::run_driver, Bench::run_bare)?;
    let rate = rounds.compare(|slice| slice.datagrams_a_second);
    let time = rounds.compare(|slice| slice.server_nanos_a_datagram);
    Ok(vec![
        Figure::plain("bare echo", rate.second, "datagrams/s"),
        Figure {
            ratio: Some(Ratio {
                spread: rate.ratio,
                to: "the bare loop",
            }),
            target: Some(Target::RatioAtLeast(0.7)),
            ..Figure::plain("driver echo", rate.first, "datagrams/s")
        },
        Figure {
            ratio: Some(Ratio {
                spread: time.ratio,
                to: "the bare loop",
            }),
            // What moves 0.7 times as much takes 1 / 0.7 of the time.
            target: Some(Target::RatioAtMost(1.43)),
            ..Figure::plain("driver echo, server", time.first, "ns/datagram")
        },
    ])
}

/// Both servers, each with a load of its own.
struct Bench {
    driver: Driver,
    session: DatagramEcho,
    driver_load: Load,
    bare: UdpSocket,
    batch: Batch,
    bare_load: Load,
}

impl Bench {
    fn new() -> anyhow::Result<Self> {
        let mut driver = Driver::new()?;
        let node = driver.bind(ANY_PORT, Carries::Datagrams)?;
        let addr = driver.local_addr(node).context("it was just bound")?;
        let bare = UdpSocket::bind(ANY_PORT)?;
        ask_for_buffers(&bare)?;
        bare.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            driver,
            session: DatagramEcho::default(),
            driver_load: Load::new(addr)?,
            batch: Batch::new(),
            bare_load: Load::new(bare.local_addr()?)?,
            bare,
        })
    }

    fn run_driver(&mut self) -> anyhow::Result<Slice> {
        let (driver, session) = (&mut self.driver, &mut self.session);
        measure(&mut self.driver_load, || {
            driver.turn(driver.now() + PATIENCE, &mut [session])?;
            Ok(())
        })
    }

    fn run_bare(&mut self) -> anyhow::Result<Slice> {
        let (socket, batch) = (&self.bare, &mut self.batch);
        measure(&mut self.bare_load, || {
            batch.receive(socket)?;
            batch.send_back(socket)?;
            Ok(())
        })
    }
}

/// Runs a server, turn by turn, on a thread of its own, and the load on this one.
fn measure(
    load: &mut Load,
    mut turn: impl FnMut() -> anyhow::Result<()> + Send,
) -> anyhow::Result<Slice> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let server = scope.spawn(|| {
            timed(|| {
                while !over.load(Ordering::Relaxed) {
                    turn()?;
                }
                anyhow::Ok(())
            })
        });
        let carried = load.run(SLICE);
        over.store(true, Ordering::Relaxed);
        load.nudge()?;
        let (time, served) = server.join().expect("a server does not panic");
        served?;
        let carried = carried?;
        Ok(Slice {
            datagrams_a_second: carried.datagrams as f64 / carried.took.as_secs_f64(),
            server_nanos_a_datagram: time.as_nanos() as f64 / carried.datagrams as f64,
        })
    })
}
