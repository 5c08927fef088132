//! The bytes of every frame and datagram, as golden files; what an independent decoder reads of them.
//!
//! Each case is encoded here and must be its file, byte for byte; the file's bytes must decode to the case.
//! The decoder of `tests/decoder` was written from WIRE.md alone, in Python, and reads every file.

use std::process::Command;

use tickwire_native::message::{
    Acks, DatagramDown, DatagramUp, Down, FrameReader, Hello, Inputs, Latest, Margin, Resume, Role,
    Status, Up, Welcome,
};
use tickwire_native::{EndReason, Ticket, inspect};
use tickwire_replica::PacketNumber;
use tickwire_session::Token;
use tickwire_session::bulk::Piece;
use tickwire_wire::{DecodeError, Place, Trace, Value};

use crate::conversation;
use crate::golden::{Golden, check_folder, dir, is_blessing};

const FOLDER: &str = "native";

/// Files of other forms in the folder.
const OTHERS: [&str; 3] = [
    "conversation-coded",
    "conversation-packed",
    conversation::PRIOR_FILE,
];

const HELLO: Hello<'_> = Hello {
    version: 1,
    schema: 0x1122_3344_5566_7788,
    role: Role::Player,
    name: "Ada",
    resume: None,
};

fn ticket() -> Ticket {
    // Version, schema, role and name of a Hello, the ticket, and what was received.
    let body: Vec<u8> = [0; 12].into_iter().chain(1..=16).chain([0; 4]).collect();
    match Up::decode(1, &body) {
        Ok(Up::Hello(hello)) => hello.resume.expect("a ticket").ticket,
        other => panic!("{other:?}"),
    }
}

fn welcome() -> Welcome {
    Welcome {
        player: 7,
        token: Token(0x0102_0304_0506_0708),
        ticket: ticket(),
        tick: 123_456,
        hz: 60,
        ticks_a_send: 3,
        resumed: None,
    }
}

fn up() -> Vec<(&'static str, &'static str, Up<'static>)> {
    let spectator = Hello {
        role: Role::Spectator,
        name: "Zoë",
        ..HELLO
    };
    let resume = Some(Resume {
        ticket: ticket(),
        received: 300,
    });
    let number = 300;
    vec![
        ("hello-new", "A new player", Up::Hello(HELLO)),
        (
            "hello-spectator",
            "Somebody who looks on",
            Up::Hello(spectator),
        ),
        (
            "hello-resume",
            "A player who comes back",
            Up::Hello(Hello { resume, ..HELLO }),
        ),
        ("say-from-client", "A message", Up::Say(b"\x01\x02\x03")),
        (
            "say-from-client-empty",
            "A message without a field",
            Up::Say(b""),
        ),
        (
            "ask",
            "A question whose number takes two bytes",
            Up::Ask {
                number,
                body: b"\xff",
            },
        ),
        (
            "fetch",
            "A resource from the middle on",
            Up::Fetch {
                name: "manifest",
                offset: 1 << 33,
            },
        ),
        ("leave", "A player leaves", Up::Leave),
        (
            "received-from-client",
            "What was processed",
            Up::Received(32),
        ),
        (
            "datagram-from-client",
            "A datagram where the path takes none",
            Up::Datagram(b"\x02\x00\x01\x00\x02\x00"),
        ),
    ]
}

fn down() -> Vec<(&'static str, &'static str, Down<'static>)> {
    let resumed = Welcome {
        resumed: Some(41),
        ..welcome()
    };
    let (number, body) = (300, b"\x07".as_slice());
    let status = Status::Done;
    vec![
        (
            "welcome-new",
            "A new player is let in",
            Down::Welcome(welcome()),
        ),
        (
            "welcome-resumed",
            "A player who came back",
            Down::Welcome(resumed),
        ),
        ("say-from-server", "A message", Down::Say(b"\x01\x02")),
        (
            "answer-done",
            "An answer",
            Down::Answer {
                number,
                status,
                body,
            },
        ),
        (
            "answer-refused",
            "A question that is refused",
            Down::Answer {
                number,
                status: Status::Refused,
                body: b"",
            },
        ),
        (
            "end-kicked",
            "The end, with words",
            Down::End {
                reason: EndReason::Kicked,
                words: "be nice",
            },
        ),
        (
            "event",
            "Something happened",
            Down::Event { tick: 70, body },
        ),
        ("owned", "The player's own entity", Down::Owned(99)),
        (
            "keyed",
            "An entity that came of an input",
            Down::Keyed {
                tick: 70,
                entity: 99,
            },
        ),
        (
            "received-from-server",
            "What was processed",
            Down::Received(64),
        ),
        (
            "datagram-from-server",
            "A datagram where the path takes none",
            Down::Datagram(b"\x03\x02\x05\x00\xaa"),
        ),
    ]
}

