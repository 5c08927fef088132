//! What a playing client says.

use tickwire_dialects::lwar::message::{Input, Unreliable};
use tickwire_dialects::lwar::{
    Button, Buttons, ClientEvent, Controls, EndReason, Phase, PlayerId, Point, SayError, limits,
};

use crate::script::{ClientScript, Packet, STEP, ms};
use crate::words::{GUNS, chat, player, rename, select};

fn input(packet: &Packet) -> Option<Input> {
    packet.unreliable.iter().find_map(|message| match message {
        Unreliable::Input(input) => Some(*input),
        _ => None,
    })
}

#[track_caller]
fn next_input(c: &mut ClientScript) -> Input {
    for _ in 0..3 {
        if let Some(input) = input(&c.next_packet()) {
            return input;
        }
    }
    panic!("no Input in three packets");
}

fn press(c: &mut ClientScript, button: Button, pressed: bool) {
    let buttons = Buttons::NONE.with(button, pressed);
    let aim = Point { x: 300, y: -200 };
    c.act(|_, client| client.steer(Controls { buttons, aim }));
}

#[test]
fn whoever_plays_without_a_ship_is_told_what_is_missing() {
    for (has_selected, told) in [
        (false, vec![ClientEvent::Started, ClientEvent::NotSelected]),
        (true, vec![ClientEvent::Started]),
    ] {
        let mut c = ClientScript::settling(&[]);
        if has_selected {
            c.act(|_, client| client.select(GUNS)).unwrap();
        }
        c.live(limits::SETTLE);
        assert_eq!(c.events(), told);
    }
}

#[test]
fn input_goes_out_thirty_times_a_second() {
    let mut c = ClientScript::playing(&[]);
    let packets = c.packets_during(ms(10_000));
    let inputs = packets.iter().filter_map(input).count();
    assert!((299..=301).contains(&inputs), "{inputs}");
}

#[test]
fn while_the_game_steps_input_leaves_with_a_step_and_no_more_often() {
    let mut c = ClientScript::playing(&[]);
    c.forget();
    let mut inputs = 0;
    for step in 0..600 {
        let between = c.packets_during(STEP);
        // The first is due when it is due: nobody has steered yet.
        assert!(step == 0 || between.is_empty(), "{step}: {between:?}");
        let aim = Point { x: step, y: 0 };
        let buttons = Buttons::NONE;
        c.act(|_, client| client.steer(Controls { buttons, aim }));
        while let Some(packet) = c.mailed() {
            assert_eq!(input(&packet).map(|input| input.aim), Some(aim));
            inputs += 1;
        }
    }
    assert!((299..=301).contains(&inputs), "{inputs}");
}

#[test]
fn frames_count_from_one_without_gaps() {
    let mut c = ClientScript::settling(&[]);
    let mut expected = 1;
    for packet in c.packets_during(ms(3_000)) {
        if let Some(input) = input(&packet) {
            assert_eq!((input.frame, input.player), (expected, player(1)));
            expected += 1;
        }
    }
    assert!(expected > 80, "{expected}");
}

#[test]
fn the_last_eight_states_are_in_every_input() {
    let mut c = ClientScript::playing(&[]);
    press(&mut c, Button::Fire0, true);
    let first = next_input(&mut c);
    assert_eq!(first.history.0[6], 0b0000_0001);
    assert_eq!(first.aim, Point { x: 300, y: -200 });
    press(&mut c, Button::Fire0, false);
    for age in 1..8 {
        assert_eq!(next_input(&mut c).history.0[6], 1 << age);
    }
    assert_eq!(next_input(&mut c).history.0[6], 0, "forgotten");
}

#[test]
fn every_button_has_its_byte() {
    let mut c = ClientScript::playing(&[]);
    for (place, button) in Button::ALL.into_iter().enumerate() {
        press(&mut c, button, true);
        let history = next_input(&mut c).history.0;
        for (byte, states) in history.into_iter().enumerate() {
            assert_eq!(states & 1 == 1, byte == place, "{button:?}");
        }
    }
}

