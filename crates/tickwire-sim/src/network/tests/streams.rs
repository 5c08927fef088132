//! Streams: opening, carrying, and every way to end.

extern crate std;

use super::*;

const ACCEPTED: StreamId = StreamId::Accepted(0);

/// A stream that [`A`] dialled to [`B`], 10 ms away, open on both sides.
fn open_stream(conditions: StreamConditions) -> (Network, Script, Script, StreamId) {
    let (mut net, ..) = pair(5, far(ms(10)));
    net.set_stream_conditions(conditions);
    let (mut a, mut b) = (Script::default(), Script::default());
    let on = a.dial(0, B);
    net.run_until(Instant::from_millis(20), &mut [&mut a, &mut b]);
    assert_eq!(a.take(), [Told::Opened(on, B)]);
    assert!(matches!(b.take()[..], [Told::Opened(ACCEPTED, _)]));
    (net, a, b, on)
}

fn text(length: usize) -> Vec<u8> {
    (0..=250).cycle().take(length).collect()
}

#[test]
fn a_dial_takes_one_way_to_the_acceptor_and_a_round_trip_for_the_dialler() {
    let (mut net, ..) = pair(5, far(ms(10)));
    let (mut a, mut b) = (Script::default(), Script::default());
    let on = a.dial(3, B);
    net.run_for(ms(50), &mut [&mut a, &mut b]);
    assert_eq!(a.told, [(Instant::from_millis(20), Told::Opened(on, B))]);
    let [(at, Told::Opened(ACCEPTED, peer))] = b.told[..] else {
        panic!("{:?}", b.told);
    };
    assert_eq!(at, Instant::from_millis(10));
    assert_eq!(peer.host, A.host);
    assert_ne!(peer.port, A.port, "streams come from a port of their own");
}

#[test]
fn accepted_streams_are_numbered_one_after_the_other() {
    let (mut net, ..) = pair(5, far(ms(10)));
    let (mut a, mut b) = (Script::default(), Script::default());
    a.dial(7, B);
    net.run_for(ms(50), &mut [&mut a, &mut b]);
    a.dial(8, B);
    net.run_for(ms(50), &mut [&mut a, &mut b]);
    let numbers: Vec<_> = b.take();
    assert!(matches!(
        numbers[..],
        [
            Told::Opened(StreamId::Accepted(0), _),
            Told::Opened(StreamId::Accepted(1), _)
        ]
    ));
}

#[test]
fn a_dial_to_nobody_is_refused() {
    let (mut net, ..) = pair(5, far(ms(10)));
    let (mut a, mut b) = (Script::default(), Script::default());
    let on = a.dial(0, machine(9, 9));
    net.run_for(ms(50), &mut [&mut a, &mut b]);
    let refused = Told::Closed(on, Ended::Refused);
    assert_eq!(a.told, [(Instant::from_millis(20), refused)]);
}

#[test]
fn a_dial_into_a_partition_ends_as_unreachable() {
    let (mut net, node_a, node_b) = pair(5, far(ms(10)));
    let (mut a, mut b) = (Script::default(), Script::default());
    net.partition(node_a, node_b);
    let on = a.dial(0, B);
    net.run_for(ms(10_000), &mut [&mut a, &mut b]);
    let unreachable = Told::Closed(on, Ended::Unreachable);
    assert_eq!(a.told, [(Instant::ZERO + DIAL_TIMEOUT, unreachable)]);
    net.heal(node_a, node_b);
    net.run_until_quiet(ms(10_000), &mut [&mut a, &mut b])
        .unwrap();
    assert_eq!(b.take(), [], "a stream given up is not opened afterwards");
}

#[test]
fn a_partition_that_heals_in_time_only_delays_a_dial() {
    let (mut net, node_a, node_b) = pair(5, far(ms(10)));
    let (mut a, mut b) = (Script::default(), Script::default());
    net.partition(node_a, node_b);
    let on = a.dial(0, B);
    net.run_for(ms(300), &mut [&mut a, &mut b]);
    net.heal(node_a, node_b);
    net.run_for(ms(3_000), &mut [&mut a, &mut b]);
    assert_eq!(a.take(), [Told::Opened(on, B)]);
    assert_eq!(b.take().len(), 1);
}

#[test]
fn an_acceptor_whose_answers_are_cut_off_hears_of_a_reset() {
    let (mut net, node_a, node_b) = pair(5, far(ms(10)));
    let (mut a, mut b) = (Script::default(), Script::default());
    net.cut(Way {
        from: node_b,
        to: node_a,
    });
    let on = a.dial(0, B);
    net.run_for(ms(10_000), &mut [&mut a, &mut b]);
    assert_eq!(a.take(), [Told::Closed(on, Ended::Unreachable)]);
    let told = b.take();
    assert_eq!(told.len(), 2);
    assert_eq!(told[1], Told::Closed(ACCEPTED, Ended::Reset));
}

