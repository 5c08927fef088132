use alloc::collections::BTreeSet;
use alloc::vec;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug, PartialEq, Replicate)]
struct Stick {
    #[replicate(range = -1..=1)]
    turn: i8,
    #[replicate(angle, bits = 16)]
    aim: f32,
    fire: bool,
}

fn stick(turn: i8, aim: f32) -> Quantised<Stick> {
    let fire = turn > 0;
    Quantised::new(&Stick { turn, aim, fire }).unwrap()
}

#[test]
fn inputs_survive_and_cost_little() {
    let sticks = [
        stick(1, 1.0),
        stick(1, 1.001),
        stick(0, 1.0),
        stick(-1, 3.0),
    ];
    let (count, bits) = Inputs::encode(sticks.iter());
    let inputs = Inputs {
        tick: 7,
        count,
        shown: 300,
        bits: &bits,
    };
    assert_eq!(inputs.decode::<Stick>().unwrap(), sticks);
    let mut out = Vec::new();
    let play = DatagramUp::Play {
        acks: Some(Acks::with(None, PacketNumber(5))),
        forget: false,
        inputs,
    };
    play.encode(&mut out);
    assert_eq!(DatagramUp::decode(&out), Ok(play));
    assert!(out.len() <= 22, "{} bytes", out.len());
}

/// An input of twelve bytes: two axes that move in every tick, and what is held.
#[derive(Clone, Debug, PartialEq, Replicate)]
struct Controls {
    pitch: u16,
    yaw: u16,
    buttons: u32,
    aimed_at: u32,
}

#[test]
fn twelve_bytes_of_input_with_three_before_and_acknowledgements_take_forty() {
    let controls = [0, 1, 2, 3].map(|age: u16| {
        Quantised::new(&Controls {
            pitch: 30_000 - 90 * age,
            yaw: 9_000 + 120 * age,
            buttons: 0xa5a5_a5a5,
            aimed_at: 77,
        })
        .unwrap()
    });
    let (count, bits) = Inputs::encode(controls.iter());
    let play = DatagramUp::Play {
        acks: Some(Acks::with(None, PacketNumber(9))),
        forget: false,
        inputs: Inputs {
            tick: 7,
            count,
            shown: 300,
            bits: &bits,
        },
    };
    let mut out = Vec::new();
    play.encode(&mut out);
    assert_eq!((count, out.len()), (4, 33));
}

#[test]
fn a_datagram_of_every_kind_survives_and_no_prefix_of_it_is_whole() {
    let latest = Latest {
        channel: 3,
        number: 9,
        body: b"x",
    };
    let down = [
        DatagramDown::State {
            margin: Margin::quarters(-3),
            packet: b"packet",
        },
        DatagramDown::State {
            margin: Margin::UNKNOWN,
            packet: b"packet",
        },
        DatagramDown::Latest(latest),
    ];
    for datagram in down {
        let mut out = Vec::new();
        datagram.encode(&mut out);
        assert_eq!(DatagramDown::decode(&out), Ok(datagram));
        assert!(DatagramDown::decode(&out[..1]).is_err());
    }
    for datagram in [DatagramUp::Attach(Token(7)), DatagramUp::Latest(latest)] {
        let mut out = Vec::new();
        datagram.encode(&mut out);
        assert_eq!(DatagramUp::decode(&out), Ok(datagram));
        assert!(DatagramUp::decode(&out[..3]).is_err());
    }
}

#[test]
fn a_margin_is_clamped_and_told_in_quarters() {
    assert_eq!(Margin::quarters(6).ticks(), Some(1.5));
    assert_eq!(Margin::quarters(-100_000).ticks(), Some(-31.75));
    assert_eq!(Margin::from_byte(i8::MIN).ticks(), None);
}

#[test]
fn what_was_never_sent_is_not_acknowledged() {
    let acks = Acks::with(None, PacketNumber(9));
    assert_eq!(acks.packets(PacketNumber(8)).count(), 0);
    assert_eq!(
        acks.packets(PacketNumber(9)).collect::<Vec<_>>(),
        [PacketNumber(9)]
    );
    let all = Acks {
        newest: 2,
        earlier: u32::MAX,
    };
    let sent = all.packets(PacketNumber(2)).collect::<Vec<_>>();
    assert_eq!(sent, [PacketNumber(2), PacketNumber(1)]);
}

proptest! {
    #[test]
    fn acknowledgements_are_the_newest_33_of_what_was_applied(
        steps in proptest::collection::vec((0_u64..40, 0_u64..20), 1..60),
        start in prop_oneof![Just(1_u64), 65_500..65_560_u64],
    ) {
        let (mut sent, mut applied, mut acks) = (start, BTreeSet::new(), None);
        for (ahead, back) in steps {
            sent += ahead;
            let packet = sent.saturating_sub(back).max(1);
            applied.insert(packet);
            acks = Some(Acks::with(acks, PacketNumber(packet)));
        }
        let newest = *applied.last().unwrap();
        let expected: Vec<_> = applied.iter().rev().copied()
            .filter(|packet| newest - packet <= u64::from(Acks::EARLIER)).map(PacketNumber).collect();
        prop_assert_eq!(acks.unwrap().packets(PacketNumber(sent)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn any_bytes_are_a_datagram_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        for kind in 0..=4_u8 {
            let mut bytes = bytes.clone();
            bytes.splice(..0, vec![kind]);
            if let Ok(DatagramUp::Play { inputs, .. }) = DatagramUp::decode(&bytes) {
                inputs.decode::<Stick>().ok();
            }
            DatagramDown::decode(&bytes).ok();
        }
    }
}
