//! The conversation in the wire document, held again: every byte of it is what is sent.

use std::fmt::Write as _;
use std::path::PathBuf;

use tickwire_dialects::opendrakan::message::{Action, ActionState, Lifecycle, Message};
use tickwire_dialects::opendrakan::{
    AssetRef, DatabaseId, Level, LevelObject, ObjectId, ServerConfig, State, Value,
};
use tickwire_session::StreamId;
use tickwire_state::{Tick, Vec3};

use crate::golden::{hex, unhex};
use crate::script::{CLASS, ServerScript, bytes_of, machine, registry};

const OBJECT: ObjectId = ObjectId(1);
const CLIENT: tickwire_session::Addr = machine(2, 5_000);

/// What was sent, in order: who and how, and the bytes.
#[derive(Default)]
struct Log(Vec<(&'static str, Vec<u8>)>);

impl Log {
    fn stream(&mut self, script: &mut ServerScript, on: StreamId) {
        let bytes = script.streams.remove(&on).unwrap_or_default();
        self.0.push(("server, stream", bytes));
    }

    fn snapshot(&mut self, script: &mut ServerScript) -> Tick {
        let tick = script.next_send_tick();
        let [(_, bytes)] = &script.datagrams[..] else {
            panic!("one datagram");
        };
        self.0.push(("server, datagram", bytes.clone()));
        tick
    }

    fn datagram(&mut self, script: &mut ServerScript, message: Message<'_>) {
        self.0.push(("client, datagram", bytes_of(&[message])));
        script.send(CLIENT, &[message]);
    }
}

fn converse() -> Log {
    let mut log = Log::default();
    let mut script = ServerScript::with(ServerConfig {
        level: Level {
            path: "a.lvl".into(),
            databases: vec!["a.db".into()],
            objects: vec![LevelObject {
                id: OBJECT,
                class: CLASS,
                lifecycle: Lifecycle::Spawned,
                states: vec![State::Extra(0, Value::U8(100))],
            }],
        },
        registry: registry(),
        ..ServerConfig::default()
    });
    let on = script.open(0, CLIENT);
    let token = script.token_on(on);
    log.stream(&mut script, on);
    log.datagram(&mut script, Message::Attach { token });
    let tick = log.snapshot(&mut script);
    log.datagram(&mut script, Message::AcknowledgeSnapshot { tick });

    let action = Message::Action(Action {
        real_time: 0.0625,
        code: 4,
        state: ActionState::Begin,
    });
    log.0.push(("client, stream", bytes_of(&[action])));
    script.write(on, &[action]);
    let place = Vec3 {
        x: 8.0,
        ..Vec3::ZERO
    };
    let server = &mut script.session;
    let armed = State::Extra(2, Value::Bool(true));
    server
        .jump(OBJECT, State::Translation(place))
        .expect("it is there");
    server.set(OBJECT, armed).expect("it is there");
    let sound = AssetRef {
        database: DatabaseId(0),
        asset: 7,
    };
    server.play_sound(sound).expect("it is there");
    let tick = log.snapshot(&mut script);
    log.stream(&mut script, on);
    log.datagram(&mut script, Message::AcknowledgeSnapshot { tick });

    let made = script.session.create(OBJECT).expect("there is room");
    let tick = log.snapshot(&mut script);
    log.datagram(&mut script, Message::AcknowledgeSnapshot { tick });
    script
        .session
        .set_lifecycle(made, Lifecycle::Destroyed)
        .expect("it is there");
    log.snapshot(&mut script);
    log
}

/// The blocks of the document's conversation: a line that says who and how, then lines of bytes and
/// words, parted by two spaces.
fn documented() -> Vec<(String, Vec<u8>)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/opendrakan/WIRE.md");
    let text = std::fs::read_to_string(path).expect("the document is there");
    let (_, section) = text
        .split_once("## A whole conversation")
        .expect("the document has it");
    let section = section.split("```").nth(1).expect("it is a code block");
    let mut blocks: Vec<(String, Vec<u8>)> = Vec::new();
    for line in section.lines().skip(1) {
        if let Some(bytes) = line.strip_prefix("  ") {
            let bytes = bytes.trim_start().split("  ").next().unwrap_or_default();
            let bytes = unhex(&bytes.replace(' ', ""));
            blocks.last_mut().expect("a block").1.extend(bytes);
        } else if !line.is_empty() {
            blocks.push((line.to_owned(), Vec::new()));
        }
    }
    blocks
}

#[test]
fn vectors_of_the_wire_document_are_what_is_sent() {
    let mut sent = String::new();
    let mut written = String::new();
    for (who, bytes) in converse().0 {
        writeln!(sent, "{who}: {}", hex(&bytes)).expect("a String grows");
    }
    for (who, bytes) in documented() {
        // Behind a colon the document says more.
        let who = who.split(':').next().unwrap_or_default();
        writeln!(written, "{who}: {}", hex(&bytes)).expect("a String grows");
    }
    assert_eq!(written, sent, "left: in the document; right: sent");
}
