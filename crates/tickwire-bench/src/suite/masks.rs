//! What pixmess's masks spare: the bytes of a session against those of the same packets unmasked.
//!
//! Every stream of a session is read packet by packet, and each packet counted twice: as it was
//! written, and as its plain form would be. [`walk`] has bursts of steps and of blocks, which is what
//! masks are made for; [`plaza`] has a crowd, in which every other step is somebody else's. The figures
//! are counted, not measured, and the same on every machine.

mod listener;
mod plaza;
mod walk;

use tickwire_dialects::pixmess::Reader;
use tickwire_dialects::pixmess::mask::{MaskedType, Masks};
use tickwire_dialects::pixmess::message::{FromClient, FromServer, Packet};

use super::report::{Figure, Ratio, Target};
use super::rounds::Spread;
use listener::Streams;

/// At most so much of the plain form.
const TARGET: Target = Target::RatioAtMost(0.6);

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let [to_clients, to_server] = count(&walk::record()?);
    let [among_animals, _] = count(&plaza::record()?);
    let with_target = |figure: Figure| Figure {
        target: Some(TARGET),
        ..figure
    };
    Ok(vec![
        with_target(to_clients.movement.figure("pixmess steps to clients")),
        with_target(to_clients.blocks.figure("pixmess blocks to clients")),
        with_target(to_server.movement.figure("pixmess steps to a server")),
        with_target(to_server.blocks.figure("pixmess blocks to a server")),
        among_animals.movement.figure("· steps among animals"),
        among_animals.blocks.figure("· blocks among animals"),
    ])
}

/// The bytes of a session, those to clients first.
fn count(streams: &Streams) -> [Counts; 2] {
    let mut counts = [Counts::default(); 2];
    let [to_clients, to_server] = &mut counts;
    for [from_client, from_server] in streams.values() {
        to_server.read(from_client, FromClient::decode);
        to_clients.read(from_server, FromServer::decode);
    }
    counts
}

/// The bytes of some packets.
#[derive(Clone, Copy, Default)]
struct Bytes {
    written: usize,
    plain: usize,
}

/// The bytes of one direction.
#[derive(Clone, Copy, Default)]
struct Counts {
    movement: Bytes,
    blocks: Bytes,
}

impl Counts {
    /// Counts the packets of a stream; the last one may have been cut by the end of the walk.
    fn read<'a, P: Packet, E>(
        &mut self,
        stream: &'a [u8],
        decode: impl Fn(&mut Reader<'a>, &mut Masks) -> Result<P, E>,
    ) {
        let mut r = Reader::new(stream);
        let mut masks = Masks::default();
        let mut read = 0;
        while let Ok(packet) = decode(&mut r, &mut masks) {
            let written = r.position() - core::mem::replace(&mut read, r.position());
            let bytes = match packet.masked().map(|(of, _)| of) {
                Some(MaskedType::EntityMovement | MaskedType::OwnMovement) => &mut self.movement,
                Some(MaskedType::BlockSetSolid | MaskedType::BlockSetWalkable) => &mut self.blocks,
                Some(MaskedType::EntityCreation) | None => continue,
            };
            bytes.written += written;
            bytes.plain += packet.plain_size();
        }
    }
}

impl Bytes {
    fn figure(self, name: &'static str) -> Figure {
        let ratio = self.written as f64 / self.plain.max(1) as f64;
        Figure {
            ratio: Some(Ratio {
                spread: Spread::exactly(ratio),
                to: "unmasked",
            }),
            ..Figure::plain(name, Spread::exactly(self.written as f64), "bytes")
        }
    }
}
