//! Pings, parameters, Ready; and what Invalid and silence lead to.

use std::num::NonZeroU16;

use tickwire_dialects::reone::client_limits::HANG;
use tickwire_dialects::reone::message::{
    DownElement, DownFrame, DownHeader, Invalid, Parameters, Role,
};
use tickwire_dialects::reone::{ClientEvent, ModuleNumber, ObjectId, Phase};
use tickwire_session::{Session, StreamId, Transmit};

use tickwire_sim::addr::machine;

use super::script::{
    ClientScript, MODULE, OWN, SERVER, TOKEN, Uplink, keep, packet, parameters, shelf, text,
};
use crate::driven::ms;
use crate::golden::unhex;

fn pings(script: &mut ClientScript) -> usize {
    let uplinks = script.uplinks();
    let pings = uplinks.iter().filter(|uplink| uplink.ping == Some(TOKEN));
    pings.count()
}

fn readies(script: &mut ClientScript) -> usize {
    let uplinks = script.uplinks();
    uplinks.iter().filter(|uplink| uplink.is_ready).count()
}

#[test]
fn it_pings_every_100_ms_until_the_parameters_come() {
    let mut script = ClientScript::loaded(2);
    // Packet 1, nothing acknowledged, tick 0; Ping, one of them, the token.
    let ping = unhex(
        "0100000000000000000000008001 8877665544332211"
            .replace(' ', "")
            .as_str(),
    );
    assert_eq!(script.taken(SERVER), [ping]);
    script.pass(ms(1_000));
    assert_eq!(pings(&mut script), 10);
    script.events();

    // Sequence, acknowledgement and tick 0; Parameters: 20, 100, player, creature 1, module 5, plain.
    script.send_raw(&unhex(
        "00000000000000000000000083011400640001010000000500000000",
    ));
    assert_eq!(script.events(), [ClientEvent::Initialised(parameters())]);
    assert_eq!(script.session.own(), Some(OWN));
    assert_eq!(script.session.phase(), Phase::Ready);
    // Packet 12: Ready.
    assert_eq!(
        script.taken(SERVER),
        [unhex("0c00000000000000000000008101")]
    );
}

#[test]
fn it_says_ready_until_a_snapshot_comes() {
    let mut script = ClientScript::loaded(2);
    script.forget();
    script.control(&[DownElement::Parameters(parameters())]);
    script.pass(ms(300));
    assert_eq!(readies(&mut script), 4);
    // Parameters again: Ready was lost.
    script.control(&[DownElement::Parameters(parameters())]);
    assert_eq!(readies(&mut script), 1);
    script.events();
    script.snapshot(1, 0, &[keep(1)]);
    assert_eq!(script.session.phase(), Phase::Playing);
    assert_eq!(script.events()[0], ClientEvent::Started);
    script.pass(ms(900));
    assert_eq!(readies(&mut script), 0);
    // Late parameters are answered, and change nothing.
    script.control(&[DownElement::Parameters(parameters())]);
    assert_eq!(readies(&mut script), 1);
    assert_eq!(script.session.phase(), Phase::Playing);
    assert_eq!(script.events(), []);
}

#[test]
fn a_spectator_has_no_creature_until_it_becomes_a_player() {
    let spectator = Parameters {
        role: Role::Spectator,
        own: ObjectId(0),
        ..parameters()
    };
    let mut script = ClientScript::ready_with(2, spectator);
    assert_eq!(script.session.own(), None);
    script.snapshot(1, 0, &[keep(1)]);
    script.control(&[DownElement::Parameters(parameters())]);
    assert_eq!(script.session.own(), Some(OWN));
    assert_eq!(script.session.phase(), Phase::Playing);
    script.snapshot(2, 1, &[keep(1)]);
    assert_eq!(script.whole(), [1, 2], "what is held is still good");
}

