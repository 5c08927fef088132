//! The tile world from outside: pixmess servers as processes, and a client that shares no code with
//! them, written from the protocol's document.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{run, serve};

/// Longest wait for anything: only a broken server takes so long, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

const MOVEMENT: u8 = 0x10;
const CREATION: u8 = 0x11;
const REQUEST: u8 = 0x40;
const LAYER_START: u8 = 0x41;
const LAYER_DATA: u8 = 0x42;
const LAYER_END: u8 = 0x43;
const SET_CREATE: u8 = 0x45;
const POSITION: u8 = 0x50;
const CHAT: u8 = 0x58;
const LOGIN: u8 = 0x7b;
const PING: u8 = 0x7c;
const PONG: u8 = 0x7d;
const PLAYER_ID: u8 = 0x7e;
const KICK: u8 = 0x7f;

/// A packet of the server: its type, its numbers in their order, its string.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Packet {
    kind: u8,
    numbers: Vec<i64>,
    text: Vec<u8>,
}

/// A field: its width in bytes, whether it is signed, and its mask bit.
type Field = (usize, bool, Option<u8>);

/// The document's table: what a server's packet consists of, and the width of its string's length.
fn layout(kind: u8) -> (Vec<Field>, usize) {
    let u16_ = (2, false, None);
    let s32 = (4, true, None);
    match kind {
        0x02 | 0x03 => {
            let block = |bit| (1, true, Some(bit));
            let place = |bit| (2, false, Some(bit));
            (vec![place(0), place(1), block(2), block(3), block(4)], 0)
        }
        MOVEMENT => (vec![(2, false, Some(1)), (1, false, Some(0))], 0),
        CREATION => {
            let (x, y) = ((4, true, Some(1)), (4, true, Some(2)));
            let (col, ch) = ((2, true, Some(3)), (2, true, Some(4)));
            (vec![u16_, x, y, col, ch], 1)
        }
        LAYER_START | 0x44 => (vec![s32, s32], 0),
        LAYER_DATA => (vec![], 2),
        LAYER_END | PING | PONG => (vec![], 0),
        SET_CREATE | 0x46 | POSITION => (vec![u16_, s32, s32], 0),
        0x47 | 0x48 | 0x51 | PLAYER_ID => (vec![u16_], 0),
        CHAT | KICK => (vec![], 1),
        _ => panic!("no server sends {kind:#04x}"),
    }
}

/// Somebody connected by a plain socket.
struct Visitor {
    stream: TcpStream,
    masks: BTreeMap<u8, u8>,
    old: BTreeMap<(u8, usize), i64>,
    id: i64,
    x: i32,
    y: i32,
}

