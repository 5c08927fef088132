//! What holds for all payloads, and for sessions that are told anything at all.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tickwire_dialects::cppevy::limits::{DATA_MAX, PADDING, PAYLOAD_MAX};
use tickwire_dialects::cppevy::message::{Object, Payload, Sender};
use tickwire_dialects::cppevy::{ActionId, EventId, Phase, Reason, StateId, inspect};
use tickwire_wire::FieldLog;

use super::words::{action, decode, event, failure, payload, payloads, request, state, success};
use crate::script::{ClientScript, SERVER, ServerScript, addr, stream};

fn data() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => vec(any::<u8>(), 0..20),
        1 => vec(any::<u8>(), 0..=DATA_MAX),
    ]
}

/// Descriptors of which some mean something.
fn descriptor() -> impl Strategy<Value = u16> {
    prop_oneof![any::<u16>(), 0_u16..8, 0xff00_u16..0xff06]
}

fn from_client() -> impl Strategy<Value = Object<'static>> {
    prop_oneof![
        (descriptor(), data()).prop_map(|(id, data)| action(ActionId(id), &data)),
        descriptor().prop_map(|id| request(StateId::from_descriptor(id))),
    ]
}

fn reason() -> impl Strategy<Value = Reason> {
    prop_oneof![
        Just(Reason::Unavailable),
        Just(Reason::Disabled),
        Just(Reason::Error),
        Just(Reason::Waiting),
        Just(Reason::Delayed),
        Just(Reason::Busy),
    ]
}

fn from_server() -> impl Strategy<Value = Object<'static>> {
    prop_oneof![
        (descriptor(), data()).prop_map(|(id, data)| state(StateId::from_descriptor(id), &data)),
        (descriptor(), data()).prop_map(|(id, data)| event(EventId(id), &data)),
        (descriptor(), data()).prop_map(|(id, data)| success(ActionId(id), &data)),
        (descriptor(), reason()).prop_map(|(id, reason)| failure(ActionId(id), reason)),
    ]
}

fn objects() -> impl Strategy<Value = (Sender, Vec<Object<'static>>)> {
    prop_oneof![
        vec(from_client(), 0..60).prop_map(|objects| (Sender::Client, objects)),
        vec(from_server(), 0..60).prop_map(|objects| (Sender::Server, objects)),
    ]
}

/// One of each kind that `sender` sends, with data of `size` bytes where there is data.
fn one_of_each(sender: Sender, size: usize) -> Vec<Object<'static>> {
    let data = vec![0xff; size];
    match sender {
        Sender::Client => vec![
            action(ActionId(0xffff), &data),
            request(StateId::from_descriptor(0xffff)),
        ],
        Sender::Server => vec![
            state(StateId::from_descriptor(0xffff), &data),
            event(EventId(0xffff), &data),
            success(ActionId(0xffff), &data),
            failure(ActionId(0xffff), Reason::Busy),
        ],
    }
}

#[test]
fn every_object_reads_back_from_every_position_of_a_payload() {
    for sender in [Sender::Client, Sender::Server] {
        for size in [0, 1, 2, 100, DATA_MAX] {
            for object in one_of_each(sender, size) {
                for filler in one_of_each(sender, 1) {
                    for before in 0..60 {
                        let mut all = vec![filler; before];
                        all.extend([object, filler]);
                        let split = payloads(7, &all);
                        let read: Vec<_> = split
                            .into_iter()
                            .flat_map(|bytes| decode(bytes, sender).1)
                            .collect();
                        assert_eq!(read, all);
                    }
                }
            }
        }
    }
}

#[test]
fn payloads_are_full_to_the_last_byte_or_padded() {
    // 253 + 253 and 253 + 252 bytes of objects.
    for (second, padded) in [(249, false), (248, true)] {
        let objects = [
            event(EventId(9), &[1; 249]),
            event(EventId(9), &vec![2; second]),
        ];
        let bytes = payload(0, &objects);
        assert_eq!(bytes.len(), PAYLOAD_MAX);
        assert_eq!(bytes[4], 253);
        assert_eq!(bytes.last() == Some(&PADDING), padded);
        assert_eq!(decode(bytes, Sender::Server).1, objects);
        assert_eq!(
            payloads(0, &[&objects[..], &[objects[0]]].concat()).len(),
            2
        );
    }
    // Data may end in what looks like padding.
    let tricky = [event(EventId(9), &[0xff]), event(EventId(9), &[0xff, 0xff])];
    assert_eq!(decode(payload(0, &tricky), Sender::Server).1, tricky);
}

#[test]
fn an_empty_payload_is_five_bytes() {
    let bytes = payload(0x0403_0201, &[]);
    assert_eq!(bytes, [1, 2, 3, 4, 0]);
    assert_eq!(decode(bytes, Sender::Client), (0x0403_0201, vec![]));
}