fn resources_down() -> Vec<(&'static str, &'static str, Down<'static>)> {
    let piece = Piece {
        of: 5,
        offset: 2,
        bytes: b"abc",
    };
    vec![
        (
            "piece",
            "The last bytes of a resource",
            Down::Piece { name: "map", piece },
        ),
        (
            "no-such",
            "There is no such resource",
            Down::NoSuch { name: "map" },
        ),
    ]
}

fn datagrams_up() -> Vec<(&'static str, &'static str, DatagramUp<'static>)> {
    let acks = [3, 5, 6].into_iter().fold(None, |before, packet| {
        Some(Acks::with(before, PacketNumber(packet)))
    });
    let inputs = Inputs {
        tick: 65_535,
        count: 2,
        shown: 700,
        bits: b"\x15\x01",
    };
    let latest = Latest {
        channel: 3,
        number: 9,
        body: b"\x01",
    };
    vec![
        (
            "attach",
            "This address is the client's",
            DatagramUp::Attach(Token(5)),
        ),
        (
            "play-inputs",
            "Inputs of two ticks, and packets 3, 5 and 6 were applied",
            DatagramUp::Play {
                acks,
                forget: false,
                inputs,
            },
        ),
        (
            "play-forget",
            "Nothing was applied, and everything is to be sent anew",
            DatagramUp::Play {
                acks: None,
                forget: true,
                inputs: Inputs::NONE,
            },
        ),
        (
            "latest-from-client",
            "The newest of a channel",
            DatagramUp::Latest(latest),
        ),
    ]
}

fn datagrams_down() -> Vec<(&'static str, &'static str, DatagramDown<'static>)> {
    let margin = Margin::quarters(-3);
    vec![
        (
            "state",
            "A packet without news, and inputs that came too late",
            DatagramDown::State {
                margin,
                packet: b"\x02\x01\x31\x2c\x28\x00\x01\x01",
            },
        ),
        (
            "state-unknown-margin",
            "No input was heard",
            DatagramDown::State {
                margin: Margin::UNKNOWN,
                packet: b"\x02\x01\x30\x2c\x28\x00",
            },
        ),
        (
            "latest-from-server",
            "The newest of a channel",
            DatagramDown::Latest(Latest {
                channel: 15,
                number: 65_535,
                body: b"",
            }),
        ),
    ]
}

/// What is refused: whose, on which path, and bytes.
const REFUSED: [(&str, &str, &str, &[u8]); 10] = [
    (
        "refused-kind-up",
        "A frame that no client sends",
        CLIENT_STREAM,
        b"\x07\x00",
    ),
    (
        "refused-kind-down",
        "A frame that no server sends",
        SERVER_STREAM,
        b"\x0c\x00",
    ),
    (
        "refused-length",
        "A length with a superfluous byte",
        CLIENT_STREAM,
        b"\x05\x80\x00",
    ),
    (
        "refused-role",
        "A role that there is not",
        CLIENT_STREAM,
        b"\x01\x0d\x01\x00\0\0\0\0\0\0\0\0\x02\x01A",
    ),
    (
        "refused-rest",
        "A byte behind a Leave",
        CLIENT_STREAM,
        b"\x05\x01\x00",
    ),
    (
        "refused-status",
        "A status that there is not",
        SERVER_STREAM,
        b"\x03\x02\x05\x02",
    ),
    (
        "refused-words",
        "Words that are no text",
        SERVER_STREAM,
        b"\x05\x03\x03\x00\xff",
    ),
    (
        "refused-flags",
        "Five inputs",
        CLIENT_DATAGRAM,
        b"\x02\x05\0\0\0\0",
    ),
    (
        "refused-channel",
        "A channel that there is not",
        CLIENT_DATAGRAM,
        b"\x03\x10\0\0",
    ),
    (
        "refused-datagram",
        "A datagram that no server sends",
        SERVER_DATAGRAM,
        b"\x01\0\0\0\0\0\0\0\0",
    ),
];

const CLIENT_STREAM: &str = "client by stream";
const SERVER_STREAM: &str = "server by stream";
const CLIENT_DATAGRAM: &str = "client by datagram";
const SERVER_DATAGRAM: &str = "server by datagram";

