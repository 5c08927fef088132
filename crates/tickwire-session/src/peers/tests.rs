use alloc::vec;
use core::time::Duration;

use super::*;
use crate::{JOINS_A_HOST, WAITING_MAX};

const ROOMY: Room = Room {
    bytes: 1_000,
    largest: 1_200,
};

const fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

const fn addr(host: u64, port: u16) -> Addr {
    Addr {
        host: Host::Link(host),
        port,
    }
}

const fn stream(number: u32) -> StreamId {
    StreamId::Accepted(number)
}

/// A table of peers who have these bytes to say.
type Table = Peers<Vec<u8>>;

fn table() -> Table {
    Peers::new(at(0), [7; 32], 16)
}

fn open(peers: &mut Table, number: u32, host: u64) -> PeerId {
    let opened = peers.open(at(0), stream(number), addr(host, 1), vec![]);
    assert!(opened.evicted.is_none());
    opened.peer
}

/// Writes what a peer has to say, as far as there is room.
fn write(_: PeerId, peer: &mut Peer<Vec<u8>>, out: &mut Vec<u8>) -> Wrote {
    let room = usize::try_from(peer.link.stream_room()).unwrap();
    let taken = room.min(peer.state.len());
    out.extend(peer.state.drain(..taken));
    match (taken, peer.state.is_empty()) {
        (0, true) => Wrote::Nothing,
        (0, false) => Wrote::Blocked,
        _ => Wrote::Stream,
    }
}

fn poll(peers: &mut Table) -> (Option<Transmit>, Vec<u8>) {
    let mut out = vec![];
    (peers.poll_transmit(&mut out, write), out)
}

#[test]
fn only_those_who_are_ready_are_asked_and_within_their_room() {
    let mut peers = table();
    let first = open(&mut peers, 1, 1);
    let second = open(&mut peers, 2, 1);
    for id in [first, second] {
        peers.get_mut(id).unwrap().state = vec![1, 2, 3];
    }
    assert_eq!(poll(&mut peers), (None, vec![]));
    let room = Room {
        bytes: 2,
        ..Room::CLOSED
    };
    assert_eq!(
        peers.handle_room(Path::Stream(stream(2)), room),
        Some(second)
    );
    let on = stream(2);
    assert_eq!(
        poll(&mut peers),
        (Some(Transmit::Stream { on }), vec![1, 2])
    );
    assert_eq!(poll(&mut peers), (None, vec![]), "blocked");
    peers.handle_room(Path::Stream(on), ROOMY);
    assert_eq!(poll(&mut peers), (Some(Transmit::Stream { on }), vec![3]));
    assert_eq!(peers.get(second).unwrap().link.traffic.bytes_out, 3);
    assert_eq!(poll(&mut peers), (None, vec![]), "the first has no room");
}

#[test]
fn whoever_is_closed_is_told_the_rest_and_finished() {
    let mut peers = table();
    let id = open(&mut peers, 1, 1);
    peers.get_mut(id).unwrap().state = vec![9];
    peers.close(id, at(2_000));
    assert_eq!(poll(&mut peers), (None, vec![]), "there is no room yet");
    peers.handle_room(Path::Stream(stream(1)), ROOMY);
    let on = stream(1);
    assert_eq!(poll(&mut peers).0, Some(Transmit::Stream { on }));
    assert_eq!(poll(&mut peers).0, Some(Transmit::Finish { on }));
    assert!(peers.is_empty());
    assert_eq!(peers.next_due(), None);
}

#[test]
fn whoever_does_not_read_its_farewell_is_aborted() {
    let mut peers = table();
    let id = open(&mut peers, 1, 1);
    peers.admit(at(0), id).unwrap();
    peers.get_mut(id).unwrap().state = vec![9];
    peers.close(id, at(2_000));
    peers.close(id, at(9_000));
    poll(&mut peers);
    assert_eq!(peers.next_due(), Some(at(2_000)));
    assert_eq!(peers.pop_due(at(2_000)), None);
    let on = stream(1);
    assert_eq!(poll(&mut peers).0, Some(Transmit::Abort { on }));
    assert!(peers.is_empty());
}

#[test]
fn proof_is_due_once_and_only_of_those_who_wait() {
    let mut peers = table();
    let late = open(&mut peers, 1, 1);
    let admitted = open(&mut peers, 2, 2);
    let told_to_go = open(&mut peers, 3, 3);
    peers.admit(at(1), admitted).unwrap();
    peers.get_mut(told_to_go).unwrap().state = vec![1];
    peers.close(told_to_go, at(60_000));
    let due = at(0) + PROOF_PATIENCE;
    assert_eq!(peers.next_due(), Some(due));
    assert_eq!(peers.pop_due(at(1)), None);
    assert_eq!(peers.pop_due(due), Some(Due::Proof(late)));
    assert_eq!(peers.pop_due(due), None);
    let on = stream(3);
    assert_eq!(
        poll(&mut peers).0,
        Some(Transmit::Abort { on }),
        "closing slowly keeps no place"
    );
    assert_eq!(peers.next_due(), None);
}