#[test]
fn finish_comes_after_every_byte_and_is_the_last_the_finisher_hears() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions {
        segment: 7,
        ..StreamConditions::USUAL
    });
    let text = text(500);
    a.write(on, &text[..300]);
    a.write(on, &text[300..]);
    a.order(Transmit::Finish { on }, b"");
    b.write(ACCEPTED, b"too late");
    net.run_until_quiet(ms(1_000), &mut [&mut a, &mut b])
        .unwrap();
    assert_eq!(b.bytes(ACCEPTED), text);
    let pieces = b.told.len() - 1;
    assert!(pieces > 20, "cut into {pieces} pieces");
    assert_eq!(
        b.take().last(),
        Some(&Told::Closed(ACCEPTED, Ended::Finished))
    );
    assert_eq!(a.take(), []);
}

#[test]
fn a_stream_finished_before_it_is_open_opens_and_ends_at_the_peer() {
    let (mut net, ..) = pair(5, far(ms(10)));
    let (mut a, mut b) = (Script::default(), Script::default());
    let on = a.dial(0, B);
    a.order(Transmit::Finish { on }, b"");
    net.run_until_quiet(ms(1_000), &mut [&mut a, &mut b])
        .unwrap();
    assert_eq!(a.take(), []);
    let told = b.take();
    assert!(matches!(told[0], Told::Opened(ACCEPTED, _)));
    assert_eq!(told[1..], [Told::Closed(ACCEPTED, Ended::Finished)]);
}

#[test]
fn both_ends_may_finish_at_once() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions::USUAL);
    a.order(Transmit::Finish { on }, b"");
    b.order(Transmit::Finish { on: ACCEPTED }, b"");
    net.run_until_quiet(ms(1_000), &mut [&mut a, &mut b])
        .unwrap();
    assert_eq!((a.take(), b.take()), (vec![], vec![]));
    assert!(net.ends.is_empty() && net.ends_by_id.is_empty());
}

#[test]
fn abort_resets_the_peer_and_drops_what_was_under_way() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions {
        hold: ms(5),
        ..StreamConditions::USUAL
    });
    a.write(on, b"never mind");
    a.order(Transmit::Abort { on }, b"");
    net.run_until_quiet(ms(1_000), &mut [&mut a, &mut b])
        .unwrap();
    assert_eq!(b.take(), [Told::Closed(ACCEPTED, Ended::Reset)]);
    assert_eq!(a.take(), []);
}

#[test]
fn a_reset_from_outside_is_heard_at_both_ends() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions::USUAL);
    net.reset_stream(NodeId(0), on);
    net.run_for(ms(100), &mut [&mut a, &mut b]);
    let reset = |on| Told::Closed(on, Ended::Reset);
    assert_eq!(a.told, [(Instant::from_millis(20), reset(on))]);
    assert_eq!(b.told, [(Instant::from_millis(30), reset(ACCEPTED))]);
}

#[test]
fn streams_reset_by_chance_sooner_or_later() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions {
        reset: Chance::percent(10),
        segment: 1,
        ..StreamConditions::USUAL
    });
    a.write(on, &text(1_000));
    net.run_for(ms(1_000), &mut [&mut a, &mut b]);
    assert_eq!(a.take(), [Told::Closed(on, Ended::Reset)]);
    let arrived = b.bytes(ACCEPTED);
    assert!(text(1_000).starts_with(&arrived) && arrived.len() < 1_000);
}

#[test]
fn a_restart_resets_the_streams_of_the_peers() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions::USUAL);
    a.write(on, b"last words");
    a.order(Transmit::Finish { on }, b"");
    let second = a.dial(1, B);
    net.run_for(ms(5), &mut [&mut a, &mut b]);
    net.restart(NodeId(0));
    a = Script::default();
    assert_eq!(a.dial(1, B), second, "a new life begins to count anew");
    net.run_for(ms(100), &mut [&mut a, &mut b]);
    assert_eq!(a.take(), [Told::Opened(second, B)]);
    let told = b.take();
    assert_eq!(told[0], Told::Closed(ACCEPTED, Ended::Reset));
    assert!(matches!(
        told[1..],
        [Told::Opened(StreamId::Accepted(1), _)]
    ));
}

#[test]
fn a_partition_stalls_a_stream_and_loses_none_of_it() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions::USUAL);
    net.partition(NodeId(0), NodeId(1));
    a.write(on, b"are you there?");
    net.run_for(ms(60_000), &mut [&mut a, &mut b]);
    assert_eq!(b.take(), []);
    net.heal(NodeId(0), NodeId(1));
    net.run_for(RESEND_AFTER_LONGEST + ms(10), &mut [&mut a, &mut b]);
    assert_eq!(b.bytes(ACCEPTED), b"are you there?");
}

#[test]
fn loss_shows_as_the_delay_of_a_retransmission() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions::USUAL);
    let lossy = Conditions {
        loss: Chance::ALWAYS,
        ..far(ms(10))
    };
    net.set_conditions(lossy);
    a.write(on, b"x");
    net.run_for(ms(0), &mut [&mut a, &mut b]);
    net.set_conditions(far(ms(10)));
    net.run_for(ms(1_000), &mut [&mut a, &mut b]);
    let expected = Instant::from_millis(20) + RESEND_AFTER + ms(10);
    assert_eq!(b.told, [(expected, Told::Bytes(ACCEPTED, b"x".to_vec()))]);
}