/// A trace without what is shown once more in detail: a packet in a datagram, a datagram in a frame.
struct Once<'a>(&'a mut dyn Trace);

impl Trace for Once<'_> {
    fn open(&mut self, group: &'static str) {
        self.0.open(group);
    }

    fn field(&mut self, name: &'static str, place: Place, value: Value<'_>) {
        if !matches!(name, "packet" | "datagram") {
            self.0.field(name, place, value);
        }
    }

    fn meaning(&mut self, word: &'static str) {
        self.0.meaning(word);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

fn shown(sender: &'static str) -> impl Fn(&[u8], &mut dyn Trace) -> Result<(), DecodeError> {
    move |bytes, trace| {
        let (from_client, on_stream) = (sender.starts_with("client"), sender.ends_with("stream"));
        inspect(from_client, on_stream, bytes, &mut Once(trace))
    }
}

fn check(name: &'static str, title: &'static str, sender: &'static str, bytes: Vec<u8>) {
    let golden = Golden {
        name,
        title,
        sender,
        bytes,
    };
    if name.starts_with("refused-") {
        golden.check_refused(FOLDER, shown(sender));
    } else {
        golden.check(FOLDER, shown(sender));
    }
}

/// The one frame that these bytes are.
fn frame(bytes: &[u8]) -> (u8, Vec<u8>) {
    let mut frames = Vec::new();
    let read = FrameReader::default().receive(bytes, |kind, body| {
        frames.push((kind, body.to_vec()));
        Ok::<_, DecodeError>(())
    });
    read.expect("a frame");
    let [frame] = frames.try_into().expect("one frame");
    frame
}

#[test]
fn frames_are_as_the_files_say() {
    for (name, title, message) in up() {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        let (kind, body) = frame(&bytes);
        assert_eq!(Up::decode(kind, &body), Ok(message), "{name}");
        check(name, title, CLIENT_STREAM, bytes);
    }
    for (name, title, message) in down().into_iter().chain(resources_down()) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        let (kind, body) = frame(&bytes);
        assert_eq!(Down::decode(kind, &body), Ok(message), "{name}");
        check(name, title, SERVER_STREAM, bytes);
    }
}

#[test]
fn datagrams_are_as_the_files_say() {
    for (name, title, message) in datagrams_up() {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        assert_eq!(DatagramUp::decode(&bytes), Ok(message), "{name}");
        check(name, title, CLIENT_DATAGRAM, bytes);
    }
    for (name, title, message) in datagrams_down() {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        assert_eq!(DatagramDown::decode(&bytes), Ok(message), "{name}");
        check(name, title, SERVER_DATAGRAM, bytes);
    }
}

#[test]
fn what_is_no_message_is_refused() {
    for (name, title, sender, bytes) in REFUSED {
        check(name, title, sender, bytes.to_vec());
    }
}

#[test]
fn every_file_is_known() {
    let known = up().into_iter().map(|(name, ..)| name);
    let known = known.chain(down().into_iter().map(|(name, ..)| name));
    let known = known.chain(resources_down().into_iter().map(|(name, ..)| name));
    let known = known.chain(datagrams_up().into_iter().map(|(name, ..)| name));
    let known = known.chain(datagrams_down().into_iter().map(|(name, ..)| name));
    check_folder(
        FOLDER,
        known.chain(REFUSED.map(|(name, ..)| name)).chain(OTHERS),
    );
}

#[test]
fn a_decoder_written_from_the_documents_reads_every_file() {
    if is_blessing() {
        // The files are being written at this moment.
        return;
    }
    let decoder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/decoder/check.py");
    let folders = [FOLDER, "replica"].map(dir);
    let files = folders.iter().map(|folder| {
        std::fs::read_dir(folder)
            .expect("the vectors are there")
            .count()
    });
    let expected = format!("{} files read\n", files.sum::<usize>());
    let run = Command::new("python3")
        .arg("-B")
        .arg(decoder)
        .args(&folders)
        .output();
    let run = match run {
        Ok(run) => run,
        Err(why) => {
            // Whoever only builds the crate need not have it; whoever decides what is merged must.
            let hint = "python3 is needed (3.8 or later): `apt install python3`, `brew install python` or python.org";
            assert!(std::env::var_os("CI").is_none(), "{hint}: {why}");
            eprintln!("not run: {hint}: {why}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&run.stderr) + String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.ends_with(&expected), "{said}");
}