/// The server says parameters at a tick.
fn say_parameters(script: &mut ClientScript, tick: u32, parameters: Parameters) {
    let said = [DownElement::Parameters(parameters)];
    script.send_raw(&packet(DownHeader::unsequenced(tick), &said));
}

#[test]
fn parameters_that_were_held_up_are_not_taken() {
    let spectator = Parameters {
        role: Role::Spectator,
        own: ObjectId(0),
        ..parameters()
    };
    let mut script = ClientScript::loaded(2);
    say_parameters(&mut script, 10, spectator);
    script.snapshot(4, 0, &[keep(1)]);
    say_parameters(&mut script, 12, parameters());
    script.forget();
    say_parameters(&mut script, 10, spectator);
    assert_eq!(script.session.own(), Some(OWN));
    assert_eq!(script.session.counters().parameters_late, 1);
    assert_eq!((script.events(), readies(&mut script)), (vec![], 0));
    // Of one tick, the later arrival counts, until the server says it again.
    say_parameters(&mut script, 12, spectator);
    assert_eq!(script.session.own(), None);
    say_parameters(&mut script, 15, parameters());
    assert_eq!(script.session.own(), Some(OWN));
    assert_eq!(readies(&mut script), 2);
}

#[test]
fn whoever_asks_anew_takes_parameters_of_any_tick() {
    let mut script = ClientScript::loaded(2);
    // This one is forged.
    say_parameters(&mut script, 1_000_000, parameters());
    script.control(&[DownElement::Invalid(Invalid::SameModule)]);
    assert_eq!(script.session.phase(), Phase::Initialising);
    say_parameters(&mut script, 12, parameters());
    assert_eq!(script.session.phase(), Phase::Ready);

    let mut script = ClientScript::loaded(2);
    say_parameters(&mut script, 1_000_000, parameters());
    move_on(&mut script, 12);
    assert_eq!(script.session.phase(), Phase::Ready);
}

#[test]
fn another_pace_makes_what_is_held_useless() {
    let mut script = ClientScript::playing();
    let faster = Parameters {
        tick_rate: NonZeroU16::new(40).unwrap(),
        ..parameters()
    };
    script.control(&[DownElement::Parameters(faster)]);
    assert!(script.session.newest().is_none());
    script.snapshot(2, 0, &[keep(1)]);
    assert_eq!(
        script
            .session
            .time_of(script.session.newest().unwrap().sequence),
        Some(ms(50))
    );
}

#[test]
fn parameters_of_another_module_are_not_taken() {
    let mut script = ClientScript::loaded(2);
    let other = Parameters {
        module: ModuleNumber(6),
        ..parameters()
    };
    script.control(&[DownElement::Parameters(other)]);
    assert_eq!(script.session.phase(), Phase::Initialising);
    assert_eq!(script.session.counters().other_module, 1);
}

#[test]
fn a_datagram_of_somebody_else_is_not_heard() {
    let mut script = ClientScript::loaded(2);
    let header = DownHeader::unsequenced(0);
    let bytes = packet(header, &[DownElement::Parameters(parameters())]);
    for stranger in [machine(9, 2_003), machine(1, 2_004)] {
        script.session.handle_datagram(script.now, stranger, &bytes);
    }
    assert_eq!(script.session.counters().stranger, 2);
    assert_eq!(script.session.phase(), Phase::Initialising);
}

#[test]
fn snapshots_before_the_parameters_are_not_taken() {
    let mut script = ClientScript::loaded(2);
    script.snapshot(1, 0, &[keep(1)]);
    assert_eq!(script.session.counters().not_ready, 1);
    assert_eq!(script.session.phase(), Phase::Initialising);
}

