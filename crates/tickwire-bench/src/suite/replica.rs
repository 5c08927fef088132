//! The replication engine's server: what a client costs it.
//!
//! Bodies as a game has them: a position, a rotation, health, flags. A fraction of them changes each
//! send, and all clients see all of them. What is measured is everything that a server does for a send
//! before the socket, except for writing the values: the commit, acknowledgements, packets. It is given
//! per client and entity, and compared with copying one entity's values.

mod workload;

use tickwire_replica::packet::Form;

use super::copying::{at_most, copy};
use super::report::{Figure, Ratio, Target};
use super::rounds::Rounds;
use workload::{Server, Workload};

const ROUNDS: usize = 30;

/// Sends that are measured together.
const SENDS: u32 = 10;

/// A thousand bodies, of which a tenth changes, and 64 clients that acknowledge at once.
const USUAL: Workload = Workload {
    entities: 1_000,
    clients: 64,
    changes: 100,
    is_clustered: false,
    lags: 1,
    form: Form::Packed,
};

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let all = Workload {
        changes: 1_000,
        ..USUAL
    };
    let lags = Workload { lags: 8, ..USUAL };
    let coded = |workload| Workload {
        form: Form::Coded,
        ..workload
    };
    let mut figures = vec![
        per_entity("a tenth changes, packed", USUAL, 0.4)?,
        per_entity("a tenth changes, coded", coded(USUAL), 1.0)?,
        per_entity("8 baselines, packed", lags, 3.0)?,
        per_entity("8 baselines, coded", coded(lags), 18.0)?,
        per_entity("all change, packed", all, 2.0)?,
        per_entity("all change, coded", coded(all), 8.0)?,
    ];
    figures.push(idle()?);
    figures.extend(sets()?);
    figures.extend(growth()?);
    Ok(figures)
}

/// Nanoseconds per client and entity, at most `most`.
fn per_entity(name: &'static str, workload: Workload, most: f64) -> anyhow::Result<Figure> {
    let mut server = Server::new(workload)?;
    let (bytes, sharing) = (server.bytes, server.sharing());
    let each = f64::from(SENDS * workload.clients * workload.entities);
    let rounds = Rounds::run(
        ROUNDS,
        &mut server,
        |server| Ok(serve(server) / each),
        |_| Ok(copy()),
    )?;
    let sends = f64::from(u32::try_from(ROUNDS)? + 1) * f64::from(SENDS);
    let bytes = (server.bytes - bytes) as f64 / sends / f64::from(workload.clients);
    let (before, after) = (sharing, server.sharing());
    let encoded = (after.encoded - before.encoded) as f64 / sends;
    let shared = (after.shared - before.shared) as f64 / sends;
    eprintln!(
        "  {name}: {bytes:.0} bytes a client, {encoded:.1} records encoded a send, {shared:.0} shared"
    );
    let compared = rounds.compare(|nanos| *nanos);
    Ok(Figure {
        ratio: Some(Ratio {
            spread: compared.ratio,
            to: "copying an entity",
        }),
        target: Some(at_most(most)),
        ..Figure::plain(name, compared.first, "ns/client/entity")
    })
}

fn serve(server: &mut Server) -> f64 {
    (0..SENDS).map(|_| server.send().as_nanos() as f64).sum()
}

/// Nanoseconds of a send at which nothing has changed, for all clients together.
fn idle() -> anyhow::Result<Figure> {
    let mut server = Server::new(Workload {
        changes: 0,
        ..USUAL
    })?;
    beside_copies(
        "nothing changes",
        "ns/send",
        (ROUNDS, 10_000.0),
        &mut server,
        |server| serve(server) / f64::from(SENDS),
    )
}

fn sets() -> anyhow::Result<[Figure; 3]> {
    let mut server = Server::new(Workload {
        clients: 1,
        ..USUAL
    })?;
    let mut figure = |name, most, set: fn(&mut Server) -> f64| {
        beside_copies(name, "ns", (ROUNDS * 5, most), &mut server, set)
    };
    Ok([
        figure("set, unchanged", 20.0, Server::set_unchanged)?,
        figure("set, changed", 40.0, Server::set_changed)?,
        figure("set, first of its block", 300.0, Server::set_first)?,
    ])
}

/// Nanoseconds of something, so many rounds of it, at most so many.
fn beside_copies(
    name: &'static str,
    unit: &'static str,
    (rounds, most): (usize, f64),
    server: &mut Server,
    nanos: impl Fn(&mut Server) -> f64,
) -> anyhow::Result<Figure> {
    let rounds = Rounds::run(rounds, server, |server| Ok(nanos(server)), |_| Ok(copy()))?;
    let compared = rounds.compare(|nanos| *nanos);
    Ok(Figure {
        ratio: Some(Ratio {
            spread: compared.ratio,
            to: "copying an entity",
        }),
        target: Some(at_most(most)),
        ..Figure::plain(name, compared.first, unit)
    })
}

/// How a client's cost grows with the number of clients and of entities.
fn growth() -> anyhow::Result<Vec<Figure>> {
    let crowd = Workload {
        clients: 1_024,
        ..USUAL
    };
    let clustered = Workload {
        is_clustered: true,
        ..USUAL
    };
    let large = |workload| Workload {
        entities: 100_000,
        ..workload
    };
    Ok(vec![
        compare("1,024 clients, each", crowd, USUAL, 1.0)?,
        compare(
            "100,000 entities, clustered",
            large(clustered),
            clustered,
            1.2,
        )?,
        compare("100,000 entities, scattered", large(USUAL), USUAL, 4.0)?,
    ])
}

/// What a client costs at one workload, relative to another.
fn compare(
    name: &'static str,
    first: Workload,
    second: Workload,
    most: f64,
) -> anyhow::Result<Figure> {
    let mut servers = (Server::new(first)?, Server::new(second)?);
    let per_client = |server: &mut Server, workload: Workload| {
        serve(server) / f64::from(SENDS * workload.clients)
    };
    let rounds = Rounds::run(
        ROUNDS,
        &mut servers,
        |(server, _)| Ok(per_client(server, first)),
        |(_, server)| Ok(per_client(server, second)),
    )?;
    let compared = rounds.compare(|nanos| *nanos);
    Ok(Figure {
        ratio: Some(Ratio {
            spread: compared.ratio,
            to: "the smaller",
        }),
        target: Some(Target::RatioAtMost(most)),
        ..Figure::plain(name, compared.first, "ns/client/send")
    })
}
