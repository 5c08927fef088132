//! Asking for a place.

use tickwire_dialects::lwar::message::{Framed, Reliable, Unreliable};
use tickwire_dialects::lwar::{
    Client, ClientConfig, ClientEvent, EndReason, Header, Kind, Phase, PlayerId, SayError,
};
use tickwire_session::{Ended, Instant, Path, Session};

use crate::script::{BOB, ClientScript, Packet, SERVER, ms};
use crate::words::{
    GUNS, add, body, chat, connect, datagram, entity, join, player, reliable, update,
};

#[test]
fn connect_is_said_at_once_with_number_one() {
    let mut c = ClientScript::connecting();
    let packet = c.expects(&[connect("ann")]);
    let (ack, timestamp) = (0, 0);
    assert_eq!(packet.header, Header { ack, timestamp });
    assert_eq!((packet.first, packet.unreliable.len()), (Some(1), 0));
    c.expects_nothing();
}

#[test]
fn connect_is_repeated_five_times_a_second() {
    let mut c = ClientScript::connecting();
    let packets = c.packets_during(ms(1_000));
    assert_eq!(packets.len(), 5);
    for packet in packets {
        assert_eq!(
            (packet.first, &packet.reliable[..]),
            (Some(1), &[connect("ann")][..])
        );
    }
}

#[test]
fn connect_is_in_every_packet_however_late_the_client_is_woken() {
    let config = ClientConfig {
        server: SERVER,
        name: "ann".into(),
    };
    let mut client = Client::new(Instant::ZERO, config);
    for (retry, late) in (0..).zip([0, 9, 2, 7, 0, 30, 1]) {
        let mut out = Vec::new();
        let now = Instant::from_millis(retry * 200 + late);
        client.poll_transmit(now, &mut out).unwrap();
        assert_eq!(Packet::decode(out).reliable, [connect("ann")], "{now:?}");
    }
}

#[test]
fn a_connect_that_was_repeated_tells_no_round_trip() {
    for (wait, measured) in [(ms(150), Some(ms(150))), (ms(250), None)] {
        let mut c = ClientScript::connecting();
        c.pass(wait);
        c.memory.ack = 1;
        c.tell(&[join(player(1), "ann")]);
        let mut round_trip = None;
        c.session
            .visit_peers(&mut |peer| round_trip = peer.round_trip);
        assert_eq!(round_trip, measured);
    }
}

#[test]
fn a_long_name_is_cut_at_a_character() {
    let config = ClientConfig {
        server: SERVER,
        name: "thirty-one bytes, then one more é".into(),
    };
    let mut client = Client::new(Instant::ZERO, config);
    let mut out = Vec::new();
    client.poll_transmit(Instant::ZERO, &mut out).unwrap();
    let name = "thirty-one bytes, then one more ";
    assert_eq!(Packet::decode(out).reliable, [connect(name)]);
}

#[test]
fn join_is_acknowledged_at_once() {
    let mut c = ClientScript::connecting();
    c.forget();
    c.memory.ack = 1;
    c.tell(&[join(player(1), "ann")]);
    let packet = c.expects(&[]);
    assert!(packet.is_bare());
    assert_eq!(packet.header.ack, 1);
    assert_eq!(c.session.phase(), Phase::Syncing);
    assert_eq!(c.session.player(), Some(player(1)));
    let player = player(1);
    assert_eq!(c.events(), [ClientEvent::Connected { player }]);
}

#[test]
fn everything_may_come_in_one_packet() {
    let mut c = ClientScript::connecting();
    c.memory.ack = 1;
    let planet = entity(0);
    c.tell_messages(
        852,
        &[
            reliable(1, join(player(1), "ann")),
            reliable(2, join(PlayerId::SERVER, "server")),
            reliable(3, add(planet, PlayerId::SERVER, Kind::PLANET)),
            reliable(4, Reliable::Synced),
            Framed::Unreliable(update(&[body(planet, 500)])),
        ],
    );
    assert_eq!(c.session.phase(), Phase::Settling);
    c.pass(ms(70));
    assert_eq!(c.session.phase(), Phase::Playing);
    assert_eq!(c.session.entities().count(), 1);
}

#[test]
fn full_ends_it() {
    let mut c = ClientScript::connecting();
    c.memory.ack = 1;
    c.show(0, &[Unreliable::Full]);
    assert_eq!(c.session.phase(), Phase::Ended(EndReason::Full));
    assert_eq!(c.events(), [ClientEvent::Ended(EndReason::Full)]);
    assert_eq!(c.packets_during(ms(2_000)), []);
}

#[test]
fn somebody_elses_full_does_not() {
    let mut c = ClientScript::connecting();
    let (ack, timestamp) = (1, 0);
    let full = Framed::Unreliable(Unreliable::Full);
    c.send_bytes(BOB, &datagram(Header { ack, timestamp }, &[full]));
    assert_eq!(c.session.phase(), Phase::Connecting);
    assert_eq!(c.counters().stranger, 1);
}

#[test]
fn fifteen_seconds_without_an_answer_end_it() {
    let mut c = ClientScript::connecting();
    c.pass(ms(14_999));
    assert_eq!(c.session.phase(), Phase::Connecting);
    c.pass(ms(1));
    assert_eq!(c.session.phase(), Phase::Ended(EndReason::Unreachable));
}

#[test]
fn packets_that_do_not_answer_do_not_prolong_it() {
    let mut c = ClientScript::connecting();
    c.live(ms(14_900));
    assert_eq!(c.session.phase(), Phase::Connecting);
    c.live(ms(100));
    assert_eq!(c.session.phase(), Phase::Ended(EndReason::Unreachable));
}

/// The server may be about to start.
#[test]
fn after_a_refused_port_it_asks_again_until_its_time_out() {
    let mut c = ClientScript::connecting();
    for _ in 0..70 {
        c.act(|now, client| {
            client.handle_closed(now, Path::Datagrams(SERVER), Ended::Refused);
        });
        c.forget();
        c.expects(&[connect("ann")]);
    }
    c.pass(ms(1_000));
    assert_eq!(c.session.phase(), Phase::Ended(EndReason::Unreachable));
}

#[test]
fn only_a_join_begins_a_session() {
    let mut c = ClientScript::connecting();
    c.tell(&[chat(PlayerId::SERVER, "who are you?")]);
    assert_eq!(c.session.phase(), Phase::Connecting);
    assert_eq!(c.counters().violations, 1);
    assert_eq!(c.events(), []);
}

#[test]
fn nothing_can_be_said_yet() {
    let mut c = ClientScript::connecting();
    let not_yet = Err(SayError::NotConnected);
    assert_eq!(c.act(|_, client| client.chat("hello")), not_yet);
    assert_eq!(c.act(|_, client| client.rename("anna")), not_yet);
    assert_eq!(c.act(|_, client| client.select(GUNS)), not_yet);
}

#[test]
fn going_away_now_is_done_at_once() {
    let mut c = ClientScript::connecting();
    c.forget();
    c.act(|now, client| client.disconnect(now));
    assert_eq!(c.session.phase(), Phase::Ended(EndReason::Disconnected));
    assert_eq!(c.packets_during(ms(1_000)), []);
}
