mod script;
mod streams;

use alloc::vec;

use tickwire_session::echo::{DatagramEcho, StreamEcho, StreamHeard};
use tickwire_session::{Ended, Events, Session, Transmit};

use self::script::{Script, Told};
use super::*;
use crate::Bottleneck;
use crate::addr::{loopback, machine};
use crate::{Chance, Scenario};

const A: Addr = loopback(1);
const B: Addr = loopback(2);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn far(latency: Duration) -> Conditions {
    Conditions {
        latency,
        ..Conditions::IDEAL
    }
}

/// A network of the nodes [`A`] and [`B`].
fn pair(seed: u64, conditions: Conditions) -> (Network, NodeId, NodeId) {
    let mut net = Network::new(seed);
    net.set_conditions(conditions);
    let (a, b) = (net.add_node(A), net.add_node(B));
    (net, a, b)
}

#[test]
fn a_datagram_takes_the_latency_and_comes_from_the_senders_address() {
    let (mut net, ..) = pair(1, far(ms(30)));
    let (mut a, mut b) = (Script::default(), Script::default());
    net.run_until(Instant::from_millis(5), &mut [&mut a, &mut b]);
    a.send(B, b"hi");
    net.run_until(Instant::from_millis(100), &mut [&mut a, &mut b]);
    let expected = (
        Instant::from_millis(35),
        Told::Datagram(A, b"hi".as_slice().into()),
    );
    assert_eq!(b.told, [expected]);
    assert_eq!(net.now(), Instant::from_millis(100));
}

#[test]
fn a_datagram_to_nobody_is_counted() {
    let (mut net, ..) = pair(1, Conditions::IDEAL);
    let (mut a, mut b) = (Script::default(), Script::default());
    a.send(loopback(99), b"anybody?");
    net.run_for(ms(10), &mut [&mut a, &mut b]);
    assert_eq!((net.unroutable(), net.counters().pushed), (1, 0));
}

#[test]
fn every_echo_comes_back_or_is_counted_as_lost() {
    let (mut net, node_a, node_b) = pair(3, Conditions::MOBILE);
    let (mut a, mut b) = (DatagramEcho::default(), DatagramEcho::default());
    let mut heard = 0;
    for number in 0..2_000_u32 {
        a.send(B, &number.to_le_bytes());
        net.run_for(ms(10), &mut [&mut a, &mut b]);
        while a.poll_event().is_some() {
            heard += 1;
        }
    }
    net.run_until_quiet(ms(2_000), &mut [&mut a, &mut b])
        .unwrap();
    while a.poll_event().is_some() {
        heard += 1;
    }
    let there = net.counters_of(Way {
        from: node_a,
        to: node_b,
    });
    let back = net.counters_of(Way {
        from: node_b,
        to: node_a,
    });
    assert_eq!(there.pushed, 2_000);
    assert_eq!(there.delivered, 2_000 + there.duplicated - there.lost);
    assert_eq!(back.pushed, there.delivered);
    assert_eq!(heard, back.delivered);
    assert!(there.lost > 0 && there.duplicated > 0 && there.reordered > 0);
}

#[test]
fn nothing_is_left_undrained_whether_draining_is_put_off_or_not() {
    for seed in 0..50 {
        let (mut net, ..) = pair(seed, far(ms(30)));
        let (mut a, mut b) = (DatagramEcho::default(), DatagramEcho::default());
        a.send(B, b"?");
        let quiet = net.run_until_quiet(ms(1_000), &mut [&mut a, &mut b]);
        assert_eq!(quiet, Ok(Instant::from_millis(60)), "seed {seed}");
        assert!(a.poll_event().is_some(), "seed {seed}");
    }
}

/// Both kinds of echo at once on a bad network.
fn run_echoes(seed: u64) -> TraceHash {
    let (mut net, ..) = pair(seed, Conditions::TERRIBLE);
    let (mut a, mut b) = (DatagramEcho::default(), DatagramEcho::default());
    let (mut c, mut d) = (StreamEcho::default(), StreamEcho::default());
    net.add_node(loopback(3));
    net.add_node(loopback(4));
    let on = c.dial(loopback(4));
    for turn in 0..50_u8 {
        a.send(B, &[turn]);
        c.send(on, &[turn; 40]);
        net.run_for(ms(20), &mut [&mut a, &mut b, &mut c, &mut d]);
    }
    net.trace_hash()
}

#[test]
fn the_trace_depends_on_the_seed_alone() {
    let hashes: Vec<_> = (0..10).map(run_echoes).collect();
    assert_eq!(hashes, (0..10).map(run_echoes).collect::<Vec<_>>());
    for (index, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..index].contains(hash), "{hash} came twice");
    }
}

