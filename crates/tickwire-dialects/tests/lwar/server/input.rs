//! What players press, between the Inputs that say so and the game's steps.

use tickwire_dialects::lwar::message::{Framed, Input, Unreliable};
use tickwire_dialects::lwar::{Button, Header, History, PlayerId, Point};

use crate::script::{ANN, BOB, ServerScript, first_id, ms};
use crate::words::{chat, datagram, forward, reliable};

fn playing() -> (ServerScript, PlayerId) {
    let mut s = ServerScript::empty();
    let ann = s.join(ANN, "ann");
    (s, ann)
}

/// Whether ANN's player goes forward in the game's next step.
fn goes_forward(s: &mut ServerScript, player: PlayerId) -> bool {
    let now = s.now;
    let controls = s.session.take_controls(now, player);
    controls.buttons.contains(Button::Forward)
}

/// Sends forward's history with frame `last + n`, and asks for the next step.
#[track_caller]
fn check(last: u32, frame: u32, history: u8, pressed: bool) {
    let (mut s, ann) = playing();
    if last > 0 {
        s.send_unreliable(ANN, &[forward(ann, last, 0)]);
    }
    s.send_unreliable(ANN, &[forward(ann, frame, history)]);
    assert_eq!(
        goes_forward(&mut s, ann),
        pressed,
        "frame {frame} after {last}, history {history:#010b}"
    );
}

#[test]
fn a_frame_that_is_not_newer_is_ignored() {
    check(0, 0, 0xff, false);
    check(5, 5, 0xff, false);
    check(5, 4, 0xff, false);
    check(5, 0, 0xff, false);
    check(u32::MAX, 1, 0xff, false);
}

#[test]
fn the_next_frame_says_the_current_bit_only() {
    check(0, 1, 0b0000_0001, true);
    check(0, 1, 0b1111_1110, false);
    check(41, 42, 0b0000_0001, true);
    check(41, 42, 0b1111_1110, false);
}

#[test]
fn two_to_seven_frames_later_so_many_bits_count() {
    for n in 2..=7 {
        let newest_missed = 1 << (n - 1);
        check(10, 10 + n, newest_missed, true);
        check(10, 10 + n, newest_missed << 1, false);
        check(0, n, newest_missed, true);
    }
}

#[test]
fn eight_or_more_frames_later_all_bits_count() {
    for n in [8, 9, 31, 32, 33, 256, 1_000_000] {
        check(10, 10 + n, 0b1000_0000, true);
        check(10, 10 + n, 0, false);
    }
    check(0, u32::MAX, 0b1000_0000, true);
}

#[test]
fn every_button_and_the_aim_arrive() {
    let (mut s, ann) = playing();
    for (place, button) in Button::ALL.into_iter().enumerate() {
        let mut history = [0; 10];
        history[place] = 1;
        let input = Input {
            player: ann,
            frame: u32::try_from(place).unwrap() + 1,
            history: History(history),
            aim: Point { x: 300, y: -200 },
        };
        s.send_unreliable(ANN, &[Unreliable::Input(input)]);
        let controls = s.session.take_controls(s.now, ann);
        for other in Button::ALL {
            assert_eq!(controls.buttons.contains(other), other == button);
        }
        assert_eq!(controls.aim, Point { x: 300, y: -200 });
    }
}

#[test]
fn the_newest_input_holds_until_the_next() {
    let (mut s, ann) = playing();
    s.send_unreliable(ANN, &[forward(ann, 1, 1)]);
    for _ in 0..3 {
        s.pass(ms(16));
        assert!(goes_forward(&mut s, ann));
    }
    s.send_unreliable(ANN, &[forward(ann, 2, 0b10)]);
    assert!(!goes_forward(&mut s, ann));
}