impl Visitor {
    fn connect(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).expect("the server listens");
        let timeout = stream.set_read_timeout(Some(PATIENCE));
        timeout.expect("a timeout can be set");
        stream.set_nodelay(true).expect("TCP can hurry");
        Self {
            stream,
            masks: BTreeMap::new(),
            old: BTreeMap::new(),
            id: -1,
            x: 0,
            y: 0,
        }
    }

    /// Logs in, and waits for what the document says comes back, in its order.
    fn log_in(addr: SocketAddr, version: u16, name: &str) -> Self {
        let mut visitor = Self::connect(addr);
        let mut login = vec![LOGIN];
        login.extend(version.to_le_bytes());
        login.extend([
            b'@',
            0,
            14,
            0,
            u8::try_from(name.len()).expect("a short name"),
        ]);
        login.extend(name.as_bytes());
        visitor.send(&login);
        let id = visitor.receive();
        assert_eq!(id.kind, PLAYER_ID, "{id:?}");
        let own = visitor.receive();
        assert_eq!((own.kind, own.numbers[0]), (CREATION, id.numbers[0]));
        assert_eq!(own.numbers[3..], [14, i64::from(b'@')]);
        assert_eq!(own.text, name.as_bytes());
        let joined = visitor.receive();
        let words = format!("* {name} has joined").into_bytes();
        assert_eq!((joined.kind, joined.text), (CHAT, words));
        visitor.id = id.numbers[0];
        visitor.x = i32::try_from(own.numbers[1]).expect("an s32");
        visitor.y = i32::try_from(own.numbers[2]).expect("an s32");
        visitor
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    fn number(&mut self, width: usize, signed: bool) -> i64 {
        let mut bytes = [0; 8];
        let read = self.stream.read_exact(&mut bytes[..width]);
        read.expect("the server goes on");
        let value = i64::from_le_bytes(bytes);
        let bits = 64 - 8 * width;
        if signed { value << bits >> bits } else { value }
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.number(1, false)).expect("one byte")
    }

    fn receive(&mut self) -> Packet {
        let head = self.byte();
        let (kind, mask) = match head {
            0x00..=0x7f => (head, 0),
            0x80..=0xbf => {
                let kind = head & 0x3f;
                (kind, self.masks.get(&kind).copied().unwrap_or(0))
            }
            0xc0.. => {
                let mask = self.byte();
                self.masks.insert(head & 0x3f, mask);
                (head & 0x3f, mask)
            }
        };
        let (fields, text) = layout(kind);
        let mut numbers = Vec::new();
        for (index, (width, signed, bit)) in fields.into_iter().enumerate() {
            let reused = bit.is_some_and(|bit| mask >> bit & 1 == 1);
            let value = if reused {
                self.old.get(&(kind, index)).copied().unwrap_or(0)
            } else {
                self.number(width, signed)
            };
            self.old.insert((kind, index), value);
            numbers.push(value);
        }
        let length = if text > 0 {
            self.number(text, false)
        } else {
            0
        };
        let mut text = vec![0; usize::try_from(length).expect("at most a u16")];
        let read = self.stream.read_exact(&mut text);
        read.expect("the server goes on");
        if kind == PING {
            self.send(&[PONG]);
        }
        Packet {
            kind,
            numbers,
            text,
        }
    }

    /// The next packet that is wanted; what happens elsewhere is passed over.
    #[track_caller]
    fn expect(&mut self, what: &str, wanted: impl Fn(&Packet) -> bool) -> Packet {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let packet = self.receive();
            if wanted(&packet) {
                return packet;
            }
            assert!(Instant::now() < deadline, "never got {what}");
        }
    }

    /// The chunk around the player.
    fn chunk(&mut self) -> Chunk {
        self.chunk_at((self.x.div_euclid(64), self.y.div_euclid(64)))
    }

    /// A chunk, unpacked.
    fn chunk_at(&mut self, (x, y): (i32, i32)) -> Chunk {
        let mut request = vec![REQUEST];
        request.extend(x.to_le_bytes());
        request.extend(y.to_le_bytes());
        self.send(&request);
        let start = self.expect("a layer", |packet| packet.kind == LAYER_START);
        assert_eq!(start.numbers, [i64::from(x), i64::from(y)]);
        let mut gzip = Vec::new();
        loop {
            let packet = self.receive();
            match packet.kind {
                LAYER_DATA => {
                    assert!((1..=512).contains(&packet.text.len()));
                    gzip.extend(packet.text);
                }
                LAYER_END => break,
                PING => {}
                other => panic!("{other:#04x} inside a layer"),
            }
        }
        assert_eq!(gzip[..4], [0x1f, 0x8b, 8, 0], "gzip without extras");
        let deflated = &gzip[10..gzip.len() - 8];
        let cells = miniz_oxide::inflate::decompress_to_vec(deflated).expect("it inflates");
        assert_eq!(cells.len(), 6 + 2 * 3 * 64 * 64);
        assert_eq!(cells[..6], [1, 0, 64, 0, 64, 0]);
        Chunk { x, y, cells }
    }

    fn edit(&mut self, (x, y): (i32, i32), block: [u8; 3]) {
        let mut packet = vec![0x02];
        packet.extend(&x.to_le_bytes()[..2]);
        packet.extend(&y.to_le_bytes()[..2]);
        packet.extend(block);
        self.send(&packet);
    }

    /// Waits for the answer to an edit: what is in the cell.
    fn echo(&mut self, (x, y): (i32, i32)) -> [u8; 3] {
        let low = |n: i32| i64::from(n) & 0xffff;
        let place = [low(x), low(y)];
        let echo = self.expect("an echo", |packet| {
            packet.kind == 0x02 && packet.numbers[..2] == place
        });
        [2, 3, 4].map(|index| echo.numbers[index].to_le_bytes()[0])
    }

    /// Reads until the server hangs up; the reason that it gave.
    fn kicked(mut self) -> String {
        let kick = self.expect("a kick", |packet| packet.kind == KICK);
        match self.stream.read(&mut [0]) {
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            other => panic!("the connection goes on: {other:?}"),
        }
        String::from_utf8(kick.text).expect("words")
    }
}

