//! A module of 64 MiB over loopback, against a bare copy of the same bytes.
//!
//! Both sides of either are on one thread, so that the processor's time is the whole of it: the client and
//! the server in one driver, and a socket that is written to and read from by turns. What arrived is hashed
//! with SHA-256, as a client has to.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tickwire_dialects::reone::{Client, ClientConfig, ClientEvent, Module, Server, ServerConfig};
use tickwire_net::{Carries, Driver};
use tickwire_session::Events as _;
use tickwire_session::bulk::ContentHash;

use crate::suite::ANY_PORT;
use crate::suite::clock::timed;
use crate::suite::report::{Figure, Ratio, Target};
use crate::suite::rounds::Rounds;

const MEBIBYTES: usize = 64;
const ROUNDS: usize = 5;
/// Bytes that the bare copy moves at a time.
const PIECE: usize = 64 * 1_024;
/// Between two looks at what the client was told, and how long it may take.
const TURN: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(120);

/// What the target says.
const OF_BARE: f64 = 0.7;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut content: Arc<[u8]> = vec![0; MEBIBYTES << 20].into();
    let bytes = Arc::get_mut(&mut content).context("nobody else has it")?;
    for (byte, value) in bytes.iter_mut().zip((0..=250).cycle()) {
        *byte = value;
    }
    let rates = Rounds::run(
        ROUNDS,
        &mut content,
        |content| load(content),
        |content| copy(content),
    )?;
    let rates = rates.compare(|rate| *rate);
    Ok(vec![
        Figure::plain("bare copy and SHA-256", rates.second, "MiB/s"),
        Figure {
            ratio: Some(Ratio {
                spread: rates.ratio,
                to: "the bare copy",
            }),
            target: Some(Target::RatioAtLeast(OF_BARE)),
            ..Figure::plain("reone module", rates.first, "MiB/s")
        },
    ])
}

fn rate(time: Duration) -> f64 {
    MEBIBYTES as f64 / time.as_secs_f64()
}

/// MiB that a client loads in a second of the processor.
fn load(content: &Arc<[u8]>) -> anyhow::Result<f64> {
    let config = ServerConfig {
        module: Module {
            name: "bench".into(),
            resources: [("texture".to_owned(), content.clone())].into(),
            ..Module::default()
        },
        ..ServerConfig::default()
    };
    let mut server = Server::new(config, [7; 32])?;
    let mut driver = Driver::new()?;
    let node = driver.bind(ANY_PORT, Carries::Both)?;
    let addr = driver.local_addr(node).context("a server has a socket")?;
    driver.open();
    let config = ClientConfig::new(addr.into(), "bench")?;
    let mut client = Client::new(driver.now(), config);
    let end = driver.now() + PATIENCE;
    let (time, loaded) = timed(|| {
        while driver.now() < end {
            let until = driver.now() + TURN;
            driver.turn(until, &mut [&mut server, &mut client])?;
            while server.poll_event().is_some() {}
            while let Some(event) = client.poll_event() {
                match event {
                    ClientEvent::Loaded => return Ok(()),
                    ClientEvent::Ended(why) => bail!("{why}"),
                    _ => {}
                }
            }
        }
        bail!("it did not load in {PATIENCE:?}")
    });
    loaded?;
    Ok(rate(time))
}

/// MiB that a bare socket moves in a second of the processor, with the hash of what came.
fn copy(content: &[u8]) -> anyhow::Result<f64> {
    let listener = TcpListener::bind(ANY_PORT)?;
    let mut sender = TcpStream::connect(listener.local_addr()?)?;
    let (mut receiver, _) = listener.accept()?;
    sender.set_nonblocking(true)?;
    receiver.set_nonblocking(true)?;
    let expected = ContentHash::of(content);
    let (time, copied) = timed(|| {
        let mut rest = content;
        let mut piece = vec![0; PIECE];
        let mut held = Vec::with_capacity(content.len());
        while held.len() < content.len() {
            let next = rest.get(..PIECE.min(rest.len())).unwrap_or_default();
            match sender.write(next) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            match receiver.read(&mut piece) {
                Ok(read) => held.extend_from_slice(piece.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ContentHash::of(&held))
    });
    ensure!(copied? == expected, "what arrived is something else");
    Ok(rate(time))
}
