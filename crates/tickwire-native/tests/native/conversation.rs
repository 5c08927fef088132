//! Whole conversations as golden files: what one client and its server say to each other, and what a reader
//! makes of it.
//!
//! The game has a field of every kind, and more columns than have models of their own. In a file every line
//! is what one side sends; below it stands what it means: the game's messages and inputs, and the blocks that
//! a packet holds. Single messages are in `vectors`.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use tickwire_native::message::{DatagramDown, DatagramUp, Down, FrameReader, Up, value};
use tickwire_native::{
    Client, ClientConfig, EntityId, Game, PlayerId, Role, Server, ServerConfig, ServerEvent, To,
    schema,
};
use tickwire_replica::coder::Prior;
use tickwire_replica::packet::Form;
use tickwire_replica::{
    ArchetypeSchema, Archetypes, BlockView, Field, Kind, Replica, ReplicaConfig, Replicate,
    RowWriter, SLOTS, Schema,
};
use tickwire_session::tap::{Input, Observer, Tap};
use tickwire_session::{Events as _, Instant, Session, Transmit};
use tickwire_sim::{Chance, Conditions, Network, Rng, addr};
use tickwire_wire::DecodeError;

use crate::golden::{dir, hex, is_blessing};

#[derive(Clone, Debug, Replicate)]
struct Ship {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
    #[replicate(quaternion, bits = 9)]
    turn: [f32; 4],
    #[replicate(angle, bits = 10)]
    heading: f32,
    #[replicate(range = 0..=100)]
    health: u8,
    target: EntityId,
    shield: bool,
    #[replicate(max = 12)]
    name: String,
}

impl Ship {
    fn new(name: &str) -> Self {
        Self {
            at: [0.0; 2],
            turn: AHEAD,
            heading: 0.0,
            health: 0,
            target: EntityId::default(),
            shield: false,
            name: name.into(),
        }
    }
}

/// So many columns that those behind them share their models.
#[derive(Clone, Debug, Replicate)]
struct Chest {
    #[replicate(range = -4.0..=4.0, bits = 7)]
    lid: f32,
    items: [bool; 50],
}

#[derive(Clone, Debug, Default, Replicate)]
struct Rock {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
    #[replicate(bits = 3, interpolate, jump_over = 3)]
    size: i32,
}

#[derive(Archetypes)]
enum Thing {
    Ship(Ship),
    Chest(Chest),
    Rock(Rock),
}

#[derive(Clone, Debug, Replicate)]
struct Stick {
    #[replicate(range = -1..=1)]
    right: i8,
    #[replicate(angle, bits = 12)]
    aim: f32,
    #[replicate(quaternion, bits = 8)]
    look: [f32; 4],
    fire: bool,
    #[replicate(max = 6)]
    taunt: String,
}

impl Default for Stick {
    fn default() -> Self {
        Self {
            right: 0,
            aim: 0.0,
            look: AHEAD,
            fire: false,
            taunt: String::new(),
        }
    }
}

/// No rotation.
const AHEAD: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

#[derive(Clone, Debug, Default, Replicate)]
struct Word {
    number: u32,
    #[replicate(max = 20)]
    text: String,
}

struct Museum;

impl Game for Museum {
    type Things = Thing;
    type Input = Stick;
    type ToServer = Word;
    type ToClient = Word;
    const HZ: u16 = 60;
    const SIGHT: f32 = 40.0;

    fn step(own: &mut Thing, stick: &Stick) {
        if let Thing::Ship(ship) = own {
            ship.at[0] += f32::from(stick.right) * 0.5;
            ship.heading = stick.aim;
        }
    }
}

/// Writes down what a server hears and says.
#[derive(Default)]
struct Log(Vec<(bool, bool, Vec<u8>)>);