#[test]
fn a_link_does_not_feel_what_others_carry() {
    let heard = |with_others: bool| {
        let (mut net, ..) = pair(7, Conditions::MOBILE);
        net.add_node(loopback(3));
        let mut sessions = [(); 3].map(|()| Script::default());
        for number in 0..200_u8 {
            sessions[0].send(B, &[number]);
            if with_others {
                sessions[2].send(A, &[number]);
            }
            let [a, b, c] = &mut sessions;
            net.run_for(ms(5), &mut [a, b, c]);
        }
        sessions[1].take()
    };
    assert_eq!(heard(false), heard(true));
}

#[test]
fn conditions_of_one_direction_outlast_those_of_all() {
    let (mut net, from, to) = pair(1, Conditions::IDEAL);
    let lossy = Conditions {
        loss: Chance::ALWAYS,
        ..Conditions::IDEAL
    };
    net.set_conditions_of(Way { from, to }, lossy);
    net.set_conditions(far(ms(10)));
    let (mut a, mut b) = (Script::default(), Script::default());
    a.send(B, b"lost");
    b.send(A, b"found");
    net.run_for(ms(10), &mut [&mut a, &mut b]);
    assert_eq!((a.take().len(), b.take().len()), (1, 0));
}

#[test]
fn a_partition_separates_two_nodes_and_no_others() {
    let (mut net, node_a, node_b) = pair(1, far(ms(1)));
    net.add_node(loopback(3));
    let (mut a, mut b, mut c) = (Script::default(), Script::default(), Script::default());
    let mut ask_both = |net: &mut Network| {
        a.send(B, b"?");
        b.send(A, b"?");
        a.send(loopback(3), b"?");
        net.run_for(ms(10), &mut [&mut a, &mut b, &mut c]);
        [a.take().len(), b.take().len(), c.take().len()]
    };
    assert_eq!(ask_both(&mut net), [1, 1, 1]);
    net.partition(node_a, node_b);
    assert_eq!(ask_both(&mut net), [0, 0, 1]);
    net.mend(Way {
        from: node_a,
        to: node_b,
    });
    assert_eq!(ask_both(&mut net), [0, 1, 1]);
    net.heal(node_a, node_b);
    assert_eq!(ask_both(&mut net), [1, 1, 1]);
}

#[test]
fn a_node_that_moved_is_heard_from_its_new_address() {
    let (mut net, node_a, _) = pair(1, far(ms(1)));
    let (mut a, mut b) = (Script::default(), Script::default());
    let moved = loopback(77);
    net.set_addr(node_a, moved);
    a.send(B, b"here");
    b.send(A, b"there?");
    net.run_for(ms(5), &mut [&mut a, &mut b]);
    assert_eq!(b.take(), [Told::Datagram(moved, b"here".to_vec())]);
    assert_eq!((a.take(), net.unroutable()), (vec![], 1));
}

#[test]
fn a_changed_largest_datagram_is_reported_and_again_after_a_restart() {
    let (mut net, from, to) = pair(1, Conditions::IDEAL);
    let (mut a, mut b) = (Script::default(), Script::default());
    net.set_largest_datagram(Way { from, to }, 1_400);
    net.run_for(ms(1), &mut [&mut a, &mut b]);
    let room = Room {
        largest: 1_400,
        ..Room::DATAGRAMS
    };
    let report = [Told::Room(B, room)];
    assert_eq!(a.take(), report);
    a.send(B, &[0; 1_400]);
    net.run_for(ms(1), &mut [&mut a, &mut b]);
    assert_eq!(b.take().len(), 1);

    net.restart(from);
    a = Script::default();
    net.run_for(ms(1), &mut [&mut a, &mut b]);
    assert_eq!(a.take(), report);
}

#[test]
fn a_full_queue_is_told_and_told_again_when_half_of_it_is_empty() {
    let (mut net, from, to) = pair(1, Conditions::IDEAL);
    let bottleneck = Bottleneck {
        bytes_per_second: 100_000,
        queue_bytes: 5_000,
    };
    let conditions = Conditions {
        bottleneck: Some(bottleneck),
        ..Conditions::IDEAL
    };
    net.set_conditions_of(Way { from, to }, conditions);
    let (mut a, mut b) = (Script::default(), Script::default());
    for _ in 0..10 {
        // With its headers a tenth of the queue and a little more: nine fit.
        a.send(B, &[0; 500]);
    }
    net.run_for(ms(100), &mut [&mut a, &mut b]);
    let told = |bytes| {
        Told::Room(
            B,
            Room {
                bytes,
                ..Room::DATAGRAMS
            },
        )
    };
    let full = (Instant::ZERO, told(5_000 - 9 * 528));
    // Five have passed.
    let half = (Instant::from_micros(5 * 5_280), told(u32::MAX));
    assert_eq!(a.told, [full, half]);
    assert_eq!(b.take().len(), 9);
}

