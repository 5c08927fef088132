//! The contract's own test: the same sessions, the same assertions, on sockets, on memory links, over
//! QUIC, in the simulator, and each of them lagged.
//!
//! Whatever a session can tell them apart by is a bug of one of them.

use std::iter;
use std::time::Duration;

use tickwire_net::{Carries, Driver, limits};
use tickwire_session::echo::{self, DatagramEcho, StreamEcho, StreamHeard};
use tickwire_session::{
    Addr, Ended, Events, Host, Instant, Path, Room, Session, StreamId, Transmit,
};
use tickwire_sim::{Bottleneck, Conditions, Lag, Network, NodeId, addr};

use crate::bystander::DESERTED;
use crate::probe::Probe;
use crate::quic;
use crate::{GLANCE, PATIENCE, addr_of, pattern};

/// Something that drives a server at position 0 and a client at position 1.
trait Drives {
    /// Where the client finds the server.
    fn server(&self) -> Addr;
    /// Where the server finds the client, if they are linked.
    fn client(&self) -> Addr {
        self.server()
    }
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
    server: Addr,
}

const SERVER: Addr = addr::loopback(4_000);

impl InSimulation {
    fn on_addresses() -> Self {
        let (network, _) = Self::nodes();
        let server = SERVER;
        Self { network, server }
    }

    fn on_a_link() -> Self {
        let (mut network, [server, client]) = Self::nodes();
        let server = network.join(server, client);
        Self { network, server }
    }

    /// A link whose queue a moderate flood fills.
    fn on_a_narrow_link() -> Self {
        let (mut network, [server, client]) = Self::nodes();
        let conditions = Conditions {
            bottleneck: Some(Bottleneck {
                bytes_per_second: 1_000_000,
                queue_bytes: 64_000,
            }),
            ..Conditions::IDEAL
        };
        network.set_conditions(conditions);
        let server = network.join(server, client);
        Self { network, server }
    }

    fn nodes() -> (Network, [NodeId; 2]) {
        let mut network = Network::new(7);
        network.set_conditions(Conditions {
            latency: Duration::from_millis(20),
            ..Conditions::IDEAL
        });
        let nodes = [SERVER, addr::loopback(4_001)].map(|addr| network.add_node(addr));
        (network, nodes)
    }
}

/// A QUIC link of the network driver, from one of its nodes to another.
struct OverQuic(quic::Linked);

impl OverQuic {
    fn new() -> Self {
        Self(quic::Linked::new(&mut [
            &mut Probe::default(),
            &mut Probe::default(),
        ]))
    }
}

impl Drives for OverQuic {
    fn server(&self) -> Addr {
        self.0.server
    }

    fn client(&self) -> Addr {
        self.0.client
    }

    fn now(&self) -> Instant {
        self.0.driver.now()
    }

    fn advance(&mut self, sessions: &mut [&mut dyn Session]) {
        let until = self.0.driver.now() + GLANCE;
        self.0.driver.turn(until, sessions).unwrap();
    }
}

impl Drives for InSimulation {
    fn server(&self) -> Addr {
        self.server
    }

    fn now(&self) -> Instant {
        self.network.now()
    }

    fn advance(&mut self, sessions: &mut [&mut dyn Session]) {
        self.network.run_for(GLANCE, sessions);
    }
}

/// Any of the others, with both sessions on a bad network.
struct Lagging<D> {
    on: D,
    lags: [Lag; 2],
}

impl<D> Lagging<D> {
    fn new(on: D) -> Self {
        let late = Conditions {
            latency: Duration::from_millis(1),
            jitter: Duration::from_millis(2),
            ..Conditions::IDEAL
        };
        let lags = [1, 2].map(|seed| Lag::new(late, late, seed));
        Self { on, lags }
    }
}

impl<D: Drives> Drives for Lagging<D> {
    fn server(&self) -> Addr {
        self.on.server()
    }

    fn client(&self) -> Addr {
        self.on.client()
    }

    fn now(&self) -> Instant {
        self.on.now()
    }

    fn advance(&mut self, sessions: &mut [&mut dyn Session]) {
        let lags = self.lags.iter_mut().zip(sessions);
        let mut lagged: Vec<_> = lags.map(|(lag, session)| lag.around(*session)).collect();
        let mut lagged: Vec<_> = lagged.iter_mut().map(|s| s as &mut dyn Session).collect();
        self.on.advance(&mut lagged);
    }
}

/// A driver with its two sessions.
struct Conversation<D, S> {
    on: D,
    server: S,
    client: S,
}

impl<D: Drives, S: Session + Default> Conversation<D, S> {
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
}

