//! One of every message, and some that must be refused.

use tickwire_dialects::opendrakan::bundle::Change;
use tickwire_dialects::opendrakan::message::{
    Action, ActionState, AnalogAction, BasicChanges, Confirm, Lifecycle, Message, Way,
};
use tickwire_dialects::opendrakan::{AssetRef, DatabaseId, ObjectId, Value};
use tickwire_session::Token;
use tickwire_state::{Quat, Tick, Vec3};

use super::super::script::bytes_of;
use super::inspect_on;
use crate::golden::{Golden, unhex};

type Accepted = (Golden, Way, Vec<Message<'static>>);

fn golden(
    name: &'static str,
    title: &'static str,
    way: Way,
    messages: Vec<Message<'static>>,
) -> Accepted {
    let sender = inspect_on(way).1;
    let bytes = bytes_of(&messages);
    let golden = Golden {
        name,
        title,
        sender,
        bytes,
    };
    (golden, way, messages)
}

const TICK: Tick = Tick(258);
const OBJECT: ObjectId = ObjectId(0x0102_0304);
const ASSET: AssetRef = AssetRef {
    database: DatabaseId(3),
    asset: 0x1122,
};

fn all_states() -> BasicChanges {
    let quat = Quat {
        x: 0.25,
        y: 0.5,
        z: 0.75,
        w: 1.0,
    };
    let translation = Vec3 {
        x: 1.0,
        y: 2.0,
        z: 3.0,
    };
    let values = [
        Value::Vec3(translation),
        Value::Quat(quat),
        Value::Vec3(Vec3::ONE),
        Value::Bool(true),
        Value::Bool(false),
    ];
    let change = |(index, value)| Change {
        index,
        value,
        jump: index == 0,
    };
    values.into_iter().enumerate().map(change).collect()
}

fn running() -> BasicChanges {
    BasicChanges::from_iter([Change {
        index: 4,
        value: Value::Bool(true),
        jump: false,
    }])
}

fn confirm(changes: u32, reference: u64) -> Message<'static> {
    Message::ConfirmSnapshot(Confirm {
        tick: TICK,
        real_time: 4.3,
        changes,
        reference: Tick(reference),
    })
}

fn states(states: BasicChanges) -> Message<'static> {
    Message::ObjectStates {
        tick: TICK,
        object: OBJECT,
        states,
    }
}

fn lifecycle(lifecycle: Lifecycle) -> Message<'static> {
    Message::LifecycleChanged {
        tick: TICK,
        object: OBJECT,
        lifecycle,
    }
}

const CREATED: Message<'static> = Message::ObjectCreated {
    tick: TICK,
    object: OBJECT,
    prototype: ObjectId(7),
};

const EXTRA: Message<'static> = Message::ObjectExtraStates {
    tick: TICK,
    object: OBJECT,
    bundle: &[0x07, 0x01, 100, 9, 0, 0, 0, 1],
};

pub(super) fn accepted() -> Vec<Accepted> {
    [
        handshake(),
        talk(),
        actions(),
        pieces(),
        confirmations(),
        uplink_datagrams(),
    ]
    .concat()
}

fn handshake() -> Vec<Accepted> {
    use Way::ServerStream;
    vec![
        golden(
            "database-entry",
            "One line of the table of databases",
            ServerStream,
            vec![Message::DatabaseEntry {
                database: DatabaseId(3),
                path: "common/dragon.db",
            }],
        ),
        golden(
            "load-level",
            "The level, and how many databases belong to it",
            ServerStream,
            vec![Message::LoadLevel {
                databases: 5,
                path: "levels/a.lvl",
            }],
        ),
        golden(
            "attach-downlink",
            "The token of a connection",
            ServerStream,
            vec![Message::Attach {
                token: Token(0x0123_4567_89ab_cdef),
            }],
        ),
    ]
}

fn talk() -> Vec<Accepted> {
    use Way::ServerStream;
    vec![
        golden(
            "global-message",
            "The game says hi on channel 5",
            ServerStream,
            vec![Message::GlobalMessage {
                channel: 5,
                real_time: 1.5,
                body: b"hi",
            }],
        ),
        golden(
            "object-message",
            "Object 1 says nothing to object 2, on channel 5",
            ServerStream,
            vec![Message::ObjectMessage {
                channel: 5,
                sender: ObjectId(1),
                receiver: ObjectId(2),
                real_time: 1.5,
                body: b"",
            }],
        ),
        golden(
            "object-animation",
            "Object 7 begins an animation at half again its speed",
            ServerStream,
            vec![Message::ObjectAnimation {
                real_time: 1.5,
                object: ObjectId(7),
                animation: ASSET,
                channel: -1,
                speed: 1.5,
            }],
        ),
        golden(
            "sound",
            "A sound begins",
            ServerStream,
            vec![Message::Sound {
                real_time: 1.5,
                sound: ASSET,
            }],
        ),
    ]
}