#[test]
fn silence_makes_it_ping_and_it_stays() {
    let mut script = ClientScript::playing();
    script.pass(ms(999));
    assert_eq!(pings(&mut script), 0);
    script.pass(ms(501));
    assert_eq!(pings(&mut script), 6);
    script.pass(ms(70_000));
    assert_eq!(script.session.phase(), Phase::Playing);
    script.datagrams.clear();
    // The server has forgotten it, says its parameters, and hears Ready.
    script.control(&[DownElement::Parameters(parameters())]);
    assert_eq!(readies(&mut script), 1);
    script.snapshot(1_500, 0, &[keep(1)]);
    assert_eq!(script.session.counters().hang, 1);
    assert_eq!(script.whole(), [1_500]);
}

#[test]
fn invalid_of_the_same_module_makes_it_ping_at_once() {
    let mut script = ClientScript::playing();
    script.pass(ms(300));
    script.forget();
    script.control(&[DownElement::Invalid(Invalid::SameModule)]);
    assert_eq!(script.events(), [ClientEvent::Interrupted]);
    assert_eq!(script.session.phase(), Phase::Initialising);
    let ping = Uplink {
        packet: 4,
        ping: Some(TOKEN),
        ..Uplink::default()
    };
    // What it held is forgotten, and not acknowledged any more.
    assert_eq!(script.uplinks(), [ping]);
    script.control(&[DownElement::Parameters(parameters())]);
    script.snapshot(900, 0, &[keep(1)]);
    assert_eq!(script.session.phase(), Phase::Playing);
}

#[test]
fn invalid_of_another_module_makes_it_shake_hands_again() {
    let mut script = ClientScript::playing();
    script.pass(ms(300));
    script.forget();
    script.control(&[DownElement::Invalid(Invalid::NewModule)]);
    assert_eq!(script.session.phase(), Phase::Connecting);
    let (first, second) = (StreamId::Dialled(0), StreamId::Dialled(1));
    let finish = Transmit::Finish { on: first };
    assert_eq!(script.orders[1], finish);
    assert!(matches!(script.orders[2], Transmit::Dial { on, .. } if on == second));
    script.accept();
    assert_eq!(script.written(), unhex("01060000000100616e6e00"));
    script.welcome();
    script.serve(&shelf(2));
    assert_eq!(script.session.phase(), Phase::Initialising);
}

#[test]
fn whom_nobody_knows_shows_its_token_before_it_shakes_hands_again() {
    let mut script = ClientScript::playing();
    script.pass(ms(300));
    script.forget();
    let unknown = [DownElement::Invalid(Invalid::Unknown)];
    script.control(&unknown);
    assert_eq!(script.session.phase(), Phase::Initialising);
    script.control(&unknown);
    script.pass(ms(100));
    script.control(&unknown);
    assert_eq!(pings(&mut script), 2);
    assert_eq!(script.session.phase(), Phase::Initialising);
    script.pass(ms(100));
    script.control(&unknown);
    assert_eq!(script.session.phase(), Phase::Connecting);
}

#[test]
fn invalid_is_not_believed_while_snapshots_come() {
    for why in [Invalid::SameModule, Invalid::NewModule, Invalid::Unknown] {
        let mut script = ClientScript::playing();
        script.control(&[DownElement::Invalid(why)]);
        script.pass(ms(200));
        script.snapshot(2, 0, &[keep(1)]);
        script.pass(ms(500));
        assert_eq!(script.session.phase(), Phase::Playing);
        assert_eq!(script.session.counters().invalid_doubted, 1);

        // Without another snapshot it is, a little later.
        script.control(&[DownElement::Invalid(why)]);
        assert_ne!(script.session.phase(), Phase::Playing);
        let mut script = ClientScript::playing();
        script.control(&[DownElement::Invalid(why)]);
        script.pass(ms(249));
        assert_eq!(script.session.phase(), Phase::Playing);
        script.pass(ms(1));
        assert_ne!(script.session.phase(), Phase::Playing);
    }
}