struct Chunk {
    x: i32,
    y: i32,
    cells: Vec<u8>,
}

impl Chunk {
    /// The solid block of a cell.
    fn solid(&self, (x, y): (i32, i32)) -> [u8; 3] {
        let (column, row) = (x - 64 * self.x, y - 64 * self.y);
        assert!((0..64).contains(&column) && (0..64).contains(&row));
        let index = usize::try_from(64 * row + column).expect("inside");
        let at = 6 + 3 * (64 * 64 + index);
        [0, 1, 2].map(|byte| self.cells[at + byte])
    }

    fn is_free(&self, cell: (i32, i32)) -> bool {
        self.solid(cell)[0] == 0
    }

    /// Every cell where nothing solid is, from the south on: the railway, which nobody may change, is
    /// in the north of the chunks around it.
    fn free_cells(&self) -> Vec<(i32, i32)> {
        let corner = (64 * self.x, 64 * self.y);
        let all = (0..64).flat_map(|y| (0..64).map(move |x| (corner.0 + x, corner.1 + y)));
        all.rev().filter(|cell| self.is_free(*cell)).collect()
    }
}

/// Directions in the order of their codes.
const WAYS: [(i32, i32); 8] = [
    (1, 0),
    (-1, 0),
    (0, 1),
    (0, -1),
    (1, 1),
    (-1, -1),
    (-1, 1),
    (1, -1),
];

const BRICK: [u8; 3] = [1, 12, b'#'];

#[test]
fn a_client_written_from_the_document_walks_and_builds() {
    let (server, addr) = serve("pixmess", &[]);
    let mut ada = Visitor::log_in(addr, 1, "Ada");
    server.line_with("Ada joined");
    let chunk = ada.chunk();

    // A step to where nothing is. Nobody repeats it to Ada, and where she says she is, she is.
    let inside = |(x, y): (i32, i32)| x.div_euclid(64) == chunk.x && y.div_euclid(64) == chunk.y;
    let (code, (east, south)) = (0..8)
        .zip(WAYS)
        .find(|(_, way)| {
            let cell = (ada.x + way.0, ada.y + way.1);
            inside(cell) && chunk.is_free(cell)
        })
        .expect("the plaza is open");
    let mut grace = Visitor::log_in(addr, 1, "Grace");
    grace.chunk_at((chunk.x, chunk.y));
    ada.send(&[MOVEMENT, code]);
    let seen = grace.expect("Ada's step", |packet| {
        packet.kind == MOVEMENT && packet.numbers[0] == ada.id
    });
    assert_eq!(seen.numbers[1], i64::from(code));
    (ada.x, ada.y) = (ada.x + east, ada.y + south);
    let mut claim = vec![POSITION];
    claim.extend(ada.x.to_le_bytes());
    claim.extend(ada.y.to_le_bytes());
    ada.send(&claim);
    ada.send(&[PLAYER_ID]);
    let own = ada.id;
    let answer = ada.expect("an answer", |packet| {
        let own_position = packet.kind == POSITION && packet.numbers[0] == own;
        packet.kind == PLAYER_ID || own_position
    });
    assert_eq!(answer.kind, PLAYER_ID, "she stands elsewhere: {answer:?}");

    // A block in some free cell: railway and passers-by may be in the way of a few.
    let built = chunk.free_cells().into_iter().find(|&cell| {
        ada.edit(cell, BRICK);
        ada.echo(cell) == BRICK
    });
    let built = built.expect("some cell takes a brick");
    assert_eq!(grace.echo(built), BRICK);
    assert_eq!(ada.chunk().solid(built), BRICK);

    ada.send(&[CHAT, 2, b'h', b'i']);
    let said = grace.expect("words", |packet| {
        packet.kind == CHAT && packet.text[0] == b'<'
    });
    assert_eq!(said.text, b"<Ada> hi");
    ada.send(&[KICK, 0]);
    grace.expect("the news", |packet| packet.text == b"* Ada has left");
    server.line_with("Ada left");
}

