//! The golden payloads: every object in each form, with the cases that a reader gets wrong.

use tickwire_dialects::cppevy::message::{Object, Sender};
use tickwire_dialects::cppevy::{ActionId, Component, EventId, Reason};

use crate::golden::Golden;
use crate::words::{
    BUY, HEALTH, POSITION, SHIP, SPARK, STEER, action, asset, attach, client_join, client_leave,
    dismiss, event, failure, join, joined, leave, payload, piece, request, state, state_id,
    success, summon,
};

type Accepted = (Golden, Sender, u32, Vec<Object<'static>>);

/// A number whose bytes cannot be mistaken for each other.
const TOKEN: u64 = 0x0807_0605_0403_0201;

/// Every golden payload in which nothing is wrong, and what it holds.
pub(super) fn accepted() -> Vec<Accepted> {
    let mut all = from_client();
    all.extend(states_and_events());
    all.extend(answers());
    all.extend(whole_payloads());
    all
}

fn golden(
    sender: Sender,
    name: &'static str,
    title: &'static str,
    timestamp: u32,
    objects: Vec<Object<'static>>,
) -> Accepted {
    let golden = Golden {
        name,
        title,
        sender: name_of(sender),
        bytes: payload(timestamp, &objects),
    };
    (golden, sender, timestamp, objects)
}

const fn name_of(sender: Sender) -> &'static str {
    match sender {
        Sender::Client => "client",
        Sender::Server => "server",
    }
}

fn from_client() -> Vec<Accepted> {
    let one = |name, title, object| golden(Sender::Client, name, title, 350, vec![object]);
    vec![
        one(
            "action-join",
            "Join: version and name, padded to an even length",
            join("ada"),
        ),
        one(
            "action-join-utf8",
            "Join: two bytes of the name are one character",
            join("Ægir"),
        ),
        one(
            "action-attach",
            "Attach: the token that Join brought, by UDP",
            attach(TOKEN),
        ),
        one(
            "action-asset",
            "Asset: from byte 480 on",
            asset(480, "hull.png"),
        ),
        one("action-leave", "Leave: no data", leave()),
        one(
            "action-game",
            "An action of a game: thrust and turn as one input",
            action(STEER, &[0x7f, 0x81]),
        ),
        one(
            "state-request-plain",
            "StateRequest: component 2 of entity 341, padded",
            request(state_id(0x155, HEALTH)),
        ),
    ]
}

fn states_and_events() -> Vec<Accepted> {
    let one = |name, title, object| golden(Sender::Server, name, title, 70_000, vec![object]);
    let mut position = 1.5_f32.to_le_bytes().to_vec();
    position.extend((-2.0_f32).to_le_bytes());
    let last = Component::new(63).expect("the last");
    vec![
        one(
            "state-position",
            "State: position 1.5, -2 of entity 5",
            state(state_id(5, POSITION), &position),
        ),
        one(
            "state-health",
            "State: component 2 of entity 341",
            state(state_id(0x155, HEALTH), &[80]),
        ),
        one(
            "state-last",
            "State: the last component of the last entity, no data",
            state(state_id(1_023, last), &[]),
        ),
        one(
            "event-summon",
            "Summon: entity 5 is of archetype 7",
            summon(5, SHIP),
        ),
        one("event-dismiss", "Dismiss: entity 1023", dismiss(1_023)),
        one(
            "event-client-join",
            "ClientJoin: actor 258",
            client_join(0x0102),
        ),
        one(
            "event-client-leave",
            "ClientLeave: actor 258",
            client_leave(0x0102),
        ),
        one(
            "event-asset",
            "Asset: a piece of an asset, from byte 480 on",
            piece(480, b"tail"),
        ),
        one("event-game", "An event of a game", event(SPARK, &[1, 2, 3])),
    ]
}

fn answers() -> Vec<Accepted> {
    let one = |name, title, object| golden(Sender::Server, name, title, 1_010, vec![object]);
    vec![
        one(
            "success-join",
            "Join succeeded: actor 5 and its token",
            joined(5, TOKEN),
        ),
        one(
            "success-asset",
            "Asset succeeded: 500 bytes in total",
            success(ActionId::ASSET, &500_u32.to_le_bytes()),
        ),
        one(
            "success-plain",
            "Success without a message has data of size 0",
            success(ActionId::ATTACH, &[]),
        ),
        one(
            "success-message",
            "Success with a message of the game",
            success(BUY, b"ok"),
        ),
        one(
            "failure-unavailable",
            "Failure: not as things stand",
            failure(ActionId::JOIN, Reason::Unavailable),
        ),
        one(
            "failure-disabled",
            "Failure: never on this server",
            failure(ActionId::DISABLED, Reason::Disabled),
        ),
        one(
            "failure-error",
            "Failure: the action makes no sense",
            failure(ActionId::ATTACH, Reason::Error),
        ),
        one(
            "failure-waiting",
            "Failure: too soon",
            failure(BUY, Reason::Waiting),
        ),
        one(
            "failure-delayed",
            "Failure: not yet; a success may follow",
            failure(BUY, Reason::Delayed),
        ),
        one(
            "failure-busy",
            "Failure: ask again after a short wait",
            failure(ActionId::ASSET, Reason::Busy),
        ),
    ]
}

