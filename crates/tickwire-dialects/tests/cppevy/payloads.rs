//! Payloads at their limits. What holds for any bytes is in the fuzz targets.

use tickwire_dialects::cppevy::limits::{DATA_MAX, PADDING, PAYLOAD_MAX};
use tickwire_dialects::cppevy::message::{Object, Sender};
use tickwire_dialects::cppevy::{ActionId, EventId, Reason, StateId};

use super::words::{action, decode, event, failure, payload, payloads, request, state, success};

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