#[test]
fn only_a_client_of_version_two_hears_of_the_train() {
    let (_server, addr) = serve("pixmess", &[]);
    let mut new = Visitor::log_in(addr, 2, "new");
    let train = new.expect("the train", |packet| packet.kind == SET_CREATE);
    assert_eq!(train.numbers[0], 1);
    let mut old = Visitor::log_in(addr, 1, "old");
    old.chunk();
    old.send(&[CHAT, 4, b'/', b'w', b'h', b'o']);
    let answer = old.expect("an answer", |packet| {
        assert!(!(SET_CREATE..=0x48).contains(&packet.kind), "{packet:?}");
        packet.kind == CHAT && packet.text.starts_with(b"* 2 here")
    });
    assert_eq!(answer.text, b"* 2 here: new old");
}

/// Reads a login; its version.
fn read_login(stream: &mut TcpStream) -> u16 {
    let timeout = stream.set_read_timeout(Some(PATIENCE));
    timeout.expect("a timeout can be set");
    let mut login = [0; 8 + 5];
    stream.read_exact(&mut login).expect("a login comes");
    assert_eq!((login[0], &login[8..]), (LOGIN, &b"bot-1"[..]));
    u16::from_le_bytes([login[1], login[2]])
}

#[test]
fn a_bot_gets_into_a_server_of_draft_1_and_counts_every_byte_that_it_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let addr = listener.local_addr().expect("it is bound").to_string();
    let server = std::thread::spawn(move || {
        let (mut first, _) = listener.accept().expect("a bot comes");
        assert_eq!(read_login(&mut first), 2);
        first
            .write_all(b"\x7f\x11Version mismatch!")
            .expect("it listens");
        let (mut second, _) = listener.accept().expect("it comes again");
        assert_eq!(read_login(&mut second), 1);
        // player_id 7, and entity_creation 7 at (0, 0).
        let welcome = b"\x7e\x07\x00\xd1\x1e\x07\x00\x05bot-1";
        second.write_all(welcome).expect("it listens");
        let mut rest = Vec::new();
        second.read_to_end(&mut rest).expect("it leaves");
        assert!(rest.ends_with(b"\x7f\x03bye"), "{rest:02x?}");
        2 * (8 + 5) + rest.len()
    });
    let done = run(&[
        "bots",
        "pixmess",
        "--count",
        "1",
        "--seconds",
        "2",
        "--json",
        "--connect",
        &addr,
    ]);
    let heard = server.join().expect("the bot is as it should be");
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(done.code, Some(0), "{report}");
    assert_eq!(report["bytes_out"].as_u64(), u64::try_from(heard).ok());
}

#[test]
fn fifty_bots_walk_and_build_twenty_seconds_and_none_is_lost() {
    let (_server, addr) = serve("pixmess", &[]);
    let addr = addr.to_string();
    let arguments = "bots pixmess --count 50 --seconds 20 --json --connect";
    let done = run(&arguments
        .split(' ')
        .chain([addr.as_str()])
        .collect::<Vec<_>>());
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(done.code, Some(0), "{report}");
    assert_eq!(report["connected"].as_u64(), Some(50), "{report}");
    // A step or two a second each, and what each sees of the others.
    assert!(report["messages_out"].as_u64() > Some(50 * 20), "{report}");
    assert!(report["messages_in"].as_u64() > Some(50 * 200), "{report}");
}

