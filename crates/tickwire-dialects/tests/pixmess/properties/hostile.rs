//! Any bytes at all, to either side.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tickwire_dialects::pixmess::message::{FromClient, FromServer};
use tickwire_dialects::pixmess::{
    Cell, Client, ClientConfig, ClientEvent, Look, PlayerId, Version, inspect,
};
use tickwire_session::{Events, Instant, Path, Room, Session, StreamId, Transmit};
use tickwire_wire::FieldLog;

use super::super::script::{ANN, BOB, CID, Carriage, Script};
use super::super::words::{Heard, Said, encode, login, xy};
use super::message::{heard, said};

const ON: StreamId = StreamId::Dialled(0);

fn drain(client: &mut Client, now: Instant) -> usize {
    let mut out = Vec::new();
    let mut events = 0;
    for _ in 0..10_000 {
        let room = Room {
            bytes: 100,
            largest: 0,
        };
        client.handle_room(now, Path::Stream(ON), room);
        match client.poll_transmit(now, &mut out) {
            None => {
                while client.poll_event().is_some() {
                    events += 1;
                }
                return events;
            }
            Some(Transmit::Stream { .. }) => assert!(out.len() <= 100, "more than the room"),
            Some(_) => {}
        }
        out.clear();
    }
    panic!("draining never ends");
}

fn client(now: Instant) -> Client {
    let server = tickwire_sim::addr::link(9);
    let config = ClientConfig::new(server, Version::Two, "ann");
    let mut client = Client::new(now, config.expect("a short name"));
    drain(&mut client, now);
    client.handle_opened(now, ON, server);
    drain(&mut client, now);
    client
}

/// What a server may well say first.
fn welcome() -> Vec<Heard> {
    let player = PlayerId(1);
    vec![
        FromServer::PlayerId { player },
        FromServer::EntityCreation {
            entity: player.entity(),
            at: Cell::default(),
            look: Look::default(),
            name: b"ann",
        },
    ]
}

proptest! {
    #[test]
    fn a_server_survives_any_bytes(
        before_login in any::<bool>(),
        bytes in vec(any::<u8>(), 0..300),
        piece in 1..50_usize,
    ) {
        let carriage = Carriage { piece, ..Carriage::WHOLE };
        let mut s = Script::with(Default::default(), carriage);
        s.join(BOB, "bob");
        s.load(BOB, xy(0, 0));
        s.open(ANN);
        if !before_login {
            s.send(ANN, &[login(2, "ann"), Said::LayerRequest(xy(0, 0))]);
        }
        s.send_bytes(ANN, &bytes);
        s.advance(Duration::from_secs(3));
        s.send(BOB, &[Said::Ping]);
        prop_assert!(s.heard(BOB).contains(&Heard::Pong));
    }

    #[test]
    fn a_server_survives_any_messages(
        messages in vec((0..3_u32, said()), 0..80),
        room in 1..2_000_u32,
    ) {
        let carriage = Carriage { piece: 100, room };
        let mut s = Script::with(Default::default(), carriage);
        for (who, name) in [(ANN, "ann"), (BOB, "bob"), (CID, "")] {
            s.open(who);
            s.send(who, &[login(2, name), Said::LayerRequest(xy(0, 0))]);
        }
        s.act(|_, _, server| server.create_set(Cell::default()).unwrap());
        for (who, message) in messages {
            let who = [ANN, BOB, CID][who as usize];
            // Those end a connection, rightly.
            if !matches!(message, FromClient::Login { .. } | FromClient::Kick { .. }) {
                s.send(who, &[message]);
            }
        }
        for who in [ANN, BOB, CID] {
            prop_assert!(s.is_open(who));
        }
    }

    #[test]
    fn a_client_survives_any_bytes(
        welcomed in any::<bool>(),
        bytes in vec(any::<u8>(), 0..300),
        piece in 1..50_usize,
    ) {
        let now = Instant::from_millis(1);
        let mut client = client(now);
        if welcomed {
            client.handle_stream(now, ON, &encode(&mut Default::default(), &welcome()));
        }
        for piece in bytes.chunks(piece) {
            client.handle_stream(now, ON, piece);
            drain(&mut client, now);
        }
        let later = now + Duration::from_secs(60);
        client.handle_timeout(later);
        drain(&mut client, later);
    }

    #[test]
    fn a_client_survives_any_messages(messages in vec(heard(), 0..80)) {
        let now = Instant::from_millis(1);
        let mut client = client(now);
        let mut masks = Default::default();
        let mut all = welcome();
        all.extend(messages);
        for message in &all {
            let bytes = encode(&mut masks, core::slice::from_ref(message));
            client.handle_stream(now, ON, &bytes);
            drain(&mut client, now);
        }
        prop_assert!(client.chunks().count() <= 50);
    }

    #[test]
    fn inspecting_any_bytes_ends(from_client in any::<bool>(), bytes in vec(any::<u8>(), 0..500)) {
        let mut log = FieldLog::default();
        let verdict = inspect(from_client, &bytes, &mut log);
        if verdict.is_ok() {
            let bits: u32 = log.entries().iter().filter_map(|e| Some(e.field.as_ref()?.0.bits)).sum();
            prop_assert_eq!(bits as usize, bytes.len() * 8);
        }
    }
}

#[test]
fn events_of_a_client_are_bounded() {
    let now = Instant::from_millis(1);
    let mut client = client(now);
    let chat = [0x58, 1, b'x'].repeat(10_000);
    client.handle_stream(now, ON, &chat);
    let mut events = 0;
    while let Some(event) = client.poll_event() {
        assert!(matches!(event, ClientEvent::Chatted(_)));
        events += 1;
    }
    assert_eq!(events, tickwire_dialects::pixmess::limits::EVENTS_WAITING);
    assert_eq!(client.counters().overrun, 10_000 - 8_192);
}