#[test]
fn another_module_begins_with_loading_again() {
    let mut script = ClientScript::playing();
    script.write(&[DownFrame::ModuleChanged {
        module: ModuleNumber(6),
        name: text("tar_m02"),
    }]);
    let loading = ClientEvent::Loading {
        module: ModuleNumber(6),
        name: "tar_m02".into(),
    };
    assert_eq!(script.events(), [loading]);
    assert_eq!(script.session.phase(), Phase::Loading);
    assert!(script.session.newest().is_none());
    let now = script.now;
    assert!(script.session.sample(now).is_none());
    // A snapshot of the old module was under way.
    script.snapshot(2, 1, &[keep(1)]);
    assert_eq!(script.session.counters().not_ready, 1);
    script.serve(&shelf(3));
    script.control(&[DownElement::Parameters(parameters())]);
    assert_eq!(
        script.session.phase(),
        Phase::Initialising,
        "of the old module"
    );
    let moved = Parameters {
        module: ModuleNumber(6),
        ..parameters()
    };
    assert_ne!(moved.module, MODULE);
    script.control(&[DownElement::Parameters(moved)]);
    script.snapshot(3, 0, &[keep(3)]);
    assert_eq!(script.session.phase(), Phase::Playing);
    assert!(
        script
            .session
            .newest()
            .unwrap()
            .creature(ObjectId(3))
            .is_some()
    );
}

/// A client that goes from a module in which it heard of snapshot 4 to another with creatures 1 to 3,
/// whose parameters the server says at this tick.
fn moved_on(tick: u32) -> ClientScript {
    let mut script = ClientScript::playing();
    script.snapshot(4, 1, &[keep(1)]);
    move_on(&mut script, tick);
    script
}

fn move_on(script: &mut ClientScript, tick: u32) {
    script.write(&[DownFrame::ModuleChanged {
        module: ModuleNumber(6),
        name: text("tar_m02"),
    }]);
    // It is heard of too late to be shown, and in time to be known.
    script.snapshot(6, 0, &[keep(1)]);
    script.serve(&shelf(3));
    let parameters = Parameters {
        module: ModuleNumber(6),
        ..parameters()
    };
    say_parameters(script, tick, parameters);
    script.forget();
}

#[test]
fn a_snapshot_that_was_held_up_in_the_module_before_is_not_taken() {
    let mut script = moved_on(24);
    assert_eq!(script.session.phase(), Phase::Ready);
    // 3 and 6 are known by their sequences. Of 7 and 8 nothing was heard; they are of ticks 21 and 24.
    for late in [3, 6, 7, 8] {
        script.snapshot(late, 0, &[keep(1)]);
    }
    assert_eq!(script.session.counters().earlier_module, 4);
    assert_eq!(script.session.phase(), Phase::Ready);
    assert_eq!(script.uplinks(), [], "nothing is acknowledged");
    script.snapshot(9, 0, &[keep(3)]);
    script.snapshot(7, 0, &[keep(1)]);
    assert_eq!(script.whole(), [9]);
}

#[test]
fn what_was_heard_of_is_known_as_such_after_it_was_forgotten() {
    let mut script = ClientScript::playing();
    script.snapshot(9, 1, &[keep(1)]);
    let faster = Parameters {
        tick_rate: NonZeroU16::new(40).unwrap(),
        ..parameters()
    };
    script.control(&[DownElement::Parameters(faster)]);
    assert!(script.session.newest().is_none());
    move_on(&mut script, 0);
    script.snapshot(9, 0, &[keep(1)]);
    assert_eq!(script.session.counters().earlier_module, 1);
    script.snapshot(10, 0, &[keep(3)]);
    assert_eq!(script.whole(), [10]);
}

#[test]
fn a_server_whose_ticks_begin_again_with_a_module_is_understood_after_a_while() {
    let mut script = moved_on(1_000_000);
    script.snapshot(9, 0, &[keep(3)]);
    script.pass(HANG - ms(1));
    script.snapshot(10, 0, &[keep(3)]);
    assert_eq!(script.whole(), []);
    script.pass(ms(1));
    script.snapshot(11, 0, &[keep(3)]);
    assert_eq!(script.whole(), [11]);
}
