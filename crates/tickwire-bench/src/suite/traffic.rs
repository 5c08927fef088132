//! What an lwar client costs a network: bytes a second, in both directions.
//!
//! One client and six bots in the arena, on a simulated network without faults: the figures are
//! counted, not measured, and the same on every machine.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tickwire_demo::gateway::{ArenaClient, Connect, Protocol, Settings, Status};
use tickwire_demo::{Bot, GameServer, STEP};
use tickwire_session::{Instant, Traffic};
use tickwire_sim::{Network, addr};

use super::report::Figure;
use super::rounds::Spread;

const BOTS: usize = 6;
const WARM_UP: Duration = Duration::from_secs(10);
const SPAN: Duration = Duration::from_secs(120);

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let protocol = Protocol::named("lwar").context("the arena speaks lwar")?;
    let mut net = Network::new(1);
    let server_addr = addr::loopback(protocol.port);
    net.add_node(server_addr);
    net.add_node(addr::loopback(4_000));
    let mut host = GameServer::new(1, BOTS);
    host.serve(protocol, net.now(), [0; 32], &Settings::default());
    let mut bot = Bot::new(77);
    let Connect::Arena(connect) = protocol.connect else {
        bail!("{} has no arena", protocol.name);
    };
    let mut client = connect(net.now(), server_addr, "client", bot.loadout());

    let mut notices = Vec::new();
    let mut before = Traffic::NONE;
    let end = net.now() + WARM_UP + SPAN;
    while net.now() < end {
        let mut sessions = host.sessions();
        sessions.push(client.session());
        net.run_for(STEP, &mut sessions);
        let now = net.now();
        host.step(now, &mut notices);
        client.collect(now, &mut notices);
        notices.clear();
        let view = client.view(now);
        client.act(&bot.think(&view));
        if now.since(Instant::ZERO) < WARM_UP {
            before = traffic(&*client);
        }
    }
    ensure!(client.status() == Status::Playing, "the client plays");
    let after = traffic(&*client);
    let a_second = |bytes: u64| Spread::exactly(bytes as f64 / SPAN.as_secs_f64());
    Ok(vec![
        Figure::plain(
            "lwar to a client",
            a_second(after.bytes_in - before.bytes_in),
            "bytes/s",
        ),
        Figure::plain(
            "lwar from a client",
            a_second(after.bytes_out - before.bytes_out),
            "bytes/s",
        ),
    ])
}

fn traffic(client: &dyn ArenaClient) -> Traffic {
    let mut traffic = Traffic::NONE;
    client
        .figures()
        .visit_peers(&mut |peer| traffic = peer.traffic);
    traffic
}