/// Something that happens to a session.
#[derive(Clone, Debug)]
enum Happening {
    Datagram(Vec<u8>),
    Stream(Vec<u8>),
    Passes(Duration),
}

fn happening() -> impl Strategy<Value = Happening> {
    let bytes = prop_oneof![
        1 => vec(any::<u8>(), 0..40),
        2 => vec(from_client(), 0..6).prop_map(|objects| payloads(9, &objects).concat()),
        2 => vec(from_server(), 0..6).prop_map(|objects| payloads(9, &objects).concat()),
        2 => (vec(from_server(), 1..3), any::<usize>()).prop_map(|(objects, flip)| {
            let mut bytes = payloads(9, &objects).concat();
            let at = flip / 8 % bytes.len();
            bytes[at] ^= 1 << (flip % 8);
            bytes
        }),
    ];
    prop_oneof![
        3 => bytes.clone().prop_map(Happening::Datagram),
        2 => bytes.prop_map(Happening::Stream),
        1 => (0..3_000_u64).prop_map(|ms| Happening::Passes(Duration::from_millis(ms))),
    ]
}

proptest! {
    #[test]
    fn objects_survive_being_split_into_payloads((sender, objects) in objects(), stamp: u32) {
        let split = payloads(stamp, &objects);
        let mut read = Vec::new();
        for bytes in split {
            prop_assert!(bytes.len() <= PAYLOAD_MAX);
            prop_assert!(bytes.len() % 2 == 1);
            let (timestamp, objects) = decode(bytes, sender);
            prop_assert_eq!(timestamp, stamp);
            read.extend(objects);
        }
        prop_assert_eq!(read, objects);
    }

    #[test]
    fn every_strict_prefix_of_a_payload_is_refused((sender, objects) in objects()) {
        if let Some(bytes) = payloads(1, &objects).first() {
            for end in 0..bytes.len() {
                prop_assert!(Payload::decode(&bytes[..end], sender).is_err());
            }
            let longer = [&bytes[..], &[PADDING]].concat();
            prop_assert!(Payload::decode(&longer, sender).is_err());
        }
    }

    #[test]
    fn whatever_decodes_has_one_way_to_be_written(bytes in vec(any::<u8>(), 0..80), half: u8) {
        // Mostly the right length, so that the objects are looked at.
        let mut bytes = bytes;
        if bytes.len() > 5 {
            bytes.truncate(5 + (bytes.len() - 5) / 2 * 2);
            bytes[4] = if half > 250 { half } else { u8::try_from((bytes.len() - 5) / 2).unwrap() };
        }
        for sender in [Sender::Client, Sender::Server] {
            let verdict = Payload::decode(&bytes, sender);
            if let Ok(read) = verdict {
                let objects: Vec<_> = read.objects().collect();
                prop_assert_eq!(&payload(read.timestamp, &objects), &bytes);
            }
            let from_client = sender == Sender::Client;
            let inspected = inspect(from_client, false, &bytes, &mut FieldLog::default());
            prop_assert_eq!(inspected, verdict.map(drop));
            // A stretch of a stream that is one good payload is good.
            let streamed = inspect(from_client, true, &bytes, &mut FieldLog::default());
            prop_assert!(streamed.is_ok() || verdict.is_err());
        }
    }

    // That the sessions do not panic, that draining ends, and that every payload they send is a
    // good one, is checked by the scripts.
    #[test]
    fn nothing_breaks_a_server(happenings in vec(happening(), 1..30)) {
        let mut s = ServerScript::begin();
        s.play(1);
        s.open(2);
        for happening in happenings {
            match happening {
                Happening::Datagram(bytes) => s.send_bytes(addr(1), &bytes),
                Happening::Stream(bytes) if !s.has_closed(2) => s.write_bytes(stream(2), &bytes),
                Happening::Stream(_) => {}
                Happening::Passes(span) => s.pass(span),
            }
        }
        // Whatever was said, the server goes on: somebody else can still speak with it.
        s.forget();
        s.play(3);
    }

    #[test]
    fn nothing_breaks_a_client(happenings in vec(happening(), 1..30), plays: bool) {
        let mut c = if plays { ClientScript::playing() } else { ClientScript::joining() };
        for happening in happenings {
            match happening {
                Happening::Datagram(bytes) => c.send_bytes(SERVER, &bytes),
                Happening::Stream(bytes) if !c.has_closed() => c.tell_bytes(&bytes),
                Happening::Stream(_) => {}
                Happening::Passes(span) => c.pass(span),
            }
            prop_assert!(c.session.entities().count() <= 1_024);
        }
        // Silence ends it in any case.
        c.pass(Duration::from_secs(20));
        prop_assert!(matches!(c.session.phase(), Phase::Ended(_)));
    }
}
