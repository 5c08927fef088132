//! The native protocol's server: a thousand clients over loopback, and what a tick costs beyond what is sent.
//!
//! Ten thousand bodies lie on a field on which each client sees a hundred. A thousand of them are the clients' own
//! and move with every tick; the others rest. Clients send an input with each of 20 ticks a second, the server as many
//! snapshots. Only the server's processor time counts, in the program and in the kernel.

mod crowd;
mod idle;

use super::report::{Figure, Target};
use super::rounds::Spread;
use crowd::Played;

use tickwire_native::Game;
use tickwire_replica::{Archetypes, Replicate};

#[derive(Clone, Debug, Default, Replicate)]
struct Body {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
    #[replicate(angle, bits = 10)]
    heading: f32,
    #[replicate(range = 0..=100)]
    health: u8,
}

#[derive(Archetypes)]
enum Thing {
    Body(Body),
}

#[derive(Clone, Default, Replicate)]
struct Stick {
    #[replicate(range = -1..=1)]
    turn: i8,
}

struct Field;

impl Game for Field {
    type Things = Thing;
    type Input = Stick;
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 20;
    const SIGHT: f32 = 100.0;

    fn step(own: &mut Thing, stick: &Stick) {
        let Thing::Body(body) = own;
        body.heading += f32::from(stick.turn) * 0.15;
        body.at[0] = (body.at[0] + body.heading.cos() * 1.5).rem_euclid(EXTENT);
        body.at[1] = (body.at[1] + body.heading.sin() * 1.5).rem_euclid(EXTENT);
    }
}

impl Body {
    /// The n-th of all.
    fn lying(number: u32) -> Self {
        Self {
            at: place(number),
            ..Self::default()
        }
    }
}

const BODIES: u32 = 10_000;

const CLIENTS: usize = 1_000;

/// The field's side: a circle of [`Field::SIGHT`] is a hundredth of it.
const EXTENT: f32 = 1_772.5;

/// Where the n-th body lies: spread evenly, without a pattern that a grid could meet.
fn place(number: u32) -> [f32; 2] {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a share of a field is no exact place"
    )]
    let share = |step: f64| (f64::from(number) * step).fract() as f32 * EXTENT;
    [share(0.754_877_666_2), share(0.569_840_290_9)]
}

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let plain = ["1,000 native clients, plain", "· datagrams"];
    let quic = ["1,000 native clients, QUIC", "· packets"];
    figures.extend(crowd_figures(plain, (0.5, 1.1), &crowd::clear()?));
    // Its own acknowledgements are packets, too: the links' bench allows as many.
    figures.extend(crowd_figures(quic, (0.9, 1.3), &crowd::encrypted()?));
    let idle = idle::run()?;
    figures.push(Figure {
        target: Some(Target::AtMost(1_000.0)),
        ..Figure::plain(
            "A tick in which nothing changed",
            idle.a_client,
            "ns/client",
        )
    });
    figures.push(Figure {
        target: Some(Target::AtMost(50.0)),
        ..Figure::plain("· and in addition", idle.a_place, "ns/place in sight")
    });
    Ok(figures)
}

/// What a crowd costs, and that everybody in it was told of everything: a server that leaves somebody out is cheap.
fn crowd_figures(
    [name, sent]: [&'static str; 2],
    (cores, packets): (f64, f64),
    played: &Played,
) -> [Figure; 5] {
    let counted = |name, value, unit, target| Figure {
        target,
        ..Figure::plain(name, Spread::exactly(value), unit)
    };
    let each = "a client and snapshot";
    [
        Figure {
            target: Some(Target::AtMost(cores)),
            ..Figure::plain(name, played.cores, "cores")
        },
        counted(
            "· snapshots applied",
            played.rate,
            "a second",
            Some(Target::AtLeast(19.5)),
        ),
        counted(sent, played.sent, each, Some(Target::AtMost(packets))),
        counted(
            "· · applied",
            played.applied,
            each,
            Some(Target::AtLeast(0.98)),
        ),
        counted("· bytes", played.bytes, each, None),
    ]
}
