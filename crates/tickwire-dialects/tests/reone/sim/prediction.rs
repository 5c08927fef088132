//! The own creature, predicted over a network.
//!
//! The player presses another direction now and then, a step a tick. On a network that loses nothing the
//! server never says anything new. On a bad one it does only when something happened to the creature that
//! the player cannot know: it is pushed. Then what is shown fades to the truth, and never jumps.

use std::time::Duration;

use tickwire_dialects::reone::{
    AnyStatus, Client, ClientConfig, ClientId, CreatureStatus, Module, Object, ObjectId, PORT,
    Pilot, Seat, Server, ServerConfig, ServerEvent, SteerError, Vec3,
};
use tickwire_session::{Events as _, Instant};
use tickwire_sim::{Chance, Conditions, Network, NodeId, Rng, TraceHash, addr};
use tickwire_state::{CORRECTION, Motion as _, Prediction, PredictionFigures};

use super::{LONG, check};
use crate::line::Line;

const STEP: Duration = Duration::from_millis(50);
/// Frames that are shown in a step.
const FRAMES: u32 = 3;
/// Steps of one run.
const STEPS: u32 = 400;
const OWN: ObjectId = ObjectId(1);
/// Units that a creature moves in a step, at most.
const SPEED: f32 = 0.5;
const LINE: Line = Line { speed: SPEED };
/// Units that it is pushed, and the steps between two pushes: more than a round trip and what it takes
/// to repeat what was lost, so that no two of them are on the way together.
const PUSH: f32 = 2.0;
const PUSHED_EVERY: u32 = 40;

/// A round trip of 150 ms and a loss of 10 % each way.
const BAD: Conditions = Conditions {
    latency: Duration::from_millis(75),
    loss: Chance::percent(10),
    ..Conditions::IDEAL
};

struct Play {
    net: Network,
    rng: Rng,
    server: Server,
    client: Client,
    node: NodeId,
    server_node: NodeId,
    pilot: Pilot<Line>,
    /// Where the creature truly is.
    truth: f32,
    input: i8,
    /// What was shown last, since there is a creature.
    shown: Option<f32>,
    /// The largest move from one frame to the next, and the largest correction.
    jump: f32,
    error: f32,
}

impl Play {
    fn new(seed: u64) -> Self {
        let mut net = crate::recorded::network(seed);
        let mut rng = Rng::new(seed).branch(1);
        let server_node = net.add_node(addr::machine(1, PORT));
        let node = net.add_node(addr::machine(2, 5_000));
        let module = Module {
            name: "danm13".into(),
            ..Module::default()
        };
        let config = ServerConfig {
            module,
            ..ServerConfig::default()
        };
        let player = ClientConfig::new(addr::machine(1, PORT), "ann").expect("a good name");
        let shape = Prediction {
            step: STEP,
            snap: 50.0,
        };
        Self {
            client: Client::new(net.now(), player),
            server: Server::new(config, rng.secret()).expect("a good module"),
            net,
            rng,
            node,
            server_node,
            pilot: Pilot::new(LINE, shape),
            truth: 0.0,
            input: 1,
            shown: None,
            jump: 0.0,
            error: 0.0,
        }
    }

    /// One step: the server's, and the frames and the input of the player.
    fn step(&mut self, step: u32, is_pushed: bool) -> Result<(), String> {
        for frame in 0..FRAMES {
            self.run_network(Instant::ZERO + STEP * step + STEP / FRAMES * frame);
            if frame == 0 {
                self.serve(step, is_pushed);
                self.run_network(self.net.now());
                self.act()?;
            }
            self.show();
        }
        Ok(())
    }

    fn run_network(&mut self, until: Instant) {
        self.net
            .run_until(until, &mut [&mut self.server, &mut self.client]);
        let now = self.net.now();
        while let Some(event) = self.client.poll_event() {
            self.pilot.handle_event(now, &event);
            self.error = self.error.max(self.pilot.error());
        }
    }

    fn serve(&mut self, step: u32, is_pushed: bool) {
        let now = self.net.now();
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Joining { client } => {
                    self.server.admit(now, client, Seat::Player(OWN))
                }
                ServerEvent::Event {
                    client,
                    id,
                    content,
                    ..
                } => {
                    let input = content.first().copied().unwrap_or(0).cast_signed();
                    self.truth = LINE.step(&self.truth, &input);
                    self.server.processed(client, id);
                }
                _ => {}
            }
        }
        if is_pushed && step.is_multiple_of(PUSHED_EVERY) {
            self.truth += PUSH;
        }
        let pos = Vec3 {
            x: self.truth,
            ..Vec3::ZERO
        };
        let creature = CreatureStatus {
            pos,
            ..CreatureStatus::default()
        };
        let own = Object::new(OWN, AnyStatus::Creature(creature));
        self.server.publish(step, [own]);
    }

    fn act(&mut self) -> Result<(), String> {
        if self.rng.within(0..=9) == 0 {
            self.input = [-1, 0, 1][usize::try_from(self.rng.within(0..=2)).expect("few")];
        }
        match self.pilot.act(self.net.now(), &mut self.client, self.input) {
            Ok(_) | Err(SteerError::NoCreature) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn show(&mut self) {
        let shown = self.pilot.sample(self.net.now());
        if let (Some(before), Some(shown)) = (self.shown, shown) {
            self.jump = self.jump.max((shown - before).abs());
        }
        self.shown = shown;
    }
}

/// Plays, and returns what came of it once everything said has arrived.
fn play(
    seed: u64,
    conditions: Conditions,
    is_pushed: bool,
) -> Result<(Play, PredictionFigures), String> {
    let mut play = Play::new(seed);
    (1..20).try_for_each(|step| play.step(step, false))?;
    play.net
        .set_conditions_between(play.server_node, play.node, conditions);
    (20..STEPS).try_for_each(|step| play.step(step, is_pushed))?;
    if play.server.mode(ClientId(1)).is_none() || play.shown.is_none() {
        return Err("it does not play".to_owned());
    }
    let figures = play.pilot.figures();
    Ok((play, figures))
}

/// What a creature moves between two frames by itself, and no rounding makes more of it.
fn largest_move() -> f32 {
    SPEED / f32::from(u8::try_from(FRAMES).expect("few")) * 1.05
}

#[test]
fn on_a_good_network() {
    check("reone::prediction::on_a_good_network", LONG, |seed| {
        let latency = Duration::from_millis(seed % 5 * 20);
        let good = Conditions {
            latency,
            ..Conditions::IDEAL
        };
        let (play, figures) = play(seed, good, false)?;
        match figures.corrections == 0 && play.error == 0.0 && play.jump <= largest_move() {
            true => Ok(play.net.trace_hash()),
            false => Err(format!("{figures:?}, frames {} apart", play.jump)),
        }
    });
}

#[test]
fn on_a_bad_network() {
    check("reone::prediction::on_a_bad_network", LONG, run_bad);
}

fn run_bad(seed: u64) -> Result<TraceHash, String> {
    let (play, figures) = play(seed, BAD, true)?;
    // Acknowledgements that are lost make the truth look as if it came from fewer inputs than it did.
    let inputs = 2.0 * SPEED;
    let bound = PUSH + inputs;
    let frame = STEP.as_secs_f32() / 3.0;
    let fading = bound * frame / CORRECTION.as_secs_f32() * 1.05;
    if figures.corrections == 0 || figures.snaps > 0 {
        return Err(format!("{figures:?}"));
    }
    if play.error > bound || play.jump > largest_move() + fading {
        return Err(format!("off by {}, frames {} apart", play.error, play.jump));
    }
    Ok(play.net.trace_hash())
}
