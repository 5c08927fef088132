//! The lag model from outside, on real sockets: what arrives, in which order, and when by the driver's clock.
//!
//! The same seed is run a second time without sockets, at the moments at which the first run sent. What that run
//! lets through is what must have arrived, in the same order and never earlier. A busy machine may only be late.

use std::time::Duration;

use tickwire_net::{Carries, Driver};
use tickwire_session::{Addr, Idle, Instant, Session, Transmit, pass_on_session};
use tickwire_sim::{Chance, Conditions, Lag};

use crate::{GLANCE, PATIENCE, addr_of};

const SEED: u64 = 4_711;

/// When numbers are sent.
enum Beat {
    /// So many, so long after each other at least.
    Every(Duration, usize),
    /// At these moments.
    At(Vec<Instant>),
}

/// Sends numbers, and notes when it did and what it heard.
struct Metronome {
    to: Addr,
    beat: Beat,
    sent: Vec<Instant>,
    heard: Vec<(u32, Instant)>,
}

impl Metronome {
    const fn new(to: Addr, beat: Beat) -> Self {
        Self {
            to,
            beat,
            sent: Vec::new(),
            heard: Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.poll_timeout().is_none()
    }
}

impl Session for Metronome {
    fn handle_datagram(&mut self, now: Instant, _from: Addr, bytes: &[u8]) {
        let number = u32::from_le_bytes(bytes.try_into().expect("only numbers are sent"));
        self.heard.push((number, now));
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.poll_timeout().filter(|due| *due <= now)?;
        out.extend(u32::try_from(self.sent.len()).unwrap().to_le_bytes());
        self.sent.push(now);
        Some(Transmit::Datagram { to: self.to })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match &self.beat {
            Beat::Every(_, count) if self.sent.len() == *count => None,
            Beat::Every(every, _) => {
                let last = self.sent.last();
                Some(last.map_or(Instant::ZERO, |last| *last + *every))
            }
            Beat::At(moments) => moments.get(self.sent.len()).copied(),
        }
    }

    fn is_finished(&self) -> bool {
        self.is_done()
    }

    pass_on_session!(self => Idle; handle_opened handle_stream handle_room handle_closed handle_timeout
        set_busy shut_down visit_peers visit_counters);
}

/// When each number was sent, and what arrived when, on sockets.
fn measure(conditions: Conditions, beat: Beat) -> (Vec<Instant>, Vec<(u32, Instant)>) {
    let mut driver = Driver::new().unwrap();
    let loopback = "127.0.0.1:0".parse().unwrap();
    let receiver = driver.bind(loopback, Carries::Datagrams).unwrap();
    driver.open();
    let to = addr_of(&driver, receiver);
    let mut sender = Metronome::new(to, beat);
    let mut receiver = Metronome::new(to, Beat::At(Vec::new()));
    let mut lag = Lag::new(conditions, Conditions::IDEAL, SEED);
    let deadline = driver.now() + PATIENCE;
    // What left in the last turn may arrive in the next.
    let mut quiet_turns = 0;
    while quiet_turns < 4 {
        assert!(driver.now() < deadline, "this should have happened by now");
        let until = driver.now() + GLANCE;
        let mut lagged = lag.around(&mut sender);
        driver
            .turn(until, &mut [&mut receiver, &mut lagged])
            .unwrap();
        let is_over = sender.is_done() && lag.is_idle();
        quiet_turns = if is_over { quiet_turns + 1 } else { 0 };
    }
    (sender.sent, receiver.heard)
}

/// What the model lets through of numbers sent at these moments, and when.
fn model(conditions: Conditions, sent: &[Instant]) -> Vec<(u32, Instant)> {
    let mut session = Metronome::new("127.0.0.1:9".parse().unwrap(), Beat::At(sent.to_vec()));
    let mut lag = Lag::new(conditions, Conditions::IDEAL, SEED);
    let mut through = Vec::new();
    let mut lagged = lag.around(&mut session);
    while let Some(now) = lagged.poll_timeout() {
        let mut bytes = Vec::new();
        while lagged.poll_transmit(now, &mut bytes).is_some() {
            let number = u32::from_le_bytes(bytes[..].try_into().unwrap());
            through.push((number, now));
            bytes.clear();
        }
    }
    through
}

/// Compares the two, and returns the delays that the model chose, by number.
#[track_caller]
fn check(conditions: Conditions, beat: Beat) -> Vec<(u32, Duration)> {
    let (sent, heard) = measure(conditions, beat);
    let through = model(conditions, &sent);
    let numbers =
        |all: &[(u32, Instant)]| all.iter().map(|(number, _)| *number).collect::<Vec<_>>();
    assert_eq!(numbers(&heard), numbers(&through));
    let lateness = heard
        .iter()
        .zip(&through)
        .map(|((number, heard), (_, due))| {
            assert!(heard >= due, "{number} came at {heard:?}, before {due:?}");
            heard.since(*due)
        });
    // Whatever the machine does, it does not do it to every one of hundreds.
    let least = lateness.min().expect("some arrive");
    assert!(least < Duration::from_millis(20), "{least:?}");
    let delay = |&(number, at): &(u32, Instant)| (number, at.since(sent[number as usize]));
    through.iter().map(delay).collect()
}

/// Enough for every share to show.
const MANY: Beat = Beat::Every(Duration::from_millis(1), 600);

#[test]
fn losses_are_those_of_the_seed_and_as_many_as_asked() {
    let conditions = Conditions {
        loss: Chance::percent(20),
        ..Conditions::IDEAL
    };
    let arrived = check(conditions, MANY);
    // 480 ± four standard deviations of a binomial distribution.
    assert!((441..=519).contains(&arrived.len()), "{}", arrived.len());
}

#[test]
fn delays_are_spread_as_asked() {
    let [latency, jitter] = [40, 10].map(Duration::from_millis);
    let conditions = Conditions {
        latency,
        jitter,
        ..Conditions::IDEAL
    };
    // Jitter lets nothing be overtaken, so what follows closely would wait for what is before it.
    let beat = Beat::Every(jitter * 6 / 5, 200);
    let mut delays: Vec<_> = check(conditions, beat)
        .into_iter()
        .map(|(_, delay)| delay)
        .collect();
    delays.sort_unstable();
    assert_eq!(delays.len(), 200);
    assert!(delays[0] >= latency && delays[delays.len() - 1] <= latency + jitter);
    for quarter in 1..4 {
        let expected = latency + jitter * quarter / 4;
        let got = delays[delays.len() * quarter as usize / 4];
        // Four standard errors of a uniform distribution's median are 14 % of its width.
        assert!(
            got.abs_diff(expected) <= jitter / 7,
            "{got:?}, not {expected:?}"
        );
    }
}

#[test]
fn copies_and_overtaking_are_those_of_the_seed() {
    let conditions = Conditions {
        latency: Duration::from_millis(5),
        duplication: Chance::percent(10),
        reordering: Chance::percent(10),
        reordering_delay: Duration::from_millis(15),
        ..Conditions::IDEAL
    };
    let mut numbers: Vec<_> = check(conditions, MANY)
        .into_iter()
        .map(|(number, _)| number)
        .collect();
    // 60 copies ± four standard deviations.
    assert!((630..=690).contains(&numbers.len()), "{}", numbers.len());
    assert!(!numbers.is_sorted());
    numbers.sort_unstable();
    numbers.dedup();
    assert!(numbers.into_iter().eq(0..600));
}