fn actions() -> Vec<Accepted> {
    use Way::ClientStream;
    vec![
        golden(
            "action",
            "Action 4 is still held",
            ClientStream,
            vec![Message::Action(Action {
                real_time: 1.5,
                code: 4,
                state: ActionState::Repeat,
            })],
        ),
        golden(
            "analog-action",
            "Stick 6 moves",
            ClientStream,
            vec![Message::AnalogAction(AnalogAction {
                real_time: 1.5,
                code: 6,
                x: 0.5,
                y: -1.0,
            })],
        ),
    ]
}

fn pieces() -> Vec<Accepted> {
    use Way::ServerDatagram;
    vec![
        golden(
            "object-states-all",
            "All five basic states; the translation jumped",
            ServerDatagram,
            vec![states(all_states())],
        ),
        golden(
            "object-states-running",
            "One boolean alone",
            ServerDatagram,
            vec![states(running())],
        ),
        golden(
            "object-extra-states",
            "Health 100, which jumped, owner 9, armed",
            ServerDatagram,
            vec![EXTRA],
        ),
        golden(
            "object-created",
            "A clone of object 7",
            ServerDatagram,
            vec![CREATED],
        ),
        golden(
            "lifecycle-destroyed",
            "An object is gone",
            ServerDatagram,
            vec![lifecycle(Lifecycle::Destroyed)],
        ),
    ]
}

fn confirmations() -> Vec<Accepted> {
    use Way::ServerDatagram;
    vec![
        golden(
            "confirm-delta",
            "Six changes to the snapshot of tick 255",
            ServerDatagram,
            vec![confirm(6, 255)],
        ),
        golden(
            "confirm-full",
            "A full snapshot of an empty world",
            ServerDatagram,
            vec![confirm(0, 0)],
        ),
        golden(
            "snapshot-whole",
            "A full snapshot of one object, in one datagram",
            ServerDatagram,
            vec![
                CREATED,
                lifecycle(Lifecycle::Running),
                states(all_states()),
                EXTRA,
                confirm(10, 0),
            ],
        ),
    ]
}

fn uplink_datagrams() -> Vec<Accepted> {
    use Way::ClientDatagram;
    vec![
        golden(
            "acknowledge",
            "A client has the snapshot of tick 258",
            ClientDatagram,
            vec![Message::AcknowledgeSnapshot { tick: TICK }],
        ),
        golden(
            "attach-uplink",
            "A client shows its token",
            ClientDatagram,
            vec![Message::Attach {
                token: Token(0x0123_4567_89ab_cdef),
            }],
        ),
    ]
}

/// Name, title, way and bytes of what must be refused.
const REFUSED: [(&str, &str, Way, &str); 11] = [
    (
        "refused-unknown-type",
        "There is no type 15",
        Way::ServerStream,
        "0f0000",
    ),
    (
        "refused-wrong-path",
        "An acknowledgement on a stream",
        Way::ClientStream,
        "0808000201000000000000",
    ),
    (
        "refused-wrong-direction",
        "A confirmation of a client",
        Way::ClientDatagram,
        "041c00020100000000000033333333333311400600000000000000",
    ),
    (
        "refused-beyond-the-datagram",
        "A payload longer than what is there",
        Way::ServerDatagram,
        "02ff00020100000000000009000000100001",
    ),
    (
        "refused-state-that-is-none",
        "A sixth basic state",
        Way::ServerDatagram,
        "020f00020000000000000009000000200001",
    ),
    (
        "refused-bundle-cut",
        "A bundle that ends inside its translation",
        Way::ServerDatagram,
        "02120002000000000000000900000001000000803f",
    ),
    (
        "refused-bundle-surplus",
        "A byte behind the bundle",
        Way::ServerDatagram,
        "02100002000000000000000900000010000100",
    ),
    (
        "refused-tick-zero",
        "A change of tick 0",
        Way::ServerDatagram,
        "0d0d0000000000000000000700000001",
    ),
    (
        "refused-path-upwards",
        "A database outside of the engine's root",
        Way::ServerStream,
        "000b00000000002e2e2f6f2e6462",
    ),
    (
        "refused-time-that-is-none",
        "An action at a time that is not a number",
        Way::ClientStream,
        "090d00000000000000f87f0400000000",
    ),
    (
        "refused-reference-ahead",
        "A confirmation whose reference is itself",
        Way::ServerDatagram,
        "041c0002010000000000003333333333331140060000000201000000000000",
    ),
];

pub(super) fn refused() -> Vec<(Golden, Way)> {
    let refused = |(name, title, way, digits)| {
        let golden = Golden {
            name,
            title,
            sender: inspect_on(way).1,
            bytes: unhex(digits),
        };
        (golden, way)
    };
    REFUSED.into_iter().map(refused).collect()
}