#[test]
fn what_is_said_is_numbered_behind_connect_and_repeated_until_acknowledged() {
    let mut c = ClientScript::playing(&[]);
    let own = player(1);
    c.act(|_, client| {
        client.chat("hello").unwrap();
        client.rename("anna").unwrap();
        client.select(GUNS).unwrap();
    });
    let said = [chat(own, "hello"), rename(own, "anna"), select(own, GUNS)];
    let packets = c.packets_during(ms(1_000));
    let repeated: Vec<_> = packets
        .iter()
        .filter(|packet| !packet.reliable.is_empty())
        .collect();
    assert!((14..=16).contains(&repeated.len()), "{}", repeated.len());
    for packet in repeated {
        assert_eq!((packet.first, &packet.reliable[..]), (Some(2), &said[..]));
    }
    c.memory.ack = 3;
    c.tell_messages(c.timestamp(), &[]);
    let packets = c.packets_during(ms(100));
    let rest = packets.iter().find(|packet| packet.first.is_some());
    assert_eq!(rest.unwrap().reliable, said[2..]);
    c.memory.ack = 4;
    c.tell_messages(c.timestamp(), &[]);
    let packets = c.packets_during(ms(1_000));
    assert!(packets.iter().all(|packet| packet.reliable.is_empty()));
}

#[test]
fn an_acknowledgement_beyond_what_was_sent_is_ignored_but_its_packet_is_not() {
    let mut c = ClientScript::playing(&[]);
    c.act(|_, client| client.chat("hello")).unwrap();
    c.pass(ms(100));
    c.memory.ack = 9;
    c.tell(&[chat(PlayerId::SERVER, "hi")]);
    assert_eq!(c.counters().ack_never_sent, 1);
    assert_eq!(c.events().len(), 1, "the chat");
    c.memory.ack = 1;
    let packets = c.packets_during(ms(100));
    assert!(
        packets
            .iter()
            .any(|packet| packet.reliable == [chat(player(1), "hello")])
    );
}

#[test]
fn text_must_have_a_length_that_the_wire_carries() {
    let mut c = ClientScript::playing(&[]);
    let (chat_limit, name_limit) = (limits::CHAT_MAX, limits::NAME_MAX);
    let length = |limit| Err(SayError::Length { limit });
    c.act(|_, client| {
        assert_eq!(client.chat(""), length(chat_limit));
        assert_eq!(client.chat(&"x".repeat(256)), length(chat_limit));
        assert_eq!(client.chat(&"x".repeat(255)), Ok(()));
        assert_eq!(client.rename(""), length(name_limit));
        assert_eq!(client.rename(&"x".repeat(33)), length(name_limit));
        assert_eq!(client.rename(&"x".repeat(32)), Ok(()));
    });
}

#[test]
fn what_waits_is_bounded() {
    let mut c = ClientScript::playing(&[]);
    let said = (0..1_000)
        .take_while(|_| c.session.chat("again").is_ok())
        .count();
    assert_eq!(said, limits::CLIENT_QUEUE);
    assert_eq!(c.session.chat("again"), Err(SayError::TooMuchWaiting));
}

#[test]
fn a_long_backlog_never_makes_a_packet_too_large() {
    let mut c = ClientScript::playing(&[]);
    let text = "x".repeat(255);
    c.act(|_, client| (0..3).for_each(|_| client.chat(&text).unwrap()));
    // That each is at most 512 bytes is checked for every packet.
    let packets = c.packets_during(ms(1_000));
    let said = packets.iter().filter(|packet| packet.first.is_some());
    assert!(said.clone().count() > 10);
    assert!(said.into_iter().all(|packet| packet.reliable.len() == 1));
}

#[test]
fn fifteen_seconds_of_silence_end_it() {
    let mut c = ClientScript::playing(&[]);
    c.live(ms(100));
    c.pass(ms(14_999));
    assert_eq!(c.session.phase(), Phase::Playing);
    c.pass(ms(1));
    assert_eq!(c.session.phase(), Phase::Ended(EndReason::TimedOut));
    assert_eq!(c.packets_during(ms(1_000)), []);
}

#[test]
fn an_empty_packet_breaks_the_silence() {
    let mut c = ClientScript::playing(&[]);
    for _ in 0..5 {
        c.pass(ms(14_000));
        c.tell_messages(c.timestamp(), &[]);
    }
    assert_eq!(c.session.phase(), Phase::Playing);
}