#[test]
fn a_session_is_woken_when_it_asked_by_its_own_clock() {
    let (mut net, node_a, _) = pair(1, Conditions::IDEAL);
    net.set_clock_ahead(node_a, ms(1_000));
    let (mut a, mut b) = (Script::default(), Script::default());
    a.wake = Some(Instant::from_millis(1_020));
    b.wake = Some(Instant::from_millis(15));
    assert_eq!(net.now_at(node_a), Instant::from_millis(1_000));
    net.run_until(Instant::from_millis(19), &mut [&mut a, &mut b]);
    assert_eq!(b.told, [(Instant::from_millis(15), Told::Woken)]);
    assert_eq!(a.told, []);
    net.run_until(Instant::from_millis(50), &mut [&mut a, &mut b]);
    assert_eq!(a.told, [(Instant::from_millis(1_020), Told::Woken)]);
}

#[test]
fn a_deadline_that_passed_while_the_game_ran_is_met_at_once() {
    let (mut net, ..) = pair(1, Conditions::IDEAL);
    let (mut a, mut b) = (Script::default(), Script::default());
    net.run_until(Instant::from_millis(100), &mut [&mut a, &mut b]);
    a.wake = Some(Instant::from_millis(60));
    net.run_until(Instant::from_millis(100), &mut [&mut a, &mut b]);
    assert_eq!(a.told, [(Instant::from_millis(100), Told::Woken)]);
}

#[test]
fn quiet_is_when_nothing_is_on_the_way_and_nobody_waits() {
    let (mut net, ..) = pair(1, far(ms(30)));
    let (mut a, mut b) = (Script::default(), Script::default());
    a.send(B, b"hi");
    b.wake = Some(Instant::from_millis(70));
    let quiet = net.run_until_quiet(ms(1_000), &mut [&mut a, &mut b]);
    assert_eq!(quiet, Ok(Instant::from_millis(70)));

    a.wake = Some(Instant::from_millis(500));
    let quiet = net.run_until_quiet(ms(10), &mut [&mut a, &mut b]);
    let next = Instant::from_millis(500);
    assert_eq!(quiet, Err(StillBusy { next }));
    assert_eq!(net.now(), Instant::from_millis(80));
}

#[test]
fn what_is_on_the_way_does_not_survive_a_restart() {
    let (mut net, node_a, _) = pair(1, far(ms(30)));
    let (mut a, mut b) = (Script::default(), Script::default());
    a.send(B, b"from the dead");
    b.send(A, b"to the dead");
    net.run_for(ms(10), &mut [&mut a, &mut b]);
    net.restart(node_a);
    a = Script::default();
    a.send(B, b"alive");
    net.run_for(ms(100), &mut [&mut a, &mut b]);
    assert_eq!(a.take(), []);
    assert_eq!(b.take(), [Told::Datagram(A, b"alive".to_vec())]);
    assert_eq!(net.counters().cleared, 2);
}

#[test]
#[should_panic(expected = "node 1 (127.0.0.1:2) does not stop sending")]
fn a_session_that_never_stops_is_named() {
    let (mut net, ..) = pair(1, Conditions::IDEAL);
    let (mut a, mut b) = (Script::default(), Script::default());
    b.endless = true;
    b.send(A, b"and another thing");
    net.run_for(ms(10), &mut [&mut a, &mut b]);
}

#[test]
#[should_panic(expected = "node 0 (127.0.0.1:1) was woken at 0.005000s and asks")]
fn a_session_that_is_never_satisfied_is_named() {
    let (mut net, ..) = pair(1, Conditions::IDEAL);
    let (mut a, mut b) = (Script::default(), Script::default());
    a.insomniac = true;
    a.wake = Some(Instant::from_millis(5));
    net.run_for(ms(10), &mut [&mut a, &mut b]);
}

#[test]
#[should_panic(
    expected = "sent a datagram of 1201 bytes to 127.0.0.1:2, where the largest is 1200"
)]
fn a_datagram_above_the_largest_is_a_violation() {
    let (mut net, ..) = pair(1, Conditions::IDEAL);
    let (mut a, mut b) = (Script::default(), Script::default());
    a.send(B, &[0; 1_201]);
    net.run_for(ms(10), &mut [&mut a, &mut b]);
}

#[test]
#[should_panic(expected = "one session for each node")]
fn every_node_needs_its_session() {
    let (mut net, ..) = pair(1, Conditions::IDEAL);
    net.run_for(ms(10), &mut [&mut Script::default()]);
}