fn whole_payloads() -> Vec<Accepted> {
    let big = |byte: u8, size| event(EventId(0x0102), &vec![byte; size]);
    let server = |name, title, objects| golden(Sender::Server, name, title, u32::MAX, objects);
    vec![
        golden(
            Sender::Client,
            "payload-empty",
            "An empty payload keeps a path alive",
            0x0403_0201,
            vec![],
        ),
        server(
            "payload-even",
            "Two objects of 4 and 6 bytes: no padding",
            vec![failure(BUY, Reason::Busy), success(BUY, b"ok")],
        ),
        server(
            "payload-odd",
            "Two objects of 4 and 5 bytes, and padding",
            vec![failure(BUY, Reason::Busy), success(BUY, b"!")],
        ),
        server(
            "payload-looks-padded",
            "Data may end in 0xff: it is no padding, and padding follows",
            vec![success(BUY, &[0xff])],
        ),
        server(
            "payload-full",
            "Full to the last byte: 253 + 253 bytes",
            vec![big(0xaa, 249), big(0xbb, 249)],
        ),
        server(
            "payload-full-padded",
            "The largest with padding: 253 + 252 + 1 bytes",
            vec![big(0xaa, 249), big(0xbb, 248)],
        ),
        server(
            "payload-introduction",
            "What a client is told when it has joined, in one payload",
            vec![
                joined(1, TOKEN),
                summon(0, SHIP),
                summon(1, SHIP),
                client_join(0),
            ],
        ),
    ]
}

/// Two payloads of a server, one behind the other, as a stream carries them.
pub(super) fn streamed() -> Golden {
    let bytes = [
        payload(1_010, &[success(ActionId::LEAVE, &[])]),
        payload(1_060, &[client_leave(1)]),
    ];
    Golden {
        name: "stream-two-payloads",
        title: "A stream: one payload after another",
        sender: "server",
        bytes: bytes.concat(),
    }
}

/// Every golden payload that must not be accepted, and who sends it.
pub(super) fn refused() -> Vec<(Golden, Sender)> {
    let mut all = refused_lengths();
    all.extend(refused_objects());
    all
}

fn bad(
    sender: Sender,
    name: &'static str,
    title: &'static str,
    bytes: Vec<u8>,
) -> (Golden, Sender) {
    let golden = Golden {
        name,
        title,
        sender: name_of(sender),
        bytes,
    };
    (golden, sender)
}

/// A payload of moment 350 with this half size and body.
fn with(half_size: u8, body: &[u8]) -> Vec<u8> {
    [&[0x5e, 1, 0, 0, half_size][..], body].concat()
}

/// An action of four bytes, without a header.
const STEERING: [u8; 4] = [4, 1, 0, 0];

fn refused_lengths() -> Vec<(Golden, Sender)> {
    let client = |name, title, bytes| bad(Sender::Client, name, title, bytes);
    vec![
        client(
            "refused-short-header",
            "Cut inside the header",
            vec![1, 2, 3, 4],
        ),
        client(
            "refused-half-size-254",
            "508 bytes are announced, two more than allowed",
            with(254, &[]),
        ),
        client(
            "refused-half-size-255",
            "510 bytes are announced",
            with(255, &[]),
        ),
        client(
            "refused-longer",
            "A byte more than the header says",
            with(2, &[&STEERING[..], &[0xff]].concat()),
        ),
        client(
            "refused-shorter",
            "A whole object, and fewer bytes than the header says",
            with(3, &STEERING),
        ),
        client(
            "refused-cut-object",
            "Data that goes on behind the payload's end",
            with(2, &[4, 1, 0, 9]),
        ),
    ]
}

fn refused_objects() -> Vec<(Golden, Sender)> {
    let client = |name, title, bytes| bad(Sender::Client, name, title, bytes);
    let server = |name, title, bytes| bad(Sender::Server, name, title, bytes);
    vec![
        client(
            "refused-padding-first",
            "Padding before an object",
            with(3, &[&[0xff, 0xff][..], &STEERING].concat()),
        ),
        client(
            "refused-padding-twice",
            "Padding of two bytes",
            with(1, &[0xff, 0xff]),
        ),
        client(
            "refused-unknown-kind",
            "Kind 7: the object before it does not count either",
            with(4, &[&STEERING[..], &[7, 0, 0, 0]].concat()),
        ),
        client(
            "refused-server-kind",
            "A State, sent by a client",
            payload(350, &[state(state_id(5, HEALTH), &[1])]),
        ),
        server(
            "refused-client-kind",
            "An Action, sent by a server",
            with(2, &STEERING),
        ),
        server(
            "refused-reason-0",
            "Reason 0 does not exist",
            with(2, &[6, 2, 0, 0]),
        ),
        server(
            "refused-reason-7",
            "Reason 7 does not exist",
            with(2, &[6, 2, 0, 7]),
        ),
    ]
}
