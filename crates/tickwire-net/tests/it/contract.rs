//! The contract's own test: the same sessions, the same assertions, on sockets, on memory links and
//! in the simulator.
//!
//! Whatever a session can tell the three apart by is a bug of one of them.

use std::iter;
use std::time::Duration;

use tickwire_net::{Carries, Driver};
use tickwire_session::echo::{self, DatagramEcho, StreamEcho, StreamHeard};
use tickwire_session::{Addr, Ended, Events, Instant, Session, StreamId};
use tickwire_sim::{Conditions, Network, addr};

use crate::bystander::DESERTED;
use crate::{GLANCE, PATIENCE, addr_of, pattern};

/// Something that drives a server at position 0 and a client at position 1.
trait Drives {
    /// Where the client finds the server.
    fn server(&self) -> Addr;
    fn now(&self) -> Instant;
    /// Lets a little happen.
    fn advance(&mut self, sessions: &mut [&mut dyn Session]);
}

/// Sockets or a link of the network driver.
struct InReality {
    driver: Driver,
    server: Addr,
}

impl InReality {
    fn on_sockets() -> Self {
        let mut driver = Driver::new().unwrap();
        let server = driver
            .bind("127.0.0.1:0".parse().unwrap(), Carries::Both)
            .unwrap();
        driver.open();
        let server = addr_of(&driver, server);
        Self { driver, server }
    }

    fn on_a_link() -> Self {
        let mut driver = Driver::new().unwrap();
        let server = driver.open();
        let (_, server) = driver.link(server);
        Self { driver, server }
    }
}

impl Drives for InReality {
    fn server(&self) -> Addr {
        self.server
    }

    fn now(&self) -> Instant {
        self.driver.now()
    }

    fn advance(&mut self, sessions: &mut [&mut dyn Session]) {
        let until = self.driver.now() + GLANCE;
        self.driver.turn(until, sessions).unwrap();
    }
}

struct InSimulation {
    network: Network,
}

const SERVER: Addr = addr::loopback(4_000);

impl InSimulation {
    fn new() -> Self {
        let mut network = Network::new(7);
        network.set_conditions(Conditions {
            latency: Duration::from_millis(20),
            ..Conditions::IDEAL
        });
        network.add_node(SERVER);
        network.add_node(addr::loopback(4_001));
        Self { network }
    }
}

impl Drives for InSimulation {
    fn server(&self) -> Addr {
        SERVER
    }

    fn now(&self) -> Instant {
        self.network.now()
    }

    fn advance(&mut self, sessions: &mut [&mut dyn Session]) {
        self.network.run_for(GLANCE, sessions);
    }
}

/// A driver with its two sessions.
struct Conversation<D, S> {
    on: D,
    server: S,
    client: S,
}

impl<D: Drives, S: Events + Default> Conversation<D, S> {
    fn new(on: D) -> Self {
        Self {
            on,
            server: S::default(),
            client: S::default(),
        }
    }

    /// Goes on until `done`, which is asked whenever something may have happened.
    #[track_caller]
    fn until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let deadline = self.on.now() + PATIENCE;
        while !done(self) {
            assert!(self.on.now() < deadline, "this should have happened");
            self.on.advance(&mut [&mut self.server, &mut self.client]);
        }
    }

    /// The next event of the client.
    #[track_caller]
    fn expect(&mut self) -> S::Event {
        let mut event = None;
        self.until(|all| {
            event = all.client.poll_event();
            event.is_some()
        });
        event.expect("the condition that was waited for")
    }

    fn server_events(&mut self) -> Vec<S::Event> {
        iter::from_fn(|| self.server.poll_event()).collect()
    }
}

fn check_datagrams(on: impl Drives) {
    let mut all = Conversation::<_, DatagramEcho>::new(on);
    let to = all.on.server();
    let largest = vec![7; echo::LARGEST - 1];
    // The first goes nowhere, and nobody hears of it.
    all.client.send(DESERTED.into(), b"lost");
    for question in [b"".as_slice(), b"a", &largest] {
        all.client.send(to, question);
        let heard = all.expect();
        assert_eq!((heard.from, heard.bytes.as_slice()), (to, question));
    }
    assert!(all.server_events().is_empty());
}

fn check_stream(on: impl Drives) {
    let mut all = Conversation::<_, StreamEcho>::new(on);
    let on = all.client.dial(all.on.server());
    assert_eq!(all.expect(), StreamHeard::Opened(on));

    // Much more than any room, in portions that the echo is able to hold.
    let bytes = pattern(2_000_000);
    let mut echoed = Vec::new();
    for portion in bytes.chunks(200_000) {
        all.client.send(on, portion);
        let so_far = echoed.len() + portion.len();
        while echoed.len() < so_far {
            match all.expect() {
                StreamHeard::Bytes(from, piece) if from == on => echoed.extend(piece),
                other => panic!("instead of bytes: {other:?}"),
            }
        }
    }
    assert!(echoed == bytes);

    // What is sent last arrives, and then the end; the side that finished hears nothing more.
    all.client.send(on, b"the end");
    all.client.finish(on);
    let mut heard = Vec::new();
    all.until(|all| {
        heard.extend(all.server_events());
        heard.len() == 2
    });
    let accepted = StreamId::Accepted(0);
    assert_eq!(heard[0], StreamHeard::Opened(accepted));
    assert_eq!(heard[1], StreamHeard::Closed(accepted, Ended::Finished));
    assert_eq!(all.client.poll_event(), None);
}

fn check_refusal(on: impl Drives) {
    let mut all = Conversation::<_, StreamEcho>::new(on);
    let on = all.client.dial(DESERTED.into());
    assert_eq!(all.expect(), StreamHeard::Closed(on, Ended::Refused));
}

fn check_reset(on: impl Drives) {
    let mut all = Conversation::<_, StreamEcho>::new(on);
    let on = all.client.dial(all.on.server());
    assert_eq!(all.expect(), StreamHeard::Opened(on));
    let accepted = StreamId::Accepted(0);
    all.until(|all| all.server_events() == [StreamHeard::Opened(accepted)]);

    // More than an echo keeps waiting, so that it cuts the stream.
    let too_much = pattern(echo::BYTES_WAITING + 1);
    all.server.send(accepted, &too_much);
    assert_eq!(all.expect(), StreamHeard::Closed(on, Ended::Reset));
}

macro_rules! on_everything {
    ($($check:ident => $name:ident,)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn on_sockets() {
                $check(InReality::on_sockets());
            }

            #[test]
            fn on_a_link() {
                $check(InReality::on_a_link());
            }

            #[test]
            fn in_simulation() {
                $check(InSimulation::new());
            }
        })*
    };
}

on_everything! {
    check_datagrams => datagrams_are_echoed,
    check_stream => a_stream_is_echoed_and_finished,
    check_refusal => dialling_nobody_is_refused,
    check_reset => aborting_resets,
}