impl Observer for Log {
    fn input(&mut self, _now: Instant, input: Input<'_>) {
        match input {
            Input::Stream { bytes, .. } => self.0.push((true, true, bytes.to_vec())),
            Input::Datagram { bytes, .. } => self.0.push((true, false, bytes.to_vec())),
            _ => {}
        }
    }

    fn output(&mut self, _now: Instant, transmit: Transmit, bytes: &[u8]) {
        match transmit {
            Transmit::Stream { .. } => self.0.push((false, true, bytes.to_vec())),
            Transmit::Datagram { .. } => self.0.push((false, false, bytes.to_vec())),
            _ => {}
        }
    }
}

const TICK: Duration = Duration::from_micros(16_666);

/// A short game; everything in it is a function of the form.
fn play(form: Form) -> Log {
    let mut net = Network::new(1);
    net.add_node(addr::machine(1, 7_777));
    net.add_node(addr::machine(2, 5_000));
    let config = ServerConfig {
        form,
        ..ServerConfig::default()
    };
    let server = Server::<Museum>::new(net.now(), [7; 32], config);
    let mut tap = Tap::new(server, Log::default());
    let config = ClientConfig {
        server: addr::machine(1, 7_777),
        name: "Ada".into(),
        role: Role::Player,
    };
    let mut client = Client::<Museum>::new(net.now(), config);
    let mut stage = Stage::new(&mut tap.session);
    for tick in 0..150 {
        // Acknowledgements get lost: baselines and previous versions of many ages.
        if tick == 60 {
            net.set_conditions(Conditions {
                latency: Duration::from_millis(20),
                loss: Chance::percent(30),
                ..Conditions::IDEAL
            });
        }
        stage.tick(tick, &mut tap.session);
        ask(tick, &mut client, net.now());
        tap.session.end_tick(net.now());
        let until = net.now() + TICK;
        let mut sessions: [&mut dyn Session; 2] = [&mut tap, &mut client];
        net.run_until(until, &mut sessions);
        client.update(net.now());
        while client.poll_event().is_some() {}
    }
    tap.session.shut_down(net.now());
    let until = net.now() + TICK * 20;
    let mut sessions: [&mut dyn Session; 2] = [&mut tap, &mut client];
    net.run_until(until, &mut sessions);
    tap.observer
}

/// What the player does and says.
fn ask(tick: u32, client: &mut Client<Museum>, now: Instant) {
    let (right, half) = (
        i8::from((tick / 8).is_multiple_of(3)),
        f32::from(u8::from(tick % 20 < 10)) / 2.0,
    );
    client.set_input(Stick {
        right,
        aim: half,
        look: [half, 0.5, 0.5, 1.0 - half],
        fire: tick.is_multiple_of(30),
        taunt: if tick % 50 < 3 { "ha!" } else { "" }.into(),
    });
    let word = Word {
        number: tick,
        text: "grüß".into(),
    };
    match tick {
        10 | 12 => client.say(&word).expect("a word can be said"),
        14 => drop(client.ask(now, &word).expect("a question can be asked")),
        16 => client.say_latest(2, &word).expect("a word can be said"),
        20 => client.fetch("map"),
        _ => {}
    }
}

/// What there is in the museum.
struct Stage {
    rng: Rng,
    ships: Vec<(EntityId, Ship)>,
    rocks: Vec<EntityId>,
    chest: EntityId,
    player: Option<PlayerId>,
}

impl Stage {
    fn new(server: &mut Server<Museum>) -> Self {
        server.offer("map", vec![7; 300].into()).expect("a map");
        let chest = Chest {
            lid: 1.0,
            items: [true; 50],
        };
        let rock = |at: u8| Rock {
            at: [f32::from(at), 3.0],
            size: 2,
        };
        let rocks = (0..6).map(|at| server.spawn(rock(at * 9)).expect("a rock"));
        let rocks = rocks.collect();
        Self {
            rng: Rng::new(3),
            ships: Vec::new(),
            rocks,
            chest: server.spawn(chest).expect("a chest"),
            player: None,
        }
    }