impl<D: Drives, S: Events + Default> Conversation<D, S> {
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

/// Several datagrams in one order arrive as several.
fn check_segments(on: impl Drives) {
    let mut all = Conversation::<_, Probe>::new(on);
    let order = Transmit::Segments {
        to: all.on.server(),
        size: 3,
    };
    all.client.orders.push_back((order, b"onetwo4".to_vec()));
    all.until(|all| all.server.datagrams.len() == 3);
    let bytes = all.server.datagrams.iter().map(|(_, bytes)| &bytes[..]);
    assert_eq!(bytes.collect::<Vec<_>>(), [&b"one"[..], b"two", b"4"]);
}

/// A session ends a link: its streams end at the other side, then the link, and this side hears
/// nothing more of either.
fn check_unlink(on: impl Drives) {
    let mut all = Conversation::<_, Probe>::new(on);
    let (addr, back) = (all.on.server(), all.on.client());
    let [link, back_link] = [addr, back].map(number);
    let dialled = [0, 1].map(StreamId::Dialled);
    let accepted = [0, 1].map(StreamId::Accepted);
    for on in dialled {
        all.client.dial(on, addr);
    }
    // No order holds between two streams.
    let has_all =
        |opened: &[StreamId], all: [StreamId; 2]| all.iter().all(|on| opened.contains(on));
    all.until(|all| has_all(&all.server.opened, accepted) && has_all(&all.client.opened, dialled));

    // What the client sends at the same time comes too late, and so does its own order.
    all.client.order(Transmit::Unlink { link });
    all.client.order(Transmit::Datagram { to: addr });
    all.server.order(Transmit::Datagram { to: back });
    let streams = accepted.map(|on| (Path::Stream(on), Ended::Reset));
    all.until(|all| all.server.closed.len() == 3);
    assert!(
        streams
            .iter()
            .all(|end| all.server.closed[..2].contains(end))
    );
    assert_eq!(
        all.server.closed[2],
        (Path::Link(back_link), Ended::Finished)
    );
    assert!(all.server.datagrams.is_empty());

    // The number leads nowhere from now on, at either end.
    let again = StreamId::Dialled(9);
    all.server.dial(again, back);
    all.client.dial(again, addr);
    all.until(|all| all.server.closed.len() == 4 && all.client.closed.len() == 1);
    for end in [&all.server, &all.client] {
        let (path, why) = end.closed[end.closed.len() - 1];
        assert_eq!(path, Path::Stream(again));
        assert!(matches!(why, Ended::Refused | Ended::Unreachable));
    }
    assert!(all.client.datagrams.is_empty());
}

/// A session that sends more than the path takes hears that there is no room, and when there is
/// again.
fn check_room(on: impl Drives) {
    let mut all = Conversation::<_, Probe>::new(on);
    let to = all.on.server();
    for _ in 0..limits::LINK_DATAGRAMS + 10 {
        let order = (Transmit::Datagram { to }, vec![7; 100]);
        all.client.orders.push_back(order);
    }
    all.until(|all| all.client.rooms.len() == 2);
    let [(full_path, full), (open_path, open)] = all.client.rooms[..] else {
        panic!("two reports were waited for");
    };
    assert_eq!((full_path, open_path), (to, to));
    assert!(full.bytes < 128, "{full:?}");
    assert_eq!(full.largest, Room::DATAGRAMS.largest);
    assert_eq!(open, Room::DATAGRAMS);
}

/// Both ends leave a link at once: neither hears of it.
fn check_unlink_at_once(on: impl Drives) {
    let mut all = Conversation::<_, Probe>::new(on);
    let addrs = [all.on.client(), all.on.server()];
    for (end, addr) in [&mut all.server, &mut all.client].into_iter().zip(addrs) {
        let link = number(addr);
        end.order(Transmit::Unlink { link });
    }
    let deadline = all.on.now() + 10 * GLANCE;
    all.until(|all| all.on.now() >= deadline);
    assert!(all.server.closed.is_empty() && all.client.closed.is_empty());
}

/// A session that is shut down ends its streams in order, takes no others, and is finished.
fn check_shut_down(on: impl Drives) {
    let mut all = Conversation::<_, StreamEcho>::new(on);
    let on = all.client.dial(all.on.server());
    assert_eq!(all.expect(), StreamHeard::Opened(on));
    let accepted = StreamId::Accepted(0);
    all.until(|all| all.server_events() == [StreamHeard::Opened(accepted)]);

    let now = all.on.now();
    all.server.shut_down(now);
    assert!(!all.server.is_finished());
    assert_eq!(all.expect(), StreamHeard::Closed(on, Ended::Finished));
    assert!(all.server.is_finished());
    let late = all.client.dial(all.on.server());
    loop {
        match all.expect() {
            StreamHeard::Opened(on) => assert_eq!(on, late),
            StreamHeard::Closed(on, why) => {
                assert_eq!((on, why), (late, Ended::Reset));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A link's number.
fn number(addr: Addr) -> u64 {
    match addr.host {
        Host::Link(number) => number,
        Host::Ip(_) => panic!("{addr} is no link"),
    }
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
            fn over_quic() {
                $check(OverQuic::new());
            }

            #[test]
            fn on_lagged_sockets() {
                $check(Lagging::new(InReality::on_sockets()));
            }

            #[test]
            fn in_simulation() {
                $check(InSimulation::on_addresses());
            }

            #[test]
            fn on_a_simulated_link() {
                $check(InSimulation::on_a_link());
            }
        })*
    };
}

macro_rules! on_links {
    ($($check:ident => $name:ident,)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn in_memory() {
                $check(InReality::on_a_link());
            }

            #[test]
            fn over_quic() {
                $check(OverQuic::new());
            }

            #[test]
            fn over_lagged_quic() {
                $check(Lagging::new(OverQuic::new()));
            }

            #[test]
            fn in_simulation() {
                $check(InSimulation::on_a_link());
            }

            #[test]
            fn on_a_lagged_simulated_link() {
                $check(Lagging::new(InSimulation::on_a_link()));
            }
        })*
    };
}

on_everything! {
    check_datagrams => datagrams_are_echoed,
    check_stream => a_stream_is_echoed_and_finished,
    check_refusal => dialling_nobody_is_refused,
    check_reset => aborting_resets,
    check_segments => one_order_sends_several_datagrams,
    check_shut_down => shutting_down_ends_every_stream,
}

on_links! {
    check_unlink => ending_a_link_ends_its_streams,
    check_unlink_at_once => a_link_that_both_ends_leave,
}

mod a_full_path_is_told {
    use super::*;

    #[test]
    fn in_memory() {
        check_room(InReality::on_a_link());
    }

    #[test]
    fn in_simulation() {
        check_room(InSimulation::on_a_narrow_link());
    }
}