#[test]
fn what_was_echoed_a_second_before_a_crash_is_there_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().to_str().unwrap();
    let (server, addr) = serve("pixmess", &["--world", world]);
    let mut ada = Visitor::log_in(addr, 1, "Ada");
    let before = ada.chunk();
    let cells = before.free_cells();
    let began = Instant::now();
    let mut echoed = Vec::new();
    // In steady work, so that the crash falls into the middle of it: 15 edits a second, 20 are allowed.
    for (nth, &cell) in (0_u32..).zip(&cells) {
        if began.elapsed() > Duration::from_secs(4) {
            break;
        }
        ada.edit(cell, BRICK);
        if ada.echo(cell) == BRICK {
            echoed.push((Instant::now(), cell));
        }
        let next = began + Duration::from_millis(66) * (nth + 1);
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    let crash = Instant::now();
    // Dropping kills, without asking.
    drop(server);

    let (_server, addr) = serve("pixmess", &["--world", world]);
    let chunk = Visitor::log_in(addr, 1, "Ada").chunk_at((before.x, before.y));
    let safe: Vec<_> = echoed
        .iter()
        .filter(|(at, _)| crash - *at > Duration::from_secs(1))
        .map(|(_, cell)| *cell)
        .collect();
    assert!(safe.len() > 10, "too few edits to tell: {}", safe.len());
    let lost: Vec<_> = safe
        .iter()
        .filter(|cell| chunk.solid(**cell) != BRICK)
        .collect();
    assert!(
        lost.is_empty(),
        "{} of {}: {lost:?}",
        lost.len(),
        safe.len()
    );
}

#[test]
fn a_server_that_is_stopped_says_why_and_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().to_str().unwrap();
    let (server, addr) = serve("pixmess", &["--world", world]);
    let mut ada = Visitor::log_in(addr, 1, "Ada");
    let before = ada.chunk();
    let built = before.free_cells().into_iter().find(|&cell| {
        ada.edit(cell, BRICK);
        ada.echo(cell) == BRICK
    });
    server.terminate();
    assert_eq!(ada.kicked(), "Server is shutting down!");
    assert_eq!(server.wait().code, Some(0));

    let (_server, addr) = serve("pixmess", &["--world", world]);
    let chunk = Visitor::log_in(addr, 1, "Ada").chunk_at((before.x, before.y));
    assert_eq!(chunk.solid(built.expect("some cell takes a brick")), BRICK);
}

#[test]
fn a_world_that_cannot_be_opened_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().to_str().unwrap();
    let (server, _) = serve("pixmess", &["--world", world]);
    let again = [
        "serve",
        "pixmess",
        "--listen",
        "127.0.0.1:0",
        "--world",
        world,
    ];
    let done = run(&again);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("stop that one"), "{}", done.stderr);
    server.terminate();
    assert_eq!(server.wait().code, Some(0));
    let done = run(&[&again[..], &["--seed", "2"]].concat());
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("give seed 1"), "{}", done.stderr);
    let done = run(&["serve", "lwar", "--listen", "127.0.0.1:0", "--world", world]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("add pixmess"), "{}", done.stderr);
}

#[test]
fn nonsense_ends_with_a_reason() {
    let (_server, addr) = serve("pixmess", &[]);
    let check = |bytes: &[u8], reason: &str| {
        let mut visitor = Visitor::connect(addr);
        visitor.send(bytes);
        assert_eq!(visitor.kicked(), reason, "{bytes:?}");
    };
    check(&[LOGIN, 9, 0, 0, 0, 0, 0, 1, b'a'], "Version mismatch!");
    check(&[MOVEMENT, 0], "Log in first!");
    check(&[0x3f], "Unknown packet type!");
    let _ada = Visitor::log_in(addr, 1, "Ada");
    check(
        &[LOGIN, 1, 0, 0, 0, 0, 0, 3, b'A', b'd', b'a'],
        "Name is taken!",
    );
}

#[test]
fn a_stream_is_inspected_from_its_first_byte_on() {
    let folder = tempfile::tempdir().unwrap();
    let inspect = |content: &[u8], from: &str| {
        let file = folder.path().join("stream");
        std::fs::write(&file, content).unwrap();
        run(&["inspect", "pixmess", "--from", from, file.to_str().unwrap()])
    };
    // A login; a block change that stores a mask; one that uses it.
    let lines = b"7b 0100 4000 0e00 03 416461 # Ada\nc2 1c 0100 0200\n82 0300 0400\n";
    let done = inspect(lines, "client");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("Ada"), "{}", done.stdout);
    assert_eq!(done.stdout.matches("packet").count(), 3, "{}", done.stdout);
    let done = inspect(&[PLAYER_ID, 7, 0, CHAT, 2, b'h', b'i', PING], "server");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.stdout.matches("packet").count(), 3, "{}", done.stdout);
    let done = inspect(&[PLAYER_ID, 7, 0, CHAT, 9, b'h', b'i'], "server");
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("wrong:"), "{}", done.stdout);
}
