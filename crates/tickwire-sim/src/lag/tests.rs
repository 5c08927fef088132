//! Sessions that echo, one of them lagged, on an ideal network.

use alloc::vec;
use core::time::Duration;

use tickwire_session::Events;
use tickwire_session::echo::{DatagramEcho, StreamEcho, StreamHeard};

use super::*;
use crate::addr::loopback;
use crate::{Bottleneck, Chance, Network};

const SERVER: u16 = 4_000;

fn network() -> Network {
    let mut net = Network::new(1);
    net.add_node(loopback(SERVER));
    net.add_node(loopback(SERVER + 1));
    net
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn late(millis: u64) -> Conditions {
    Conditions {
        latency: ms(millis),
        ..Conditions::IDEAL
    }
}

#[test]
fn a_datagram_is_late_by_what_both_directions_take() {
    let (mut net, mut lag) = (network(), Lag::new(late(40), late(60), 1));
    let (mut server, mut client) = (DatagramEcho::default(), DatagramEcho::default());
    client.send(loopback(SERVER), b"hello");
    net.run_for(ms(99), &mut [&mut server, &mut lag.around(&mut client)]);
    assert_eq!(client.poll_event(), None);
    net.run_for(ms(2), &mut [&mut server, &mut lag.around(&mut client)]);
    assert_eq!(client.poll_event().unwrap().bytes, b"hello");
}

/// How many of 1,000 datagrams come back.
fn echoed(outgoing: Conditions, seed: u64) -> (usize, [LinkCounters; 2]) {
    let (mut net, mut lag) = (network(), Lag::new(outgoing, Conditions::IDEAL, seed));
    let (mut server, mut client) = (DatagramEcho::default(), DatagramEcho::default());
    (0..1_000).for_each(|_| client.send(loopback(SERVER), b"x"));
    net.run_for(ms(1_000), &mut [&mut server, &mut lag.around(&mut client)]);
    let heard = core::iter::from_fn(|| client.poll_event()).count();
    (heard, lag.counters())
}

#[test]
fn loss_is_as_likely_as_it_was_set_and_the_same_for_a_seed() {
    let lossy = Conditions {
        loss: Chance::percent(20),
        ..Conditions::IDEAL
    };
    let (heard, [outgoing, incoming]) = echoed(lossy, 5);
    // Four standard deviations of a binomial distribution.
    assert!((750..=850).contains(&heard), "{heard}");
    assert_eq!(outgoing.lost, 1_000 - heard as u64);
    assert_eq!((incoming.lost, incoming.delivered), (0, heard as u64));
    assert_eq!(echoed(lossy, 5).0, heard);
    assert_ne!(echoed(lossy, 6).0, heard);
}

#[test]
fn conditions_change_while_it_runs() {
    let (mut net, mut lag) = (network(), Lag::new(late(5), late(5), 1));
    let (mut server, mut client) = (DatagramEcho::default(), DatagramEcho::default());
    for (delay, comes) in [(5, true), (50, false), (5, true)] {
        lag.set_conditions(late(delay), late(delay));
        client.send(loopback(SERVER), b"x");
        net.run_for(ms(20), &mut [&mut server, &mut lag.around(&mut client)]);
        assert_eq!(client.poll_event().is_some(), comes, "{delay} ms");
        // What is late keeps its place in front of what is sent later.
        net.run_for(ms(200), &mut [&mut server, &mut lag.around(&mut client)]);
        while client.poll_event().is_some() {}
    }
}

/// Echoes `sent` over a stream, and returns what came back within `span` and when the last of it did.
fn echo_stream(conditions: Conditions, sent: &[u8], span: Duration) -> (Vec<u8>, Duration) {
    let (mut net, mut lag) = (network(), Lag::new(conditions, conditions, 3));
    let (mut server, mut client) = (StreamEcho::default(), StreamEcho::default());
    let on = client.dial(loopback(SERVER));
    let (mut got, mut took) = (Vec::new(), Duration::ZERO);
    let mut rest = sent;
    let began = net.now();
    while net.now().since(began) < span && got.len() < sent.len() {
        let (next, later) = rest.split_at(rest.len().min(10_000));
        if sent.len() - rest.len() - got.len() < 100_000 {
            client.send(on, next);
            rest = later;
        }
        net.run_for(ms(10), &mut [&mut server, &mut lag.around(&mut client)]);
        while let Some(event) = client.poll_event() {
            if let StreamHeard::Bytes(_, bytes) = event {
                got.extend(bytes);
                took = net.now().since(began);
            }
        }
    }
    (got, took)
}

#[test]
fn a_stream_loses_nothing_on_the_worst_network() {
    let sent: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
    let (got, _) = echo_stream(Conditions::TERRIBLE, &sent, Duration::from_secs(120));
    assert_eq!(got.len(), sent.len());
    assert!(got == sent, "bytes were changed or reordered");
}

#[test]
fn a_stream_is_as_fast_as_its_bottleneck() {
    let narrow = Conditions {
        bottleneck: Some(Bottleneck {
            bytes_per_second: 50_000,
            queue_bytes: 16_384,
        }),
        ..Conditions::IDEAL
    };
    let (got, took) = echo_stream(narrow, &vec![7; 100_000], Duration::from_secs(10));
    assert_eq!(got.len(), 100_000);
    assert!((ms(2_000)..ms(2_600)).contains(&took), "{took:?}");
}

#[test]
fn a_stream_whose_bytes_wait_is_not_read() {
    let narrow = Conditions {
        bottleneck: Some(Bottleneck {
            bytes_per_second: 1_000,
            queue_bytes: 4_096,
        }),
        ..Conditions::IDEAL
    };
    let mut lag = Lag::new(Conditions::IDEAL, narrow, 1);
    let mut server = StreamEcho::default();
    let mut lagged = lag.around(&mut server);
    let on = StreamId::Accepted(0);
    lagged.handle_opened(Instant::ZERO, on, loopback(9));
    lagged.handle_stream(Instant::ZERO, on, &[0; 60_000]);
    assert!(lagged.is_reading(on));
    lagged.handle_stream(Instant::ZERO, on, &[0; 10_000]);
    assert!(!lagged.is_reading(on));
    while let Some(now) = lagged.poll_timeout().filter(|_| !lagged.is_reading(on)) {
        assert!(now < Instant::from_millis(8_000), "{now:?}");
        lagged.handle_timeout(now);
    }
    assert!(lagged.is_reading(on));
}

#[test]
fn the_end_of_a_stream_comes_after_its_last_bytes() {
    let (mut net, mut lag) = (network(), Lag::new(late(30), late(30), 1));
    let (mut server, mut client) = (StreamEcho::default(), StreamEcho::default());
    let on = client.dial(loopback(SERVER));
    client.send(on, b"last words");
    net.run_for(ms(200), &mut [&mut server, &mut lag.around(&mut client)]);
    let heard: Vec<_> = core::iter::from_fn(|| client.poll_event()).collect();
    let expected = StreamHeard::Bytes(on, b"last words".into());
    assert_eq!(heard, [StreamHeard::Opened(on), expected]);
    client.finish(on);
    net.run_for(ms(200), &mut [&mut server, &mut lag.around(&mut client)]);
    let closed = core::iter::from_fn(|| server.poll_event())
        .filter(|event| matches!(event, StreamHeard::Closed(..)))
        .count();
    assert_eq!(closed, 1);
    assert!(lag.streams.is_empty(), "{:?}", lag.streams);
}

#[test]
fn a_refusal_is_heard_late() {
    let (mut net, mut lag) = (network(), Lag::new(late(30), late(30), 1));
    let (mut server, mut client) = (StreamEcho::default(), StreamEcho::default());
    let on = client.dial(loopback(9));
    net.run_for(ms(59), &mut [&mut server, &mut lag.around(&mut client)]);
    assert_eq!(client.poll_event(), None);
    net.run_for(ms(5), &mut [&mut server, &mut lag.around(&mut client)]);
    let refused = StreamHeard::Closed(on, Ended::Refused);
    assert_eq!(client.poll_event(), Some(refused));
    assert!(lag.streams.is_empty());
}

#[test]
fn a_flood_of_addresses_is_forgotten() {
    let mut lag = Lag::new(late(1), late(1), 1);
    let mut server = DatagramEcho::default();
    for port in 0..20_000_u16 {
        let now = Instant::from_millis(u64::from(port) * 10);
        let mut lagged = lag.around(&mut server);
        lagged.handle_timeout(now);
        while lagged.poll_transmit(now, &mut Vec::new()).is_some() {}
        lagged.handle_datagram(now, loopback(port), b"?");
    }
    assert!(lag.datagrams.len() <= LAGGED_ADDRESSES);
    let [_, incoming] = lag.counters();
    assert_eq!(incoming.pushed, 20_000);
}