    fn tick(&mut self, tick: u32, server: &mut Server<Museum>) {
        while let Some(event) = server.poll_event() {
            match event {
                ServerEvent::Joined { player, .. } => {
                    server.spawn_own(player, Ship::new("own")).expect("a ship");
                    self.player = Some(player);
                }
                ServerEvent::Said { message, .. } => server.say(To::All, &message).expect("a word"),
                ServerEvent::Asked { question, message } => {
                    server.answer(question, Some(&message)).expect("an answer");
                }
                _ => {}
            }
        }
        if let Some(player) = self.player
            && let Some(own) = server.own(player)
        {
            server.advance(player, own).expect("a step");
        }
        if tick % 10 == 5 && self.ships.len() < 5 {
            let ship = Ship::new(&format!("ship {tick}"));
            let id = server.spawn(ship.clone()).expect("a ship");
            self.ships.push((id, ship));
        }
        self.fly(tick, server);
        let word = Word {
            number: tick,
            text: "boom".into(),
        };
        match tick {
            40 => server.happen(To::All, &word).expect("a word"),
            45 => server.say_latest(To::All, 1, &word).expect("a word"),
            100 => server.despawn(self.rocks[0]).expect("a rock"),
            _ => {}
        }
        if tick % 25 == 24 {
            let items = core::array::from_fn(|_| self.rng.within(0..=9) > 0);
            let lid = f32::from(i8::try_from(tick % 7).expect("small") - 3);
            server
                .set(self.chest, &Chest { lid, items })
                .expect("a chest");
        }
    }

    /// The ships turn and drift; one of them goes far away.
    fn fly(&mut self, tick: u32, server: &mut Server<Museum>) {
        for (number, (id, ship)) in (0_u8..).zip(&mut self.ships) {
            let pace = 0.1 + f32::from(number) * 0.1;
            ship.at[0] += pace;
            ship.at[1] -= if number == 2 { 1.5 } else { 0.05 };
            let angle = ship.at[0] * 0.7;
            let (sin, cos) = (fixed_sin(angle), fixed_sin(angle + 1.57));
            ship.turn = [sin * 0.6, sin * 0.8, 0.0, cos];
            ship.heading += 0.05;
            ship.health = ship.health.wrapping_add(u8::from(tick.is_multiple_of(4))) % 100;
            ship.shield = self.rng.within(0..=9) == 0;
            ship.target = self.rocks[usize::from(number) % self.rocks.len()];
            server.set(*id, ship).expect("a ship can be set");
        }
    }
}

/// A sine by a few terms: equal on every machine, which the library's need not be.
fn fixed_sin(angle: f32) -> f32 {
    let turn = (angle / core::f32::consts::TAU).fract() * core::f32::consts::TAU;
    let x = if turn > core::f32::consts::PI {
        turn - core::f32::consts::TAU
    } else {
        turn
    };
    let square = x * x;
    x * (1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0 * (1.0 - square / 72.0))))
}