#[test]
fn writes_held_back_travel_together() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions {
        hold: ms(50),
        segment: 1_000_000,
        ..StreamConditions::USUAL
    });
    for byte in 0..100 {
        a.write(on, &[byte]);
        net.run_for(ms(1), &mut [&mut a, &mut b]);
    }
    net.run_for(ms(100), &mut [&mut a, &mut b]);
    assert_eq!(b.bytes(ACCEPTED), text(100));
    assert!(b.told.len() < 50, "{} pieces", b.told.len());
}

/// Echoes a text over a random network and expects all of it back.
fn echo_everything(seed: u64) -> Result<TraceHash, alloc::string::String> {
    let mut rng = Rng::new(seed);
    let conditions = Conditions::random(&mut rng, &Conditions::TERRIBLE);
    let streams = StreamConditions::random(&mut rng);
    let (mut net, node_a, node_b) = pair(seed, Conditions::IDEAL);
    net.set_stream_conditions(streams);
    let (mut a, mut b) = (StreamEcho::default(), StreamEcho::default());
    let text = text(usize::try_from(rng.within(1..=300)).unwrap());
    let on = a.dial(B);
    // On such a network a dial may fail; but what is open delivers.
    net.run_for(ms(1), &mut [&mut a, &mut b]);
    net.set_conditions(conditions);
    a.send(on, &text);
    let mut heard = Vec::new();
    // Faults first; then, with the partition healed, everything has to arrive.
    let cut_at = rng.within(0..=50);
    for turn in 0..100_000 {
        if turn == cut_at {
            net.partition(node_a, node_b);
        } else if turn == cut_at + 20 {
            net.heal(node_a, node_b);
        }
        net.run_for(ms(50), &mut [&mut a, &mut b]);
        while let Some(event) = a.poll_event() {
            match event {
                StreamHeard::Opened(_) => {}
                StreamHeard::Bytes(_, bytes) => heard.extend(bytes),
                StreamHeard::Closed(_, why) => return Err(alloc::format!("closed: {why:?}")),
            }
        }
        if heard.len() >= text.len() {
            break;
        }
    }
    if heard != text {
        return Err(alloc::format!(
            "{} of {} bytes came back, over {streams:?} and {conditions:?}",
            heard.len(),
            text.len()
        ));
    }
    Ok(net.trace_hash())
}

/// The seeds to run: those of the environment, or the first two hundred.
fn seeds() -> core::ops::Range<u64> {
    let number = |name| std::env::var(name).ok()?.parse::<u64>().ok();
    match number("TICKWIRE_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("TICKWIRE_SIM_SEEDS").unwrap_or(200),
    }
}

#[test]
fn every_byte_is_echoed_in_order_whatever_the_network() {
    let report = |failed: &crate::FailedSeed| std::eprintln!("{failed}");
    Scenario::new("stream-echo")
        .check(seeds(), report, echo_everything)
        .unwrap();
}

#[test]
fn a_stream_over_a_bottleneck_runs_at_its_rate() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions::USUAL);
    net.set_conditions(Conditions {
        bottleneck: Some(Bottleneck {
            bytes_per_second: 50_000,
            queue_bytes: 100_000,
        }),
        ..far(ms(10))
    });
    a.write(on, &text(50_000));
    net.run_for(ms(1_500), &mut [&mut a, &mut b]);
    assert_eq!(b.bytes(ACCEPTED).len(), 50_000);
    // A second for the bytes themselves, and some for the headers.
    let took = b.told[b.told.len() - 1].0.since(Instant::from_millis(20));
    assert!((ms(1_000)..ms(1_100)).contains(&took), "{took:?}");
}

#[test]
#[should_panic(
    expected = "node 0 (127.0.0.1:1) wrote 11 bytes on Dialled(0), which has room for 10"
)]
fn writing_beyond_the_room_is_a_violation() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions {
        window: 10,
        ..StreamConditions::USUAL
    });
    a.write(on, &[0; 11]);
    net.run_for(ms(1), &mut [&mut a, &mut b]);
}

#[test]
#[should_panic(expected = "wrote 1 bytes on Dialled(0), which is not open")]
fn writing_after_the_end_is_a_violation() {
    let (mut net, mut a, mut b, on) = open_stream(StreamConditions::USUAL);
    b.order(Transmit::Finish { on: ACCEPTED }, b"");
    net.run_for(ms(50), &mut [&mut a, &mut b]);
    a.write(on, b"?");
    net.run_for(ms(1), &mut [&mut a, &mut b]);
}

#[test]
#[should_panic(expected = "node 0 (127.0.0.1:1) dialled Dialled(0) twice")]
fn dialling_a_number_in_use_is_a_violation() {
    let (mut net, mut a, mut b, _) = open_stream(StreamConditions::USUAL);
    a.dial(0, B);
    net.run_for(ms(1), &mut [&mut a, &mut b]);
}