#[test]
fn a_newcomer_always_gets_in() {
    let mut peers = table();
    for number in 0..u32::try_from(WAITING_MAX).unwrap() {
        open(&mut peers, number, 1);
    }
    let opened = peers.open(at(1), stream(9_000), addr(2, 1), vec![]);
    let (gone, peer) = opened.evicted.unwrap();
    assert_eq!(
        (gone, peer.link.stream(), peer.link.host()),
        (PeerId(1), stream(0), Host::Link(1))
    );
    let on = stream(0);
    assert_eq!(poll(&mut peers).0, Some(Transmit::Abort { on }));
    assert!(peers.get(opened.peer).is_some());
    assert_eq!(peers.len(), WAITING_MAX);
}

#[test]
fn those_who_are_refused_go_on_waiting() {
    let mut peers = table();
    for number in 0..JOINS_A_HOST {
        let id = open(&mut peers, number, 1);
        assert_eq!(peers.admit(at(0), id), Ok(()));
        assert_eq!(peers.admit(at(0), id), Ok(()), "admitted once");
    }
    let id = open(&mut peers, 9_000, 1);
    assert!(peers.admit(at(0), id).is_err());
    assert_eq!(peers.get(id).unwrap().link.admission, Admission::Waiting);
    assert_eq!(peers.admit(at(100), id), Ok(()));
    let id = open(&mut peers, 9_001, 2);
    peers.set_busy(true);
    assert_eq!(peers.admit(at(100), id), Err(NotAdmitted::Busy));
}

#[test]
fn whoever_takes_part_already_is_admitted_while_nobody_joins() {
    let mut peers = table();
    let again = open(&mut peers, 1, 1);
    peers.set_busy(true);
    assert_eq!(peers.admit(at(1), again), Err(NotAdmitted::Busy));
    peers.admit_again(again);
    assert_eq!(
        peers.get(again).unwrap().link.admission,
        Admission::Admitted
    );
    assert_eq!(peers.pop_due(at(60_000)), None);
}

#[test]
fn a_token_ties_an_address_to_a_peer_until_it_goes() {
    let mut peers = table();
    let id = open(&mut peers, 1, 1);
    let narrow = Room {
        largest: 600,
        ..Room::DATAGRAMS
    };
    assert_eq!(peers.handle_room(Path::Datagrams(addr(1, 5)), narrow), None);
    let token = peers.issue_token(id).unwrap();
    assert!(peers.show_token(at(0), addr(2, 5), token).is_err());
    assert!(peers.show_token(at(0), addr(1, 5), token).unwrap().moved);
    assert_eq!(peers.at_addr(addr(1, 5)), Some(id));
    let link = &peers.get(id).unwrap().link;
    assert_eq!(
        (link.datagrams(), link.datagram_room().largest),
        (Some(addr(1, 5)), 600)
    );
    peers.mark_ready(id);
    let mut out = vec![];
    let sent = peers.poll_transmit(&mut out, |_, _, out| {
        out.push(1);
        Wrote::Datagram
    });
    assert_eq!(sent, Some(Transmit::Datagram { to: addr(1, 5) }));
    assert!(peers.handle_closed(Path::Datagrams(addr(1, 5))).is_none());
    peers.close(id, at(10));
    assert_eq!(peers.at_addr(addr(1, 5)), None);
}

#[test]
fn deadlines_come_in_order_and_once() {
    let mut peers = table();
    let ids = [1, 2, 3].map(|number| {
        let id = open(&mut peers, number, u64::from(number));
        peers.admit(at(0), id).unwrap();
        id
    });
    peers.set_deadline(ids[0], Some(at(30)));
    peers.set_deadline(ids[1], Some(at(10)));
    peers.set_deadline(ids[2], Some(at(20)));
    peers.set_deadline(ids[2], Some(at(40)));
    peers.set_deadline(ids[1], None);
    peers.set_deadline(ids[1], Some(at(25)));
    assert_eq!(peers.next_due(), Some(at(25)));
    assert_eq!(peers.pop_due(at(30)), Some(Due::Deadline(ids[1])));
    assert_eq!(peers.pop_due(at(30)), Some(Due::Deadline(ids[0])));
    assert_eq!(peers.pop_due(at(30)), None);
    assert_eq!(peers.next_due(), Some(at(40)));
    assert_eq!(
        peers.handle_closed(Path::Stream(stream(3))).unwrap().0,
        ids[2]
    );
    assert_eq!(peers.next_due(), None);
}

#[test]
fn nothing_is_left_of_those_who_are_gone() {
    let mut peers = table();
    let id = open(&mut peers, 1, 1);
    let token = peers.issue_token(id).unwrap();
    peers.show_token(at(0), addr(1, 5), token).unwrap();
    peers.set_deadline(id, Some(at(1) + Duration::from_secs(1)));
    peers.mark_ready(id);
    assert!(peers.handle_closed(Path::Stream(stream(1))).is_some());
    assert!(peers.handle_closed(Path::Stream(stream(1))).is_none());
    assert_eq!((peers.at_addr(addr(1, 5)), peers.next_due()), (None, None));
    assert_eq!(poll(&mut peers), (None, vec![]));
    assert!(peers.is_empty());
}