/// A value as its lanes: `3,4 -1 x6162`.
fn lanes(fields: &[Field], lanes: &[u32], texts: &[std::sync::Arc<[u8]>]) -> String {
    let (mut lanes, mut texts) = (lanes.iter(), texts.iter());
    let words = fields.iter().map(|field| match field.kind {
        Kind::Bytes { .. } => format!("x{}", hex(texts.next().expect("a text"))),
        kind => {
            let lanes = lanes.by_ref().take(field.lanes());
            let lanes = lanes.map(|lane| match kind {
                Kind::Signed { .. } => lane.cast_signed().to_string(),
                _ => lane.to_string(),
            });
            lanes.collect::<Vec<_>>().join(",")
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn value_lanes<T: Replicate>(value: &T) -> String {
    let count = T::FIELDS.iter().map(Field::lanes).sum();
    let is_text = |field: &&Field| matches!(field.kind, Kind::Bytes { .. });
    let texts = T::FIELDS.iter().filter(is_text).count();
    let mut row = (vec![0; count], vec![std::sync::Arc::default(); texts]);
    let stored = value.store(&mut RowWriter::new(T::FIELDS, &mut row.0, &mut row.1));
    stored.expect("what was decoded can be stored");
    lanes(T::FIELDS, &row.0, &row.1)
}

/// Reads a conversation, and writes what it means.
struct Scribe {
    text: String,
    schema: Schema,
    replica: Replica<Thing>,
    up: FrameReader,
    down: FrameReader,
}

impl Scribe {
    fn new() -> Self {
        Self {
            text: String::new(),
            schema: schema::<Museum>(),
            replica: Replica::new(ReplicaConfig::DEFAULT),
            up: FrameReader::default(),
            down: FrameReader::default(),
        }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("a String grows");
    }

    fn read(
        &mut self,
        from_client: bool,
        on_stream: bool,
        bytes: &[u8],
    ) -> Result<(), DecodeError> {
        let sender = if from_client { "client" } else { "server" };
        let path = if on_stream { "stream" } else { "datagram" };
        self.line(&format!("{sender} by {path} {}", hex(bytes)));
        if !on_stream {
            return self.datagram(from_client, bytes);
        }
        let mut frames = match from_client {
            true => core::mem::take(&mut self.up),
            false => core::mem::take(&mut self.down),
        };
        frames.receive(bytes, |kind, body| self.frame(from_client, kind, body))?;
        match from_client {
            true => self.up = frames,
            false => self.down = frames,
        }
        Ok(())
    }

    fn frame(&mut self, from_client: bool, kind: u8, body: &[u8]) -> Result<(), DecodeError> {
        if from_client {
            match Up::decode(kind, body)? {
                Up::Say(body) | Up::Ask { body, .. } => self.message::<Word>(body)?,
                Up::Datagram(bytes) => self.datagram(true, bytes)?,
                _ => {}
            }
            return Ok(());
        }
        match Down::decode(kind, body)? {
            Down::Say(body) | Down::Event { body, .. } | Down::Answer { body, .. } => {
                self.message::<Word>(body)?;
            }
            Down::Datagram(bytes) => self.datagram(false, bytes)?,
            _ => {}
        }
        Ok(())
    }

    fn message<T: Replicate>(&mut self, body: &[u8]) -> Result<(), DecodeError> {
        let message = value_lanes(&value::<T>(body)?);
        self.line(&format!("  message {message}"));
        Ok(())
    }

    fn datagram(&mut self, from_client: bool, bytes: &[u8]) -> Result<(), DecodeError> {
        if from_client {
            match DatagramUp::decode(bytes)? {
                DatagramUp::Play { inputs, .. } => {
                    for (age, input) in (0..).zip(inputs.decode::<Stick>()?) {
                        let tick = inputs.tick.wrapping_sub(age);
                        self.line(&format!("  input {tick} {}", value_lanes(&input.value())));
                    }
                }
                DatagramUp::Latest(latest) => self.message::<Word>(latest.body)?,
                DatagramUp::Attach(_) => {}
            }
            return Ok(());
        }
        match DatagramDown::decode(bytes)? {
            DatagramDown::State { packet, .. } => self.packet(packet),
            DatagramDown::Latest(latest) => self.message::<Word>(latest.body)?,
        }
        Ok(())
    }

    fn packet(&mut self, packet: &[u8]) {
        let applied = self.replica.apply(packet).expect("every packet is applied");
        self.line(&format!(
            "  packet {} of send {}",
            applied.packet.0, applied.send.0
        ));
        let mut lines = Vec::new();
        for name in self.replica.blocks() {
            let versions = self.replica.versions(name);
            let written = versions.filter(|(send, _)| *send == applied.send).last();
            let title = format!("  block {} of place {}", name.block.0, name.place.0);
            match written {
                None => {}
                Some((_, None)) => lines.push(format!("{title} is gone")),
                Some((_, Some((archetype, view)))) => {
                    lines.push(format!("{title}: archetype {archetype}"));
                    lines.extend(slots(self.schema.fields(archetype), view));
                }
            }
        }
        lines.iter().for_each(|line| self.line(line));
    }
}

fn slots(fields: &[Field], view: BlockView<'_>) -> Vec<String> {
    let texts = fields
        .iter()
        .filter(|it| matches!(it.kind, Kind::Bytes { .. }))
        .count();
    let slots = (0..SLOTS).filter(|slot| view.occupied >> slot & 1 == 1);
    let row = |slot: usize| {
        let row: Vec<u32> = view
            .lanes
            .iter()
            .skip(slot)
            .step_by(SLOTS)
            .copied()
            .collect();
        let bytes: Vec<_> = (0..texts)
            .map(|text| view.bytes[text * SLOTS + slot].clone())
            .collect();
        format!(
            "    {slot}: {} is {}",
            view.ids[slot],
            lanes(fields, &row, &bytes)
        )
    };
    slots.map(row).collect()
}

fn conversation(form: Form) -> String {
    let mut scribe = Scribe::new();
    scribe.line("One client and its server, from Hello to End: what each sends, and what it means");
    scribe.line("schema");
    for line in schema::<Museum>().text().lines() {
        scribe.line(&format!("  {line}"));
    }
    for (from_client, on_stream, bytes) in play(form).0 {
        scribe
            .read(from_client, on_stream, &bytes)
            .expect("both sides speak the protocol");
    }
    scribe.text
}

/// The file of the general prior.
pub(crate) const PRIOR_FILE: &str = "prior-general";

/// The general prior, as the coder's page describes a prior as a file, five kinds of column in order.
fn general_prior() -> String {
    // Entities, a still lane, a moving one, and the two kinds of a quaternion.
    let fields = vec![
        Field::new("still", Kind::Unsigned { max: 9 }),
        Field::new("moving", Kind::Angle { bits: 8 }),
        Field::new("quaternion", Kind::Quaternion { bits: 8 }),
    ];
    let schema = Schema::new(vec![ArchetypeSchema {
        name: "All",
        fields,
    }]);
    let bytes = Prior::general(&schema).to_bytes();
    let mut text =
        String::from("The general prior: where the 64 models of each kind of column begin\n");
    let kinds = [
        "entities",
        "still lanes",
        "moving lanes",
        "largest",
        "components",
    ];
    for (kind, starts) in kinds.iter().zip(bytes.chunks(128)) {
        writeln!(text, "{kind}").expect("a String grows");
        for starts in starts.chunks(32) {
            writeln!(text, "  {}", hex(starts)).expect("a String grows");
        }
    }
    text
}

#[track_caller]
fn check(name: &str, text: &str) {
    let path = dir("native").join(name).with_extension("txt");
    if is_blessing() {
        fs::create_dir_all(dir("native")).expect("the vectors folder can be made");
        fs::write(&path, text).expect("a vector can be written");
    }
    let file = fs::read_to_string(&path).unwrap_or_default();
    let differs = file
        .lines()
        .zip(text.lines())
        .position(|(file, text)| file != text);
    assert!(
        file == text,
        "vectors/native/{name}.txt is not what is said, from line {:?} on: if the change is meant, run with \
         TICKWIRE_BLESS=1 and say so in the changelog",
        differs.map(|line| line + 1)
    );
}

#[test]
fn vectors_of_conversations_are_what_is_said() {
    check("conversation-packed", &conversation(Form::Packed));
    check("conversation-coded", &conversation(Form::Coded));
}

#[test]
fn vectors_of_the_prior_are_what_it_is() {
    check(PRIOR_FILE, &general_prior());
}
