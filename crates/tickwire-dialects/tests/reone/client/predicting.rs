//! The own creature, predicted: on a good path the server never says anything new.

use std::time::Duration;

use tickwire_dialects::reone::message::DownElement;
use tickwire_dialects::reone::{ClientEvent, EventId, ObjectId, Pilot, SteerError, Steering as _};
use tickwire_session::Events as _;
use tickwire_state::{Motion as _, Prediction};

use super::script::{ClientScript, OWN, SERVER, creature, keep, read_uplink};
use crate::driven::ms;
use crate::line::Line;

const STEP: Duration = Duration::from_millis(50);
const LINE: Line = Line { speed: 1.0 };

fn pilot() -> Pilot<Line> {
    Pilot::new(
        LINE,
        Prediction {
            step: STEP,
            snap: 50.0,
        },
    )
}

fn pass_events(script: &mut ClientScript, pilot: &mut Pilot<Line>) {
    while let Some(event) = script.session.poll_event() {
        pilot.handle_event(script.now, &event);
    }
}

/// A server that steps the creature by the events that arrive.
struct Truth {
    x: f32,
    processed: u32,
    sequence: u32,
}

impl Truth {
    /// Takes the events of a datagram that are next.
    fn take(&mut self, bytes: &[u8]) {
        for (id, kind, content) in read_uplink(bytes).events {
            if id == self.processed + 1 {
                assert_eq!(kind, Line::KIND);
                let input = i8::from_le_bytes([content[0]]);
                self.x = LINE.step(&self.x, &input);
                self.processed = id;
            }
        }
    }

    fn publish(&mut self) -> (u32, DownElement<'static>, DownElement<'static>) {
        self.sequence += 1;
        let own = DownElement::CreatureFull {
            id: OWN,
            status: creature(self.x),
        };
        let ack = DownElement::EventAck(EventId(self.processed));
        (self.sequence, own, ack)
    }
}

/// Plays 200 steps; datagrams up take `late` steps, and each that `loses` says is lost.
fn play(late: usize, loses: impl Fn(usize) -> bool) -> (Pilot<Line>, f32) {
    let mut script = ClientScript::ready(2);
    let mut pilot = pilot();
    let mut truth = Truth {
        x: 1.0,
        processed: 0,
        sequence: 0,
    };
    let mut under_way = std::collections::VecDeque::from(vec![Vec::new(); late]);
    let mut number = 0;
    for step in 0..200_i16 {
        let (sequence, own, ack) = truth.publish();
        script.snapshot(sequence, 0, &[own, ack]);
        pass_events(&mut script, &mut pilot);
        let input = i8::try_from(step % 7 - 3).expect("it is small");
        let now = script.now;
        let before = *pilot.current().expect("there is a creature");
        let acted = pilot.act(now, &mut script.session, input);
        acted.expect("there is a creature");
        let after = *pilot.current().expect("there is a creature");
        assert_eq!(after, before + f32::from(input), "at once");
        script.drain();
        under_way.push_back(script.taken(SERVER));
        for datagram in under_way.pop_front().unwrap_or_default() {
            number += 1;
            if !loses(number) {
                truth.take(&datagram);
            }
        }
        script.pass(STEP);
        script.datagrams.clear();
    }
    let shown = *pilot.current().expect("there is a creature");
    (pilot, shown)
}

#[test]
fn lost_inputs_are_repeated_so_that_nothing_is_corrected_either() {
    let (pilot, shown) = play(3, |number| number % 3 == 0);
    assert_eq!(pilot.figures().corrections, 0);
    let (_, undisturbed) = play(3, |_| false);
    assert_eq!(shown, undisturbed);
}

#[test]
fn what_the_server_says_otherwise_is_taken_over_smoothly() {
    let mut script = ClientScript::ready(2);
    let mut pilot = pilot();
    script.snapshot(1, 0, &[keep(1)]);
    pass_events(&mut script, &mut pilot);
    let now = script.now;
    pilot.act(now, &mut script.session, 10).unwrap();
    script.drain();
    script.pass(STEP);
    assert_eq!(pilot.sample(script.now), Some(11.0));
    // A wall was in the way.
    let ack = DownElement::EventAck(EventId(1));
    script.snapshot(2, 0, &[keep(1), ack]);
    pass_events(&mut script, &mut pilot);
    assert_eq!(pilot.error(), 10.0);
    assert_eq!(pilot.sample(script.now), Some(11.0), "no jump");
    script.pass(ms(100));
    assert_eq!(pilot.sample(script.now), Some(1.0));
}

#[test]
fn without_a_creature_nothing_is_sent() {
    let mut script = ClientScript::ready(2);
    let mut pilot = pilot();
    let now = script.now;
    let refused = pilot.act(now, &mut script.session, 1);
    assert_eq!(refused, Err(SteerError::NoCreature));
    script.snapshot(1, 0, &[keep(1)]);
    pass_events(&mut script, &mut pilot);
    assert_eq!(pilot.sample(script.now), Some(1.0));
    // It dies, and comes back somewhere else.
    script.snapshot(2, 0, &[keep(2)]);
    pass_events(&mut script, &mut pilot);
    assert_eq!(pilot.sample(script.now), None);
    let status = creature(77.0);
    script.snapshot(
        3,
        0,
        &[DownElement::CreatureFull {
            id: ObjectId(1),
            status,
        }],
    );
    pass_events(&mut script, &mut pilot);
    assert_eq!(pilot.sample(script.now), Some(77.0));
    assert_eq!(pilot.figures().corrections, 0);
}

#[test]
fn another_connection_begins_with_other_numbers() {
    let mut pilot = pilot();
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1)]);
    pass_events(&mut script, &mut pilot);
    let now = script.now;
    for _ in 0..3 {
        pilot.act(now, &mut script.session, 1).unwrap();
    }
    pilot.handle_event(
        now,
        &ClientEvent::Welcomed {
            client: tickwire_dialects::reone::ClientId(9),
        },
    );
    let mut script = ClientScript::ready(2);
    script.snapshot(1, 0, &[keep(1)]);
    pass_events(&mut script, &mut pilot);
    let now = script.now;
    assert_eq!(pilot.act(now, &mut script.session, 1), Ok(EventId(1)));
    assert_eq!(pilot.current(), Some(&2.0));
}
