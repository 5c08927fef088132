//! What goes out to one connection: its stream first, then what is newest of the world.

use alloc::vec::Vec;

use tickwire_replica::World;
use tickwire_replica::server::{self, Clients};
use tickwire_session::bulk::Shelf;
use tickwire_session::{Instant, Peer, PeerLink, Transmit, Wrote};

use super::Server;
use super::event::ServerCounters;
use super::player::{Connection, Player};
use crate::game::Game;
use crate::limits::{DATAGRAM_MAX, PIECE_MAX};
use crate::message::{DatagramDown, Down, Latest, Writer};

/// Bytes of a message of which only the newest counts.
pub(super) const LATEST_MAX: usize = DATAGRAM_MAX - 4;

/// Bytes before the world's state in a datagram.
const STATE_HEAD: usize = 2;

impl<G: Game> Server<G> {
    pub(super) fn write(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let Self {
            peers,
            players,
            clients,
            world,
            shelf,
            counters,
            ..
        } = self;
        peers.poll_transmit(out, |_, Peer { link, state }, out| {
            let player = state.player.and_then(|id| players.get_mut(&id));
            let Some(player) = player else {
                let written = state.farewell.write(link.stream_room(), out);
                return wrote_stream(written, state.farewell.waiting());
            };
            push_pieces(state, player, shelf, counters);
            if player.outbox.write(link.stream_room(), out).is_some() {
                return Wrote::Stream;
            }
            write_datagrams(now, link, state, player, (clients, world), out)
        })
    }
}

fn wrote_stream(written: Option<usize>, waiting: usize) -> Wrote {
    match written {
        Some(_) => Wrote::Stream,
        None if waiting > 0 => Wrote::Blocked,
        None => Wrote::Nothing,
    }
}

/// Queues the next piece of what a client fetches, if it would not hold up anything.
fn push_pieces<G: Game>(
    state: &mut Connection,
    player: &mut Player<G>,
    shelf: &Shelf,
    counters: &mut ServerCounters,
) {
    while player.outbox.waiting() < PIECE_MAX {
        if let Some(sending) = &mut state.sending {
            let name: alloc::string::String = sending.name().into();
            let piece = sending.poll_piece(PIECE_MAX);
            let pushed = piece.map(|piece| {
                let frame = Down::Piece { name: &name, piece };
                player.outbox.push(|out| frame.encode(out)).ok();
            });
            if pushed.is_none() {
                state.sending = None;
            }
            continue;
        }
        let Some((name, offset)) = state.fetches.pop_front() else {
            return;
        };
        match shelf.send(&name, offset) {
            Ok(sending) => state.sending = Some(sending),
            Err(_) => {
                counters.no_such_resource += 1;
                let frame = Down::NoSuch { name: &name };
                player.outbox.push(|out| frame.encode(out)).ok();
            }
        }
    }
}

/// Writes a message of which only the newest counts, or a packet of the world.
fn write_datagrams<G: Game>(
    now: Instant,
    link: &mut PeerLink,
    state: &mut Connection,
    player: &mut Player<G>,
    (clients, world): (&mut Clients, &mut World<G::Things>),
    out: &mut Vec<u8>,
) -> Wrote {
    let room = link.datagram_room();
    let largest = usize::from(room.largest).min(DATAGRAM_MAX);
    let takes_datagrams = link.datagrams().is_some()
        && !state.is_stream_only
        && largest >= tickwire_replica::limits::ROOM_MIN + STATE_HEAD;
    if takes_datagrams && (room.bytes as usize) < largest {
        // What waits is the newest when there is room again.
        return Wrote::Blocked;
    }
    if !takes_datagrams && player.outbox.waiting() > 0 {
        return Wrote::Blocked;
    }
    let size = if takes_datagrams {
        largest
    } else {
        DATAGRAM_MAX
    };
    let start = out.len();
    if !write_latest(player, size, out) {
        if !player.is_due {
            return Wrote::Nothing;
        }
        let margin = player.inputs.margin();
        DatagramDown::write_state_head(margin, &mut Writer::new(out, STATE_HEAD));
        let room = server::Room {
            datagram: size - STATE_HEAD,
            path: room.bytes as usize,
        };
        let Some(packet) = clients.poll_packet(world, player.client, room, out) else {
            out.truncate(start);
            player.is_due = false;
            return Wrote::Nothing;
        };
        player.flights.add(now, packet);
        link.updates.add(now);
    }
    if takes_datagrams {
        state.is_tried = false;
        return Wrote::Datagram;
    }
    // By stream, a packet at a time: the next one is made when this one is on its way.
    let datagram = out.split_off(start);
    let frame = Down::Datagram(&datagram);
    player.outbox.push(|out| frame.encode(out)).ok();
    wrote_stream(
        player.outbox.write(link.stream_room(), out),
        player.outbox.waiting(),
    )
}

/// Writes the next of the messages that replace each other. Returns whether there was one.
fn write_latest<G: Game>(player: &mut Player<G>, size: usize, out: &mut Vec<u8>) -> bool {
    let due = player.latest.iter_mut().find(|(_, it)| it.is_due);
    let Some((&channel, latest)) = due else {
        return false;
    };
    latest.is_due = false;
    latest.repeats -= 1;
    if latest.body.len() + 4 > size {
        return false;
    }
    let datagram = DatagramDown::Latest(Latest {
        channel,
        number: latest.number,
        body: &latest.body,
    });
    datagram.encode(out);
    true
}
