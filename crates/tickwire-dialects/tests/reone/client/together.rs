//! The client with the server of this dialect, on a path that loses nothing.

use std::sync::Arc;
use std::time::Duration;

use tickwire_dialects::reone::message::{Answer, Compression};
use tickwire_dialects::reone::server_limits::PARAMETERS_PERIOD;
use tickwire_dialects::reone::{
    AnyStatus, Client, ClientConfig, ClientEvent, EventId, Mode, Module, Object, ObjectId, Phase,
    Question, Reply, Seat, Server, ServerConfig, ServerEvent, SnapshotSeq, Vec2,
};
use tickwire_session::{
    Addr, Ended, Events as _, Instant, Path, Room, Session, StreamId, Transmit,
};

use tickwire_sim::addr::machine;

use super::script::{SERVER, creature, read_uplink, text};

const CLIENT: Addr = machine(2, 5_000);
const TICK: Duration = Duration::from_millis(50);
const ROOMY: Room = Room {
    bytes: u32::MAX,
    largest: 1_200,
};

/// A client and a server, and the wire between them.
struct Pair {
    client: Client,
    server: Server,
    now: Instant,
    tick: u32,
    /// What the server's number of the client's stream is.
    streams: u32,
    heard: Vec<ClientEvent>,
    events: Vec<EventId>,
}

fn object(id: u32, x: f32) -> Object {
    Object {
        id: ObjectId(id),
        status: AnyStatus::Creature(creature(x)),
    }
}

fn module(name: &str) -> Module {
    let texture: Arc<[u8]> = vec![7; 200_000].into();
    Module {
        name: name.into(),
        base: vec![object(1, 1.0), object(2, 2.0)],
        resources: [("texture".to_owned(), texture)].into(),
    }
}

fn server(compression: Compression) -> Server {
    let config = ServerConfig {
        module: module("danm13"),
        compression,
        ..ServerConfig::default()
    };
    Server::new(config, [9; 32]).expect("a good module")
}