#[test]
fn presses_between_two_steps_are_ored() {
    let (mut s, ann) = playing();
    s.send_unreliable(ANN, &[forward(ann, 1, 0)]);
    s.send_unreliable(ANN, &[forward(ann, 2, 1)]);
    s.send_unreliable(ANN, &[forward(ann, 3, 0b10)]);
    assert!(goes_forward(&mut s, ann));
    assert!(!goes_forward(&mut s, ann));
}

#[test]
fn half_a_second_without_input_releases_everything() {
    let (mut s, ann) = playing();
    s.send_unreliable(ANN, &[forward(ann, 1, 1)]);
    s.pass(ms(499));
    assert!(goes_forward(&mut s, ann));
    // Packets without Input do not hold it.
    s.send_messages(ANN, &[]);
    s.pass(ms(1));
    assert!(!goes_forward(&mut s, ann));
    s.send_unreliable(ANN, &[forward(ann, 2, 1)]);
    assert!(goes_forward(&mut s, ann), "the next one counts again");
}

#[test]
fn an_older_timestamp_drops_the_unreliable_part_alone() {
    let (mut s, ann) = playing();
    let now = s.header(ANN);
    let older = Header {
        timestamp: now.timestamp - 1,
        ..now
    };
    s.send_bytes(ANN, &datagram(now, &[]));
    let messages = [
        reliable(2, chat(ann, "late")),
        Framed::Unreliable(forward(ann, 1, 1)),
    ];
    s.send_bytes(ANN, &datagram(older, &messages));
    assert!(!goes_forward(&mut s, ann));
    assert_eq!(s.events().len(), 1, "the chat");
    assert_eq!(s.counters().stale, 1);
}

#[test]
fn reliable_and_unreliable_messages_come_in_any_order() {
    let (mut s, ann) = playing();
    let messages = [
        Framed::Unreliable(forward(ann, 1, 0)),
        reliable(2, chat(ann, "between")),
        Framed::Unreliable(forward(ann, 2, 1)),
        reliable(3, chat(ann, "behind")),
    ];
    let header = s.header(ANN);
    s.send_bytes(ANN, &datagram(header, &messages));
    assert!(goes_forward(&mut s, ann));
    assert_eq!(s.events().len(), 2, "both chats");
}

#[test]
fn an_equal_timestamp_is_allowed() {
    let (mut s, ann) = playing();
    s.send_unreliable(ANN, &[forward(ann, 1, 0)]);
    s.send_unreliable(ANN, &[forward(ann, 2, 1)]);
    assert!(goes_forward(&mut s, ann));
    assert_eq!(s.counters().stale, 0);
}

#[test]
fn timestamps_wrap() {
    let (mut s, ann) = playing();
    let mut send = |timestamp, frame| {
        let mut header = s.header(ANN);
        header.timestamp = timestamp;
        let input = Framed::Unreliable(forward(ann, frame, 1));
        s.send_bytes(ANN, &datagram(header, &[input]));
        (goes_forward(&mut s, ann), s.counters().stale)
    };
    // In steps below half the range, to the end of it and over.
    assert_eq!(send(0x7000_0000, 1), (true, 0));
    assert_eq!(send(0xe000_0000, 2), (true, 0));
    assert_eq!(send(0xffff_ffff, 3), (true, 0));
    assert_eq!(send(3, 4), (true, 0));
    assert_eq!(send(0xffff_ffff, 5).1, 1);
}

#[test]
fn the_input_of_another_player_is_never_acted_on() {
    let (mut s, ann) = playing();
    let bob = s.join(BOB, "bob");
    s.send_unreliable(BOB, &[forward(ann, 1, 1)]);
    assert!(!goes_forward(&mut s, ann));
    assert!(!goes_forward(&mut s, bob));
    assert_eq!(s.counters().foreign_player, 1);
}

#[test]
fn nobody_presses_nothing() {
    let (mut s, _) = playing();
    let nobody = first_id(5);
    assert!(!goes_forward(&mut s, nobody));
    assert!(!goes_forward(&mut s, PlayerId::SERVER));
}
