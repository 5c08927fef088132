//! C++evy's objects: what it takes to read one.
//!
//! A full payload as the arena sends it, states of 8 bytes and now and then a shot: it is decoded,
//! which checks every object, and then walked through. Copying the same bytes makes machines
//! comparable.

use std::hint::black_box;

use anyhow::{Context as _, ensure};
use tickwire_dialects::cppevy::message::{Data, Object, Payload, PayloadWriter, Sender};
use tickwire_dialects::cppevy::{EventId, StateId};

use super::clock::timed;
use super::report::{Figure, Ratio, Target};
use super::rounds::Rounds;

const ROUNDS: usize = 200;
const PAYLOADS: u16 = 20;
const REPETITIONS: usize = 100;

/// Copying is so fast that it is done more often.
const COPIES: usize = 20;

/// Every fifth object is an event.
const MIX: u16 = 5;
/// What a state and a shot of the arena have for data.
const STATE: [u8; 8] = [0x3f; 8];
const SHOT: [u8; 29] = [0x40; 29];

/// What the target says.
const NANOS_AN_OBJECT: f64 = 5.0;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut bench = Bench::new()?;
    let read = Rounds::run(ROUNDS, &mut bench, Bench::read, Bench::copy)?.compare(|n| *n);
    Ok(vec![Figure {
        ratio: Some(Ratio {
            spread: read.ratio,
            to: "copying",
        }),
        target: Some(Target::AtMost(NANOS_AN_OBJECT)),
        ..Figure::plain("C++evy decode", read.first, "ns/object")
    }])
}

struct Bench {
    payloads: Vec<Vec<u8>>,
    /// Objects in all of them.
    objects: usize,
    out: Vec<u8>,
}

impl Bench {
    fn new() -> anyhow::Result<Self> {
        let state = Data::new(&STATE).context("short")?;
        let shot = Data::new(&SHOT).context("short")?;
        let mut objects = 0;
        let mut payloads = Vec::new();
        let mut number = 0;
        for timestamp in 0..PAYLOADS {
            let mut bytes = Vec::new();
            let mut payload = PayloadWriter::new(&mut bytes, timestamp.into());
            loop {
                let object = if number % MIX == 0 {
                    Object::Event {
                        event: EventId(0x100),
                        data: shot,
                    }
                } else {
                    Object::State {
                        state: StateId::from_descriptor(number),
                        value: state,
                    }
                };
                if payload.push(&object).is_err() {
                    break;
                }
                objects += 1;
                number += 1;
            }
            payload.finish();
            payloads.push(bytes);
        }
        Ok(Self {
            payloads,
            objects,
            out: Vec::new(),
        })
    }

    /// Nanoseconds to read an object.
    fn read(&mut self) -> anyhow::Result<f64> {
        let (time, objects) = timed(|| {
            let mut objects = 0;
            for _ in 0..REPETITIONS {
                for bytes in &self.payloads {
                    if let Ok(payload) = Payload::decode(black_box(bytes), Sender::Server) {
                        for object in payload.objects() {
                            black_box(object);
                            objects += 1;
                        }
                    }
                }
            }
            objects
        });
        ensure!(objects == REPETITIONS * self.objects);
        Ok(time.as_nanos() as f64 / objects as f64)
    }

    /// Nanoseconds to copy an object's bytes as part of a payload.
    fn copy(&mut self) -> anyhow::Result<f64> {
        let (time, ()) = timed(|| {
            for _ in 0..REPETITIONS * COPIES {
                for payload in &self.payloads {
                    self.out.clear();
                    self.out.extend_from_slice(black_box(payload));
                    black_box(&self.out);
                }
            }
        });
        Ok(time.as_nanos() as f64 / (REPETITIONS * COPIES * self.objects) as f64)
    }
}