impl Pair {
    fn new(compression: Compression) -> Self {
        let now = Instant::from_millis(1_000);
        let config = ClientConfig::new(SERVER, "ann").expect("a good name");
        Self {
            client: Client::new(now, config),
            server: server(compression),
            now,
            tick: 0,
            streams: 0,
            heard: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Carries everything there is to carry, both ways.
    fn carry(&mut self) {
        let mut is_moving = true;
        while is_moving {
            is_moving = self.carry_up();
            is_moving |= self.carry_down();
            is_moving |= self.serve();
            while let Some(event) = self.client.poll_event() {
                self.heard.push(event);
            }
        }
    }

    fn carry_up(&mut self) -> bool {
        let mut bytes = Vec::new();
        let Some(transmit) = self.client.poll_transmit(self.now, &mut bytes) else {
            return false;
        };
        let (now, server) = (self.now, &mut self.server);
        match transmit {
            Transmit::Datagram { .. } => server.handle_datagram(now, CLIENT, &bytes),
            Transmit::Stream { .. } => {
                server.handle_stream(now, StreamId::Accepted(self.streams), &bytes);
            }
            Transmit::Dial { on, .. } => {
                self.streams += 1;
                let accepted = StreamId::Accepted(self.streams);
                server.handle_opened(now, accepted, CLIENT);
                server.handle_room(now, Path::Stream(accepted), ROOMY);
                self.client.handle_opened(now, on, SERVER);
                self.client.handle_room(now, Path::Stream(on), ROOMY);
            }
            Transmit::Finish { .. } | Transmit::Abort { .. } => {
                let accepted = Path::Stream(StreamId::Accepted(self.streams));
                server.handle_closed(now, accepted, Ended::Finished);
            }
            Transmit::Segments { .. } | Transmit::Unlink { .. } => panic!("{transmit:?}"),
        }
        true
    }

    fn carry_down(&mut self) -> bool {
        let mut bytes = Vec::new();
        let Some(transmit) = self.server.poll_transmit(self.now, &mut bytes) else {
            return false;
        };
        let (now, on) = (self.now, StreamId::Dialled(self.streams - 1));
        match transmit {
            Transmit::Datagram { to } => {
                assert_eq!(to, CLIENT);
                self.client.handle_datagram(now, SERVER, &bytes);
            }
            Transmit::Stream { on: from } => {
                self.server.handle_room(now, Path::Stream(from), ROOMY);
                self.client.handle_stream(now, on, &bytes);
            }
            _ => self
                .client
                .handle_closed(now, Path::Stream(on), Ended::Finished),
        }
        true
    }

    /// Does what a game does.
    fn serve(&mut self) -> bool {
        let Some(event) = self.server.poll_event() else {
            return false;
        };
        match event {
            ServerEvent::Joining { client } => {
                self.server
                    .admit(self.now, client, Seat::Player(ObjectId(1)));
            }
            ServerEvent::Event { client, id, .. } => {
                self.events.push(id);
                self.server.processed(client, id);
            }
            ServerEvent::Called {
                client,
                call,
                question: Question::Resref(_),
            } => {
                let answer = Reply::Answer(Answer::Resref(text("n_x")));
                self.server
                    .answer(self.now, client, call, answer)
                    .expect("it was asked");
            }
            _ => {}
        }
        true
    }

    /// Lets so many ticks pass, in each of which a world is published.
    fn play(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.tick += 1;
            let x = f32::from(u16::try_from(self.tick % 100).expect("it is small"));
            let world = [object(1, x), object(2, 2.0)];
            self.server.publish(self.tick, world);
            self.carry();
            self.check_views();
            self.now += TICK;
            self.client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
            self.carry();
        }
    }

    /// What the client holds is what the server believes that it holds.
    #[track_caller]
    fn check_views(&self) {
        let Some(newest) = self.client.newest() else {
            return;
        };
        let Some((client, _)) = self.server.clients().next() else {
            return;
        };
        if let Some(view) = self.server.view(client, newest.sequence) {
            let held: Vec<_> = newest.objects().map(|(id, it)| (id, Some(*it))).collect();
            assert_eq!(view.into_iter().collect::<Vec<_>>(), held);
        }
    }
}

#[test]
fn they_come_together_and_play() {
    for compression in [Compression::None, Compression::Huffman] {
        let mut pair = Pair::new(compression);
        pair.play(20);
        assert_eq!(pair.client.phase(), Phase::Playing);
        assert_eq!(pair.client.mode(), Some(Mode::Performant));
        let now = pair.now;
        let view = pair.client.sample(now).expect("there is a world");
        assert_eq!(view.objects().count(), 2);
        for _ in 0..10 {
            pair.client.send_event(1, b"x").expect("it is ready");
            pair.play(1);
        }
        let ids: Vec<_> = (1..=10).map(EventId).collect();
        assert_eq!(pair.events, ids);
        pair.play(2);
        let answered = pair.heard.iter().rev().find_map(|event| match event {
            ClientEvent::Snapshot(whole) => Some(whole.answered),
            _ => None,
        });
        assert_eq!(answered, Some(EventId(10)));
        let counters = pair.client.counters();
        let refused = [
            counters.undecodable,
            counters.baseline_missing,
            counters.unknown_object,
            counters.contradiction,
            counters.unexpected,
            counters.unasked_piece,
        ];
        assert_eq!(refused, [0; 6]);
    }
}

#[test]
fn a_ready_that_is_under_way_when_the_seat_changes_leaves_nobody_in_error() {
    let mut pair = Pair::new(Compression::None);
    pair.play(20);
    let (client, _) = pair.server.clients().next().expect("there is one");
    let spectator = Seat::Spectator(Vec2::default());
    assert!(pair.server.reseat(pair.now, client, spectator));
    pair.carry();
    assert_eq!(pair.client.own(), None);

    // It answers parameters that were said twice, and the second answer is held up.
    pair.now += PARAMETERS_PERIOD;
    pair.server.handle_timeout(pair.now);
    while pair.carry_down() {}
    let mut ready = Vec::new();
    let sent = pair.client.poll_transmit(pair.now, &mut ready);
    assert!(matches!(sent, Some(Transmit::Datagram { .. })));
    assert!(read_uplink(&ready).is_ready);

    // Meanwhile it is to play again, and what tells it so is lost.
    let player = Seat::Player(ObjectId(1));
    assert!(pair.server.reseat(pair.now, client, player));
    let mut lost = Vec::new();
    let sent = pair.server.poll_transmit(pair.now, &mut lost);
    assert!(matches!(sent, Some(Transmit::Datagram { .. })));
    pair.server.handle_datagram(pair.now, CLIENT, &ready);
    assert!(pair.server.mode(client).is_some(), "it is taken for ready");
    assert_eq!(pair.client.own(), None);

    pair.play(3);
    assert_eq!(pair.client.own(), Some(ObjectId(1)));
    assert_eq!(pair.client.phase(), Phase::Playing);
}

#[test]
fn another_module_and_another_server_are_survived() {
    let mut pair = Pair::new(Compression::None);
    pair.play(20);
    pair.client.send_event(1, b"x").expect("it is ready");
    pair.play(2);
    pair.server
        .change_module(pair.now, module("tar_m02"))
        .expect("a good module");
    pair.heard.clear();
    pair.play(10);
    assert_eq!(pair.client.phase(), Phase::Playing);
    // The contents are the same, so nothing but the manifest was loaded.
    let is_loaded = |event: &ClientEvent| matches!(event, ClientEvent::Progress(_));
    assert!(!pair.heard.iter().any(is_loaded));
    pair.client.send_event(1, b"y").expect("it is ready");
    pair.play(2);
    assert_eq!(pair.events, [EventId(1), EventId(2)]);

    let old = pair.server.newest();
    pair.server.shut_down(pair.now);
    pair.carry();
    assert_eq!(pair.client.phase(), Phase::Reconnecting);
    pair.server = server(Compression::None);
    pair.play(20);
    assert_eq!(pair.client.phase(), Phase::Playing);
    let newest = pair.client.newest().expect("there is one").sequence;
    assert!(newest > SnapshotSeq::NONE && newest < old, "{newest:?}");
    pair.client.send_event(1, b"z").expect("it is ready");
    pair.play(2);
    assert_eq!(pair.events, [1, 2, 1].map(EventId));
}
